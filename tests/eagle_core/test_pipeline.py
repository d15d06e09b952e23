"""GraphPipeline: steps in order, the backend they are recorded on, and what is refused."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from types import MappingProxyType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import eagle
from eagle.errors import GraphTypeError
from eagle.graph import opaque
from eagle.pipeline import GraphPipeline
from eagle.plugin import Backend, Blueprint, Executable, Framework, Streams, hookimpl
from eagle.testing import registered


def nothing() -> None:
    """A step that does nothing."""


def saying(log: list[str], *words: str) -> GraphPipeline:
    pipe = GraphPipeline()
    for word in words:
        pipe.add(partial(log.append, word), name=word)
    return pipe


def test_the_public_name_is_the_pages_class() -> None:
    assert eagle.GraphPipeline is GraphPipeline


def test_steps_run_in_the_order_of_adding_and_every_method_returns_the_pipeline() -> None:
    log: list[str] = []
    pipe = saying(log, "a", "b")
    assert pipe.add(lambda: log.append("c")) is pipe
    assert pipe.build() is pipe
    assert pipe.launch() is pipe
    assert log == ["a", "b", "c"]
    assert pipe.enqueue(n=2) is pipe
    assert pipe.synchronize() is pipe
    assert log == ["a", "b", "c"] * 3
    assert pipe.launch(0) is pipe
    assert len(log) == 9


def test_on_the_host_nothing_is_captured() -> None:
    pipe = saying([], "a", "b")
    assert (pipe.backend, pipe.captures, repr(pipe)) == (None, 0, "<eagle.GraphPipeline of 2 steps, backend None>")
    pipe.build()
    assert (pipe.backend, pipe.captures, pipe.graph_builds) == ("cpu", 0, 0)
    assert repr(pipe) == "<eagle.GraphPipeline of 2 steps, backend cpu>"


def test_steps_of_one_name_are_told_apart() -> None:
    pipe = GraphPipeline().add(nothing, name="a").add(nothing, name="a").add(nothing)
    assert pipe.node_labels() == ("a", "a_2", "opaque")


def test_a_bound_plan_or_its_launch_is_taken_as_the_plan() -> None:
    x = np.zeros(2)

    class Bound:
        def __eagle_node__(self) -> Any:
            return opaque(lambda: np.add(x, 1, out=x), reads={"x": x}, writes={"x": x}, name="plan")

        def launch(self) -> None:
            raise AssertionError("called as it is")

    pipe = GraphPipeline().add(Bound().launch).add(Bound()).build().launch(2)  # type: ignore[arg-type]
    assert x[0] == 4
    assert pipe.node_labels() == ("plan", "plan_2")


def test_an_exception_leaves_a_launch_unchanged_and_the_pipeline_whole() -> None:
    log: list[str] = []
    fail = [True]

    def step() -> None:
        if fail:
            raise KeyError("here")
        log.append("step")

    pipe = saying(log, "before").add(step, name="fails").add(lambda: log.append("after")).build()
    with pytest.raises(KeyError, match="here") as caught:
        pipe.launch(3)
    assert "node 'fails'" in caught.value.__notes__[0]
    assert "repetition 1" in caught.value.__notes__[0]
    assert log == ["before"]
    fail.clear()
    pipe.launch()
    assert log == ["before", "before", "step", "after"]


# refused --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fn", [None, 3, np.zeros(2), lambda x: x, opaque(nothing)])
def test_a_step_is_a_callable_without_arguments(fn: Any) -> None:
    pipe = GraphPipeline()
    with pytest.raises(GraphTypeError):
        pipe.add(fn)
    assert pipe.node_labels() == ()


def test_a_name_is_a_string() -> None:
    with pytest.raises(GraphTypeError, match="name is a string, not 3"):
        GraphPipeline().add(nothing, name=3)  # type: ignore[arg-type]


def test_an_empty_pipeline_is_refused() -> None:
    with pytest.raises(eagle.GraphError, match="the pipeline is empty"):
        GraphPipeline().build()


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda pipe: pipe.build(), eagle.GraphError, "built already"),
        (lambda pipe: pipe.add(nothing), eagle.GraphError, "nothing can be added"),
        (lambda pipe: pipe.launch(-1), eagle.GraphError, "n is -1"),
        (lambda pipe: pipe.launch(1.5), GraphTypeError, "n is a number of repetitions"),
    ],
)
def test_what_a_built_pipeline_refuses(
    call: Callable[[GraphPipeline], object], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        call(GraphPipeline().add(nothing).build())


@pytest.mark.parametrize("call", [GraphPipeline.launch, GraphPipeline.enqueue, GraphPipeline.synchronize])
def test_what_is_not_built_cannot_run(call: Callable[[GraphPipeline], object]) -> None:
    with pytest.raises(eagle.BuildError, match=r"Call build\(\) first"):
        call(GraphPipeline().add(nothing))


def test_an_option_the_backend_does_not_know_is_refused_and_the_pipeline_can_be_built_again() -> None:
    pipe = GraphPipeline().add(nothing)
    with pytest.raises(eagle.BuildError, match="no build option 'turbo'"):
        pipe.build(turbo=True)
    assert pipe.build().backend == "cpu"


def test_reentry_is_busy_and_names_the_pipeline() -> None:
    pipe = GraphPipeline()
    pipe.add(lambda: pipe.launch()).build()
    with pytest.raises(eagle.Busy, match="still running on this GraphPipeline; give each thread its own GraphPipeline"):
        pipe.launch()


def test_a_second_thread_is_busy_at_once() -> None:
    inside, done = threading.Event(), threading.Event()

    def wait() -> None:
        inside.set()
        assert done.wait(30)

    pipe = GraphPipeline().add(wait).build()
    thread = threading.Thread(target=pipe.launch)
    thread.start()
    assert inside.wait(30)
    with pytest.raises(eagle.Busy):
        pipe.add(nothing)
    done.set()
    thread.join()
    pipe.launch()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_pipeline_that_was_in_flight_at_a_fork_is_free_in_the_child() -> None:
    children: list[int] = []
    pipe = GraphPipeline()

    def fork_once() -> None:
        if not children:
            children.append(os.fork())

    pipe.add(fork_once).build().launch()
    if children[0] == 0:
        try:
            pipe.launch()
            os._exit(0)
        except BaseException:
            os._exit(1)
    assert os.waitpid(children[0], 0)[1] == 0


# where it is recorded -------------------------------------------------------------------------------------------------


class Replay(Executable):
    schedule = ("capture",)
    counters: Mapping[str, int] = MappingProxyType({"captures": 1, "graph_builds": 1})

    def enqueue(self, n: int, /) -> None:
        """Replay nothing."""


class Recorder(Backend):
    """A backend of a device of its own, that records each step once."""

    devices = frozenset({"box"})
    missing: str | None = None

    def why_not(self) -> str | None:
        return self.missing

    def compile(self, blueprint: Blueprint, options: Any, /) -> Executable:
        for placed in blueprint.nodes:
            assert placed.node.payload.must_record
            placed.node.payload.fn()
        return Replay()


class BoxStreams(Streams):
    def __init__(self, stream: int | None) -> None:
        self.stream = stream

    def current(self, device: tuple[str, int], /) -> int | None:
        return self.stream if device == ("box", 0) else None

    def use(self, device: tuple[str, int], stream: int, /) -> AbstractContextManager[None]:
        return nullcontext()


def boxes(*names: str, missing: str | None = None, stream: int | None = 4, needs: str = "numpy") -> Any:
    @hookimpl
    def register_backend() -> Iterable[Backend]:
        return [type("Box", (Recorder,), {"name": name, "missing": missing})() for name in names]

    @hookimpl
    def register_framework() -> Framework:
        return Framework(name="boxes", needs=needs, streams=BoxStreams(stream))

    return SimpleNamespace(
        __name__="boxes.hooks",
        EAGLE_CONTRACT=(1, 0),
        register_backend=register_backend,
        register_framework=register_framework,
    )


def test_it_is_recorded_where_an_imported_library_has_a_stream() -> None:
    log: list[str] = []
    with registered(boxes("box")):
        pipe = saying(log, "a", "b").build().launch(5)
    assert (pipe.backend, pipe.captures, pipe.graph_builds) == ("box", 1, 1)
    assert log == ["a", "b"]


@pytest.mark.parametrize(
    "module", [boxes("box", missing="no box"), boxes("box", stream=None), boxes("box", needs="not_imported_at_all")]
)
def test_without_a_device_or_a_library_for_it_the_host_calls_the_steps(module: Any) -> None:
    log: list[str] = []
    with registered(module):
        pipe = saying(log, "a").build().launch(2)
    assert pipe.backend == "cpu"
    assert log == ["a", "a"]


def test_the_backend_that_is_stated_is_taken() -> None:
    log: list[str] = []
    with registered(boxes("box")):
        assert saying(log, "a").build("cpu").launch(2).backend == "cpu"
    assert log == ["a", "a"]
    with registered(boxes("box", needs="not_imported_at_all")):
        assert saying(log, "a").build("box").backend == "box"


def test_the_planes_of_a_bound_plan_settle_it() -> None:
    x = np.zeros(2)

    class Bound:
        def __eagle_node__(self) -> Any:
            return opaque(lambda: np.add(x, 1, out=x), reads={"x": x}, writes={"x": x})

    with registered(boxes("box")):
        assert GraphPipeline().add(Bound()).add(nothing).build().launch().backend == "cpu"  # type: ignore[arg-type]
    assert x[0] == 1


def test_two_backends_that_could_record_it_are_refused() -> None:
    with (
        registered(boxes("one", "two")),
        pytest.raises(eagle.BuildError, match=r"backends 'one', 'two' can all record .* build\(backend=\.\.\.\)"),
    ):
        saying([], "a").build()
