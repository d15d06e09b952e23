"""Random graphs of the kernels of `graph_kernels` over the planes of a `PlanePool`, on the host or on a device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import graph_kernels
import numpy as np
from hypothesis import strategies as st
from plane_pool import PlanePool

import eagle
from eagle.graph import Node, opaque

__all__ = ["LOOP", "PYTHON", "graph", "programs_of", "rows_with_reductions"]

Put: TypeAlias = Callable[[np.ndarray], Any]
Entry = Any
PYTHON, REDUCE, LOOP, COPY = -1, -2, -3, -4
REDUCED = [(op, dtype) for op in ("sum", "max", "min") for dtype in ("float64", "int32")] + [
    ("all", "bool"),
    ("any", "bool"),
]
COPIED: list[tuple[str, tuple[int, ...]]] = [("float64", ()), ("int32", ()), ("bool", ()), ("float64", (3,))]
numbers = st.tuples(*[st.integers(0, 11)] * 4)
few = st.tuples(*[st.integers(0, 2)] * 3, st.integers(1, 2))  # planes that line up
inner = st.tuples(st.integers(0, len(graph_kernels.plans()) - 4), few)  # kernels that cannot fault
tallies = st.tuples(st.just(REDUCE), st.tuples(*[st.integers(0, 11)] * 3, st.just(2)))
rows_with_reductions = st.lists(st.one_of(inner, tallies).map(lambda node: [[node]]), min_size=2, max_size=8)


def programs_of(without: tuple[int, ...] = ()) -> st.SearchStrategy[list[Any]]:
    """Stages of branches of nodes; `without` are kernels, by number, or `PYTHON`, which are left out."""
    numbered = [number for number in range(len(graph_kernels.plans())) if number not in without]
    launches = st.tuples(st.sampled_from(numbered), numbers)
    copies = st.tuples(st.just(COPY), numbers)
    reductions = st.tuples(st.just(REDUCE), numbers)
    others = st.tuples(st.sampled_from([kind for kind in (PYTHON, COPY, COPY) if kind not in without]), numbers)
    loops = st.tuples(st.just(LOOP), st.lists(launches, min_size=1, max_size=4))
    stages = st.one_of(
        *[launches.map(lambda node: [[node]])] * 6,
        *[reductions.map(lambda node: [[node]])] * 2,
        others.map(lambda node: [[node]]),
        loops.map(lambda node: [[node]]),
        st.lists(st.lists(st.one_of(launches, launches, copies), min_size=1, max_size=3), min_size=2, max_size=3),
    )
    return st.lists(stages, min_size=1, max_size=10)


def item(pool: PlanePool, entry: Entry, put: Put) -> Any:
    """A node, a bound plan, or None for planes that a plan refuses."""
    kind, given_ = entry
    x = pool.reals[: pool.samples]
    if kind == PYTHON:
        return opaque(lambda: np.add(x, 1, out=x), reads={"x": x}, writes={"x": x})
    if kind == REDUCE:
        return reduction(pool, put, *given_)
    if kind == COPY:
        dtype, shape = COPIED[given_[0] % len(COPIED)]
        planes = pool.planes(dtype, shape, pool.samples)
        src, into = planes[given_[1] % len(planes)], planes[given_[2] % len(planes)]
        return None if np.shares_memory(src, into) else eagle.copy(put(src), into=put(into))
    if kind == LOOP:
        steps = tuple(one for one in (item(pool, entry, put) for entry in given_) if one is not None)
        on = put(np.ones(1, np.int32))
        return eagle.repeat_while(tuple(one.launch for one in steps), eagle.SkipGuard.nonzero(on), 2) if steps else None
    plan = graph_kernels.plans()[kind]
    try:
        wired = pool.wiring(plan, given_)
        return plan.bind(**{name: put(one) if isinstance(one, np.ndarray) else one for name, one in wired.items()})
    except eagle.PlaneError:
        return None


def reduction(pool: PlanePool, put: Put, number: int, plane: int, out: int, half: int) -> Node[Any] | None:
    """The reduction of a plane or of a row of one, in part of every second element, into one of a few places."""
    op, dtype = REDUCED[number % len(REDUCED)]
    planes = pool.planes(dtype, (), pool.samples if half % 4 else pool.samples // 2)
    planes += [row for one in pool.planes(dtype, (3,), pool.samples) for row in one] if dtype == "float64" else []
    x, places = planes[plane % len(planes)], pool.planes(dtype, (), 1 + len(pool.bytes))[0][-8:]
    x = x[::2] if half == 1 else x
    place = places[out % 8 :][:1]
    if np.shares_memory(x, place) or (not x.size and op in ("max", "min")):
        return None
    return eagle.reduce(put(x), put(place), op)


def graph(pool: PlanePool, program: list[Any], *, groups: bool, put: Put = lambda array: array) -> eagle.Graph:
    """The graph of a program; `put` is where an array of the pool is for the device that runs it."""
    g = eagle.Graph()
    for stage in program:
        branches = [
            [one for one in (item(pool, entry, put) for entry in branch) if one is not None] for branch in stage
        ]
        branches = [branch for branch in branches if branch]
        if groups and len(branches) > 1:
            g.add_group(branches)
            continue
        for one in (one for branch in branches for one in branch):
            g.add_node(one) if isinstance(one, Node) else g.add(one)
    return g
