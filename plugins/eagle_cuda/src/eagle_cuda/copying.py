"""Copies on the device, and between it and the host."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from typing import Any

import numpy as np

from eagle.plugin import BuildError, Memory, Placed, Step
from eagle_cuda.context import CudaContext
from eagle_cuda.driver import api, call
from eagle_cuda.graph_builder import GraphBuilder
from eagle_cuda.halting import unless_halted
from eagle_cuda.layout import Pair, nested, pair_of
from eagle_cuda.modules import function
from eagle_cuda.planes import place_of

__all__ = ["lower"]

# More copy nodes than this are slower than any other way.
_MOST_PIECES = 1024
_AXES = 8
_LAYOUT = np.dtype(
    [("count", "i8", _AXES), ("from", "i8", _AXES), ("into", "i8", _AXES), ("axes", "i4"), ("itemsize", "i4")]
)


def lower(placed: Placed[object], context: CudaContext) -> Step:
    """Copy ``src`` into ``into``, any strides, over the boundary of host and device too.

    Rows at even distances are copy nodes. Other layouts take a kernel on the device; on the way to or from the host
    it gathers into, or scatters from, memory of the graph's own on the device.
    """
    src, into = (_of(placed, name) for name in ("src", "into"))
    if 0 in src.shape:
        return context.built(lambda builder, after: after)
    _refuse_pageable_in_body(placed, context)
    if src.device[0] == into.device[0]:
        return context.built(unless_halted(context, lambda b, after: [_on_device(b, pair_of(src, into), after)]))
    return context.built(lambda builder, after: _across(builder, src, into, after))


def _on_device(builder: GraphBuilder, pair: Pair, after: Sequence[int]) -> int:
    rows = nested(pair.counts, pair.src, pair.into, itemsize=pair.itemsize)
    apart = rows is not None and rows[0] == pair.itemsize and pair.total > 1  # element by element: slow as rows
    if rows is not None and not apart:
        return builder.copy(_parameters(pair, rows, "DEVICE", "DEVICE"), after)
    return _kernel(builder, pair, after)


def _across(builder: GraphBuilder, src: Memory, into: Memory, after: Sequence[int]) -> Sequence[int]:
    """Copy between host and device: the host's side decides the pieces."""
    to_host = into.device[0] == "cpu"
    pair = pair_of(src, into, by_src=not to_host)
    host = pair.into if to_host else pair.src
    outer = _outer_axes(pair.counts, host, pair.itemsize)
    pieces = prod(pair.counts[:outer])
    if pieces > _MOST_PIECES:
        raise BuildError(
            f"a copy between host and device of this layout would take {pieces} pieces",
            why="elements of the host's array lie apart in more than two axes",
            fix="Copy a contiguous array over the boundary.",
            planes=("into" if to_host else "src",),
        )
    kinds = ("DEVICE", "HOST") if to_host else ("HOST", "DEVICE")
    if all(nested(p.counts, p.src, p.into, itemsize=p.itemsize) for p in _pieces(pair, outer)):
        return [builder.copy(_rows(piece, kinds), after) for piece in _pieces(pair, outer)]
    packed, loose = _through_staging(builder, pair, to_host)
    if to_host:
        gathered = [_on_device(builder, loose, after)]
        return [builder.copy(_rows(piece, kinds), gathered) for piece in _pieces(packed, outer)]
    moved = [builder.copy(_rows(piece, kinds), after) for piece in _pieces(packed, outer)]
    return [_on_device(builder, loose, moved)]


def _through_staging(builder: GraphBuilder, pair: Pair, to_host: bool) -> tuple[Pair, Pair]:
    """Return the pair split in two: the host's array with contiguous memory of the device, and that with the other."""
    memory = call("cuMemAlloc", pair.total * pair.itemsize)
    builder.holdings.own("cuMemFree", memory)
    address, strides, step = int(memory), [0] * len(pair.counts), pair.itemsize
    for axis in reversed(range(len(pair.counts))):
        strides[axis] = step
        step *= pair.counts[axis]
    from_it = replace(pair, src=tuple(strides), src_address=address)
    into_it = replace(pair, into=tuple(strides), into_address=address)
    return (from_it, into_it) if to_host else (into_it, from_it)


