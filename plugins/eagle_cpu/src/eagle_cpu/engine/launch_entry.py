"""The entry of a launch: one step for every sample of a range, a vector of consecutive samples at a time."""

from __future__ import annotations

from eagle_cpu.engine.body import Body, Surroundings
from eagle_cpu.engine.code import Code
from eagle_cpu.engine.forms import memory_scalar
from eagle_cpu.engine.frame import Frame, from_memory, to_memory
from eagle_cpu.engine.memory import load, masked_load, masked_store, row_at, store
from eagle_cpu.engine.places import cost, loads
from eagle_cpu.engine.support import tick
from eagle_ir import Function, Type
from eagle_ir.walking import faulting

__all__ = ["launch_entry"]

HEAD = "define i32 @eagle_launch(ptr %args, i64 %begin, i64 %end, ptr %run) #0"


def launch_entry(function: Function, lanes: int) -> tuple[Code, str]:
    """Return the code of the entry and its head."""
    writer = _Launch(function, lanes)
    writer.emit()
    return writer.code, HEAD


class _Launch:
    def __init__(self, function: Function, lanes: int) -> None:
        self.function, self.code = function, Code(lanes)
        code = self.code
        self.position = code.variable("i64")
        self.retired = code.variable(code.mask_type)
        self.failed = code.variable("i32")
        code.store("i64", "%begin", self.position)
        code.store("i32", "0", self.failed)
        self.frame = Frame(code, function)
        self.faults = bool(faulting(function.body))
        self.head, self.next, self.stopped, self.done = (code.label() for _ in range(4))

    def emit(self) -> None:
        code = self.code
        inside = code.label()
        code.jump(self.head)
        code.open(self.head)
        self.index = code.load("i64", self.position)
        code.branch(code.let(f"icmp slt i64 {self.index}, %end"), inside, self.done)
        code.open(inside)
        live = self._live()
        code.store(code.mask_type, "zeroinitializer", self.retired)
        around = Surroundings(self.frame, self._inputs(live), self._samples, self.retired, self.stopped)
        body = Body(self.function, around, live)
        body.emit()
        self._outputs(body)
        if self.faults:
            bad = code.any(code.load(code.mask_type, self.retired))
            either = code.let(f"or i32 {code.load('i32', self.failed)}, {code.let(f'zext i1 {bad} to i32')}")
            code.store("i32", either, self.failed)
        code.jump(self.next)
        self._ends()

    def _ends(self) -> None:
        code = self.code
        code.open(self.next)
        code.store("i64", code.let(f"add i64 {self.index}, {code.lanes}"), self.position)
        tick(code, self.frame.ticks, cost(self.function.body), self.stopped)
        code.jump(self.head)
        code.open(self.stopped)
        code.emit("ret i32 -1")
        code.open(self.done)
        code.emit(f"ret i32 {code.load('i32', self.failed)}")

    def _live(self) -> str:
        """Return the lanes whose sample is inside the range and not finished; go on to the next vector without any."""
        code = self.code
        left = code.let(f"sub i64 %end, {self.index}")
        many = code.vector.of("i64")
        inside = code.let(f"icmp ult {many} {code.iota('i64')}, {code.splat('i64', left)}")
        if self.frame.mask is None:
            return inside
        full = code.let(f"icmp sge i64 {left}, {code.lanes}")
        (done,) = self._read([("i8", self.frame.rows[self.frame.mask, 0])], full, inside)
        live = code.without(inside, from_memory(code, Type.BOOL, done))
        on = code.label()
        code.branch(code.any(live), on, self.next)
        code.open(on)
        return live

    def _samples(self) -> str:
        code = self.code
        return code.let(f"add {code.vector.of('i64')} {code.splat('i64', self.index)}, {code.iota('i64')}")

    def _inputs(self, live: str) -> dict[tuple[str, int], str]:
        code, wanted = self.code, loads(self.function)
        if not wanted:
            return {}
        rows = [(memory_scalar(type_), self.frame.rows[name, component]) for name, component, type_ in wanted]
        loaded = self._read(rows, code.every(live), live)
        return {
            (name, component): from_memory(code, type_, value)
            for (name, component, type_), value in zip(wanted, loaded, strict=True)
        }

    def _read(self, rows: list[tuple[str, str]], whole: str, mask: str) -> list[str]:
        """Load rows at the position: plainly when `whole` holds, else only the lanes of the mask."""
        code = self.code
        variables = [code.variable(code.vector.of(scalar)) for scalar, _ in rows]
        plain, masked, on = code.label(), code.label(), code.label()
        code.branch(whole, plain, masked)
        for label in (plain, masked):
            code.open(label)
            for (scalar, row), variable in zip(rows, variables, strict=True):
                address = row_at(code, scalar, row, self.index)
                value = load(code, scalar, address) if label == plain else masked_load(code, scalar, address, mask)
                code.store(code.vector.of(scalar), value, variable)
            code.jump(on)
        code.open(on)
        return [
            code.load(code.vector.of(scalar), variable) for (scalar, _), variable in zip(rows, variables, strict=True)
        ]

    def _outputs(self, body: Body) -> None:
        """Store what the body computed: plainly when every lane has a sample, else never a neighbour's bytes."""
        code = self.code
        if not body.outputs:
            return
        values = [
            (memory_scalar(one.type), self.frame.rows[place], to_memory(code, one.type, body.lanes(one)))
            for place, one in body.outputs.items()
        ]
        plain, masked, on = code.label(), code.label(), code.label()
        code.branch(code.every(body.mask), plain, masked)
        for label in (plain, masked):
            code.open(label)
            for scalar, row, value in values:
                address = row_at(code, scalar, row, self.index)
                if label == plain:
                    store(code, scalar, value, address)
                else:
                    masked_store(code, scalar, value, address, body.mask)
            code.jump(on)
        code.open(on)
