"""The entry of a loop: every sample runs to its own end; when it ends, the next one takes its lane.

Lanes stay full although samples stop at different steps. What a sample holds stays in registers from the step it
enters its lane to the step it leaves it.
"""

from __future__ import annotations

import functools
from collections import Counter

from eagle_cpu.engine import layout
from eagle_cpu.engine.body import Body, Surroundings
from eagle_cpu.engine.code import Code
from eagle_cpu.engine.forms import Operand
from eagle_cpu.engine.frame import Frame
from eagle_cpu.engine.lane_clock import lane_clock
from eagle_cpu.engine.lane_state import Held, LaneState
from eagle_cpu.engine.places import cost, stores
from eagle_cpu.engine.refill import refill
from eagle_cpu.engine.settle import not_finite, settle
from eagle_cpu.engine.shape import Shape
from eagle_cpu.engine.support import tick
from eagle_ir import Compute, Function, Type
from eagle_ir.walking import faulting

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
        self.faults = bool(faulting(function.body))
        names = ("gate", "refill", "go", "start", "step", "check", "interrupted", "stopped", "settle", "done")
        self.labels = {name: code.label() for name in names}
        if not watchful:
            self._dispatch()
        self.frame = Frame(code, function)
        self.state = LaneState(code, function)
        self.clock = lane_clock(code, function, shape.steps)
        self.step, self.steps = code.variable("i64"), code.variable("i64")
        self.stopping, self.failed = code.variable("i1"), code.variable("i1")
        for variable in (self.stopping, self.failed):
            code.store("i1", "false", variable)

    def emit(self) -> None:
        self.code.jump(self.labels["gate"])
        self._gate()
        self._step(self._go())
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

    def _go(self) -> Body:
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
        code.store("i64", least, self.steps)
        code.store("i64", "0", self.step)
        self.clock.start(active)
        body = self._body(active)
        some = code.let(f"icmp sgt i64 {least}, 0")
        code.branch(some, self.labels["step"], self.labels["check"])
        return body

    def _body(self, active: str) -> Body:
        """Compute what stays the same while lanes keep their samples."""
        state = self.state
        inputs = {one.place: state.get(one) for one in state.held if one.loaded and not one.stored}
        around = Surroundings(
            self.frame, inputs, lambda: state.numbers(state.sample), state.retired, self.labels["interrupted"]
        )
        body = Body(self.function, around, active)
        body.hoist()
        return body

    def _step(self, body: Body) -> None:
        """Make one step in the lanes that are running: those that made every step since the last check."""
        code, state, clock = self.code, self.state, self.clock
        code.open(self.labels["step"])
        step = code.load("i64", self.step)
        body.mask = live = clock.running(step)
        body.around.inputs.update({one.place: state.get(one) for one in state.held if one.loaded and one.stored})
        early = {number: one for number, one in self._early().items() if number not in body.fixed}
        body.keep = {number: functools.partial(self._freeze, one, live) for number, one in early.items()}
        body.emit()
        for one in self.state.held:
            if one.stored:
                new = body.lanes(body.outputs[one.place])
                self.state.put(one, new if one in early.values() else self._freeze(one, body.mask, new))
        done = body.lanes(self._mask(body))
        if self.watchful:
            code.store(code.mask_type, code.select(body.mask, code.mask_type, done, state.mask(state.done)), state.done)
            done = code.either(done, not_finite(code, state))
        clock.tell(body.mask, done, step)
        following = code.let(f"add i64 {step}, 1")
        code.store("i64", following, self.step)
        more = code.let(f"icmp slt i64 {following}, {code.load('i64', self.steps)}")
        code.branch(more, self.labels["step"], self.labels["check"])

    def _mask(self, body: Body) -> Operand:
        never = Operand("false", Type.BOOL, uniform=True)
        return body.outputs.get((self.frame.mask or "", 0), never)

    def _early(self) -> dict[int, Held]:
        """Return the components whose new number is kept as soon as it is computed, by the number of the value.

        What the step computes from it is then computed from what stays, and no second copy of it is needed. Not with
        faults: a lane that faults must keep what it had before the step. Not what two components take.
        """
        if self.faults:
            return {}
        computed = {one.result.number for one in self.function.body.instructions if isinstance(one, Compute)}
        takers = Counter(one.value.number for one in stores(self.function))
        held = {one.place: one for one in self.state.held}
        return {
            one.value.number: held[one.argument, one.component]
            for one in stores(self.function)
            if one.value.number in computed and takers[one.value.number] == 1
        }

    def _freeze(self, one: Held, mask: str, new: str) -> str:
        """Return what the step computed in the lanes that made it, and what the others have."""
        return self.clock.select(mask, one.type, new, self.state.get(one))

    def _settle(self) -> None:
        code, state = self.code, self.state
        code.open(self.labels["check"])
        work = self.shape.steps * cost(self.function.body)
        tick(code, self.frame.ticks, work, self.labels["stopped"])
        code.jump(self.labels["settle"])
        code.open(self.labels["interrupted"])  # inside a step, of which nothing has been kept yet
        code.store("i64", code.load("i64", self.step), self.steps)
        code.jump(self.labels["stopped"])
        code.open(self.labels["stopped"])
        code.store("i1", "true", self.stopping)
        code.jump(self.labels["settle"])
        code.open(self.labels["settle"])
        if self.faults:
            retired = code.any(state.mask(state.retired))
            code.store("i1", code.let(f"or i1 {code.load('i1', self.failed)}, {retired}"), self.failed)
        stopping = code.load("i1", self.stopping)
        steps = code.load("i64", self.steps)
        settle(code, self.frame, state, self.clock, steps, stopping, watchful=self.watchful)
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
