"""Random graphs of kernels, copies, sums and loops leave and raise on the device what they do on the host."""

from __future__ import annotations

import re
from typing import Any

import graph_kernels
import numpy as np
import pytest
from cuda_arrays import Mirror
from device_runs import fewer
from hypothesis import given
from hypothesis import strategies as st
from kernel_graphs import LOOP, PYTHON, graph, programs_of
from plane_pool import PlanePool

import eagle
from eagle_ir import OPERATIONS, Compute, Function
from eagle_ir.walking import instructions


def transcendental(plan: eagle.Plan) -> bool:
    """Whether its bits are those of the host's vector library, which the emulated device does not have."""
    assert isinstance(plan.kernel.code, Function)
    found = instructions(plan.kernel.code.body)
    return any(isinstance(one, Compute) and OPERATIONS[one.op].transcendental for one in found)


OTHERS = tuple(number for number, plan in enumerate(graph_kernels.plans()) if transcendental(plan))


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
        # The device does not note in which repetition it was.
        raised = type(error), str(error), [re.sub(r", repetition \d+$", "", note) for note in error.__notes__]
    return pool.state(mirror.back) if mirror else pool.state(), raised


@pytest.mark.property(minutes=4)
@fewer()
@given(programs_of(without=(PYTHON, *OTHERS)), st.integers(0, 2**32 - 1), st.sampled_from([0, 1, 7, 64, 130, 300]))
def test_a_graph_leaves_the_hosts_bits_and_raises_its_fault(
    device: Any, program: list[Any], seed: int, samples: int
) -> None:
    groups = True
    try:
        expected = outcome(program, seed, samples, groups=True, mirror=None)
    except eagle.RaceError:
        groups = False
        expected = outcome(program, seed, samples, groups=False, mirror=None)
    found = outcome(program, seed, samples, groups=groups, mirror=Mirror())
    assert found[1:] == expected[1:]
    # After a fault the host ends at the next loop, the device with the repetition.
    if not (found and found[1] and any(kind == LOOP for stage in program for branch in stage for kind, _ in branch)):
        assert found == expected
    device.run()  # what was freed is gone
