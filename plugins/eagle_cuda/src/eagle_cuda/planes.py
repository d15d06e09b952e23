"""Where the planes of a graph are: on one device, in its primary context, or refused by name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from eagle.plugin import Blueprint, Memory, PlaneError
from eagle_cuda.device import device
from eagle_cuda.driver import api, call
from eagle_cuda.errors import CudaError

__all__ = ["Place", "current_device", "device_of", "place_of", "refuse_unknown"]

_KNOWN = frozenset({1, 2, 4})  # CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_UNIFIED


@dataclass(frozen=True)
class Place:
    """What the driver knows of an address.

    Attributes
    ----------
    ordinal : int
        The device, or the one that pinned host memory was made for.
    context : int
        0 when the memory belongs to none, as memory of a pool does.
    pageable : bool
        Host memory that the driver does not know.
    """

    ordinal: int
    context: int
    pageable: bool = False


def place_of(address: int) -> Place:
    """Ask the driver about an address."""
    names = api().CUpointer_attribute
    wanted = [getattr(names, f"CU_POINTER_ATTRIBUTE_{name}") for name in ("MEMORY_TYPE", "DEVICE_ORDINAL", "CONTEXT")]
    kind, ordinal, context = call("cuPointerGetAttributes", len(wanted), wanted, address)
    if int(kind or 0) not in _KNOWN:
        return Place(0, 0, pageable=True)
    return Place(int(ordinal), int(context or 0))


def device_of(blueprint: Blueprint) -> int:
    """Return the ordinal of the device that every device plane of a graph is on; without one, the current one's.

    Raises
    ------
    PlaneError
        A plane is on another device than those before it, in another context, or at an address the driver does not
        know.
    """
    first: tuple[str, str, int] | None = None
    seen: dict[int, Place] = {}
    for label, name, memory in _device_memory(blueprint):
        if memory.address not in seen:
            seen[memory.address] = place_of(memory.address)
            refuse_unknown(seen[memory.address], name, nodes=(label,))
        ordinal = seen[memory.address].ordinal
        if first is None:
            first = label, name, ordinal
        elif ordinal != first[2]:
            raise PlaneError(
                f"the array is on device {ordinal}",
                why=f"plane {first[1]!r} of node {first[0]!r} is on device {first[2]}, and a graph runs on one device",
                fix="Copy it to that device first, or build a graph per device.",
                nodes=(label,),
                planes=(name,),
            )
    return first[2] if first is not None else current_device()


def _device_memory(blueprint: Blueprint) -> Iterator[tuple[str, str, Memory]]:
    for placed in blueprint.nodes:
        for plane in placed.planes:
            if plane.memory.device[0] == "cuda" and 0 not in plane.memory.shape:
                yield placed.label, plane.access.name, plane.memory


def refuse_unknown(place: Place, name: str, *, nodes: tuple[str, ...] = ()) -> None:
    """Raise `PlaneError`, naming the plane, for an address the driver does not know or another context's memory."""
    if place.pageable:
        raise PlaneError(
            "the array says it is device memory, and the driver does not know its address",
            why="it was freed, or is memory of another kind",
            fix="Keep the array alive, or pass one of CUDA memory.",
            nodes=nodes,
            planes=(name,),
        )
    if place.context not in (0, int(device(place.ordinal).context)):
        raise PlaneError(
            f"the array belongs to a context of device {place.ordinal} that is not the primary one",
            why="libraries share the primary context, and eagle uses no other",
            fix="Allocate it without making a context of your own.",
            nodes=nodes,
            planes=(name,),
        )


def current_device() -> int:
    """Return the ordinal of the device whose context is current in this thread, else 0."""
    try:
        current: Any = call("cuCtxGetDevice")
    except CudaError:  # no context is current
        return 0
    return int(current)
