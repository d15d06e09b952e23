"""Compile the emulated CUDA libraries, once per state of their sources."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "tests" / "cuda_emulator"
BUILD = ROOT / "build" / "cuda_emulator"
LIBRARIES = {"libcuda.so.1": "driver", "libnvrtc.so.13": "nvrtc"}
FLAGS = ["-std=c++17", "-O1", "-g1", "-Wall", "-Wextra", "-Wno-missing-field-initializers"]
FLAGS += shlex.split(os.environ.get("EMULATOR_CXXFLAGS", ""))
FLAGS += ["-fvisibility=hidden", "-fPIC", "-shared", "-pthread"]


def build() -> Path:
    """
    Compile the emulator when its sources changed.

    Returns
    -------
    Path
        The folder that holds ``libcuda.so.1`` and ``libnvrtc.so.13``. It is named by a hash of the sources and appears
        in one step, so that processes building at the same time do not disturb each other.

    Raises
    ------
    RuntimeError
        If there is no compiler, or the sources do not compile.
    """
    key = _key()
    folder = BUILD / key
    if folder.is_dir():
        return folder
    BUILD.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f"{key}-", dir=BUILD))
    try:
        for library, part in LIBRARIES.items():
            _compile(sorted((SOURCES / part).glob("*.cpp")), scratch / library)
        _publish(scratch, folder)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return folder


def cuda_header() -> Path:
    """Return the folder of NVIDIA's public ``cuda.h``, from the wheel nvidia-cuda-runtime."""
    distribution = importlib.metadata.distribution("nvidia-cuda-runtime")
    headers = [file for file in distribution.files or [] if file.name == "cuda.h"]
    if not headers:
        raise RuntimeError("the wheel nvidia-cuda-runtime holds no cuda.h: install the dependency group 'cuda'")
    return Path(str(distribution.locate_file(headers[0]))).parent


def _key() -> str:
    digest = hashlib.sha256(" ".join(FLAGS).encode())
    digest.update(importlib.metadata.version("nvidia-cuda-runtime").encode())
    for path in sorted([*SOURCES.rglob("*.cpp"), *SOURCES.rglob("*.hpp"), Path(__file__)]):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _compile(sources: list[Path], library: Path) -> None:
    # One translation unit: cuda.h and the standard library dominate, so this is several times faster than one per file.
    unit = "".join(f'#include "{source}"\n' for source in sources)
    command = [
        *shlex.split(os.environ.get("CXX", "g++")),
        *FLAGS,
        f"-Wl,-soname,{library.name}",
        "-isystem",
        str(cuda_header()),
        "-x",
        "c++",
        "-",
    ]
    command += ["-o", str(library), "-ldl"]
    done = subprocess.run(command, input=unit, text=True, capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{library.name} did not compile:\n{done.stderr[:6000]}")


def _publish(scratch: Path, folder: Path) -> None:
    try:
        scratch.rename(folder)
    except OSError:  # another process was first with the same sources
        if not folder.is_dir():
            raise
