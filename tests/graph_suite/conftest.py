"""The fixture ``device``: each test of this folder runs on every device."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from devices import HostDevice

from eagle.testing import registered

STRANGER = Path(__file__).parent.parent / "stranger" / "src"
SEEDS = 3
CUDA_SEEDS = 5


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "device" in metafunc.fixturenames:
        if metafunc.config.getoption("--emulated") or metafunc.config.getoption("--real-gpu"):
            metafunc.fixturenames.append("seed")
            metafunc.parametrize("seed", range(CUDA_SEEDS), ids=lambda seed: f"seed{seed}")
            metafunc.parametrize("device", ["cuda"], indirect=True, scope="function")
            return
        chosen = metafunc.config.getoption("--device") or ["host", *(f"slab, seed {seed}" for seed in range(SEEDS))]
        metafunc.parametrize("device", chosen, indirect=True, scope="function")


@pytest.fixture
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[object]:
    """
    The host; the stranger's backend, which runs in a random legal order; or what ``--device`` names. In a run with
    ``--emulated``, the CUDA device, likewise in a random legal order.
    """
    chosen: str = request.param
    if chosen == "host":
        yield HostDevice()
    elif chosen == "cuda":
        yield from cuda_device(request)
    elif chosen.startswith("slab, seed"):
        monkeypatch.syspath_prepend(str(STRANGER))
        hooks = importlib.import_module("eagle_slab.hooks")
        backend = importlib.import_module("eagle_slab.backend").SlabBackend
        monkeypatch.setattr(backend, "seed", int(chosen.split()[-1]))
        with registered(hooks):
            yield importlib.import_module("eagle_slab.device").SlabDevice()
    else:
        module, _, attribute = chosen.partition(":")
        yield getattr(importlib.import_module(module), attribute)()


def cuda_device(request: pytest.FixtureRequest) -> Iterator[object]:
    """The device the run has loaded, running in the order that the seed chooses."""
    import cuda_devices
    import cuda_emulator
    import cuda_frame

    emulator = cuda_emulator.loaded()
    emulator.reset()
    emulator.seed(request.getfixturevalue("seed"))
    with registered(cuda_frame):
        yield cuda_devices.CudaDevice()
