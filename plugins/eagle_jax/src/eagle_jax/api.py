"""The public module, which ``eagle.frameworks.jax`` is: it imports JAX."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import jax  # noqa: F401 - so that without JAX it is this import that fails

from eagle.errors import GraphError, GraphTypeError
from eagle.plugin import Node
from eagle_jax.payload import KIND, JaxFunction

__all__ = ["node"]


def node(
    fn: Callable[..., Mapping[str, Any]],
    reads: Mapping[str, object] | None = None,
    writes: Mapping[str, object] | None = None,
    *,
    name: str | None = None,
) -> Node[JaxFunction]:
    """Make a node of a JAX function.

    `fn` takes the planes of `reads` by name, as JAX arrays, and returns a mapping from the names of `writes` to the
    results, of exactly their shapes and dtypes. It is traced when the node is added, and compiled once, by the build;
    what it closes over is baked in then, as by `jax.jit`. The results are copied into the planes before the node is
    over, so that nothing of JAX's outlives it.

    Where a plane is of a 64-bit dtype and JAX is not in its 64-bit mode, `fn` is traced and run in that mode.

    On the CPU it is a plain call that waits for JAX. On a GPU the host calls it at every launch, on a stream that waits
    for the stage before and that the next stage waits for; it cuts the captured graph there, and cannot stand in
    conditionals and loops.

    Parameters
    ----------
    fn : callable
        ``fn(**reads) -> mapping``, of code that JAX can trace. A function that was jitted already is fine.
    reads : mapping of str to array, optional
        Arrays of any library. A plane that is read and written stands in both, under one name.
    writes : mapping of str to array
        Arrays of a library whose arrays can be written: JAX's cannot.
    name : str, optional
        Its label; by default the function's name.

    Raises
    ------
    GraphTypeError
        `fn` is not callable or does not take the reads by name, or the planes are no mappings.
    GraphError
        Nothing is written.

    Notes
    -----
    Adding the node to a graph raises `PlaneError` for a function that returns something else than its writes, a JAX
    array among the writes, and two writes that share memory.
    """
    read, written = dict(_mapping("reads", reads)), dict(_mapping("writes", writes))
    if not written:
        raise GraphError(
            "a JAX function writes at least one plane",
            why="it has no effect but its results, which are put into planes",
            fix="Pass writes={'y': y}, and return {'y': ...}.",
        )
    _check_callable(fn, read)
    return Node(KIND, JaxFunction(fn=fn, reads=read, writes=written), name or _own_name(fn))


def _own_name(fn: object) -> str:
    name = getattr(fn, "__name__", "")
    return name if name.isidentifier() else "jax"


def _mapping(keyword: str, planes: Any) -> Mapping[str, object]:
    if planes is None:
        return {}
    if not isinstance(planes, Mapping):
        raise GraphTypeError(
            f"{keyword}= of a JAX function is a mapping from names to arrays, not a {type(planes).__name__}",
            why="the function takes its reads by name and returns its writes by name",
            fix=f"Write {keyword}={{'x': x}}.",
        )
    for name in planes:
        if not isinstance(name, str) or not name.isidentifier():
            raise GraphTypeError(f"{keyword}= names a plane {name!r}", fix="Names of planes are those of arguments.")
    return planes


def _check_callable(fn: object, reads: Mapping[str, object]) -> None:
    if not callable(fn):
        raise GraphTypeError(f"a node of a JAX function takes a callable, not {fn!r}")
    if inspect.iscoroutinefunction(fn) or inspect.isgeneratorfunction(fn):
        raise GraphTypeError(f"JAX cannot trace {fn!r}", fix="Pass a plain function that returns a mapping.")
    try:
        inspect.signature(fn).bind(**reads)
    except TypeError as error:
        raise GraphTypeError(
            f"{fn!r} does not take the reads {', '.join(map(repr, reads)) or '(none)'} by name",
            why=str(error),
            fix="Give it one argument for each plane it reads, of that name.",
        ) from None
    except ValueError:
        return  # a builtin that does not say what it takes
