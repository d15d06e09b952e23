"""The page's compiled kernel: of the source its files are made of, compiled here, and its files."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
from cuda_arrays import DeviceArray

from eagle.plugin import Kernel
from eagle_cuda import compile_source, save_artifact

__all__ = ["FIXTURES", "MU", "agrees", "files_for", "gravity", "maker", "planes"]

FIXTURES = Path(__file__).parents[2] / "docs" / "_fixtures"
MU = 3.986004418e5
N = 100


def planes(count: int = N) -> dict[str, Any]:
    """Return what it takes besides ``mu``: a tenth of the samples are finished, and nothing was added yet."""
    position = np.random.default_rng(2).uniform(7.0e3, 4.2e4, size=(3, count))
    host = {"out": np.zeros((3, count)), "position": position, "terminated": np.arange(count) % 10 == 3}
    return {name: DeviceArray(array) for name, array in host.items()}


def agrees(given: dict[str, Any], times: int) -> bool:
    """Whether so many launches with `MU` have added what they should."""
    position = given["position"].to_numpy()
    once = -MU * position / np.linalg.norm(position, axis=0) ** 3
    wanted = np.where(given["terminated"].to_numpy(), 0.0, times * once)
    return bool(np.allclose(given["out"].to_numpy(), wanted, rtol=1e-13, atol=0.0))


def gravity(arch: str | None = None) -> Kernel:
    """Return the kernel, compiled for the current device unless an architecture is named."""
    made = maker()
    source = made.SOURCE.read_text()
    return compile_source(source, made.ENTRY, made.ARGUMENTS, arch=arch, accumulates=made.ACCUMULATES)


def files_for(emulator: Any, folder: Path) -> Path:
    """Return a folder with gravity.ptx: the page's own for a real device, one made in `folder` for the emulated one.

    The emulated driver runs what the emulated compiler makes, and no PTX.
    """
    if getattr(emulator, "real", False):
        return FIXTURES
    save_artifact(gravity(maker().ARCH), folder / "gravity.ptx")
    return folder


def maker() -> Any:
    """Return the script that makes the page's files, as a module."""
    spec = importlib.util.spec_from_file_location("make_gravity", FIXTURES / "make_gravity.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
