"""A JAX function on the CPU: a plain call over views of the planes, whose results are copied into them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from eagle.plugin import BackendUnavailable, Placed, Plane, Step
from eagle_jax.payload import JaxFunction

__all__ = ["lower"]


def lower(placed: Placed[JaxFunction], context: Any) -> Step:
    """Compile the function, and make a step that calls it.

    JAX may read the memory of a plane in place and compute while the call returns. So the results are waited for and
    copied before the step is over: what others write into the planes later, no result of JAX's can see.
    """
    payload = placed.node.payload
    traced = payload.traced()
    planes = {plane.access.name: plane for plane in placed.planes}
    reads = [_source(planes[name], traced.dtype_of(name), context) for name in payload.reads]
    writes = [_view(planes[name], traced.dtype_of(name), context) for name in payload.writes]
    run = _call(traced.compiled(jax.local_devices(backend="cpu")[0]), reads, writes)
    if traced.is_wide:
        run = _inside(traced.precision, run)
    return context.over_memory(placed, run)  # type: ignore[no-any-return]


_forks = [0]  # how often this process has become another one
os.register_at_fork(after_in_child=lambda: _forks.__setitem__(0, _forks[0] + 1))


def _call(
    compiled: Callable[..., Sequence[jax.Array]], reads: Sequence[Any], writes: Sequence[np.ndarray]
) -> Callable[[], None]:
    process = _forks[0]

    def run_one() -> None:  # which most functions have, and which takes microseconds less
        if _forks[0] != process:
            raise _forked()
        (result,) = compiled(*reads)
        view[...] = result

    def run() -> None:
        if _forks[0] != process:
            raise _forked()
        # Every result is waited for before a plane is written: the function may read that plane.
        for into, result in zip(writes, [np.asarray(one) for one in compiled(*reads)], strict=True):
            into[...] = result

    if len(writes) > 1:
        return run
    (view,) = writes
    return run_one


def _forked() -> BackendUnavailable:
    return BackendUnavailable(
        "the graph of a JAX function was built by the process this one was forked from",
        why="JAX's threads do not survive fork, and its call would wait for them for ever",
        fix="Build the graph in this process, started with multiprocessing's 'spawn'.",
    )


def _inside(precision: Callable[[], Any], run: Callable[[], None]) -> Callable[[], None]:
    def run_inside() -> None:
        with precision():
            run()

    return run_inside


def _source(plane: Plane, dtype: str, context: Any) -> Any:
    """Return what JAX is called with: its own array itself, of any other library a view."""
    view = _view(plane, dtype, context)
    return plane.access.array if isinstance(plane.access.array, jax.Array) else view


def _view(plane: Plane, dtype: str, context: Any) -> np.ndarray[Any, Any]:
    view: np.ndarray[Any, Any] = context.view(plane)
    return view if view.dtype.name == dtype else view.view(jax.numpy.dtype(dtype))
