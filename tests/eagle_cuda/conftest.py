"""The device of this run, fresh for each test, and the stand-in library that launches on a current stream.

Modules that import cuda.bindings are imported by the fixtures: this file may be read before the emulator is loaded.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from eagle.testing import registered

SEEDS = 5


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", range(SEEDS), ids=lambda seed: f"seed{seed}")


@pytest.fixture
def emulator(request: pytest.FixtureRequest) -> Any:
    """The controls of the device, in its first order or in that of the test's seed."""
    import cuda_emulator

    found = cuda_emulator.loaded()
    found.reset()
    found.seed(request.getfixturevalue("seed") if "seed" in request.fixturenames else 0)
    return found


@pytest.fixture
def cuda(unordered: Any) -> Any:
    """Arrays and operations of the device."""
    import cuda_devices

    return cuda_devices.CudaDevice()


@pytest.fixture
def device(seed: int, unordered: Any) -> Any:
    """The controls of the device, under each of several orders, with ``cuda_frame`` to launch on it."""
    return unordered


@pytest.fixture
def unordered(emulator: Any) -> Iterator[Any]:
    """The same under one order, for tests in which nothing depends on it: most refusals."""
    import cuda_frame

    with registered(cuda_frame):
        yield emulator


@pytest.fixture
def nothing_left(emulator: Any) -> Iterator[None]:
    """Fail if the test leaves anything of the driver behind."""
    from cuda_own import leaves_nothing

    with leaves_nothing(emulator):
        yield


@pytest.fixture
def cupy(emulator: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """CuPy on a real device, its stand-in on the emulated one."""
    if getattr(emulator, "real", False):
        return pytest.importorskip("cupy")
    import cupy_stand_in

    module = cupy_stand_in.module()
    monkeypatch.setitem(sys.modules, "cupy", module)
    monkeypatch.setitem(sys.modules, "cupy.cuda", module.cuda)
    return module


@pytest.fixture(scope="module")
def gravity_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that has gravity.ptx, which the device of this run takes, and gravity.json."""
    import cuda_emulator
    from gravity import files_for

    return files_for(cuda_emulator.loaded(), tmp_path_factory.mktemp("files"))


@pytest.fixture
def copied(unordered: Any, gravity_files: Path, tmp_path: Path) -> Path:
    """A gravity.ptx of the test's own, with its description, to change."""
    for name in ("gravity.ptx", "gravity.json"):
        shutil.copy(gravity_files / name, tmp_path)
    return tmp_path / "gravity.ptx"


@pytest.fixture
def torch(emulator: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A torch built for CUDA on a real device, its stand-in on the emulated one."""
    if getattr(emulator, "real", False):
        found = pytest.importorskip("torch")
        return found if found.cuda.is_available() else pytest.skip("torch is built without CUDA")
    import torch_stand_in

    module = torch_stand_in.module()
    for name, part in (("torch", module), ("torch.cuda", module.cuda), ("torch.nn", module.nn)):
        monkeypatch.setitem(sys.modules, name, part)
    return module


@pytest.fixture
def warp(emulator: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Warp on a real device, its stand-in on the emulated one, with kernels as its ``kernels``."""
    if getattr(emulator, "real", False):
        found = pytest.importorskip("warp")
        return found if found.is_cuda_available() else pytest.skip("Warp has no CUDA device")
    import warp_stand_in

    module = warp_stand_in.start()
    for name, part in (("warp", module), ("warp._src.context", SimpleNamespace(runtime=module))):
        monkeypatch.setitem(sys.modules, name, part)
    return module


@pytest.fixture
def jax(emulator: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """JAX on a real device, its stand-in on the emulated one."""
    if getattr(emulator, "real", False):
        return pytest.importorskip("jax")
    import jax_stand_in

    module = jax_stand_in.start()
    monkeypatch.setitem(sys.modules, "jax", module)
    return module
