"""The entry of a loop: every sample runs to its own end; when it ends, the next one takes its lane.

Lanes stay full although samples stop at different steps. What a sample holds stays in registers from the step it
enters its lane to the step it leaves it.
"""

from __future__ import annotations

from eagle_cpu.engine import layout
from eagle_cpu.engine.body import Body, Surroundings
from eagle_cpu.engine.code import Code
from eagle_cpu.engine.forms import Operand
from eagle_cpu.engine.frame import Frame
from eagle_cpu.engine.lane_state import LaneState
from eagle_cpu.engine.places import cost, faulting, widest
from eagle_cpu.engine.refill import refill
from eagle_cpu.engine.settle import not_finite, settle
from eagle_cpu.engine.shape import Shape
from eagle_cpu.engine.support import tick
from eagle_ir import Function, Type

__all__ = ["loop_entry"]

_HEAD = "define i32 @{name}(ptr %args, i64 %begin, i64 %end, ptr %run) #0"


def loop_entry(function: Function, shape: Shape, *, watchful: bool = False) -> tuple[Code, str]:
    """Return the code of the entry and its head.

    Parameters
    ----------
    function : Function
    shape : Shape
    watchful : bool
        End samples whose floats turn NaN or infinite; the entry is then called ``eagle_watchful``.
    """
    writer = _Loop(function, shape, watchful=watchful)
    writer.emit()
    return writer.code, _HEAD.format(name="eagle_watchful" if watchful else "eagle_loop")


