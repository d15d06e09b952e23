"""The entry of a loop: every sample runs to its own end; when it ends, the next one takes its lane.

Samples run in groups of lanes, which take a step in turns: a group's step waits for its last one, and the processor
fills that time with the steps of the other groups. A step asks of a group only whether any of its samples ended, so
that it costs no more than the kernel itself; what follows from an end is done lane after lane, in `exchange`.
"""

from __future__ import annotations

from collections.abc import Callable

from eagle_cpu.engine import layout
from eagle_cpu.engine.arithmetic import Floats
from eagle_cpu.engine.body import Body, Surroundings
from eagle_cpu.engine.code import Code
from eagle_cpu.engine.exchange import END, FOLLOWING, LONGEST, RUN, WORDS, call_exchange, exchange
from eagle_cpu.engine.frame import Frame, to_memory
from eagle_cpu.engine.lane_groups import LaneGroups
from eagle_cpu.engine.places import cost
from eagle_cpu.engine.shape import Shape
from eagle_cpu.engine.support import streaming, tick
from eagle_ir import Function
from eagle_ir.walking import faulting

__all__ = ["loop_entry"]

_HEAD = "define i32 @{name}(ptr %args, i64 %begin, i64 %end, ptr %run) #0"


def loop_entry(function: Function, shape: Shape, *, watchful: bool = False) -> list[tuple[Code, str]]:
    """Return the code and the head of the entry and of what it calls.

    Parameters
    ----------
    function : Function
    shape : Shape
    watchful : bool
        End samples whose floats turn NaN or infinite; the entry is then called ``eagle_watchful``.
    """
    writer = _Loop(function, shape, watchful=watchful)
    writer.emit()
    head = _HEAD.format(name="eagle_watchful" if watchful else "eagle_loop")
    return [(writer.code, head), exchange(function, writer.groups, shape.group, watchful=watchful)]


