"""A stranger's kinds, through the same door as an installed plugin, on our backend and on theirs."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import eagle
from eagle.testing import registered

STRANGER = Path(__file__).parents[1] / "stranger"
CONTRACT = {"eagle.plugin", "eagle.graph.payloads", "eagle.errors"}


@pytest.fixture
def kinds(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(str(STRANGER / "src"))
    with registered(importlib.import_module("eagle_slab.hooks")):
        yield importlib.import_module("eagle_slab.kinds")


def slab(values: Any) -> Any:
    return importlib.import_module("eagle_slab").SlabArray.from_numpy(np.array(values, float))


def test_one_kind_runs_on_both_backends_by_its_own_lowerings(kinds: ModuleType) -> None:
    x, y = np.arange(3.0), np.zeros(3)
    assert eagle.Graph().add_node(kinds.scale(x, 2.0, y)).build().launch().backend == "cpu"
    a, b = slab([0, 1, 2]), slab([0, 0, 0])
    assert eagle.Graph().add_node(kinds.scale(a, 2.0, b)).build().launch().backend == "slab"
    np.testing.assert_array_equal(y, b.host())


def test_a_kind_written_once_runs_on_both(kinds: ModuleType) -> None:
    x, between, y = np.ones(2), np.zeros(2), np.zeros(2)
    eagle.Graph().add_node(
        kinds.times(3, kinds.scale_twice(x, 2.0, between, y), eagle.copy(y, into=x))
    ).build().launch()
    a, t, b = slab([1, 1]), slab([0, 0]), slab([0, 0])
    eagle.Graph().add_node(kinds.times(3, kinds.scale_twice(a, 2.0, t, b), eagle.copy(b, into=a))).build().launch()
    np.testing.assert_array_equal(x, [64, 64])
    np.testing.assert_array_equal(a.host(), x)


def test_their_memory_and_the_hosts_do_not_mix(kinds: ModuleType) -> None:
    g = eagle.Graph().add_node(kinds.scale(np.zeros(2), 2.0, slab([0, 0])), name="n")
    with pytest.raises(eagle.GraphError, match="'slab' memory"):
        g.build()
    with pytest.raises(eagle.PlaneError, match=r"node 'n'.*out has shape"):
        eagle.Graph().add_node(kinds.scale(slab([0, 0]), 2.0, slab([0])), name="n")


def test_what_their_payload_lacks_is_told_by_the_node(kinds: ModuleType) -> None:
    g = eagle.Graph().add_node(eagle.copy(slab([1, 2]), into=np.zeros(2)))
    with pytest.raises(eagle.BuildError, match="node 'copy': this backend copies inside slabs only"):
        g.build()


def test_they_import_the_contract_and_nothing_else_of_eagle() -> None:
    sources = [*STRANGER.glob("src/**/*.py"), *Path(__file__).parents[2].glob("plugins/*/src/**/*.py")]
    for source in sources:
        for line in source.read_text().splitlines():
            if re.match(r"\s*(from|import) eagle(\.| |$)", line):
                assert line.split()[1] in CONTRACT, f"{source}: {line}"
