"""Random graphs over random strided views of one buffer, and an oracle that enumerates bytes."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeAlias

import numpy as np
from hypothesis import strategies as st

import eagle
from eagle.graph import opaque
from eagle.plugin import Access, Lowering, Node, NodeKind, register

BUFFER = 48
Program: TypeAlias = "list[list[list[Touching]]]"  # stages of branches of nodes


@dataclass(frozen=True)
class View:
    """A strided view of the buffer, by its numbers."""

    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    itemsize: int

    def over(self, buffer: np.ndarray) -> np.ndarray:
        return np.ndarray(self.shape, f"V{self.itemsize}", buffer.data, self.offset, self.strides)

    def bytes(self) -> set[int]:
        covered = set()
        for index in product(*map(range, self.shape)):
            start = self.offset + sum(i * s for i, s in zip(index, self.strides, strict=True))
            covered |= set(range(start, start + self.itemsize))
        return covered


@dataclass(frozen=True)
class Touching:
    """One node: what it reads and writes, and whether its kind promises that this is all."""

    planes: tuple[tuple[View, str], ...]
    complete: bool

    @property
    def declared(self) -> list[tuple[int, View, str]]:
        """Its planes with their numbers, in the order of declaration; an opaque declares what it reads first."""
        planes = [(number, view, mode) for number, (view, mode) in enumerate(self.planes)]
        return planes if self.complete else sorted(planes, key=lambda plane: "r" not in plane[2])

    def conflicts(self, other: Touching) -> bool:
        return any(True for _ in hazards(self, other))


def hazards(earlier: Touching, later: Touching) -> Iterator[tuple[str, str]]:
    """(kind, plane of the earlier node), in the documented order."""
    tests: tuple[tuple[str, str, str], ...] = (("RAW", "w", "r"), ("WAR", "r", "w"), ("WAW", "w", "w"))
    for kind, first, second in tests:
        for number, view, mode in earlier.declared:
            if first in mode and any(second in m and view.bytes() & v.bytes() for v, m in later.planes):
                yield kind, f"p{number}"


@st.composite
def views(draw: st.DrawFn) -> View:
    itemsize = draw(st.sampled_from([1, 2, 3, 4, 8]))
    shape = tuple(draw(st.lists(st.integers(0, 4), max_size=2)))
    strides = tuple(draw(st.integers(-9, 9)) for _ in shape)
    reach = [(count - 1) * stride for count, stride in zip(shape, strides, strict=True) if count]
    low, high = sum(min(r, 0) for r in reach), sum(max(r, 0) for r in reach) + itemsize
    if high - low > BUFFER:
        return View(0, (2,), (itemsize,), itemsize)
    return View(draw(st.integers(-low, BUFFER - high)), shape, strides, itemsize)


touching = st.builds(
    Touching,
    st.lists(st.tuples(views(), st.sampled_from(["r", "r", "w", "rw"])), min_size=1, max_size=3).map(tuple),
    st.booleans(),
)
stages = st.lists(
    st.one_of(
        touching.map(lambda node: [[node]]),
        st.lists(st.lists(touching, min_size=1, max_size=2), min_size=2, max_size=3),
    ),
    min_size=1,
    max_size=6,
)


class Case:
    """A random graph, its callables, and what the oracle says of it."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.buffer = np.arange(BUFFER, dtype=np.uint8)
        self.nodes = [node for stage in program for branch in stage for node in branch]
        self.place = [(s, b) for s, stage in enumerate(program) for b, branch in enumerate(stage) for _ in branch]
        self.calls: list[Callable[[], None]] = []
        self.graph = eagle.Graph()
        for stage in program:
            made = [[self._node(node) for node in branch] for branch in stage]
            if len(made) == 1:
                self.graph.add_node(made[0][0])
            else:
                self.graph.add_group(made)

    def _node(self, node: Touching) -> Node[Any]:
        planes = [(f"p{number}", view.over(self.buffer), mode) for number, (view, mode) in enumerate(node.planes)]
        call = self._call(len(self.calls), planes)
        self.calls.append(call)
        if node.complete:
            return Node("test touching", (call, planes))
        reads = {name: array for name, array, mode in planes if "r" in mode}
        writes = {name: array for name, array, mode in planes if "w" in mode}
        return opaque(call, reads=reads, writes=writes)

    def _call(self, number: int, planes: list[tuple[str, np.ndarray, str]]) -> Callable[[], None]:
        """Write something that depends on everything read, and on nothing else."""

        def call() -> None:
            seen = zlib.crc32(bytes([number]))
            for _, array, mode in planes:
                if "r" in mode:
                    seen = zlib.crc32(array.tobytes(), seen)
            for _, array, mode in planes:
                if "w" in mode and array.size:
                    array[...] = np.void(seen.to_bytes(8, "little")[: array.itemsize].ljust(array.itemsize, b"x"))

        return call

    def siblings(self, i: int, j: int) -> bool:
        return self.place[i][0] == self.place[j][0] and self.place[i][1] != self.place[j][1]

    def pairs(self) -> Iterator[tuple[int, int]]:
        return ((i, j) for i in range(len(self.nodes)) for j in range(i + 1, len(self.nodes)))

    def races(self) -> list[tuple[int, int]]:
        return [(i, j) for i, j in self.pairs() if self.siblings(i, j) and self.nodes[i].conflicts(self.nodes[j])]

    def edges(self) -> list[tuple[int, int, str, str]]:
        """What `Graph.edges` has to return."""
        return [
            (i, j, plane, kind)
            for i, j in self.pairs()
            if not self.siblings(i, j)
            for kind, plane in hazards(self.nodes[i], self.nodes[j])
        ]

    def order(self) -> set[tuple[int, int]]:
        """Every pair that has to keep its order: hazards, fork and join, and nodes that touch more than they say."""
        return {
            (i, j)
            for i, j in self.pairs()
            if not self.siblings(i, j)
            and (
                self.nodes[i].conflicts(self.nodes[j])
                or not (self.nodes[i].complete and self.nodes[j].complete)
                or (self.place[i][0] != self.place[j][0] and (self._forks(i) or self._forks(j)))
            )
        }

    def _forks(self, i: int) -> bool:
        return len(self.program[self.place[i][0]]) > 1

    def run(self, order: list[int]) -> bytes:
        """The buffer after running the nodes in this order from the start."""
        self.buffer[:] = np.arange(BUFFER)
        for index in order:
            self.calls[index]()
        return self.buffer.tobytes()


def closure(pairs: set[tuple[int, int]], count: int) -> set[tuple[int, int]]:
    """The transitive closure, by Warshall."""
    reach = np.zeros((count, count), bool)
    for i, j in pairs:
        reach[i, j] = True
    for k in range(count):
        reach |= np.outer(reach[:, k], reach[k])
    return {(int(i), int(j)) for i, j in np.argwhere(reach)}


def reduction(pairs: set[tuple[int, int]], count: int) -> set[tuple[int, int]]:
    """The transitive reduction: the pairs of the closure that no third node stands between."""
    full = closure(pairs, count)
    return {(i, j) for i, j in full if not any((i, k) in full and (k, j) in full for k in range(count))}


def _access(node: Node[Any]) -> Iterator[Access]:
    for name, array, mode in node.payload[1]:
        yield Access(name=name, array=array, mode=mode)


register(
    NodeKind(name="test touching", access=_access, complete_access=True),
    Lowering(kind="test touching", backend="cpu", lower=lambda placed, context: placed.node.payload[0]),
)
