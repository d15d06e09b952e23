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

    Code that records nothing has the nodes it was to wait for as its last ones. In the body of a conditional the
    code is captured into a graph of its own, checked, and put in as one node.

    Raises
    ------
    BuildError
        It did something that cannot be captured.
    Exception
        Whatever `record` raised.
    """
    if not builder.in_body:
        waits = builder.needed(after)
        tails = _capture_into(builder, builder.graph, waits, record)
        recorded = piece(tails, {int(node) for node in waits})
        _refuse(first_forbidden(recorded, NOT_IN_GRAPH), in_body=False)
        return [node if node in after else builder.note(node, after) for node in tails]
    own = call("cuGraphCreate", 0)
    try:
        tails = _capture_into(builder, own, [], record)
        if not tails:
            return list(after)
        _refuse(first_forbidden(nodes_of(own), NOT_IN_BODY), in_body=True)
        return [builder.child(own, after)]
    finally:
        call("cuGraphDestroy", own)


def _capture_into(builder: GraphBuilder, graph: Any, waits: list[Any], record: Callable[[int], object]) -> list[int]:
    """Capture between exactly `waits` and the nodes returned."""
    mode = api().CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
    stream = builder.stream
    with capturing():
        call("cuStreamBeginCaptureToGraph", stream, graph, waits or None, None, len(waits), mode)
        raised: Exception | None = None
        tails: list[int] = []
        try:
            record(int(stream))
        except Exception as error:
            raised = error
        except BaseException:
            _end(stream)
            raise
        status, found = _status(stream)
        if raised is None:
            tails = found
        ended = _end(stream)
    if raised is not None and status == _ACTIVE:
        raise raised
    if status != _ACTIVE or ended is not None:
        raise _cannot_be_captured(raised or ended, builder.in_body) from (raised or ended)
    return tails


_ACTIVE = 1
_UNJOINED = 904


def _status(stream: Any) -> tuple[int, list[int]]:
    """Return whether the capture is still valid, and the last nodes it recorded."""
    try:
        status, _, _, nodes, _, count = call("cuStreamGetCaptureInfo", stream)
    except CudaError:
        return 0, []
    return int(status), [int(node) for node in list(nodes or ())[:count]]


def _end(stream: Any) -> CudaError | None:
    try:
        call("cuStreamEndCapture", stream)
    except CudaError as error:
        return error
    return None


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
