"""Results do not depend on how many threads there are."""

from __future__ import annotations

from collections.abc import Iterator

import kernels
import numpy as np
import pytest

import eagle
from eagle_cpu import team


@pytest.fixture(autouse=True)
def size() -> Iterator[int]:
    before = team.team_size()
    yield before
    team.set_team_size(before)


@pytest.mark.parametrize("samples", [1, 1000, 60_001])
def test_launches_and_loops_give_the_same_bits_on_one_to_eight_threads(samples: int) -> None:
    rng = np.random.default_rng(samples)
    start, rate = rng.uniform(1, 1e6, samples), rng.uniform(0.5, 0.99, samples)
    v = rng.normal(size=(3, samples))
    results = []
    for threads in range(1, 9):
        team.set_team_size(threads)
        loop = eagle.simulate(kernels.decay, x=start.copy(), rate=rate, steps_per_sample=True)
        length = eagle.deploy(kernels.length).run(v=v)
        total = np.zeros(1)
        eagle.Graph().add(eagle.deploy(kernels.scale).bind(x=length, factor=3.0, out=length.copy())).build().launch(3)
        eagle.Graph().add_node(eagle.reduce(length, total)).build().launch()
        results.append((loop.x.tobytes(), loop.steps.tobytes(), length.tobytes(), total.tobytes()))
    assert len(set(results)) == 1


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_the_fault_of_the_lowest_sample_is_raised(threads: int) -> None:
    team.set_team_size(threads)
    a, b = np.ones(50_000, np.int32), np.ones(50_000, np.int32)
    b[[123, 40_000, 49_999]] = 0
    with pytest.raises(ZeroDivisionError, match="sample 123 "):
        eagle.deploy(kernels.divide).run(a=a, b=b)
