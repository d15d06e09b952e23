"""``register_node_kind``: a kind of the running program."""

from __future__ import annotations

import functools
import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import eagle
from eagle.errors import GraphTypeError
from eagle.graph import Node, register_node_kind

MODULE = """
from eagle.graph import register_node_kind
import numpy as np

def reads(node):
    return [("x", node.payload[0], "read")]

def writes(node):
    return [("y", node.payload[1], "write")]

def lower_cpu(node):
    x, y = node.payload
    return lambda: np.multiply(x, {factor}, out=y)

def register(name):
    register_node_kind(name, reads=reads, writes=writes, lower_cpu=lower_cpu)
"""


def load(folder: Path, factor: float, head: str = "") -> ModuleType:
    path = folder / "my_kinds.py"
    path.write_text(head + MODULE.replace("{factor}", str(factor)))
    spec = importlib.util.spec_from_file_location("my_kinds", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    exec(compile(path.read_text(), str(path), "exec"), module.__dict__)
    return module


def test_a_kind_runs_its_host_arm_between_its_edges(tmp_path: Path) -> None:
    load(tmp_path, 3.0).register("triple")
    x, y, z = np.ones(2), np.zeros(2), np.zeros(2)
    g = eagle.Graph().add_node(Node("triple", (x, y)), name="a").add_node(Node("triple", (y, z)))
    assert [tuple(edge) for edge in g.edges()] == [(0, 1, "y", "RAW")]
    g.build().launch()
    assert z[0] == 9
    assert g.node_labels() == ("a", "triple")


def test_a_reloaded_definition_is_the_same_kind_wherever_it_stands_in_its_file(tmp_path: Path) -> None:
    load(tmp_path, 2.0).register("reloaded")
    load(tmp_path, 2.0, head="# moved down\n\n").register("reloaded")


def test_a_different_definition_under_one_name_is_refused(tmp_path: Path) -> None:
    load(tmp_path, 2.0).register("defined once")
    with pytest.raises(eagle.PluginError, match=r"lowering of kind 'defined once' is registered already.*another name"):
        load(tmp_path, 4.0).register("defined once")


def test_a_definition_that_closes_over_another_value_is_different() -> None:
    def register(factor: float) -> None:
        register_node_kind(
            "closure", reads=lambda node: [], writes=lambda node: [], lower_cpu=lambda node: lambda: factor
        )

    register(1.0)
    register(1.0)
    with pytest.raises(eagle.PluginError, match="differs"):
        register(2.0)


def test_a_cell_that_closes_over_new_arrays_or_over_itself_may_be_run_again() -> None:
    def run_cell() -> None:
        array = np.zeros(3)

        def count(n: int) -> int:
            return 0 if n == 0 else 1 + count(n - 1)

        register_node_kind(
            "cell",
            reads=lambda node: [("x", array, "read")],
            writes=lambda node: [],
            lower_cpu=lambda node: lambda: count(3),
        )

    run_cell()
    run_cell()


def test_an_arm_more_or_less_is_a_different_kind() -> None:
    def reads(node: Node[Any]) -> list[tuple[str, object, str]]:
        return []

    register_node_kind("two arms", reads=reads, writes=reads, lower_cpu=lambda node: print)
    with pytest.raises(eagle.PluginError, match="'two arms' is registered already: it has lower_cpu"):
        register_node_kind("two arms", reads=reads, writes=reads)


def test_the_cores_kinds_cannot_be_redefined() -> None:
    with pytest.raises(eagle.PluginError, match="eagle-core"):
        register_node_kind("copy", reads=lambda node: [], writes=lambda node: [])


def test_a_plane_in_both_is_updated_and_both_says_so_too() -> None:
    def plane(role: str, node: Node[Any]) -> list[tuple[str, object, str]]:
        return [("x", node.payload, role)]

    for name, roles in (("in both", ("read", "write")), ("by role", ("both", "both"))):
        register_node_kind(name, reads=functools.partial(plane, roles[0]), writes=functools.partial(plane, roles[1]))
        x = np.zeros(1)
        g = eagle.Graph().add_node(Node(name, x)).add_node(Node(name, x))
        assert [edge.kind for edge in g.edges()] == ["RAW", "WAR", "WAW"]


@pytest.mark.parametrize("keyword", ["reads", "writes", "lower_cpu", "lower_gpu"])
def test_a_wrong_signature_is_refused_at_registration_by_name(keyword: str) -> None:
    arms: dict[str, Any] = dict.fromkeys(("reads", "writes", "lower_cpu", "lower_gpu"), lambda node: [])
    with pytest.raises(GraphTypeError, match=rf"{keyword} of kind 'wrong' is called with one argument"):
        register_node_kind("wrong", **arms | {keyword: lambda: None})
    with pytest.raises(GraphTypeError, match=rf"{keyword} of kind 'wrong' is 3"):
        register_node_kind("wrong", **arms | {keyword: 3})


@pytest.mark.parametrize(
    "returned",
    [None, [1], [("x", np.zeros(1))], [("x", np.zeros(1), "r")], [(3, np.zeros(1), "read")], ["xyz"]],
    ids=["none", "number", "pair", "mode", "name", "string"],
)
def test_a_wrong_shape_of_reads_is_refused_at_add_by_name(returned: Any, request: pytest.FixtureRequest) -> None:
    name = f"bad reads {request.node.callspec.id}"
    register_node_kind(name, reads=lambda node: returned, writes=lambda node: [])
    g = eagle.Graph()
    with pytest.raises(eagle.PluginError, match=rf"node 'n': reads of kind '{name}' returned"):
        g.add_node(Node(name, None), name="n")
    assert g.num_nodes() == 0


def test_a_kind_without_an_arm_for_the_backend_is_refused_at_build() -> None:
    register_node_kind("no host arm", reads=lambda node: [], writes=lambda node: [], lower_gpu=lambda node: print)
    g = eagle.Graph().add_node(Node("no host arm", None), name="n")
    with pytest.raises(eagle.BuildError, match=r"node 'n': kind 'no host arm' has no lowering .*there is one for gpu"):
        g.build()


def test_an_arm_that_returns_no_callable_is_refused_at_build() -> None:
    register_node_kind("bad arm", reads=lambda node: [], writes=lambda node: [], lower_cpu=lambda node: 3)  # type: ignore[arg-type,return-value]
    with pytest.raises(eagle.PluginError, match="lower_cpu of kind 'bad arm' returned 3"):
        eagle.Graph().add_node(Node("bad arm", None)).build()

    def hungry(node: Node[Any]) -> Any:
        return lambda array: array

    register_node_kind("hungry arm", reads=lambda node: [], writes=lambda node: [], lower_cpu=hungry)
    with pytest.raises(eagle.PluginError, match="lower_cpu of kind 'hungry arm' returned"):
        eagle.Graph().add_node(Node("hungry arm", None)).build()


def test_an_exception_in_reads_propagates_with_a_note() -> None:
    register_node_kind("raises", reads=lambda node: node.payload.missing, writes=lambda node: [])
    with pytest.raises(AttributeError) as caught:
        eagle.Graph().add_node(Node("raises", None), name="n")
    assert "while reading the planes of node 'n' (kind 'raises')" in caught.value.__notes__


def test_the_name_of_a_kind_is_a_string() -> None:
    with pytest.raises(GraphTypeError, match="name of a node kind"):
        register_node_kind(3, reads=lambda node: [], writes=lambda node: [])  # type: ignore[arg-type]
