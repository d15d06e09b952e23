"""The entry of a chain: all its kernels for a vector of samples, then the next vector."""

from __future__ import annotations

import copy
from collections.abc import Mapping

from eagle_cpu.engine.body import Body, Surroundings
from eagle_cpu.engine.chain import Chain, Link, Place
from eagle_cpu.engine.code import Code
from eagle_cpu.engine.frame import Frame
from eagle_cpu.engine.layout import components
from eagle_cpu.engine.places import cost
from eagle_cpu.engine.rows import Rows
from eagle_cpu.engine.support import tick
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
        touched = dict.fromkeys(place for link in chain.links for place in (*link.reads(), *link.writes()))
        self.rows = Rows(code, {place: types[place[0]] for place in touched}, self.frame.rows)
        self.stopped = code.label()
        self.values: dict[Place, str] = {}
        # The lanes in which a component has been written so far; None: in all that have a sample.
        self.written: dict[Place, str | None] = {}

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
        full = code.let(f"icmp sge i64 {left}, {code.lanes}")
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
        code.store("i64", code.let(f"add i64 {self.index}, {code.lanes}"), self.position)
        tick(code, self.frame.ticks, sum(cost(link.function.body) for link in self.chain.links), self.stopped)
        code.jump(head)
        code.open(self.stopped)
        code.emit("ret i32 -1")
        code.open(done)
        code.emit("ret i32 0")

    def _inside(self, left: str) -> str:
        code = self.code
        many = code.vector.of("i64")
        return code.let(f"icmp slt {many} {code.iota('i64')}, {code.splat('i64', left)}")

    def _links(self) -> None:
        for link, (loaded, stored) in zip(self.chain.links, self.chain.schedule(), strict=True):
            for place in loaded:
                before = self.rows.load(place, self.index)
                if place in self.values:  # a link with a mask has written some of it
                    before = self._chosen(place, self.written[place], self.values[place], before)
                self.values[place] = before
            if link.mask is None:
                self._link(link)
            else:
                self._masked(link, self.values[link.mask])
            for place in stored:
                self.rows.store(place, self.index, self.values[place], self.written[place])

    def _link(self, link: Link) -> None:
        for place, value in self._body(link, self.inside).items():
            self.values[place], self.written[place] = value, None

    def _masked(self, link: Link, done: str) -> None:
        """Write a link that leaves finished samples alone, skipped when all are."""
        code = self.code
        live = code.without(self.inside, done)
        places = link.writes()
        kinds = {place: code.vector.type(self.rows.types[place]) for place in places}
        variables = {place: code.variable(kind) for place, kind in kinds.items()}
        for place in places:
            code.store(kinds[place], self.values.get(place, "zeroinitializer"), variables[place])
        go, on = code.label(), code.label()
        code.branch(code.any(live), go, on)
        code.open(go)
        for place, value in self._body(link, live).items():
            before = self.values.get(place, "zeroinitializer")
            code.store(kinds[place], self._chosen(place, live, value, before), variables[place])
        code.jump(on)
        code.open(on)
        for place in places:
            self.values[place] = code.load(kinds[place], variables[place])
            earlier = self.written.get(place, live)
            self.written[place] = None if earlier is None else code.either(earlier, live)

    def _body(self, link: Link, lanes: str) -> Mapping[Place, str]:
        """Write a kernel for some lanes and return what it stores."""
        inputs = {
            (argument.name, component): self.values[link.names[argument.name], component]
            for argument in link.function.arguments
            if argument.role == "sample"
            for component in range(components(argument))
            if (link.names[argument.name], component) in self.values
        }
        around = Surroundings(self._frame(link), inputs, self._samples, self.retired, self.stopped)
        body = Body(link.function, around, lanes)
        body.emit()
        return {(link.names[name], component): body.lanes(one) for (name, component), one in body.outputs.items()}

    def _frame(self, link: Link) -> Frame:
        """Return the frame as one of the kernels sees it."""
        frame = copy.copy(self.frame)
        frame.function = link.function
        frame.mask = next((one.name for one in link.function.arguments if one.role == "mask"), None)
        frame.params = {
            one.name: self.frame.params[link.names[one.name]] for one in link.function.arguments if one.role == "param"
        }
        return frame

    def _samples(self) -> str:
        code = self.code
        return code.let(f"add {code.vector.of('i64')} {code.splat('i64', self.index)}, {code.iota('i64')}")

    def _chosen(self, place: Place, lanes: str | None, yes: str, no: str) -> str:
        return yes if lanes is None else self.code.select(lanes, self.code.vector.type(self.rows.types[place]), yes, no)
