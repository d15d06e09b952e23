"""Removing any one edge from the graph the driver is given shows as a wrong order under some seed."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import cuda_devices
import numpy as np
import pytest
from cuda_arrays import DeviceArray
from edge_dropping import Dropping
from order_probes import Probes

import eagle

SEEDS = 60
Check = Callable[[], bool]


def chain(p: Probes) -> tuple[eagle.Graph, Check]:
    g = eagle.Graph()
    for name in "abcd":
        g.add_node(p.opaque(name))
    return g, lambda: in_order(p, ["ab", "bc", "cd"])


def fork_and_join(p: Probes) -> tuple[eagle.Graph, Check]:
    g = eagle.Graph().add_node(p.opaque("a"))
    g.add_group([[p.opaque("b"), p.opaque("c")], p.opaque("d"), p.opaque("e")])
    g.add_node(p.opaque("f"))
    return g, lambda: in_order(p, ["ab", "bc", "ad", "ae", "cf", "df", "ef"])


def two_groups(p: Probes) -> tuple[eagle.Graph, Check]:
    g = eagle.Graph().add_group([p.opaque("a"), p.opaque("b")]).add_group([p.opaque("c"), p.opaque("d")])
    return g, lambda: in_order(p, ["ac", "ad", "bc", "bd"])


def nothing_captured_between(p: Probes) -> tuple[eagle.Graph, Check]:
    g = eagle.Graph().add_group([p.opaque("a"), p.opaque("b")])
    g.add_node(eagle.graph.opaque(lambda: None)).add_node(p.opaque("c")).add_node(p.opaque("d"))
    return g, lambda: in_order(p, ["ac", "bc", "cd"])


def memory_decides(p: Probes) -> tuple[eagle.Graph, Check]:
    x, y, z = (p.array([0.0, 0.0]) for _ in range(3))
    g = eagle.Graph()
    g.add_node(p.known("a", (x, "w"))).add_node(p.known("b", (x[:1], "r"), (y, "w")))
    g.add_node(p.known("c", (x[1:], "r"), (z, "w"))).add_node(p.known("d", (x[:1], "w")))
    g.add_node(p.known("e", (y, "r"), (z, "r")))
    return g, lambda: in_order(p, ["ab", "ac", "bd", "be", "ce"])


def a_conditional(p: Probes) -> tuple[eagle.Graph, Check]:
    flag = p.array([1], np.int32)
    g = eagle.Graph().add_node(p.opaque("a", reads=flag))
    g.add_node(eagle.skippable((p.opaque("b"), p.opaque("c")), eagle.SkipGuard.nonzero(flag)))
    g.add_node(p.opaque("d", reads=flag))
    return g, lambda: in_order(p, ["ab", "bc", "cd"]) and ran(p, once="abcd")


def a_loop(p: Probes) -> tuple[eagle.Graph, Check]:
    left, x = p.array([3], np.int32), p.array([0.0])
    body = (p.known("b", (x, "w")), p.known("c", (x, "r")), p.opaque("d", writes=left, counts_down=left))
    loop = eagle.repeat_while(body, eagle.SkipGuard.nonzero(left))
    g = eagle.Graph().add_node(p.opaque("a", reads=left)).add_node(loop).add_node(p.opaque("e"))

    def check() -> bool:
        right = int(left.to_numpy()[0]) == 0 and loop.iterations == 3
        left.fill_from(3)
        return right and in_order(p, ["ab", "bc", "cd", "de"]) and ran(p, once="ae", thrice="bcd")

    return g, check


def nested(p: Probes) -> tuple[eagle.Graph, Check]:
    left, on = p.array([3], np.int32), p.array([1], np.int32)
    inner = eagle.skippable(p.opaque("b"), eagle.SkipGuard.nonzero(on))
    body = (inner, p.opaque("c", writes=left, counts_down=left))
    loop = eagle.repeat_while(body, eagle.SkipGuard.nonzero(left))
    g = eagle.Graph().add_node(p.opaque("a")).add_node(loop).add_node(p.opaque("d"))

    def check() -> bool:
        right = int(left.to_numpy()[0]) == 0
        left.fill_from(3)
        return right and in_order(p, ["ab", "bc", "cd"]) and ran(p, once="ad", thrice="bc")

    return g, check


def copies(p: Probes) -> tuple[eagle.Graph, Check]:
    device = cuda_devices.CudaDevice()
    a, b, c = (p.array([0.0, 0.0, 0.0, 0.0]) for _ in range(3))
    host = np.zeros(4)
    g = eagle.Graph()
    g.add_node(eagle.graph.opaque(device.shift(a, 1.0, a), reads={"a": a}, writes={"a": a}))
    g.add_node(eagle.copy(a[::-1], into=b)).add_node(eagle.copy(b, into=c)).add_node(eagle.copy(c, into=host))
    g.add_node(eagle.graph.opaque(device.fill(b, 7.0), writes={"b": b}))
    turns = [0]

    def check() -> bool:
        turns[0] += 1
        return bool((host == turns[0]).all() and (b.to_numpy() == 7).all())

    return g, check


def random_graph(number: int) -> Callable[[Probes], tuple[eagle.Graph, Check]]:
    """Nodes of both sorts over views of one array, in groups and by themselves."""

    def make(p: Probes) -> tuple[eagle.Graph, Check]:
        rng = random.Random(number)
        base = p.array(np.zeros(8))
        g = eagle.Graph()
        for _ in range(6):
            if rng.random() < 0.3:
                g.add_group([random_node(p, rng, base[:4], "r"), [random_node(p, rng, base[4:], "r") for _ in "ab"]])
            else:
                g.add_node(random_node(p, rng, base, rng.choice(["r", "w"])))
        return g, lambda: in_order(p, required(g))

    return make


def random_node(p: Probes, rng: random.Random, base: DeviceArray, mode: str) -> Any:
    name = chr(ord("a") + len(p.names))
    low = rng.randrange(len(base) - 1)
    view = base[low : low + rng.randint(1, 3)]
    if rng.random() < 0.3:
        return p.opaque(name, **{"reads" if mode == "r" else "writes": {"p0": view}})
    return p.known(name, (view, mode))


def required(g: eagle.Graph) -> list[str]:
    """Every pair that must keep its order, by the definition: groups, add order of the unknown, hazards."""
    from eagle.graph.freezing import frozen

    blueprint = frozen(g._stages)
    return [
        blueprint.nodes[earlier].label + blueprint.nodes[later].label
        for later, needed in enumerate(blueprint.before)
        for earlier in needed
    ]


def in_order(p: Probes, pairs: list[str]) -> bool:
    """Whether the first of each pair had run as often as it was to, when the second one began for the last time."""
    counts, seen = p.found()
    return all(seen[later][earlier] == counts[earlier] > 0 for earlier, later in map(tuple, pairs))


def ran(p: Probes, once: str = "", thrice: str = "") -> bool:
    counts, _ = p.found()
    return all(counts[name] == 1 for name in once) and all(counts[name] == 3 for name in thrice)


PROGRAMS = {
    make.__name__: make
    for make in (
        chain, fork_and_join, two_groups, nothing_captured_between, memory_decides, a_conditional, a_loop, nested,
        copies,
    )
} | {f"random {number}": random_graph(number) for number in range(6)}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_edge_matters(cuda: Any, emulator: Any, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    with monkeypatch.context() as patch:
        dropping = Dropping(patch, None)
        assert wrong_seed(emulator, PROGRAMS[name]) is None
    assert dropping.edges > 0
    if getattr(emulator, "real", False):
        pytest.skip("only the emulated device takes every legal order, sooner or later")
    for edge in range(dropping.edges):
        with monkeypatch.context() as patch:
            Dropping(patch, edge)
            assert wrong_seed(emulator, PROGRAMS[name]) is not None, f"edge {edge} of {dropping.edges} changes nothing"


def wrong_seed(emulator: Any, make: Callable[[Probes], tuple[eagle.Graph, Check]]) -> int | None:
    """The first seed under which the graph does something wrong, if any does."""
    probes = Probes()
    graph, check = make(probes)
    graph.build("gpu")
    for seed in range(1 if getattr(emulator, "real", False) else SEEDS):
        emulator.seed(seed)
        probes.clear()
        graph.launch()
        if not check():
            return seed
    return None
