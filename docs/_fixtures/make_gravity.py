"""Makes gravity.ptx and gravity.json of gravity.cu, with NVIDIA's compiler and without a GPU.

``python make_gravity.py LIBRARY [FOLDER]`` takes the path of libnvrtc.so.12 of CUDA 12.3, which is in the wheel that
`WHEEL` names, and writes both files into the folder, by default the one this script is in. A driver takes PTX of its
own version of CUDA and of older ones: those for 12.0 to 12.2 do not take this. PTX for an architecture runs on that and
on newer ones, and compute_75 is the oldest that CUDA 13 compiles for.
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

from eagle.plugin import Argument, Kernel
from eagle_cuda import Artifact, save_artifact
from eagle_cuda.compiling import artifact_kernel

HERE = Path(__file__).parent
SOURCE = HERE / "gravity.cu"
WHEEL = "nvidia-cuda-nvrtc-cu12==12.3.107"
VERSION = "12.3"
ARCH = "compute_75"
# As eagle compiles its own kernels: no contraction, nothing flushed to zero, division and square root as IEEE has them.
OPTIONS = (f"--gpu-architecture={ARCH}", "--fmad=false", "--ftz=false", "--prec-div=true", "--prec-sqrt=true")
ENTRY = "gravity"
ACCUMULATES = ("out",)
ARGUMENTS = (
    Argument(name="out", role="sample", mode="rw", dtype="float64", shape=(3,)),
    Argument(name="position", role="sample", mode="r", dtype="float64", shape=(3,)),
    Argument(name="mu", role="param", mode="r", dtype="float64"),
    Argument(name="terminated", role="mask", mode="r", dtype="bool"),
)


def kernel(nvrtc: ctypes.CDLL) -> Kernel:
    """Return the kernel, compiled by that library."""
    code = Artifact(
        image=ptx(nvrtc, SOURCE.read_bytes(), SOURCE.name),
        entry=ENTRY,
        accumulates=ACCUMULATES,
        compiled_for=ARCH,
        compiler=f"NVRTC {version(nvrtc)}",
    )
    return artifact_kernel(ENTRY, ARGUMENTS, code)


def version(nvrtc: ctypes.CDLL) -> str:
    """Return the version of the library, as ``"12.3"``."""
    major, minor = ctypes.c_int(), ctypes.c_int()
    _checked(nvrtc, nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)))
    return f"{major.value}.{minor.value}"


def ptx(nvrtc: ctypes.CDLL, source: bytes, name: str) -> bytes:
    """Compile CUDA C++ to PTX. Raises RuntimeError, with what the compiler says, if it cannot."""
    program = ctypes.c_void_p()
    _checked(nvrtc, nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, name.encode(), 0, None, None))
    try:
        options = (ctypes.c_char_p * len(OPTIONS))(*(option.encode() for option in OPTIONS))
        if nvrtc.nvrtcCompileProgram(program, len(OPTIONS), options):
            raise RuntimeError(_text(nvrtc, program, "ProgramLog").decode())
        return _text(nvrtc, program, "PTX")
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def _text(nvrtc: ctypes.CDLL, program: ctypes.c_void_p, what: str) -> bytes:
    """Return a text that NVRTC has of a program, without the zero it ends with."""
    size = ctypes.c_size_t()
    _checked(nvrtc, getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
    text = ctypes.create_string_buffer(size.value)
    _checked(nvrtc, getattr(nvrtc, f"nvrtcGet{what}")(program, text))
    return text.value


def _checked(nvrtc: ctypes.CDLL, code: int) -> None:
    if code:
        nvrtc.nvrtcGetErrorString.restype = ctypes.c_char_p
        raise RuntimeError(f"NVRTC: {nvrtc.nvrtcGetErrorString(code).decode()}")


def main(library: str, folder: str | None = None) -> None:
    """Write both files."""
    nvrtc = ctypes.CDLL(library)
    if version(nvrtc) != VERSION:
        sys.exit(f"this is NVRTC {version(nvrtc)}, and {WHEEL} is what makes these files")
    save_artifact(kernel(nvrtc), (HERE if folder is None else Path(folder)) / "gravity.ptx")


if __name__ == "__main__":
    main(*sys.argv[1:])
