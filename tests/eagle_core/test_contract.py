"""The contract: what plugins see is documented, typed and behaves as it says."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import eagle
import eagle.plugin
from eagle.errors import GraphTypeError
from eagle.graph import child, opaque
from eagle.plugin import (
    CONTRACT,
    Access,
    Backend,
    Blueprint,
    Body,
    ForeignGraph,
    Framework,
    LowerContext,
    Lowering,
    Node,
    NodeKind,
    Placed,
    Step,
    hookimpl,
    register,
)
from eagle.plugin.hookspecs import HOOKS, HookSpecs
from eagle.testing import registered


def test_every_hook_is_documented_and_takes_nothing() -> None:
    specs = {name: function for name, function in vars(HookSpecs).items() if name.startswith("register_")}
    assert set(specs) == set(HOOKS)
    for name, function in specs.items():
        assert function.__doc__, name
        assert list(inspect.signature(function).parameters) == ["self"]


def test_every_public_name_is_documented() -> None:
    for name in eagle.plugin.__all__:
        item = getattr(eagle.plugin, name)
        if isinstance(item, type) or inspect.isfunction(item):
            assert item.__doc__, name
            assert not item.__doc__.startswith(f"{name}("), f"{name} has only the docstring dataclasses made"


def test_data_is_frozen_and_keyword_only() -> None:
    for name in ("Access", "Body", "NodeKind", "Memory", "Plane", "Placed", "Blueprint", "Lowering", "Framework"):
        kind = getattr(eagle.plugin, name)
        assert kind.__dataclass_params__.frozen, name
        assert all(field.kw_only for field in dataclasses.fields(kind)), name


def test_no_module_of_the_contract_hides_a_public_name() -> None:
    for _, name, _ in pkgutil.iter_modules(eagle.plugin.__path__):
        importlib.import_module(f"eagle.plugin.{name}")
    for name in eagle.plugin.__all__:
        assert not inspect.ismodule(getattr(eagle.plugin, name)), name


def test_the_contract_is_two_integers() -> None:
    assert CONTRACT == (1, 0)


# lowering -------------------------------------------------------------------------------------------------------------

Lower = Callable[[Placed[Any], LowerContext], Step | Callable[[], object]]


def kind(name: str, lower: Lower, *accesses: Access, backend: str = "cpu", **fields: Any) -> Node[Any]:
    """Register a kind under a name of its own and return a node of it."""
    register(
        NodeKind(name=name, access=lambda node: accesses, complete_access=True, **fields),
        Lowering(kind=name, backend=backend, lower=lower),
    )
    return Node(name, None)


def test_a_lowering_may_expand_into_other_nodes() -> None:
    x, y = np.arange(3.0), np.zeros(3)
    node = kind(
        "expands",
        lambda placed, context: context.expand(eagle.copy(x, into=y), eagle.copy(y[:1], into=y[1:2])),
        Access(name="x", array=x, mode="r"),
        Access(name="y", array=y, mode="rw"),
        backend="*",
    )
    eagle.Graph().add_node(node).build().launch()
    np.testing.assert_array_equal(y, [0, 0, 2])


@pytest.mark.parametrize(("mode", "says"), [("none", "reads plane 'src'"), ("r", "writes plane 'into'")])
def test_an_expansion_may_touch_only_what_its_node_declared(mode: Any, says: str) -> None:
    x, y = np.zeros(3), np.zeros(3)
    declared = [Access(name="x", array=x, mode="r")] if mode == "r" else []
    declared += [Access(name="y", array=y, mode="r" if mode == "r" else "w")]
    node = kind(
        f"expands wildly {mode}", lambda placed, context: context.expand(eagle.copy(x, into=y)), *declared, backend="*"
    )
    with pytest.raises(eagle.BuildError, match=rf"node 'n': it expands into 'copy', which {says}"):
        eagle.Graph().add_node(node, name="n").build()


def test_checks_run_once_per_launch_and_are_blamed_on_their_node() -> None:
    log: list[str] = []
    fail: list[str] = []

    def check(when: str) -> Callable[[], None]:
        def run() -> None:
            log.append(when)
            if when in fail:
                raise ValueError(when)

        return run

    def lower(placed: Placed[Any], context: LowerContext) -> Callable[[], object]:
        context.before_launch(check("before"))
        context.after_run(check("after"))
        return lambda: log.append("run")

    body = kind("checked", lower)
    g = eagle.Graph().add_node(eagle.skippable(body, eagle.SkipGuard.nonzero(np.ones(1))), name="outer").build()
    g.launch(2)
    assert log == ["before", "run", "run", "after"]
    for when, ran in (("before", ["before"]), ("after", ["before", "run", "after"])):
        del log[:]
        fail[:] = [when]
        with pytest.raises(ValueError, match=when) as caught:
            g.launch()
        assert "node 'outer'" in caught.value.__notes__[0]
        assert log == ran


def test_what_a_lowering_keeps_lives_as_long_as_the_graph() -> None:
    import weakref

    class Kept:
        pass

    kept = Kept()
    alive = weakref.ref(kept)

    def lower(placed: Placed[Any], context: LowerContext) -> Callable[[], object]:
        context.keep(placed.node.payload.pop())
        return lambda: None

    kind("keeps", lower)
    g = eagle.Graph().add_node(Node("keeps", [kept])).build()
    del kept
    assert alive() is not None
    del g
    assert alive() is None


def test_a_lowering_that_returns_neither_step_nor_callable_is_refused() -> None:
    node = kind("returns three", lambda placed, context: 3)  # type: ignore[arg-type,return-value]
    with pytest.raises(eagle.PluginError, match="'returns three' for backend 'cpu' returned 3"):
        eagle.Graph().add_node(node).build()


def test_an_error_in_a_lowering_names_node_kind_and_backend() -> None:
    def lower(placed: Placed[Any], context: LowerContext) -> Step:
        raise KeyError("plan")

    with pytest.raises(KeyError) as caught:
        eagle.Graph().add_node(kind("fails to lower", lower), name="n").build()
    assert "while lowering node 'n' (kind 'fails to lower') for backend 'cpu'" in caught.value.__notes__


def test_an_exact_lowering_comes_before_the_one_for_all() -> None:
    log: list[str] = []
    node = kind("two lowerings", lambda placed, context: lambda: log.append("*"), backend="*")
    register(Lowering(kind="two lowerings", backend="cpu", lower=lambda placed, context: lambda: log.append("cpu")))
    eagle.Graph().add_node(node).build().launch()
    assert log == ["cpu"]


def test_a_body_knows_it_is_one() -> None:
    seen: list[bool] = []

    def lower(placed: Placed[Any], context: LowerContext) -> Callable[[], object]:
        seen.append(context.in_body)
        return lambda: None

    node = kind("looks where it is", lower)
    g = eagle.Graph().add_node(node).add_node(eagle.skippable(node, eagle.SkipGuard.nonzero(np.ones(1))))
    g.add_node(node).build()
    assert seen == [False, True, False]


def test_register_takes_kinds_and_lowerings_and_refuses_another_definition() -> None:
    for _ in range(2):
        register(NodeKind(name="registered once", access=lambda node: ()))
    with pytest.raises(
        eagle.PluginError, match="another kind 'registered once' is registered already, by this program"
    ):
        register(NodeKind(name="registered once", access=lambda node: []))
    with pytest.raises(GraphTypeError, match="takes kinds and lowerings, not 3"):
        register(3)  # type: ignore[arg-type]


# what a kind may say --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("access", "says"),
    [
        (3, "holds 3"),
        (Access(name="", array=np.zeros(2), mode="r"), "names its plane ''"),
        (Access(name="x", array=np.zeros(2), mode="x"), "mode 'x'"),  # type: ignore[arg-type]
        (Access(name="x", array=np.zeros(2), mode="r", axis=1), "axis 1"),
        (Access(name="x", array=np.zeros(2), mode="r", cells=(2,)), "cell 2"),
        (Access(name="x", array=np.zeros(2), mode="r", cells=5), "cells 5"),  # type: ignore[arg-type]
        (Access(name="x", array=np.zeros((2, 2)), mode="r", cells=(0,)), "only 1-D arrays"),
    ],
)
def test_an_access_that_cannot_be_is_refused_naming_the_node(access: Any, says: str) -> None:
    name = f"bad access {says}"
    register(NodeKind(name=name, access=lambda node: [access]))
    with pytest.raises(eagle.PluginError, match=f"node 'n'.*{says}"):
        eagle.Graph().add_node(Node(name, None), name="n")


def test_access_and_bodies_return_iterables_of_the_right_things() -> None:
    register(NodeKind(name="no iterable", access=lambda node: None))  # type: ignore[arg-type,return-value]
    with pytest.raises(eagle.PluginError, match="access of kind 'no iterable' returned None"):
        eagle.Graph().add_node(Node("no iterable", None))
    register(NodeKind(name="no body", access=lambda node: (), bodies=lambda node: [3]))  # type: ignore[list-item]
    with pytest.raises(eagle.PluginError, match="returned 3 from bodies"):
        eagle.Graph().add_node(Node("no body", None))


def test_cells_are_the_only_bytes_touched() -> None:
    x = np.zeros(6)
    register(NodeKind(name="cells", access=lambda node: [Access(name="c", array=x, mode="w", cells=node.payload)]))
    g = eagle.Graph().add_node(Node("cells", (0, 5)))
    g.add_node(opaque(lambda: None, reads=x[1:5])).add_node(opaque(lambda: None, reads=x[5:]))
    assert [(e.src, e.dst, e.plane) for e in g.edges()] == [(0, 2, "c")]


def test_a_strangers_loop_is_written_once_for_all_backends() -> None:
    x = np.zeros(1)
    register(
        NodeKind(
            name="times three",
            access=lambda node: (),
            bodies=lambda node: [Body(title="x 3", nodes=node.payload)],
            complete_access=True,
        ),
        Lowering(
            kind="times three",
            backend="*",
            lower=lambda placed, context: context.repeat(None, context.body(placed.bodies[0]), limit=3),
        ),
    )
    bump = opaque(lambda: np.add(x, 1, out=x), reads={"x": x}, writes={"x": x})
    g = eagle.Graph().add_node(Node("times three", (bump, bump))).build().launch()
    assert x[0] == 6
    assert "x 3" in str(g)


def test_a_conditional_stands_once_in_an_expansion() -> None:
    loop = eagle.repeat_while(lambda: None, eagle.SkipGuard.nonzero(flag := np.ones(1)), 1)
    node = kind(
        "expands a loop twice",
        lambda placed, context: context.expand(loop, loop),
        Access(name="flag", array=flag, mode="r"),
        backend="*",
    )
    with pytest.raises(eagle.GraphError, match="one place in one graph"):
        eagle.Graph().add_node(node).build()


@pytest.mark.parametrize("body", [Body(title=3, nodes=()), Body(title="x", nodes=None), Body(title="x", nodes=(3,))])  # type: ignore[arg-type]
def test_a_body_that_cannot_be_is_refused_at_add(body: Body) -> None:
    name = f"bad body {body!r}"
    register(NodeKind(name=name, access=lambda node: (), bodies=lambda node: [body]))
    with pytest.raises(eagle.PluginError, match=r"node 'n': kind .* from bodies"):
        eagle.Graph().add_node(Node(name, None), name="n")


def test_a_step_of_another_backend_is_refused() -> None:
    with pytest.raises(eagle.BuildError, match="is no step of backend 'cpu'"):
        eagle.Graph().add_node(kind("foreign step", lambda placed, context: Step())).build()


def test_a_backend_that_compiles_to_nothing_is_refused() -> None:
    class Empty(Backend):
        name, devices = "empty", frozenset({"nowhere"})

        def compile(self, blueprint: Blueprint, options: Any, /) -> Any:
            return None

    module: Any = SimpleNamespace(__name__="empty.hooks", EAGLE_CONTRACT=(1, 0))
    module.register_backend = hookimpl(lambda: Empty())
    with registered(module), pytest.raises(eagle.PluginError, match=r"backend 'empty' compiled .* to None"):
        eagle.Graph().add_node(opaque(lambda: None)).build("empty")


def test_two_definitions_given_together_are_refused_and_neither_is_registered() -> None:
    with pytest.raises(eagle.PluginError, match="given together, and differ"):
        register(
            NodeKind(name="given twice", access=lambda node: ()), NodeKind(name="given twice", access=lambda node: [])
        )
    with pytest.raises(eagle.GraphError, match="no node kind 'given twice'"):
        eagle.Graph().add_node(Node("given twice", None))


# child graphs ---------------------------------------------------------------------------------------------------------


class Captured:
    """Something a framework captured."""

    def __init__(self, array: np.ndarray) -> None:
        self.array, self.version = array, 0

    def replay(self) -> None:
        self.array += 1


def adopt(owner: object) -> ForeignGraph | None:
    if not isinstance(owner, Captured):
        return None
    return ForeignGraph(backend="cpu", graph=owner.replay, version=lambda: owner.version, keep=owner)


@hookimpl
def register_framework() -> Iterable[Framework]:
    return [Framework(name="absent", needs="not_imported_at_all"), Framework(name="mine", needs="numpy", adopt=adopt)]


HOOKS_MODULE: Any = SimpleNamespace(__name__="mine.hooks", EAGLE_CONTRACT=(1, 0), register_framework=register_framework)


def test_a_child_is_replayed_as_one_node() -> None:
    x = np.zeros(2)
    with registered(HOOKS_MODULE):
        g = eagle.Graph().add_node(child(Captured(x), writes={"x": x}), name="model").build().launch(3)
    assert x[0] == 3
    assert "[child]" in str(g)


def test_a_child_that_was_captured_again_is_refused_at_launch() -> None:
    x = np.zeros(2)
    owner = Captured(x)
    with registered(HOOKS_MODULE):
        g = eagle.Graph().add_node(child(owner, writes={"x": x}), name="model").build().launch()
    owner.version += 1
    with pytest.raises(eagle.BuildError, match="node 'model': the child graph was reset or captured again"):
        g.launch()
    assert x[0] == 1


def test_a_child_nobody_adopts_is_refused_at_build_and_drawn_before() -> None:
    g = eagle.Graph().add_node(child(object(), reads=np.zeros(1)), name="model")
    assert "[child]" in str(g)
    with pytest.raises(eagle.BuildError, match="node 'model': no installed plugin knows a child graph of a object"):
        g.build()