class _Loop:
    def __init__(self, function: Function, shape: Shape, *, watchful: bool) -> None:
        self.function, self.shape, self.watchful = function, shape, watchful
        self.code = code = Code(shape.group)
        self.faults = bool(faulting(function.body))
        self.groups = LaneGroups(function, shape.group)
        names = ("outer", "steps", "halted", "stopped", "done")
        self.labels = {name: code.label() for name in names}
        if not watchful:
            self._dispatch()
        self.frame = Frame(code, function)
        self.memory = code.variable(f"[{shape.groups * self.groups.size} x i8]")
        self.words = code.variable(f"[{WORDS} x i64]")
        self.now, self.least, self.any = (code.variable("i64") for _ in range(3))
        self.group, self.halted = code.variable("ptr"), code.variable("ptr")
        self.stopping, self.failed = code.variable("i1"), code.variable("i1")
        self.retired = code.variable(code.mask_type)
        self.limit = self.frame.word(layout.MAX_STEPS)
        self.beyond = code.let(f"getelementptr i8, ptr {self.memory}, i64 {shape.groups * self.groups.size}")

    def emit(self) -> None:
        self._begin()
        self._outer()
        self._halt()
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

    def _word_at(self, number: int) -> str:
        return self.code.let(f"getelementptr i64, ptr {self.words}, i64 {number}")

    def _for_each(self, write: Callable[[str, str], None], after: str) -> None:
        """Write a loop over the groups: ``write(group, next)`` is its body, which goes on at the label `next`."""
        code = self.code
        head, following = code.label(), code.label()
        code.store("ptr", self.memory, self.group)
        code.jump(head)
        code.open(head)
        group = code.load("ptr", self.group)
        write(group, following)
        code.open(following)
        beyond = code.let(f"getelementptr i8, ptr {code.load('ptr', self.group)}, i64 {self.groups.size}")
        code.store("ptr", beyond, self.group)
        code.branch(code.let(f"icmp ult ptr {beyond}, {self.beyond}"), head, after)

    def _active(self, group: str) -> str:
        place = self.code.let(f"getelementptr i8, ptr {group}, i64 {self.groups.active}")
        return self.code.let(f"load i64, ptr {place}, align 8")

    def _mask(self, group: str) -> str:
        """Return the lanes that hold a sample."""
        field = self.groups.mask
        return self.code.let(
            f"icmp slt {self.code.vector.of(field.scalar)} {field.load(self.code, group)}, zeroinitializer"
        )

    def _begin(self) -> None:
        """Fill the lanes, unless no step is wanted; from the range given, as the others are for other threads first."""
        code = self.code
        for number, value in ((FOLLOWING, "%begin"), (END, "%end"), (LONGEST, "0")):
            code.emit(f"store i64 {value}, ptr {self._word_at(number)}, align 8")
        code.emit(f"store ptr null, ptr {self._word_at(RUN)}, align 8")
        code.store("i64", "0", self.now)
        code.store("ptr", self.memory, self.halted)
        for variable in (self.stopping, self.failed):
            code.store("i1", "false", variable)
        fill = code.label()
        code.branch(code.let(f"icmp sgt i64 {self.limit}, 0"), fill, self.labels["done"])
        code.open(fill)

        def write(group: str, following: str) -> None:
            place = code.let(f"getelementptr i8, ptr {group}, i64 {self.groups.active}")
            code.emit(f"store i64 0, ptr {place}, align 8")
            call_exchange(code, self.words, group, "0", "0", visited=str(2**code.lanes - 1 if code.lanes < 64 else -1))
            code.jump(following)

        filled = code.label()
        self._for_each(write, filled)
        code.open(filled)
        code.emit(f"store ptr {streaming(code)}, ptr {self._word_at(RUN)}, align 8")
        code.jump(self.labels["outer"])

    def _outer(self) -> None:
        """Let samples at the limit leave, make as many steps as no sample exceeds it by, and look whether to stop."""
        code, labels = self.code, self.labels
        code.open(labels["outer"])
        code.store("i64", str(self.shape.steps), self.least)
        code.store("i64", "0", self.any)
        ready, go, head, looked = (code.label() for _ in range(4))
        self._for_each(self._look, ready)
        code.open(ready)
        code.branch(code.let(f"icmp ne i64 {code.load('i64', self.any)}, 0"), go, labels["done"])
        code.open(go)
        body = self._body()
        until = code.let(f"add i64 {code.load('i64', self.now)}, {code.load('i64', self.least)}")
        code.jump(head)
        code.open(head)
        self._for_each(lambda group, following: self._step(body, group, following), looked)
        code.open(looked)
        now = code.let(f"add i64 {code.load('i64', self.now)}, 1")
        code.store("i64", now, self.now)
        code.branch(code.let(f"icmp slt i64 {now}, {until}"), head, labels["steps"])
        code.open(labels["steps"])
        exchange_all = code.lanes * (2 * len(self.groups.held) + 10)  # in every step, at worst
        work = self.shape.steps * self.shape.groups * (cost(self.function.body) + exchange_all)
        tick(code, self.frame.ticks, work, labels["stopped"])
        code.jump(labels["outer"])

    def _look(self, group: str, following: str) -> None:
        """See how many steps the samples of a group may still make."""
        code, many = self.code, self.code.vector.of("i64")
        look, expired, least = (code.label() for _ in range(3))
        now = code.load("i64", self.now)
        code.jump(look)
        code.open(look)
        bits = self._active(group)
        made = code.let(f"sub {many} {code.splat('i64', now)}, {self.groups.began.load(code, group)}")
        room = code.let(f"sub {many} {code.splat('i64', self.limit)}, {made}")
        active = self._mask(group)
        over = code.both(active, code.let(f"icmp sle {many} {room}, zeroinitializer"))
        code.branch(code.any(over), expired, least)
        code.open(expired)
        leaving = code.word(over)
        call_exchange(code, self.words, group, now, now, visited=leaving, leaving=leaving)
        code.jump(look)
        code.open(least)
        room = code.select(active, many, room, f"splat (i64 {self.shape.steps})")
        smallest = code.call("i64", f"llvm.vector.reduce.smin.{code.vector.mangle('i64')}", [(many, room)])
        before = code.load("i64", self.least)
        less = code.let(f"icmp slt i64 {smallest}, {before}")
        code.store("i64", code.let(f"select i1 {less}, i64 {smallest}, i64 {before}"), self.least)
        code.store("i64", code.let(f"or i64 {code.load('i64', self.any)}, {bits}"), self.any)
        code.jump(following)

    def _body(self) -> Body:
        """Compute what is the same for all samples."""
        around = Surroundings(self.frame, {}, self._samples, self.retired, self.labels["halted"])
        body = Body(self.function, around, "")
        body.hoist()
        return body

    def _samples(self) -> str:
        return self.groups.sample.load(self.code, self.code.load("ptr", self.group))

    def _step(self, body: Body, group: str, following: str) -> None:
        """Make a step in the lanes of a group; those without a sample compute something that nobody looks at."""
        code, groups = self.code, self.groups
        some = code.label()
        bits = self._active(group)
        code.branch(code.let(f"icmp eq i64 {bits}, 0"), following, some)
        code.open(some)
        before = {one.place: one.lanes(code, group) for one in groups.held}
        body.around.inputs.update({one.place: before[one.place] for one in groups.held if one.loaded})
        operands = [(one.numbers, one.operand(code, group)) for one in groups.kept]
        body.recall({number: lanes for numbers, lanes in operands for number in numbers}, groups.fixed)
        body.mask = self._mask(group)
        if self.faults:
            code.store(code.mask_type, "zeroinitializer", self.retired)
        body.emit()
        after = {one.place: body.lanes(body.outputs[one.place]) for one in groups.held if one.stored}
        for one in groups.held:
            if one.stored:
                value = after[one.place]
                if self.faults:
                    value = code.select(body.mask, code.vector.type(one.type), value, before[one.place])
                one.field.store(code, group, to_memory(code, one.type, value), volatile=self.faults)
        self._ends(body, group, bits, following, after)

    def _ends(self, body: Body, group: str, bits: str, following: str, after: dict[tuple[str, int], str]) -> None:
        """Exchange the samples that ended with this step, and those that faulted in it."""
        code = self.code
        mask = self.frame.mask or ""
        over = code.word(body.lanes(body.outputs[mask, 0])) if (mask, 0) in body.outputs else "0"
        failed = code.word(self._not_finite(after)) if self.watchful else "0"
        running = code.word(body.mask) if self.faults else bits
        over, failed = (code.let(f"and i64 {lanes}, {running}") for lanes in (over, failed))
        ended = leaving = code.let(f"or i64 {over}, {failed}") if self.watchful else over
        if self.faults:
            retired = code.word(code.load(code.mask_type, self.retired))
            leaving = code.let(f"or i64 {ended}, {retired}")
        some = code.label()
        code.branch(code.let(f"icmp ne i64 {leaving}, 0"), some, following, unlikely=True)
        code.open(some)
        if self.faults:
            bad = code.let(f"icmp ne i64 {retired}, 0")
            code.store("i1", code.let(f"or i1 {code.load('i1', self.failed)}, {bad}"), self.failed)
        now = code.load("i64", self.now)
        first = code.let(f"add i64 {now}, 1")
        lanes = {"visited": leaving, "leaving": leaving, "ended": ended, "over": over, "failed": failed}
        call_exchange(code, self.words, group, now, first, **lanes)
        code.jump(following)

    def _not_finite(self, values: dict[tuple[str, int], str]) -> str:
        """Return the lanes with a NaN or an infinity among the floats that are stored."""
        code, found = self.code, "zeroinitializer"
        for one in self.groups.held:
            if one.stored and one.type.is_float:
                floats = Floats(code, code.vector, one.type)
                size = floats.intrinsic("fabs", values[one.place])
                finite = floats.compare("olt", size, floats.const(float("inf")))
                found = code.either(found, code.complement(finite))
        return found

    def _halt(self) -> None:
        """Every sample leaves at its last whole step: the groups before the one that was stopped made one more."""
        code, labels = self.code, self.labels
        code.open(labels["halted"])  # inside a step of a group, of which nothing has been kept yet
        code.store("ptr", code.load("ptr", self.group), self.halted)
        code.jump(labels["stopped"])
        code.open(labels["stopped"])
        code.store("i1", "true", self.stopping)
        end = code.let(f"load i64, ptr {self._word_at(END)}, align 8")
        code.emit(f"store i64 {end}, ptr {self._word_at(FOLLOWING)}, align 8")
        code.emit(f"store ptr null, ptr {self._word_at(RUN)}, align 8")
        halted = code.load("ptr", self.halted)

        def write(group: str, following: str) -> None:
            bits = self._active(group)
            ahead = code.let(f"zext i1 {code.let(f'icmp ult ptr {group}, {halted}')} to i64")
            made = code.let(f"add i64 {code.load('i64', self.now)}, {ahead}")
            call_exchange(code, self.words, group, made, made, visited=bits, leaving=bits)
            code.jump(following)

        self._for_each(write, labels["done"])

    def _done(self) -> None:
        code = self.code
        code.open(self.labels["done"])
        longest = code.let(f"load i64, ptr {self._word_at(LONGEST)}, align 8")
        place = code.let(f"getelementptr i64, ptr %args, i64 {layout.LONGEST}")
        code.let(f"atomicrmw max ptr {place}, i64 {longest} monotonic, align 8")
        failed = code.let(f"zext i1 {code.load('i1', self.failed)} to i32")
        stopping = code.load("i1", self.stopping)
        code.emit(f"ret i32 {code.let(f'select i1 {stopping}, i32 -1, i32 {failed}')}")
