"""Streams of frameworks: which are asked, and how the handle of a user's stream is found."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

import eagle
from eagle.errors import GraphTypeError
from eagle.plugin import Framework, PluginError, Streams, hookimpl, stream_handle, streams
from eagle.testing import registered


class Line:
    """A library's stream."""

    def __init__(self, number: int) -> None:
        self.number = number


class Lines(Streams):
    def current(self, device: tuple[str, int], /) -> int | None:
        return 7 if device == ("cuda", 0) else None

    def use(self, device: tuple[str, int], stream: int, /) -> AbstractContextManager[None]:
        return nullcontext()

    def handle(self, stream: object, /) -> int | None:
        return stream.number if isinstance(stream, Line) else None


class Silent(Lines):
    handle = Streams.handle


def plugin(*frameworks: Framework, name: str = "lines") -> Any:
    @hookimpl
    def register_framework() -> tuple[Framework, ...]:
        return frameworks

    return SimpleNamespace(__name__=f"{name}.hooks", EAGLE_CONTRACT=(1, 0), register_framework=register_framework)


def test_only_imported_frameworks_are_asked() -> None:
    here = Framework(name="lines", needs="numpy", streams=Lines())
    away = Framework(name="away", needs="not_imported_at_all", streams="not_imported_at_all:Lines")
    with registered(plugin(here, away, Framework(name="streamless", needs="numpy"))):
        found = streams()
    assert list(found) == ["lines"]
    assert found["lines"].current(("cuda", 0)) == 7


@pytest.mark.parametrize("given", [Lines, f"{__name__}:Lines"])
def test_a_class_or_a_reference_stands_for_an_instance(given: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, __name__, SimpleNamespace(Lines=Lines))
    with registered(plugin(Framework(name="lines", needs="numpy", streams=given))):
        assert isinstance(streams()["lines"], Lines)


NO_STREAMS = type("NoStreams", (), {})


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("nowhere:Lines", "which cannot be imported"),
        (NO_STREAMS, "NoStreams object.*Name a Streams"),
        ("os:sep", "is '/'"),
    ],
)
def test_streams_that_cannot_be_had_are_never_left_out(given: Any, says: str) -> None:
    with (
        registered(plugin(Framework(name="lines", needs="numpy", streams=given))),
        pytest.raises(PluginError, match=f"the streams of framework 'lines' .*{says}"),
    ):
        streams()


@pytest.mark.parametrize("needs", ["not_imported_at_all", "numpy"])
def test_a_framework_that_two_plugins_define_is_refused_once_it_is_imported(needs: str) -> None:
    one = plugin(Framework(name="lines", needs=needs, streams=Lines()), name="one")
    two = plugin(Framework(name="lines", needs=needs, streams=Silent()), name="two")
    with registered(one), registered(two):
        with pytest.warns(eagle.PluginWarning, match="Framework 'lines' is defined differently"):
            eagle.plugin.kinds()
        if needs == "numpy":
            with pytest.raises(PluginError, match="framework 'lines' is defined differently"):
                streams()
        else:
            assert streams() == {}


class Foreign:
    def __init__(self, answer: object) -> None:
        self.answer = answer

    def __cuda_stream__(self) -> object:
        return self.answer


class Index:
    def __index__(self) -> int:
        return 5


@pytest.mark.parametrize(
    ("stream", "handle"), [(0, 0), (2**63, 2**63), (Index(), 5), (Line(3), 3), (Foreign((0, 9)), 9)]
)
def test_a_stream_has_a_handle(stream: object, handle: int) -> None:
    with registered(
        plugin(
            Framework(name="a silent one", needs="numpy", streams=Silent()),
            Framework(name="lines", needs="numpy", streams=Lines()),
        )
    ):
        assert stream_handle(stream) == handle


@pytest.mark.parametrize("stream", [None, True, 1.5, "7", object(), Line(3), Foreign])
def test_what_is_no_stream_is_refused(stream: object) -> None:
    with pytest.raises(GraphTypeError, match=r"stream is .*which eagle cannot find the handle of"):
        stream_handle(stream)


@pytest.mark.parametrize(
    ("stream", "error", "says"),
    [
        (-1, eagle.GraphError, "the stream's handle is -1"),
        (Foreign((1, 9)), eagle.GraphError, "speaks version 1 of the protocol"),
        (Foreign(9), PluginError, "the __cuda_stream__ of a Foreign gives 9"),
        (Foreign((0, None)), PluginError, r"gives \(0, None\)"),
    ],
)
def test_a_stream_that_cannot_be_is_refused(stream: object, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        stream_handle(stream)


def test_what_a_framework_raises_is_not_swallowed() -> None:
    class Broken(Lines):
        def handle(self, stream: object, /) -> int | None:
            raise RuntimeError("the library is gone")

    with (
        registered(plugin(Framework(name="lines", needs="numpy", streams=Broken()))),
        pytest.raises(RuntimeError, match="the library is gone"),
    ):
        stream_handle(3)
