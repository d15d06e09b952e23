"""Compiled kernels in files: an image, and beside it a description of the same name that ends in ``.json``."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from eagle.plugin import BuildError, Kernel
from eagle_cuda.architectures import OLDEST_PTX, suffix_for
from eagle_cuda.artifacts import artifact_of
from eagle_cuda.compiling import artifact_kernel, compile_artifact
from eagle_cuda.description import parsed, written
from eagle_cuda.errors import ArtifactError, ArtifactNotFound

__all__ = ["read_artifact", "save_artifact"]

_SUFFIXES = (".ptx", ".cubin")


def save_artifact(kernel: object, path: str | os.PathLike[str], *, arch: str | None = None) -> None:
    """Write a compiled kernel, and its description beside it, for `eagle.loaded.LoadedVector`.

    Parameters
    ----------
    kernel : kernel
        What `eagle_cuda.compile_source` or `eagle_cuda.compile_artifact` returns, or what the latter takes.
    path : path
        Ends in ``.ptx`` or ``.cubin``; the description goes into the file that ends in ``.json`` instead.
    arch : str, optional
        What to compile for, where it is not compiled yet: by default ``"compute_75"`` for PTX, and for a cubin the
        current device's.

    Raises
    ------
    BuildError
        It cannot be compiled ahead, or is compiled for what the file's name does not say.
    OSError
        A file cannot be written.
    """
    file = _image_file(path)
    made = kernel if isinstance(kernel, Kernel) and artifact_of(kernel) is not None else None
    if made is None:
        wanted = OLDEST_PTX if arch is None and file.suffix == ".ptx" else arch
        if wanted is not None:
            _refuse_other_suffix(wanted, file)
        made = compile_artifact(kernel, arch=wanted)
    elif arch is not None:
        raise BuildError(f"kernel {made.name!r} is compiled already", fix="Leave arch= out.")
    artifact = artifact_of(made)
    assert artifact is not None
    if artifact.compiled_for:
        _refuse_other_suffix(artifact.compiled_for, file)
    artifact_kernel(made.name, made.arguments, artifact)  # which refuses what could not be read back
    text = written(made.name, made.arguments, artifact, hashlib.sha256(artifact.image).hexdigest())
    file.write_bytes(artifact.image)
    file.with_suffix(".json").write_text(text, encoding="utf-8")


def read_artifact(path: str | os.PathLike[str]) -> Kernel:
    """Return the compiled kernel of a file, checked but for what only the driver can say of it.

    Raises
    ------
    ArtifactNotFound
        There is no such file, or no description beside it.
    ArtifactError
        The description cannot be used, or is of another image.
    """
    file = _image_file(path)
    image = _read(file, "of a compiled kernel", "Name a file that eagle_cuda.save_artifact wrote.")
    beside = file.with_suffix(".json")
    fix = f"Put the description beside {file.name}; eagle_cuda.save_artifact writes both."
    try:
        text = _read(beside, f"that describes {file.name}", fix).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ArtifactError(f"{beside} is no text in UTF-8", why=str(error), fix=fix) from error
    told = parsed(text, str(beside))
    if not image:
        raise ArtifactError(f"{file} is empty", fix="Write it anew with eagle_cuda.save_artifact.")
    if told.sha256 and told.sha256 != hashlib.sha256(image).hexdigest():
        raise ArtifactError(
            f"{beside} describes another image than {file}",
            why="the sha256 it states is not that of the image",
            fix="Put the two files that were written together beside each other, or write both anew.",
        )
    return artifact_kernel(told.name, told.arguments, told.with_image(image, str(file)))


def _image_file(path: str | os.PathLike[str]) -> Path:
    file = Path(path)
    if file.suffix not in _SUFFIXES:
        raise ArtifactError(
            f"{file} does not end in {' or '.join(_SUFFIXES)}",
            why="eagle-cuda reads and writes PTX and machine code of NVIDIA's",
            fix="Name the image; its description is the file beside it that ends in .json.",
        )
    return file


def _read(file: Path, what: str, fix: str) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError as error:
        raise ArtifactNotFound(f"there is no file {file} {what}", fix=fix) from error
    except OSError as error:
        raise ArtifactError(f"the file {file} {what} cannot be read", why=str(error), fix=fix) from error


def _refuse_other_suffix(arch: str, file: Path) -> None:
    if file.suffix != suffix_for(arch):
        raise BuildError(
            f"code for {arch} is not kept in {file.name}",
            why="PTX is for a 'compute_' architecture and machine code for an 'sm_' one",
            fix=f"Name the file {file.with_suffix(suffix_for(arch)).name}, or compile for another architecture.",
        )
