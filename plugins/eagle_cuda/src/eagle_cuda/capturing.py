"""Code of the user's own, captured: recorded into a graph instead of run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from eagle.plugin import BuildError
from eagle_cuda.driver import api, call
from eagle_cuda.errors import CudaError
from eagle_cuda.graph_builder import GraphBuilder
from eagle_cuda.lifetime import capturing
from eagle_cuda.nodes import NOT_IN_BODY, NOT_IN_GRAPH, first_forbidden, nodes_of, piece

__all__ = ["capture"]

_TIERS = (
    "Do what allocates, waits or reads back before the build; or give the node stream= or eager=True, "
    "which runs it on the host at every launch."
)
_BODY_TIERS = (
    "Do what allocates, waits or reads back before the build; inside a conditional or a loop there is no other way."
)


def capture(builder: GraphBuilder, record: Callable[[int], object], after: Sequence[int]) -> Sequence[int]:
    """Record what ``record(stream)`` does on the stream into the graph, after these nodes; return the last nodes.

    Code that records nothing has the nodes it was to wait for as its last ones. In the body of a conditional, and where
    the driver captures into no graph that is there, the code is captured into a graph of its own, checked, and put
    in as one node.

    Raises
    ------
    BuildError
        It did something that cannot be captured.
    Exception
        Whatever `record` raised.
    """
    if builder.in_body or not builder.device.abilities.captures_into_graphs:
        return _as_child(builder, record, after)
    waits = builder.needed(after)
    _, tails = _captured(builder, record, waits)
    recorded = piece(tails, {int(node) for node in waits})
    _refuse(first_forbidden(recorded, NOT_IN_GRAPH), in_body=False)
    return [node if node in after else builder.note(node, after) for node in tails]


def _as_child(builder: GraphBuilder, record: Callable[[int], object], after: Sequence[int]) -> Sequence[int]:
    own, _ = _captured(builder, record, None)
    try:
        nodes = nodes_of(own)
        if not nodes:
            return list(after)
        _refuse(first_forbidden(nodes, NOT_IN_BODY if builder.in_body else NOT_IN_GRAPH), in_body=builder.in_body)
        return [builder.child(own, after)]  # which is a copy of it
    finally:
        call("cuGraphDestroy", own)


def _captured(builder: GraphBuilder, record: Callable[[int], object], waits: list[Any] | None) -> tuple[Any, list[int]]:
    """Capture between exactly `waits` and the nodes returned; without them into a new graph, which is the caller's."""
    mode = api().CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
    stream = builder.stream
    with capturing():
        if waits is None:
            call("cuStreamBeginCapture", stream, mode)
        else:
            call("cuStreamBeginCaptureToGraph", stream, builder.graph, waits or None, None, len(waits), mode)
        raised: Exception | None = None
        tails: list[int] = []
        try:
            record(int(stream))
        except Exception as error:
            raised = error
        except BaseException:
            _discard(_end(stream)[0], waits)
            raise
        active = int(call("cuStreamIsCapturing", stream)) == _ACTIVE
        if waits is not None and active and raised is None:
            tails = _last_nodes(stream)
        graph, failure = _end(stream)
    if active and raised is None and failure is None:
        return graph, tails
    _discard(graph, waits)
    if raised is not None and active:
        raise raised
    raise _cannot_be_captured(raised or failure, builder.in_body) from (raised or failure)


_ACTIVE = 1
_UNJOINED = 904


def _last_nodes(stream: Any) -> list[int]:
    """Return what the next operation captured would wait for."""
    _, _, _, nodes, _, count = call("cuStreamGetCaptureInfo", stream)
    return [int(node) for node in list(nodes or ())[:count]]


def _end(stream: Any) -> tuple[Any, CudaError | None]:
    """End a capture, and return its graph or why there is none."""
    try:
        return call("cuStreamEndCapture", stream), None
    except CudaError as error:
        return None, error


def _discard(graph: Any, waits: list[Any] | None) -> None:
    """Destroy what was captured, if that is a graph of its own."""
    if waits is None and graph is not None:
        call("cuGraphDestroy", graph)


def _cannot_be_captured(error: Exception | None, in_body: bool) -> BuildError:
    if isinstance(error, CudaError) and error.code == _UNJOINED:
        return BuildError(
            "its code forked work to another stream and did not join it",
            why=str(error),
            fix="Have the stream it was given wait for the other one before the code returns.",
        )
    return BuildError(
        "its code does something that cannot be captured",
        why=f"allocating, waiting for the device, reading back, using the legacy default stream, and waiting for a "
        f"stream that is not captured are refused ({_in_words(error)})",
        fix=_BODY_TIERS if in_body else _TIERS,
    )


def _in_words(error: Exception | None) -> str:
    return f"{type(error).__name__}: {error}" if error is not None else "the driver does not say which"


def _refuse(found: str | None, *, in_body: bool) -> None:
    if found is not None:
        where = "inside a conditional or a loop" if in_body else "in a graph that is launched again"
        raise BuildError(f"its code {found}, which cannot be {where}", fix=_BODY_TIERS if in_body else _TIERS)
