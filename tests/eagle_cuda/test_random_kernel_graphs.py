"""Random graphs of kernels, copies, sums and loops leave and raise on the device what they do on the host."""

from __future__ import annotations

from typing import Any

import graph_kernels
import numpy as np
import pytest
from cuda_arrays import Mirror
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kernel_graphs import PYTHON, graph, programs_of
from plane_pool import PlanePool

import eagle

# The sine of the host is its vector library's, that of the emulated device the C library's.
SMOOTH = [plan.name for plan in graph_kernels.plans()].index("smooth")


def outcome(program: list[Any], seed: int, samples: int, *, groups: bool, mirror: Mirror | None) -> tuple[Any, ...]:
    """What two launches leave in memory, and what they raise."""
    pool = PlanePool(seed, samples)
    g = graph(pool, program, groups=groups, put=mirror) if mirror else graph(pool, program, groups=groups)
    if not g.num_nodes():
        return ()
    g.build()
    raised: tuple[Any, ...] = ()
    try:
        with np.errstate(all="ignore"):
            g.launch(2)
    except (IndexError, ZeroDivisionError, OverflowError) as error:
        raised = type(error), str(error), error.__notes__
    return pool.state(mirror.back) if mirror else pool.state(), raised


@pytest.mark.property(minutes=4)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(programs_of(without=(PYTHON, SMOOTH)), st.integers(0, 2**32 - 1), st.sampled_from([0, 1, 7, 64, 130, 300]))
def test_a_graph_leaves_the_hosts_bits_and_raises_its_fault(
    device: Any, program: list[Any], seed: int, samples: int
) -> None:
    groups = True
    try:
        expected = outcome(program, seed, samples, groups=True, mirror=None)
    except eagle.RaceError:
        groups = False
        expected = outcome(program, seed, samples, groups=False, mirror=None)
    assert outcome(program, seed, samples, groups=groups, mirror=Mirror()) == expected
    device.run()  # what was freed is gone
