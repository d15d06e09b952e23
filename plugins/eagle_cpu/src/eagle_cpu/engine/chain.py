"""Kernels one after another over the same samples, as one kernel: a plane that several touch is one slot."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from eagle.plugin import Argument, Kernel
from eagle_cpu.engine.places import loads
from eagle_ir import Function, Store

__all__ = ["CHAIN_DIALECT", "Chain", "Link", "Place", "chain_kernel"]

CHAIN_DIALECT = "eagle-cpu chain/1"

Place = tuple[str, int]
"""A plane of a chain by its name, and one of its components."""


@dataclass(frozen=True, slots=True)
class Link:
    """One kernel of a chain.

    Attributes
    ----------
    function : Function
        It has nothing that can fault.
    names : dict of str to str
        What the chain calls each of its arguments.
    """

    function: Function
    names: Mapping[str, str]

    @property
    def mask(self) -> Place | None:
        """The plane that says which samples it leaves alone."""
        mask = next((one.name for one in self.function.arguments if one.role == "mask"), None)
        return None if mask is None else (self.names[mask], 0)

    def reads(self) -> list[Place]:
        """Return what it loads, its mask first."""
        mask = self.mask
        found = [(self.names[name], component) for name, component, _ in loads(self.function)]
        return ([] if mask is None else [mask]) + found

    def writes(self) -> list[Place]:
        """Return what it stores."""
        return [
            (self.names[one.argument], one.component)
            for one in self.function.body.instructions
            if isinstance(one, Store)
        ]


@dataclass(frozen=True, slots=True)
class Chain:
    """The links, in order, and the arguments of the whole: planes, then params.

    Values pass from link to link in registers. That changes no bit: a plane's element and the value that is stored to
    it have one type, so that memory neither rounds nor cuts anything; a bool is 0 or 1 either way.
    """

    links: tuple[Link, ...]
    arguments: tuple[Argument, ...]

    def schedule(self) -> list[tuple[list[Place], list[Place]]]:
        """Return, for each link, what has to be loaded before it, and what can be stored after it.

        Something is loaded once, right before the first link that reads it, unless a link without a mask has written it
        by then: one with a mask may leave it as it was. It is stored once, right after the last link that writes it.
        """
        known: set[Place] = set()
        first: list[list[Place]] = []
        last: dict[Place, int] = {}
        for number, link in enumerate(self.links):
            first.append([place for place in dict.fromkeys(link.reads()) if place not in known])
            known.update(first[-1])
            written = link.writes()
            last.update(dict.fromkeys(written, number))
            if link.mask is None:
                known.update(written)
        stored: list[list[Place]] = [[] for _ in self.links]
        for place, number in last.items():
            stored[number].append(place)
        return list(zip(first, stored, strict=True))

    def most_alive(self) -> int:
        """Return how many components are held in registers at once, at most."""
        touched: dict[Place, list[int]] = {}
        for number, link in enumerate(self.links):
            for place in (*link.reads(), *link.writes()):
                touched.setdefault(place, []).append(number)
        change = [0] * (len(self.links) + 1)
        for numbers in touched.values():
            change[numbers[0]] += 1
            change[numbers[-1] + 1] -= 1
        most = alive = 0
        for by in change:
            alive += by
            most = max(most, alive)
        return most


def chain_kernel(parts: Sequence[tuple[Kernel, Mapping[str, int]]]) -> Kernel:
    """Return one kernel that does what `parts` do one after another.

    Parameters
    ----------
    parts : sequence of (Kernel, mapping of str to int)
        Kernels of the IR in which nothing can fault, so that they look nothing up in tables; and the number of the
        plane that each argument is bound to, counted in the order in which planes are first met. Arguments of one
        number have one dtype and shape.

    Returns
    -------
    Kernel
        With planes by `plane_name`, params by `param_name`. The same kernels sharing planes alike have one fingerprint.
    """
    planes: dict[int, Argument] = {}
    params: list[Argument] = []
    links, text = [], [CHAIN_DIALECT]
    for number, (kernel, slots) in enumerate(parts):
        assert isinstance(kernel.code, Function)
        names = {}
        for argument in kernel.arguments:
            if argument.role == "param":
                names[argument.name] = param_name(number, argument.name)
                params.append(replace(argument, name=names[argument.name]))
            elif argument.role != "table":
                slot = slots[argument.name]
                names[argument.name] = plane_name(slot)
                planes.setdefault(slot, _plane(argument, plane_name(slot)))
        links.append(Link(kernel.code, names))
        text.append(f"{kernel.fingerprint} {[slots.get(one.name) for one in kernel.arguments]}")
    arguments = (*(planes[slot] for slot in sorted(planes)), *params)
    return Kernel(
        name=" + ".join(kernel.name for kernel, _ in parts),
        arguments=arguments,
        dialect=CHAIN_DIALECT,
        code=Chain(tuple(links), arguments),
        fingerprint=hashlib.sha256("\n".join(text).encode()).hexdigest(),
    )


def plane_name(slot: int) -> str:
    """Return what a chain calls one of its planes."""
    return f"plane {slot}"


def param_name(link: int, name: str) -> str:
    """Return what a chain calls a param of one of its kernels."""
    return f"{link}: {name}"


def _plane(argument: Argument, name: str) -> Argument:
    return Argument(name=name, role="sample", mode="rw", dtype=argument.dtype, shape=argument.shape)
