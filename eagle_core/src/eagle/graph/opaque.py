"""``opaque`` and ``child``: code of the user's own, with the arrays it touches declared."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from itertools import count
from typing import Any

from eagle.errors import GraphError, GraphTypeError
from eagle.graph.payloads import Child, Opaque
from eagle.plugin.nodes import Access, Node

__all__ = ["child", "declared_access", "opaque"]


def opaque(
    fn: Callable[[], object],
    reads: object = None,
    writes: object = None,
    *,
    stream: object = None,
    eager: bool = False,
    name: str | None = None,
) -> Node[Opaque]:
    """Make a node of any callable without arguments.

    Declare every array it touches: one it touches that is not declared is invisible to the conflict check. What is
    declared says which planes, never which edges. A node eagle cannot see into keeps its place in the order of
    adding with every node outside its own group.

    On the CPU every tier is a plain call, in order. On a GPU the tier decides what runs and what waits:
    by default `fn` is captured once, at build, and replayed, so it may not allocate, and what it does for the first
    time (loading a module, planning an FFT) belongs before the build.

    Parameters
    ----------
    fn : callable
        Called without arguments; what it returns is ignored. An exception leaves `Graph.launch` unchanged, with a
        note that says which node it came from.
    reads, writes : mapping, list or array, optional
        The arrays it touches: a mapping from name to array, a list of arrays (named ``in0``, ``in1``, ..., and
        ``out0``, ...), or one array. An array that is both read and written stands in both, under one name.
    stream : optional
        Run `fn` on the host at every launch, its device work on this stream: a stream of an imported framework, one
        with ``__cuda_stream__``, or the driver's handle as an integer. What is none of these is refused by a build
        for a backend that has streams.
    eager : bool
        Run `fn` on the host at every launch, with a device synchronisation before and after.
    name : str, optional
        Its label.

    Raises
    ------
    GraphTypeError
        `fn` is not callable, needs arguments, or is ``async`` or a generator.
    GraphError
        ``stream=`` together with ``eager=True``.
    """
    _check_callable(fn)
    if stream is not None and eager:
        raise GraphError(
            "an opaque node has either stream= or eager=True",
            why="eager=True waits for the whole device, which takes in every stream",
            fix="Drop one of them.",
        )
    planes = _declared(reads, writes)
    payload = Opaque(fn=fn, stream=stream, eager=bool(eager), reads=planes["reads"], writes=planes["writes"])
    return Node("opaque", payload, name)


def child(owner: object, reads: object = None, writes: object = None, *, name: str | None = None) -> Node[Child]:
    """Make a node of a graph that a framework captured.

    eagle keeps `owner` alive and refuses a launch after it was reset or captured again.

    Parameters
    ----------
    owner : object
        The framework's own graph object; the framework's plugin knows what to do with it.
    reads, writes : mapping, list or array, optional
        The arrays it touches, as for `opaque`.
    name : str, optional
        Its label.

    Raises
    ------
    GraphTypeError
        Names of planes that are no strings. Whether a plugin adopts `owner` is found out by `Graph.build`.
    """
    return Node("child", Child(owner=owner, **_declared(reads, writes)), name)


def declared_access(node: Node[Any]) -> Iterable[Access]:
    """Yield the planes that an `opaque` or a `child` declares."""
    for name, array in node.payload.reads.items():
        yield Access(name=name, array=array, mode="r")
    for name, array in node.payload.writes.items():
        yield Access(name=name, array=array, mode="w")


def _declared(reads: object, writes: object) -> dict[str, dict[str, object]]:
    return {"reads": _named(reads, "reads", "in"), "writes": _named(writes, "writes", "out")}


def _named(planes: object, keyword: str, default: str) -> dict[str, object]:
    if planes is None:
        return {}
    if isinstance(planes, Mapping):
        for name in planes:
            if not isinstance(name, str):
                raise GraphTypeError(
                    f"{keyword}= names a plane {name!r}", fix="Plane names are strings: reads={'x': x}."
                )
        free = (name for number in count() if (name := f"{default}{number}") not in planes)
        return {name or next(free): array for name, array in planes.items()}
    if isinstance(planes, (list, tuple)):
        return {f"{default}{number}": array for number, array in enumerate(planes)}
    return {f"{default}0": planes}


def _check_callable(fn: object) -> None:
    if not callable(fn):
        raise GraphTypeError(f"opaque takes a callable without arguments, not {fn!r}")
    called = fn if inspect.isroutine(fn) else getattr(fn, "func", None) or type(fn).__call__
    for test, what in (
        (inspect.iscoroutinefunction, "async"),
        (inspect.isasyncgenfunction, "an async generator"),
        (inspect.isgeneratorfunction, "a generator"),
    ):
        if test(fn) or test(called):
            raise GraphTypeError(
                f"opaque takes a plain callable, and {fn!r} is {what}",
                why="calling it would run nothing",
                fix="Pass a callable that does the work before it returns.",
            )
    try:
        inspect.signature(fn).bind()
    except TypeError as error:
        raise GraphTypeError(
            f"opaque calls {fn!r} without arguments",
            why=str(error),
            fix="Close over the arrays: opaque(lambda: step(x, y), reads={'x': x}, writes={'y': y}).",
        ) from None
    except ValueError:
        return  # a builtin that does not say what it takes
