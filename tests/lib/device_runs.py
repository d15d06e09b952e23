"""Tests that run on the host and, in a run with ``--emulated``, unchanged on the CUDA device in random legal orders.

A conftest imports `device` and `pytest_generate_tests` and calls `host_tests_left_out`. Each test of its folder that is
part of both runs takes the fixture ``device``; one that is about the host alone says why, by the marker ``host_only``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from devices import HostDevice

from eagle.testing import registered

__all__ = ["device", "host_tests_left_out", "on_device", "pytest_generate_tests"]

SEEDS = 5


def on_device(config: pytest.Config) -> bool:
    """Whether this run has a CUDA device."""
    return bool(config.getoption("--emulated") or config.getoption("--real-gpu"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test once on the host, or under every seed on the device."""
    if "device" in metafunc.fixturenames:
        seeds = range(SEEDS) if on_device(metafunc.config) else [None]
        ids = [f"seed{seed}" for seed in seeds] if on_device(metafunc.config) else ["host"]
        metafunc.parametrize("device", seeds, ids=ids, indirect=True, scope="function")


@pytest.fixture
def device(request: pytest.FixtureRequest) -> Iterator[Any]:
    """The arrays of the host, or of the device, which runs in the order that the seed chooses."""
    if request.param is None:
        yield HostDevice()
        return
    import cuda_devices
    import cuda_emulator
    import cuda_frame

    emulator = cuda_emulator.loaded()
    emulator.reset()
    emulator.seed(request.param)
    with registered(cuda_frame):
        yield cuda_devices.CudaDevice()


def host_tests_left_out(config: pytest.Config, items: list[pytest.Item], folder: str) -> None:
    """In a run on the device, leave out those tests of a folder that are about the host.

    Raises
    ------
    pytest.UsageError
        A test of a file of which others run on the device neither takes ``device`` nor says why not.
    """
    if not on_device(config):
        return
    here = [item for item in items if str(item.path).startswith(folder)]
    shared = {item.path for item in here if _takes_device(item)}
    mine = [item for item in here if item.path in shared and not item.get_closest_marker("emulated")]
    left_out = {item for item in mine if item.get_closest_marker("host_only")}
    unsaid = [item.name for item in mine if item not in left_out and not _takes_device(item)]
    if unsaid:
        raise pytest.UsageError(f"these run neither on the device nor are they marked host_only: {', '.join(unsaid)}")
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]


def _takes_device(item: pytest.Item) -> bool:
    return "device" in getattr(item, "fixturenames", ())
