"""Code of the user's own, captured: recorded into a graph instead of run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from eagle.plugin import BuildError
from eagle_cuda.driver import api, call
from eagle_cuda.errors import CudaError
from eagle_cuda.graph_builder import GraphBuilder
from eagle_cuda.lifetime import capturing
from eagle_cuda.nodes import NEVER_IN_CHILD, NOT_IN_BODY, NOT_IN_GRAPH, first_forbidden, nodes_of, piece

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

    Code that records nothing has the nodes it was to wait for as its last ones. In the body of a conditional, and with
    drivers that cannot do otherwise, the code is captured into a graph of its own, checked, and put in as one node.

    Raises
    ------
    BuildError
        It did something that cannot be captured.
    Exception
        Whatever `record` raised.
    """
    if builder.in_body or not builder.device.has_conditionals:
        return _apart(builder, record, after)
    waits = builder.needed(after)
    stream, mode = builder.stream, _mode()

    def begin() -> None:
        call("cuStreamBeginCaptureToGraph", stream, builder.graph, waits or None, None, len(waits), mode)

    tails: list[int] = []
    _recorded(builder, begin, record, look=lambda: tails.extend(_tails(stream)))
    recorded = piece(tails, {int(node) for node in waits})
    _refuse(first_forbidden(recorded, NOT_IN_GRAPH), in_body=False)
    return [node if node in after else builder.note(node, after) for node in tails]


def _apart(builder: GraphBuilder, record: Callable[[int], object], after: Sequence[int]) -> Sequence[int]:
    """Capture into a graph of its own, and put that in as one node."""
    stream, mode = builder.stream, _mode()
    own = _recorded(builder, lambda: call("cuStreamBeginCapture", stream, mode), record, discard=_destroy)
    try:
        nodes = nodes_of(own)
        if not nodes:
            return list(after)
        _refuse(first_forbidden(nodes, NOT_IN_BODY if builder.in_body else NEVER_IN_CHILD), in_body=builder.in_body)
        return [builder.child(own, after)]
    finally:
        call("cuGraphDestroy", own)


def _recorded(
    builder: GraphBuilder,
    begin: Callable[[], object],
    record: Callable[[int], object],
    *,
    look: Callable[[], object] = lambda: None,
    discard: Callable[[Any], object] = lambda graph: None,
) -> Any:
    """Capture, `look` before the end, and return the graph, or `discard` it when something went wrong."""
    stream = builder.stream
    with capturing():
        begin()
        raised: Exception | None = None
        try:
            record(int(stream))
        except Exception as error:
            raised = error
        except BaseException:
            discard(_end(stream)[0])
            raise
        valid = _is_valid(stream)
        if valid and raised is None:
            look()
        graph, ended = _end(stream)
    if raised is None and valid and ended is None:
        return graph
    discard(graph)
    if raised is not None and valid:
        raise raised
    raise _cannot_be_captured(raised or ended, builder.in_body) from (raised or ended)


_ACTIVE = 1
_UNJOINED = 904


def _mode() -> Any:
    return api().CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL


def _is_valid(stream: Any) -> bool:
    try:
        return int(call("cuStreamIsCapturing", stream)) == _ACTIVE
    except CudaError:
        return False


def _tails(stream: Any) -> list[int]:
    """Return the last nodes that a capture recorded."""
    _, _, _, nodes, _, count = call("cuStreamGetCaptureInfo", stream)
    return [int(node) for node in list(nodes or ())[:count]]


def _end(stream: Any) -> tuple[Any, CudaError | None]:
    try:
        return call("cuStreamEndCapture", stream), None
    except CudaError as error:
        return None, error


def _destroy(graph: Any) -> None:
    if graph is not None and int(graph):
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
