"""The device of the run, under each of several orders, and what is to be the same after a test as before it."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import cuda_emulator
import cuda_frame
import pytest

from eagle.testing import registered

SEEDS = 5


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "cuda" in metafunc.fixturenames:
        metafunc.fixturenames.append("seed")
        metafunc.parametrize("seed", range(SEEDS), ids=lambda seed: f"seed{seed}")


@pytest.fixture
def cuda(request: pytest.FixtureRequest) -> Iterator[cuda_emulator.Emulator]:
    """The CUDA device, under one order, with the library ``cuda_frame`` to launch on it."""
    device = cuda_emulator.loaded()
    device.reset()
    device.seed(request.getfixturevalue("seed"))
    with registered(cuda_frame):
        yield device


@pytest.fixture
def nothing_left(cuda: cuda_emulator.Emulator) -> Iterator[None]:
    """Fail if the test leaves behind anything of the driver; what it compiles, it compiles before."""
    gc.collect()
    before = cuda.live()
    yield
    gc.collect()
    cuda.settle()
    assert cuda.live() == before
