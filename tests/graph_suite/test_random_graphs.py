"""Random graphs over random views give what NumPy gives one operation after another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from devices import HostDevice
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import eagle
from eagle.graph import Node, opaque

Device = Any
SIZE = 24


@st.composite
def slices(draw: st.DrawFn) -> slice:
    """Four elements of an array of SIZE, forwards or backwards, with a step."""
    step = draw(st.sampled_from([1, 2, 3, 6, -1, -2, -5]))
    reach = 3 * abs(step)
    low = draw(st.integers(0, SIZE - 1 - reach))
    if step > 0:
        return slice(low, low + reach + 1, step)
    high = low + reach
    return slice(high, low - 1 if low else None, step)


nodes = st.tuples(st.sampled_from(["scale", "shift", "add", "copy"]), slices(), slices(), slices())
programs = st.lists(st.tuples(nodes, st.booleans()), min_size=1, max_size=9)


def add_to(g: eagle.Graph, device: Device, base: Any, node: Any, looped: Any) -> None:
    kind, *keys = node
    a, b, out = (device.view(base, key) for key in keys)
    made: Node[Any]
    if kind == "copy":
        made = eagle.copy(a, into=out)
    elif kind == "add":
        made = opaque(device.add(a, b, out), reads={"a": a, "b": b}, writes={"out": out})
    else:
        made = opaque(getattr(device, kind)(a, 1.5, out), reads={"a": a}, writes={"out": out})
    g.add_node(eagle.repeat_while(made, eagle.SkipGuard.nonzero(looped), 2) if looped is not None else made)


def overlapping(node: Any) -> bool:
    index = np.arange(SIZE)
    return bool(set(index[node[1]]) & set(index[node[3]]))


@pytest.mark.property
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(programs)
def test_a_graph_gives_the_serial_bits(device: Device, program: list[tuple[Any, bool]]) -> None:
    program = [(node, looped) for node, looped in program if node[0] != "copy" or not overlapping(node)]
    if not program:
        return
    start = np.arange(1.0, SIZE + 1) / 7
    base, on = device.array(start), device.array([1], np.int32)
    g = eagle.Graph()
    for node, looped in program:
        add_to(g, device, base, node, on if looped else None)
    g.build().launch(2)

    host, expected = HostDevice(), start.copy()
    for node, looped in [*program, *program]:
        for _ in range(2 if looped else 1):
            kind, *keys = node
            a, b, out = (host.view(expected, key) for key in keys)
            if kind == "copy":
                out[...] = a
            else:
                (host.add(a, b, out) if kind == "add" else getattr(host, kind)(a, 1.5, out))()
    np.testing.assert_array_equal(device.to_numpy(base), expected)
