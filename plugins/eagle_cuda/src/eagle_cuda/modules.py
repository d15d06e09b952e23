"""CUDA C++, eagle's own and generated, compiled by NVRTC for the device's architecture and loaded once per device."""

from __future__ import annotations

import functools
import hashlib
import os
import threading
from importlib.resources import files
from pathlib import Path
from typing import Any

from eagle.plugin import BuildError, cache_dir
from eagle_cuda.device import device
from eagle_cuda.driver import abilities, call
from eagle_cuda.errors import CudaError
from eagle_cuda.ptx import to_ptx

__all__ = ["FLAGS", "compile_ahead", "compiled", "compiler", "function", "function_of", "source"]

FLAGS: dict[str, bool] = {"fma": False, "ftz": False, "prec_div": True, "prec_sqrt": True}
"""How CUDA C++ is compiled: no contraction, nothing flushed to zero, division and square root rounded correctly."""

_lock = threading.Lock()
_NO_IMAGE = frozenset({200, 209, 218})  # not an image, none for this device, not understood: compiled anew


def function(ordinal: int, name: str, kernel: str) -> Any:
    """Return a kernel of the source file `name` as a function of the device's context, which is current."""
    return function_of(ordinal, source(name), kernel)


def function_of(ordinal: int, text: str, kernel: str) -> Any:
    """Return a kernel of some CUDA C++ as a function of the device's context, which is current.

    Raises
    ------
    BuildError
        There is no compiler, or it does not take the text.
    """
    with _lock:
        return _function(ordinal, text, kernel)


def compile_ahead(ordinal: int, text: str) -> None:
    """Compile some CUDA C++ for a device, into the cache on disk, unless it is there."""
    with _lock:
        _image(text, device(ordinal).arch)


def compiled(text: str, arch: str) -> bytes:
    """Return some CUDA C++ as machine code for ``"sm_90"``, or as PTX for ``"compute_75"``.

    Raises
    ------
    BuildError
        There is no compiler.
    Exception
        With the compiler's words: it does not take the text.
    """
    with _lock:
        return _compile(text, arch)


def compiler() -> str:
    """Return the name of the compiler with its version, which is that of its CUDA. Raises `BuildError` without one."""
    return f"NVRTC {_compiler()}"


@functools.cache
def source(name: str) -> str:
    """Return the CUDA C++ of a source file."""
    return (files("eagle_cuda") / "kernels" / f"{name}.cu").read_text("utf-8")


@functools.lru_cache(maxsize=1024)
def _function(ordinal: int, text: str, kernel: str) -> Any:
    return call("cuModuleGetFunction", _module(ordinal, text), kernel.encode())


@functools.cache
def _module(ordinal: int, text: str) -> Any:
    return _loaded(text, device(ordinal).arch)


def _loaded(text: str, arch: str, *, anew: bool = False) -> Any:
    """Return a module; what is on disk and no image for this device is made anew."""
    image, known = _image(text, arch, anew=anew)
    try:
        return call("cuModuleLoadData", image)
    except CudaError as error:
        if error.code not in _NO_IMAGE:
            raise
        if not known:
            _refuse_newer_compiler(error)
            raise
    return _loaded(text, arch, anew=True)


def _image(text: str, arch: str, *, anew: bool = False) -> tuple[bytes, bool]:
    """Return machine code, and whether it was on disk."""
    path = _cached(text, arch)
    if path is not None and not anew and (image := _read(path)) is not None:
        return image, True
    image = _compile(text, arch)
    if path is not None:
        _write(path, image)
    return image, False


def _cached(text: str, arch: str) -> Path | None:
    """Return where the machine code for `arch` is kept on disk, if anywhere."""
    key = hashlib.sha256("\0".join([text, arch, _compiler(), repr(sorted(FLAGS.items()))]).encode()).hexdigest()
    folder = cache_dir("eagle-cuda")
    return folder / f"{key[:32]}.cubin" if folder is not None else None


@functools.lru_cache(maxsize=64)
def _compile(text: str, arch: str) -> bytes:
    from cuda.core import Program, ProgramOptions

    try:
        if arch.startswith("compute_"):
            return to_ptx(text, arch, FLAGS)
        return bytes(Program(text, "c++", ProgramOptions(arch=arch, **FLAGS)).compile("cubin").code)
    except Exception as error:
        if type(error).__name__ == "DynamicLibNotFoundError":
            raise _no_compiler() from error
        raise


def _compiler() -> str:
    """Return the version of NVRTC."""
    from cuda.bindings import nvrtc

    try:
        _, major, minor = nvrtc.nvrtcVersion()
    except Exception as error:
        if type(error).__name__ == "DynamicLibNotFoundError":
            raise _no_compiler() from error
        raise
    return f"{major}.{minor}"


def _no_compiler() -> BuildError:
    return BuildError(
        "kernels have to be compiled here, and NVIDIA's compiler NVRTC is not found",
        why="plans, conditionals, reductions and copies between strided arrays are compiled for the device when first "
        "used",
        fix="Install eagle-cuda[toolkit], or the CUDA toolkit.",
    )


def _refuse_newer_compiler(error: CudaError) -> None:
    """Say so if the driver may not take what was compiled just now because the compiler is too new for it.

    Code runs with drivers of its own major version of CUDA and with newer ones (CUDA Compatibility, "Minor Version
    Compatibility").
    """
    made, taken = _compiler(), abilities().cuda
    if int(made.partition(".")[0]) <= int(taken.partition(".")[0]):
        return
    raise BuildError(
        f"the driver, for CUDA {taken}, does not load what NVRTC {made} compiles",
        why=str(error),
        fix="Update the driver, or have the NVRTC of its major version in place of a newer one: for CUDA 12 from "
        "nvidia-cuda-nvrtc-cu12, without eagle-cuda[toolkit].",
    ) from error


def _read(path: Path) -> bytes | None:
    """Return what was written, if all of it is there: a digest comes first."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    digest, image = data[:32], data[32:]
    return image if hashlib.sha256(image).digest() == digest else None


def _write(path: Path, image: bytes) -> None:
    temporary = path.with_suffix(f".{os.getpid()}.{threading.get_ident()}")
    try:
        temporary.write_bytes(hashlib.sha256(image).digest() + image)
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