class _Loop:
    def __init__(self, function: Function, shape: Shape, *, watchful: bool) -> None:
        self.function, self.shape, self.watchful = function, shape, watchful
        self.code = code = Code(shape.lanes)
        # Counting in the width of what is computed makes masks of the shape that arithmetic takes.
        self.counter = "i64" if widest(function) == 64 else "i32"
        self.counters = code.vector.of(self.counter)
        self.faults = bool(faulting(function.body))
        names = ("gate", "refill", "go", "start", "step", "check", "interrupted", "stopped", "settle", "done")
        self.labels = {name: code.label() for name in names}
        if not watchful:
            self._dispatch()
        self.frame = Frame(code, function)
        self.state = LaneState(code, function, self.counter)
        self.step, self.steps = code.variable(self.counter), code.variable(self.counter)
        self.stopping, self.failed = code.variable("i1"), code.variable("i1")
        for variable in (self.stopping, self.failed):
            code.store("i1", "false", variable)

    def emit(self) -> None:
        self.code.jump(self.labels["gate"])
        self._gate()
        self._go()
        self._step()
        self._settle()
        self._done()

    def _dispatch(self) -> None:
        """Hand over to the loop that looks for what is not finite, when the launch wants that one."""
        code = self.code
        place = code.let(f"getelementptr i64, ptr %args, i64 {layout.WATCHFUL}")
        other = code.let(f"load ptr, ptr {place}, align 8")
        hand, on = code.label(), code.label()
        code.branch(code.let(f"icmp ne ptr {other}, null"), hand, on)
        code.open(hand)
        code.emit(f"ret i32 {code.let(f'call i32 {other}(ptr %args, i64 %begin, i64 %end, ptr %run)')}")
        code.open(on)

    def _gate(self) -> None:
        """Fill empty lanes while there are samples."""
        code, state = self.code, self.state
        code.open(self.labels["gate"])
        empty = code.complement(state.mask(state.active))
        following = code.load("i64", state.following)
        more = code.let(f"icmp slt i64 {following}, %end")
        wanted = code.let(f"and i1 {code.any(empty)}, {more}")
        code.branch(wanted, self.labels["refill"], self.labels["go"])
        code.open(self.labels["refill"])
        refill(code, self.frame, state, empty, following)
        code.jump(self.labels["gate"])

    def _go(self) -> None:
        """Decide how many steps to make before the next check: no sample may exceed the limit of steps."""
        code, state, many = self.code, self.state, self.code.vector.of("i64")
        code.open(self.labels["go"])
        active = state.mask(state.active)
        code.branch(code.any(active), self.labels["start"], self.labels["done"])
        code.open(self.labels["start"])
        limit = code.splat("i64", self.frame.word(layout.MAX_STEPS))
        room = code.let(f"sub {many} {limit}, {state.numbers(state.taken)}")
        room = code.select(active, many, room, f"splat (i64 {self.shape.steps})")
        least = code.call("i64", f"llvm.vector.reduce.smin.{code.vector.mangle('i64')}", [(many, room)])
        less = code.let(f"icmp slt i64 {least}, {self.shape.steps}")
        least = code.let(f"select i1 {less}, i64 {least}, i64 {self.shape.steps}")
        least = least if self.counter == "i64" else code.let(f"trunc i64 {least} to {self.counter}")
        code.store(self.counter, least, self.steps)
        code.store(self.counter, "0", self.step)
        idle = f"splat ({self.counter} -1)"
        code.store(self.counters, code.select(active, self.counters, "zeroinitializer", idle), state.ended)
        some = code.let(f"icmp sgt {self.counter} {least}, 0")
        code.branch(some, self.labels["step"], self.labels["check"])

    def _step(self) -> None:
        """Make one step in the lanes that are running: those that made every step since the last check."""
        code, state = self.code, self.state
        code.open(self.labels["step"])
        step = code.load(self.counter, self.step)
        ended = code.load(self.counters, state.ended)
        live = code.let(f"icmp eq {self.counters} {ended}, {code.splat(self.counter, step)}")
        inputs = {one.place: state.get(one) for one in state.held if one.loaded}
        around = Surroundings(
            self.frame, inputs, lambda: state.numbers(state.sample), state.retired, self.labels["interrupted"]
        )
        body = Body(self.function, around, live)
        body.emit()
        self._carry(body)
        done = body.lanes(self._mask(body))
        goes_on = code.without(body.mask, done)
        if self.watchful:
            code.store(code.mask_type, code.select(body.mask, code.mask_type, done, state.mask(state.done)), state.done)
            goes_on = code.without(goes_on, not_finite(code, state))
        following = code.let(f"add {self.counter} {step}, 1")
        counted = code.select(goes_on, self.counters, code.splat(self.counter, following), ended)
        code.store(self.counters, counted, state.ended)
        code.store(self.counter, following, self.step)
        more = code.let(f"icmp slt {self.counter} {following}, {code.load(self.counter, self.steps)}")
        code.branch(more, self.labels["step"], self.labels["check"])

    def _mask(self, body: Body) -> Operand:
        never = Operand("false", Type.BOOL, uniform=True)
        return body.outputs.get((self.frame.mask or "", 0), never)

    def _carry(self, body: Body) -> None:
        """Keep what the step computed, in the lanes that made it; the others are frozen."""
        for one in self.state.held:
            if one.stored:
                type_ = self.code.vector.type(one.type)
                new = body.lanes(body.outputs[one.place])
                self.state.put(one, self.code.select(body.mask, type_, new, self.state.get(one)))

    def _settle(self) -> None:
        code, state = self.code, self.state
        code.open(self.labels["check"])
        work = self.shape.steps * cost(self.function.body)
        tick(code, self.frame.ticks, work, self.labels["stopped"])
        code.jump(self.labels["settle"])
        code.open(self.labels["interrupted"])  # inside a step, of which nothing has been kept yet
        code.store(self.counter, code.load(self.counter, self.step), self.steps)
        code.jump(self.labels["stopped"])
        code.open(self.labels["stopped"])
        code.store("i1", "true", self.stopping)
        code.jump(self.labels["settle"])
        code.open(self.labels["settle"])
        if self.faults:
            retired = code.any(state.mask(state.retired))
            code.store("i1", code.let(f"or i1 {code.load('i1', self.failed)}, {retired}"), self.failed)
        stopping = code.load("i1", self.stopping)
        steps = code.load(self.counter, self.steps)
        settle(code, self.frame, state, self.counter, steps, stopping, watchful=self.watchful)
        code.branch(stopping, self.labels["done"], self.labels["gate"])

    def _done(self) -> None:
        code, many = self.code, self.code.vector.of("i64")
        code.open(self.labels["done"])
        name = f"llvm.vector.reduce.smax.{code.vector.mangle('i64')}"
        longest = code.call("i64", name, [(many, self.state.numbers(self.state.longest))])
        place = code.let(f"getelementptr i64, ptr %args, i64 {layout.LONGEST}")
        code.let(f"atomicrmw max ptr {place}, i64 {longest} monotonic, align 8")
        failed = code.let(f"zext i1 {code.load('i1', self.failed)} to i32")
        stopping = code.load("i1", self.stopping)
        code.emit(f"ret i32 {code.let(f'select i1 {stopping}, i32 -1, i32 {failed}')}")
