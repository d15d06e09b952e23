"""Machine code on disk, by everything that decides it. Whatever goes wrong here only costs a compilation."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import tempfile
from dataclasses import astuple
from pathlib import Path

from eagle.plugin import Kernel, cache_dir
from eagle_cpu.engine.host import host
from eagle_cpu.engine.shape import Shape
from eagle_cpu.engine.vector_math import variant_key

__all__ = ["LIMIT", "fetch", "keep", "key_of"]

CODEGEN = 5
"""Raised whenever the code generated for one kernel changes."""

LIMIT = 256 * 2**20
"""Bytes that all files together may take; the least recently used ones go first."""

_DISTRIBUTION = "eagle-cpu"
_SUFFIX = ".eagle-object"
_DIGEST = 32


def key_of(kernel: Kernel, shape: Shape, which: str) -> str:
    """Return a name for the machine code of a kernel on this machine."""
    text = f"{kernel.fingerprint}\n{astuple(shape)} {which}\n{_machine_key()}"
    return hashlib.sha256(text.encode()).hexdigest()


def fetch(key: str) -> bytes | None:
    """Return the machine code kept under a key, or None; a damaged file is removed."""
    folder = cache_dir(_DISTRIBUTION)
    if folder is None:
        return None
    path = folder / (key + _SUFFIX)
    try:
        content = path.read_bytes()
        binary = content[_DIGEST:]
        if content[:_DIGEST] != _digest(key, binary):
            path.unlink()
            return None
        os.utime(path)  # it is used now: eviction goes by this time
    except OSError:
        return None
    return binary


def keep(key: str, binary: bytes) -> None:
    """Keep machine code under a key: written beside it first, so that nobody ever sees half a file."""
    folder = cache_dir(_DISTRIBUTION)
    if folder is None:
        return
    try:
        handle, name = tempfile.mkstemp(dir=folder, suffix=".part")
    except OSError:
        return
    written = False
    with contextlib.suppress(OSError):
        with os.fdopen(handle, "wb") as file:
            file.write(_digest(key, binary) + binary)
        Path(name).replace(folder / (key + _SUFFIX))
        written = True
    if not written:
        with contextlib.suppress(OSError):
            Path(name).unlink()
    with contextlib.suppress(OSError):
        _evict(folder)


def _evict(folder: Path) -> None:
    """Remove what was not used for longest until the rest fits; half-written files of killed processes age likewise."""
    files = []
    for entry in os.scandir(folder):
        with contextlib.suppress(OSError):
            found = entry.stat()
            files.append((found.st_mtime_ns, found.st_size, entry.path))
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if total <= LIMIT:
            break
        with contextlib.suppress(OSError):
            Path(path).unlink()
            total -= size


def _digest(key: str, binary: bytes) -> bytes:
    return hashlib.sha256(key.encode() + binary).digest()


@functools.cache
def _machine_key() -> str:
    """Return all that decides the machine code of a kernel but the kernel: processor, compiler, library, ourselves."""
    import llvmlite
    import llvmlite.binding as llvm

    machine = host()
    sources = sorted(
        (one.name, one.stat().st_size, one.stat().st_mtime_ns) for one in Path(__file__).parent.glob("*.py")
    )
    return "\n".join(
        map(str, (*astuple(machine), llvm.llvm_version_info, llvmlite.__version__, variant_key(), CODEGEN, sources))
    )
