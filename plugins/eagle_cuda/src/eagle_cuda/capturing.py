"""Code of the user's own, captured: recorded into a graph instead of run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from eagle.plugin import BuildError
from eagle_cuda.driver import api, call
from eagle_cuda.errors import CudaError
from eagle_cuda.graph_builder import GraphBuilder
from eagle_cuda.lifetime import capturing

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
        _refuse(builder, _nodes_of_piece(tails, {int(node) for node in waits}), _IN_GRAPH)
        return [node if node in after else builder.note(node, after) for node in tails]
    piece = call("cuGraphCreate", 0)
    try:
        tails = _capture_into(builder, piece, [], record)
        if not tails:
            return list(after)
        _refuse(builder, _nodes_of_piece(tails, set()), _IN_BODY)
        return [builder.child(piece, after)]
    finally:
        call("cuGraphDestroy", piece)


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


# What a piece may hold, by CUgraphNodeType. Memory allocated by a graph must be freed before the next launch of it; a
# body takes kernels, copies, fills, children and conditionals only (CUDA driver API, conditional node requirements).
_NAMES = {
    3: "a host callback", 6: "waiting for an event", 7: "recording an event", 8: "signalling a semaphore",
    9: "waiting for a semaphore", 10: "allocating", 11: "freeing", 12: "memory operations in batches",
    13: "a conditional",
}  # fmt: skip
_IN_GRAPH = frozenset({10, 11})
_IN_BODY = frozenset({3, 6, 7, 8, 9, 10, 11, 12, 13})


def _nodes_of_piece(tails: Sequence[int], stop: set[int]) -> list[Any]:
    """Return every node recorded, from the last ones back to those it waits for."""
    node_type = api().CUgraphNode
    seen, waiting, nodes = set(stop), [node for node in tails if node not in stop], []
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        handle = node_type(node)
        nodes.append(handle)
        count = call("cuGraphNodeGetDependencies", handle)[-1]
        if count:
            earlier = call("cuGraphNodeGetDependencies", handle, count)[0]
            waiting.extend(int(one) for one in list(earlier)[:count])
    return nodes


def _refuse(builder: GraphBuilder, nodes: Sequence[Any], forbidden: frozenset[int]) -> None:
    for node in nodes:
        kind = int(call("cuGraphNodeGetType", node))
        if kind in forbidden:
            where = "inside a conditional or a loop" if builder.in_body else "in a graph that is launched again"
            raise BuildError(
                f"its code records {_NAMES[kind]}, which cannot stand {where}",
                fix=_BODY_TIERS if builder.in_body else _TIERS,
            )
