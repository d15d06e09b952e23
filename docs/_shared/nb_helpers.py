"""What the notebooks of the documentation ask of the machine they run on."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Literal

__all__ = ["gpu_available", "xp_for"]


def gpu_available() -> bool:
    """Whether eagle can run graphs on a GPU here."""
    from eagle.plugin.lookup import backend_named, why_not

    backend = backend_named("gpu")
    return backend is not None and why_not(backend) is None


def xp_for(device: Literal["cpu", "gpu"]) -> ModuleType:
    """Return the array library for a device: NumPy or CuPy."""
    return importlib.import_module("cupy" if device == "gpu" else "numpy")