def _outer_axes(counts: Sequence[int], host: Sequence[int], itemsize: int) -> int:
    """Return how many outer axes have to be taken apart for the host's rest to be rows in slices."""
    return next(n for n in range(len(counts) + 1) if nested(counts[n:], host[n:], itemsize=itemsize) is not None)


def _pieces(pair: Pair, outer: int) -> Iterator[Pair]:
    """Yield a pair for each index of the outer axes."""
    for place in product(*map(range, pair.counts[:outer])):
        yield replace(
            pair,
            counts=pair.counts[outer:],
            src=pair.src[outer:],
            into=pair.into[outer:],
            src_address=pair.src_address + sum(i * s for i, s in zip(place, pair.src, strict=False)),
            into_address=pair.into_address + sum(i * s for i, s in zip(place, pair.into, strict=False)),
        )


def _rows(pair: Pair, kinds: tuple[str, str]) -> Any:
    rows = nested(pair.counts, pair.src, pair.into, itemsize=pair.itemsize)
    assert rows is not None
    return _parameters(pair, rows, *kinds)


def _parameters(pair: Pair, rows: tuple[int, int, int], src_kind: str, into_kind: str) -> Any:
    """Return a copy of rows as the driver wants it."""
    driver = api()
    width, height, depth = rows
    parameters = driver.CUDA_MEMCPY3D()
    for side, kind, address, strides in (
        ("src", src_kind, pair.src_address, pair.src),
        ("dst", into_kind, pair.into_address, pair.into),
    ):
        setattr(parameters, f"{side}MemoryType", getattr(driver.CUmemorytype, f"CU_MEMORYTYPE_{kind}"))
        setattr(parameters, f"{side}{kind.title()}", address)
        pitch, slice_height = _pitches(strides, width, height, depth)
        setattr(parameters, f"{side}Pitch", pitch)
        setattr(parameters, f"{side}Height", slice_height)
    parameters.WidthInBytes, parameters.Height, parameters.Depth = width, height, depth
    return parameters


def _pitches(strides: Sequence[int], width: int, height: int, depth: int) -> tuple[int, int]:
    """Return bytes from row to row, and rows from slice to slice; one row has neither."""
    if depth > 1:
        return strides[1], strides[0] // strides[1]
    return (strides[0], height) if height > 1 else (0, 0)


def _kernel(builder: GraphBuilder, pair: Pair, after: Sequence[int]) -> int:
    """Copy on the device, an element a thread."""
    if len(pair.counts) > _AXES:
        raise BuildError(
            f"a copy on the device takes arrays whose layout has {_AXES} axes, and these have {len(pair.counts)}",
            fix="Copy it in parts.",
        )
    layout = np.zeros((), _LAYOUT)
    for name, values in (("count", pair.counts), ("from", pair.src), ("into", pair.into)):
        layout[name][: len(values)] = values
    layout["axes"], layout["itemsize"] = len(pair.counts), pair.itemsize
    memory = call("cuMemAlloc", layout.nbytes)
    builder.holdings.own("cuMemFree", memory)
    call("cuMemcpyHtoDAsync", memory, layout.ctypes.data, layout.nbytes, builder.stream)
    call("cuStreamSynchronize", builder.stream)
    return builder.kernel(
        function(builder.device.ordinal, "copies", "eagle_copy"),
        [
            (pair.into_address, ctypes.c_void_p),
            (pair.src_address, ctypes.c_void_p),
            (int(memory), ctypes.c_void_p),
            (pair.total, ctypes.c_longlong),
        ],
        after,
        threads=pair.total,
    )


def _of(placed: Placed[object], name: str) -> Memory:
    return next(plane.memory for plane in placed.planes if plane.access.name == name)


def _refuse_pageable_in_body(placed: Placed[object], context: CudaContext) -> None:
    """A body copies device memory and pinned host memory only (CUDA driver API, conditional node requirements)."""
    if not context.in_body:
        return
    for plane in placed.planes:
        if plane.memory.device[0] == "cpu" and place_of(plane.memory.address).pageable:
            raise BuildError(
                "a copy inside a conditional or a loop cannot reach ordinary host memory",
                why="the device runs it without the host",
                fix="Copy before or after it, or pass pinned host memory.",
                planes=(plane.access.name,),
            )
