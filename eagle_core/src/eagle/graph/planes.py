"""The planes of a node: what it declares, read by adapters, merged, and joined with what its bodies touch."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from eagle.errors import EagleError, PlaneError, PluginError
from eagle.plugin.adapters import adapter_of
from eagle.plugin.arrays import Memory
from eagle.plugin.blueprint import Blueprint, Plane
from eagle.plugin.nodes import Access

__all__ = ["inherited_planes", "own_planes"]


def own_planes(accesses: Iterable[Access]) -> tuple[Plane, ...]:
    """Return one plane per name and array, the accesses to the same bytes under the same name merged.

    Raises
    ------
    PlaneError
        Two arrays under one name, or an array that cannot be used so.
    PluginError
        Something that is no access.
    """
    planes: dict[str, Plane] = {}
    for access in accesses:
        _check(access)
        plane = _plane(access)
        known = planes.get(access.name)
        if known is None:
            planes[access.name] = plane
        elif _same_bytes(known) == _same_bytes(plane):
            planes[access.name] = _merged(known, plane)
        else:
            raise PlaneError(
                "two different arrays have this name", fix="Give each a name of its own.", planes=(access.name,)
            )
    return tuple(cell for plane in planes.values() for cell in _cells(plane))


def inherited_planes(own: tuple[Plane, ...], bodies: Sequence[Blueprint]) -> tuple[Plane, ...]:
    """Return a node's own planes and those of its bodies.

    A body may not run, or run in part, so nothing is promised of what it writes. A name used by two arrays gets the
    label of the inner node in front.
    """
    planes: dict[tuple[Hashable, ...], Plane] = {(plane.access.name, *_same_bytes(plane)): plane for plane in own}
    names = {plane.access.name: _same_bytes(plane) for plane in own}
    for body in bodies:
        for placed in body.nodes:
            for plane in placed.planes:
                name = plane.access.name
                if names.setdefault(name, _same_bytes(plane)) != _same_bytes(plane):
                    name = f"{placed.label}.{name}"
                    names.setdefault(name, _same_bytes(plane))
                access = replace(plane.access, name=name, total=False, axis=None)
                plane = replace(plane, access=access)
                key = (name, *_same_bytes(plane))
                planes[key] = _merged(planes[key], plane) if key in planes else plane
    return tuple(planes.values())


def _plane(access: Access) -> Plane:
    try:
        adapter = adapter_of(access.array)
        memory = adapter.describe(access.array)
        if len(memory.shape) != len(memory.strides):
            raise PlaneError(f"it is described with shape {memory.shape} and strides {memory.strides}")
        if access.mode != "r" and memory.readonly is not None:
            raise PlaneError(f"it is written, and {memory.readonly}")
        _check_promises(access, memory)
        return Plane(access=access, memory=memory, adapter=adapter, mark=adapter.probe(access.array))
    except EagleError as error:
        error.locate(plane=access.name)
        raise


def _check(access: Any) -> None:
    if not isinstance(access, Access):
        raise PluginError(f"a node's access holds {access!r}", fix="Return Access(name=, array=, mode=) objects.")
    if not isinstance(access.name, str) or not access.name:
        raise PluginError(f"an access names its plane {access.name!r}", fix="Plane names are strings, not empty.")
    if access.mode not in ("r", "w", "rw"):
        raise PluginError(f"an access has mode {access.mode!r}", fix='It is "r", "w" or "rw".', planes=(access.name,))


def _check_promises(access: Access, memory: Memory) -> None:
    if access.axis is not None and not 0 <= access.axis < len(memory.shape):
        raise PluginError(f"an access promises axis {access.axis} of an array of shape {memory.shape}")
    if access.cells is None:
        return
    if not isinstance(access.cells, tuple):
        raise PluginError(f"an access names cells {access.cells!r}", fix="Give a tuple of indices.")
    if len(memory.shape) != 1:
        raise PluginError(f"an access names cells of an array of shape {memory.shape}", why="only 1-D arrays have them")
    for cell in access.cells:
        if not isinstance(cell, int) or not 0 <= cell < memory.shape[0]:
            raise PluginError(f"an access names cell {cell!r} of an array of {memory.shape[0]} elements")


def _cells(plane: Plane) -> Iterable[Plane]:
    """Yield the plane, or one plane per cell where only cells are touched."""
    if plane.access.cells is None:
        yield plane
        return
    for cell in sorted(set(plane.access.cells)):
        memory = plane.memory
        yield replace(plane, memory=replace(memory, address=memory.address + cell * memory.strides[0], shape=(1,)))


def _same_bytes(plane: Plane) -> tuple[Hashable, ...]:
    memory = plane.memory
    return memory.space, memory.address, memory.shape, memory.strides, memory.dtype, plane.access.cells


def _merged(known: Plane, plane: Plane) -> Plane:
    a, b = known.access, plane.access
    access = replace(
        a,
        mode=a.mode if a.mode == b.mode else "rw",
        total=(a.total and a.mode != "r") or (b.total and b.mode != "r"),
        axis=a.axis if a.axis == b.axis else None,
    )
    return replace(known, access=access)
