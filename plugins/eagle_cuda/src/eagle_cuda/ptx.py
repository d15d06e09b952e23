"""CUDA C++ to PTX by NVRTC alone: cuda.core asks the driver on the way, and files are made without one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["to_ptx"]

_OPTIONS = {"fma": "fmad", "prec_div": "prec-div", "prec_sqrt": "prec-sqrt"}  # where NVRTC's name is another


def to_ptx(text: str, arch: str, flags: Mapping[str, bool]) -> bytes:
    """Return PTX for an architecture such as ``"compute_75"``; flags are named as cuda.core's.

    Raises
    ------
    ValueError
        The compiler does not take the text; with its words.
    Exception
        Of cuda.pathfinder: there is no NVRTC.
    """
    from cuda.bindings import nvrtc

    options = [f"--gpu-architecture={arch}", "--std=c++17"]
    options += [f"--{_OPTIONS.get(flag, flag)}={str(on).lower()}" for flag, on in flags.items()]
    program = _checked(nvrtc.nvrtcCreateProgram(text.encode(), b"kernel.cu", 0, None, None))
    try:
        (code,) = nvrtc.nvrtcCompileProgram(program, len(options), [option.encode() for option in options])
        if int(code):
            raise ValueError(_text("ProgramLog", program).decode("utf-8", "replace").strip())
        return _text("PTX", program)
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def _text(what: str, program: Any) -> bytes:
    """Return a text that NVRTC has of a program, without the zero it ends with."""
    from cuda.bindings import nvrtc

    text = bytes(_checked(getattr(nvrtc, f"nvrtcGet{what}Size")(program)))
    _checked(getattr(nvrtc, f"nvrtcGet{what}")(program, text))
    return text.removesuffix(b"\0")


def _checked(results: tuple[Any, ...]) -> Any:
    code, *values = results
    if int(code):
        raise RuntimeError(f"NVRTC answered {code!r}")
    return values[0] if values else None
