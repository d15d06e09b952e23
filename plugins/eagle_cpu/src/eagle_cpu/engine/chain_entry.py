"""The entry of a chain: all its links for a vector of samples, then the next vector."""

from __future__ import annotations

import copy
from collections.abc import Mapping

from eagle_cpu._native import REDUCTION_BLOCK
from eagle_cpu.engine.body import Body, Surroundings
from eagle_cpu.engine.chain import Chain, Link
from eagle_cpu.engine.code import Code
from eagle_cpu.engine.frame import Frame
from eagle_cpu.engine.layout import components
from eagle_cpu.engine.places import cost
from eagle_cpu.engine.rows import Rows
from eagle_cpu.engine.support import tick
from eagle_cpu.engine.tally import Lanes, Tally
from eagle_ir import Block, Function, Type

__all__ = ["chain_entry"]

HEAD = "define i32 @eagle_chain(ptr %args, i64 %begin, i64 %end, ptr %run) #0"


def chain_entry(chain: Chain, lanes: int) -> tuple[Code, str]:
    """Return the code of the entry and its head."""
    writer = _Chain(chain, lanes)
    writer.emit()
    return writer.code, HEAD


class _Chain:
    def __init__(self, chain: Chain, lanes: int) -> None:
        self.chain, self.code = chain, Code(lanes)
        code = self.code
        self.position, self.retired = code.variable("i64"), code.variable(code.mask_type)
        code.store("i64", "%begin", self.position)
        self.frame = Frame(code, Function("chain", chain.arguments, Block(())))
        types = {argument.name: Type(argument.dtype) for argument in chain.arguments}
        touched = dict.fromkeys(row for link in chain.links for row in (*link.reads(), *link.writes()))
        addresses = {row: self.frame.rows[row, 0] for row in touched}
        self.rows = Rows(code, {row: types[row] for row in touched}, addresses)
        self.stopped = code.label()
        self.values: dict[str, str] = {}
        # The lanes in which a row has been written so far; None: in all that have a sample.
        self.written: dict[str, str | None] = {}
        params = self.frame.params
        self.lanes = {
            tally: Lanes(code, tally, params[tally.state].text, params[tally.take].text) for tally in chain.tallies
        }

    def emit(self) -> None:
        code, rows = self.code, self.rows
        head, check, last, body, back, following, done = (code.label() for _ in range(7))
        rows.in_place()
        code.jump(head)
        code.open(head)
        self.index = code.load("i64", self.position)
        left = code.let(f"sub i64 %end, {self.index}")
        self.inside = self._inside(left)
        code.branch(code.let(f"icmp sgt i64 {left}, 0"), check, done)
        code.open(check)
        self.full = full = code.let(f"icmp sge i64 {left}, {code.lanes}")
        code.branch(full, body, last)
        code.open(last)
        rows.borrow(self.index, self.inside)
        code.jump(body)
        code.open(body)
        self._links()
        code.branch(full, following, back)
        code.open(back)
        rows.give_back(self.written, self.index, self.inside)
        code.jump(done)
        code.open(following)
        after = code.let(f"add i64 {self.index}, {code.lanes}")
        code.store("i64", after, self.position)
        self._hand_over(after, wanted="eq")
        tick(code, self.frame.ticks, self._cost(), self.stopped)
        code.jump(head)
        code.open(self.stopped)
        code.emit("ret i32 -1")
        code.open(done)
        self._hand_over("%end", wanted="ne")
        code.emit("ret i32 0")

    def _hand_over(self, end: str, *, wanted: str) -> None:
        """Give away the lanes of reductions where samples before `end` end a block (eq), or end inside one (ne)."""
        if not self.lanes:
            return
        code = self.code
        over, on = code.label(), code.label()
        rest = code.let(f"and i64 {end}, {REDUCTION_BLOCK - 1}")
        code.branch(code.let(f"icmp {wanted} i64 {rest}, 0"), over, on, unlikely=True)
        code.open(over)
        last = code.let(f"sub i64 {end}, 1")
        for lanes in self.lanes.values():
            lanes.hand_over(last)
        code.jump(on)
        code.open(on)

    def _cost(self) -> int:
        return sum(cost(link.function.body) if isinstance(link, Link) else 1 for link in self.chain.links)

    def _inside(self, left: str) -> str:
        code = self.code
        many = code.vector.of("i64")
        return code.let(f"icmp slt {many} {code.iota('i64')}, {code.splat('i64', left)}")

    def _links(self) -> None:
        for link, (loaded, stored) in zip(self.chain.links, self.chain.schedule(), strict=True):
            for row in loaded:
                before = self.rows.load(row, self.index)
                if row in self.values:  # a link with a mask has written some of it
                    before = self._chosen(row, self.written[row], self.values[row], before)
                self.values[row] = before
            if isinstance(link, Tally):
                self.lanes[link].add(self.values[link.row], self.index, self.full, self.inside)
            elif link.mask is None:
                self._link(link)
            else:
                self._masked(link, self.values[link.mask])
            for row in stored:
                self.rows.store(row, self.index, self.values[row], self.written[row])

    def _link(self, link: Link) -> None:
        for row, value in self._body(link, self.inside).items():
            self.values[row], self.written[row] = value, None

    def _masked(self, link: Link, done: str) -> None:
        """Write a link that leaves finished samples alone, skipped when all are."""
        code = self.code
        live = code.without(self.inside, done)
        rows = link.writes()
        kinds = {row: code.vector.type(self.rows.types[row]) for row in rows}
        variables = {row: code.variable(kind) for row, kind in kinds.items()}
        for row in rows:
            code.store(kinds[row], self.values.get(row, "zeroinitializer"), variables[row])
        go, on = code.label(), code.label()
        code.branch(code.any(live), go, on)
        code.open(go)
        for row, value in self._body(link, live).items():
            before = self.values.get(row, "zeroinitializer")
            code.store(kinds[row], self._chosen(row, live, value, before), variables[row])
        code.jump(on)
        code.open(on)
        for row in rows:
            self.values[row] = code.load(kinds[row], variables[row])
            earlier = self.written.get(row, live)
            self.written[row] = None if earlier is None else code.either(earlier, live)

    def _body(self, link: Link, lanes: str) -> Mapping[str, str]:
        """Write a kernel for some lanes and return what it stores."""
        inputs = {
            (argument.name, component): self.values[link.rows[argument.name, component]]
            for argument in link.function.arguments
            if argument.role == "sample"
            for component in range(components(argument))
            if link.rows[argument.name, component] in self.values
        }
        around = Surroundings(self._frame(link), inputs, self._samples, self.retired, self.stopped)
        body = Body(link.function, around, lanes)
        body.emit()
        return {link.rows[place]: body.lanes(one) for place, one in body.outputs.items()}

    def _frame(self, link: Link) -> Frame:
        """Return the frame as one of the kernels sees it."""
        frame = copy.copy(self.frame)
        frame.function = link.function
        frame.mask = next((one.name for one in link.function.arguments if one.role == "mask"), None)
        frame.params = {name: self.frame.params[chained] for name, chained in link.params.items()}
        return frame

    def _samples(self) -> str:
        code = self.code
        return code.let(f"add {code.vector.of('i64')} {code.splat('i64', self.index)}, {code.iota('i64')}")

    def _chosen(self, row: str, lanes: str | None, yes: str, no: str) -> str:
        return yes if lanes is None else self.code.select(lanes, self.code.vector.type(self.rows.types[row]), yes, no)
