"""Kernels one after another over the same samples, as one kernel: a row of a plane that several touch is one slot."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from eagle.plugin import Argument, Kernel
from eagle_cpu.engine.places import loads
from eagle_cpu.engine.tally import Tally, TallyPart
from eagle_ir import Function, Store

__all__ = ["CHAIN_DIALECT", "Chain", "Link", "Part", "chain_kernel"]

CHAIN_DIALECT = "eagle-cpu chain/2"

Slots: TypeAlias = Mapping[str, Sequence[int]]
"""The number of the row that each component of an argument is bound to."""
Part: TypeAlias = "tuple[Kernel, Slots] | TallyPart"
"""What a chain is made of: a kernel, and where its planes are; or a reduction."""


@dataclass(frozen=True, slots=True)
class Link:
    """One kernel of a chain.

    Attributes
    ----------
    function : Function
        It has nothing that can fault.
    rows : dict of (str, int) to str
        What the chain calls each component of its planes.
    params : dict of str to str
        And its params.
    """

    function: Function
    rows: Mapping[tuple[str, int], str]
    params: Mapping[str, str]

    @property
    def mask(self) -> str | None:
        """The row that says which samples it leaves alone."""
        mask = next((one.name for one in self.function.arguments if one.role == "mask"), None)
        return None if mask is None else self.rows[mask, 0]

    def reads(self) -> list[str]:
        """Return the rows it loads, its mask first."""
        mask = self.mask
        found = [self.rows[name, component] for name, component, _ in loads(self.function)]
        return ([] if mask is None else [mask]) + found

    def writes(self) -> list[str]:
        """Return the rows it stores."""
        return [
            self.rows[one.argument, one.component] for one in self.function.body.instructions if isinstance(one, Store)
        ]


@dataclass(frozen=True, slots=True)
class Chain:
    """The links, in order, and the arguments of the whole: rows, then params.

    Values pass from link to link in registers. That changes no bit: a plane's element and the value that is stored to
    it have one type, so that memory neither rounds nor cuts anything; a bool is 0 or 1 either way. A `Tally` reduces
    what its row holds at its place in the chain.
    """

    links: tuple[Link | Tally, ...]
    arguments: tuple[Argument, ...]

    @property
    def functions(self) -> list[Function]:
        """The code of its kernels, each once."""
        return list({id(link.function): link.function for link in self.links if isinstance(link, Link)}.values())

    @property
    def tallies(self) -> list[Tally]:
        """Its reductions."""
        return [link for link in self.links if isinstance(link, Tally)]

    def schedule(self) -> list[tuple[list[str], list[str]]]:
        """Return, for each link, which rows have to be loaded before it, and which can be stored after it.

        A row is loaded once, right before the first link that reads it, unless a link without a mask has written it
        by then: one with a mask may leave it as it was. It is stored once, right after the last link that writes it.
        """
        known: set[str] = set()
        first: list[list[str]] = []
        last: dict[str, int] = {}
        for number, link in enumerate(self.links):
            first.append([row for row in dict.fromkeys(link.reads()) if row not in known])
            known.update(first[-1])
            written = link.writes()
            last.update(dict.fromkeys(written, number))
            if link.mask is None:
                known.update(written)
        stored: list[list[str]] = [[] for _ in self.links]
        for row, number in last.items():
            stored[number].append(row)
        return list(zip(first, stored, strict=True))

    def most_alive(self) -> int:
        """Return how many rows are held in registers at once, at most, and lanes of reductions."""
        touched: dict[str, list[int]] = {}
        for number, link in enumerate(self.links):
            for row in (*link.reads(), *link.writes()):
                touched.setdefault(row, []).append(number)
        change = [0] * (len(self.links) + 1)
        for numbers in touched.values():
            change[numbers[0]] += 1
            change[numbers[-1] + 1] -= 1
        most = alive = 0
        for by in change:
            alive += by
            most = max(most, alive)
        return most + len(self.tallies)


def chain_kernel(parts: Sequence[Part]) -> Kernel:
    """Return one kernel that does what `parts` do one after another.

    Parameters
    ----------
    parts : sequence of (Kernel, mapping of str to sequence of int), or TallyPart
        Kernels of the IR in which nothing can fault, so that they look nothing up in tables; and the number of the
        row that each component of an argument is bound to, counted in the order in which rows are first met. Of the
        components of one number all have one dtype.

    Returns
    -------
    Kernel
        With rows by `row_name`, params by `param_name`. The same kernels sharing rows alike have one fingerprint.
    """
    made = _Making()
    for number, part in enumerate(parts):
        if isinstance(part, TallyPart):
            made.tally(number, part)
        else:
            made.link(number, *part)
    arguments = (*(made.rows[slot] for slot in sorted(made.rows)), *made.params)
    return Kernel(
        name=" + ".join(made.names),
        arguments=arguments,
        dialect=CHAIN_DIALECT,
        code=Chain(tuple(made.links), arguments),
        fingerprint=hashlib.sha256("\n".join([CHAIN_DIALECT, *made.text]).encode()).hexdigest(),
    )


@dataclass(slots=True)
class _Making:
    """What there is of a chain so far."""

    rows: dict[int, Argument] = field(default_factory=dict)
    params: list[Argument] = field(default_factory=list)
    links: list[Link | Tally] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)

    def link(self, number: int, kernel: Kernel, slots: Slots) -> None:
        assert isinstance(kernel.code, Function)
        rows, params = {}, {}
        for argument in kernel.arguments:
            if argument.role == "param":
                params[argument.name] = param_name(number, argument.name)
                self.params.append(replace(argument, name=params[argument.name]))
            elif argument.role != "table":
                for component, slot in enumerate(slots[argument.name]):
                    rows[argument.name, component] = self._row(slot, argument.dtype)
        self.links.append(Link(kernel.code, rows, params))
        self.names.append(kernel.name)
        self.text.append(f"{kernel.fingerprint} {[slots.get(one.name) for one in kernel.arguments]}")

    def tally(self, number: int, part: TallyPart) -> None:
        state, take = (param_name(number, name) for name in ("state", "take"))
        self.params += [Argument(name=name, role="param", mode="r", dtype="int64") for name in (state, take)]
        self.links.append(Tally(part.op, part.dtype, self._row(part.slot, part.dtype), state, take))
        self.names.append(part.op)
        self.text.append(f"{part.op} of {part.dtype} {part.slot}")

    def _row(self, slot: int, dtype: str) -> str:
        name = row_name(slot)
        self.rows.setdefault(slot, Argument(name=name, role="sample", mode="rw", dtype=dtype))
        return name


def row_name(slot: int) -> str:
    """Return what a chain calls one of its rows."""
    return f"row {slot}"


def param_name(link: int, name: str) -> str:
    """Return what a chain calls a param of one of its kernels."""
    return f"{link}: {name}"
