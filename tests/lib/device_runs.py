"""Tests that run on the host and, in a run with ``--emulated``, unchanged on the CUDA device in random legal orders.

A conftest imports `device` and `pytest_generate_tests` and calls `host_tests_left_out`. Each test that is part of both
runs takes the fixture ``device``; one that is about the host alone says why, by the marker ``host_only``.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from cuda_emulator import is_loaded
from devices import HostDevice
from hypothesis import HealthCheck, settings

from eagle.testing import registered

__all__ = ["device", "fewer", "host_tests_left_out", "on_device", "pytest_generate_tests", "under_a_seed"]

SEEDS = 5
FIXTURE = HealthCheck.function_scoped_fixture


def fewer(divisor: int = 1) -> settings:
    """Return so much fewer examples, and a tenth of those on the device: each is a kernel that g++ compiles."""
    some = settings.default
    assert some is not None
    examples = max(some.max_examples // (divisor * (10 if is_loaded() else 1)), 1)
    return settings(max_examples=examples, suppress_health_check=[*some.suppress_health_check, FIXTURE])


def on_device(config: pytest.Config) -> bool:
    """Whether this run has a CUDA device."""
    return bool(config.getoption("--emulated") or config.getoption("--real-gpu"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test once on the host, or under every seed on the device; under one if it is marked ``one_seed``."""
    if metafunc.definition.get_closest_marker("one_seed"):
        under_a_seed(metafunc)
    else:
        under_seeds(metafunc, range(SEEDS))


def under_a_seed(metafunc: pytest.Metafunc) -> None:
    """Run a test once on the host, or under one seed on the device, which differs from test to test."""
    under_seeds(metafunc, [zlib.crc32(metafunc.definition.nodeid.encode()) % SEEDS])


def under_seeds(metafunc: pytest.Metafunc, seeds: Sequence[int]) -> None:
    """Run a test once on the host, or under these seeds on the device."""
    if "device" in metafunc.fixturenames:
        chosen: Sequence[int | None] = seeds if on_device(metafunc.config) else [None]
        ids = ["host" if seed is None else f"seed{seed}" for seed in chosen]
        metafunc.parametrize("device", chosen, ids=ids, indirect=True, scope="function")


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


def host_tests_left_out(
    config: pytest.Config, items: list[pytest.Item], folder: str, *, silently: bool = False
) -> None:
    """In a run on the device, leave out those tests of a folder that are about the host.

    With `silently` those are all that do not take ``device``.

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
    left_out = {item for item in mine if item.get_closest_marker("host_only") or (silently and not _takes_device(item))}
    unsaid = [item.name for item in mine if item not in left_out and not _takes_device(item)]
    if unsaid:
        raise pytest.UsageError(f"these run neither on the device nor are they marked host_only: {', '.join(unsaid)}")
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]


def _takes_device(item: pytest.Item) -> bool:
    return "device" in getattr(item, "fixturenames", ())
