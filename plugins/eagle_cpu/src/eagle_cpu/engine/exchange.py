"""Samples leave lanes, and the next ones enter: a function of its own in every loop, lane after lane."""

from __future__ import annotations

from eagle_cpu.engine import layout
from eagle_cpu.engine.body import Body, Surroundings
from eagle_cpu.engine.code import Code
from eagle_cpu.engine.frame import Frame, to_memory
from eagle_cpu.engine.lane_groups import Field, LaneGroups
from eagle_cpu.engine.memory import SIZES, row_at
from eagle_cpu.engine.support import more_of
from eagle_ir import Function

__all__ = ["END", "FOLLOWING", "LONGEST", "RUN", "WORDS", "call_exchange", "exchange"]

# The words that the exchange shares with its loop.
FOLLOWING = 0  # the next sample to enter a lane
END = 1
LONGEST = 2  # the most steps that a sample took
RUN = 3  # the `eagle_run` that may give more samples; 0 when there are none
WORDS = 4

_LANES = ("visited", "leaving", "ended", "over", "failed")
_HEAD = (
    "define internal void @eagle_exchange(ptr %args, ptr %loop, ptr %group, i64 %now, i64 %first, "
    + ", ".join(f"i64 %{name}" for name in _LANES)
    + ") #2"
)


def call_exchange(code: Code, loop: str, group: str, now: str, first: str, **lanes: str) -> None:
    """Call it.

    Parameters
    ----------
    code : Code
    loop : str
        The words shared with the loop.
    group : str
    now : str
        How many steps the loop has made.
    first : str
        How many it will have made when a sample that enters makes its first.
    visited, leaving, ended, over, failed : str
        Lanes, a bit each: those whose sample leaves or which hold none; those of them whose sample leaves; whose sample
        also made a step that `now` does not count, with which it ended; whose mask became true; whose numbers are no
        longer finite. All but the first are 0 where they are not given.
    """
    bits = ", ".join(f"i64 {lanes.get(name, '0')}" for name in _LANES)
    code.emit(f"call void @eagle_exchange(ptr %args, ptr {loop}, ptr {group}, i64 {now}, i64 {first}, {bits})")


def exchange(function: Function, groups: LaneGroups, lanes: int, *, watchful: bool) -> tuple[Code, str]:
    """Return the code of the function and its head."""
    writer = _Exchange(function, groups, lanes, watchful=watchful)
    writer.emit()
    return writer.code, _HEAD


class _Exchange:
    def __init__(self, function: Function, groups: LaneGroups, lanes: int, *, watchful: bool) -> None:
        self.function, self.groups, self.watchful = function, groups, watchful
        self.code = code = Code(lanes)
        self.frame = Frame(code, function)
        self.left, self.active = code.variable("i64"), code.variable("i64")
        names = ("next", "lane", "leave", "enter", "look", "fresh", "skip", "load", "last", "empty", "done")
        self.labels = {name: code.label() for name in names}

    def emit(self) -> None:
        code, labels = self.code, self.labels
        self.place = code.let(f"getelementptr i8, ptr %group, i64 {self.groups.active}")
        code.store("i64", "%visited", self.left)
        code.store("i64", code.let(f"load i64, ptr {self.place}, align 8"), self.active)
        self.counts = self.frame.word(layout.STEPS, "ptr")
        code.jump(labels["next"])
        code.open(labels["next"])
        left = code.load("i64", self.left)
        code.branch(code.let(f"icmp eq i64 {left}, 0"), labels["done"], labels["lane"])
        code.open(labels["lane"])
        self.lane = code.call("i64", "llvm.cttz.i64", [("i64", left), ("i1", "true")])
        self.bit = code.let(f"shl i64 1, {self.lane}")
        code.store("i64", code.let(f"xor i64 {left}, {self.bit}"), self.left)
        code.branch(self._has("leaving"), labels["leave"], labels["enter"])
        self._leave()
        self._enter()
        self._done()

    def _has(self, lanes: str) -> str:
        return self.code.let(f"icmp ne i64 {self.code.let(f'and i64 %{lanes}, {self.bit}')}, 0")

    def _word(self, number: int) -> str:
        return self.code.let(f"load i64, ptr {self._word_at(number)}, align 8")

    def _word_at(self, number: int) -> str:
        return self.code.let(f"getelementptr i64, ptr %loop, i64 {number}")

    def _get(self, field: Field) -> str:
        address = field.lane(self.code, "%group", self.lane)
        return self.code.let(f"load {field.scalar}, ptr {address}, align {SIZES[field.scalar]}")

    def _set(self, field: Field, value: str) -> None:
        address = field.lane(self.code, "%group", self.lane)
        self.code.emit(f"store {field.scalar} {value}, ptr {address}, align {SIZES[field.scalar]}")

    def _leave(self) -> None:
        """Write what a sample came to, unless it made no step."""
        code = self.code
        code.open(self.labels["leave"])
        sample, last = self._get(self.groups.sample), code.let(f"zext i1 {self._has('ended')} to i64")
        made = code.let(f"add i64 {code.let(f'sub i64 %now, {self._get(self.groups.began)}')}, {last}")
        write, count, on = code.label(), code.label(), self.labels["enter"]
        code.branch(code.let(f"icmp sgt i64 {made}, 0"), write, on)
        code.open(write)
        for one in self.groups.held:
            if one.stored:
                self._put(one.field.scalar, self._get(one.field), self.frame.rows[one.place], sample)
        assert self.frame.mask is not None
        over = code.let(f"zext i1 {self._has('over')} to i8")
        self._put("i8", over, self.frame.rows[self.frame.mask, 0], sample)
        if self.watchful:
            self._mark_failed(sample)
        most = self._word(LONGEST)
        more = code.let(f"icmp sgt i64 {made}, {most}")
        code.emit(
            f"store i64 {code.let(f'select i1 {more}, i64 {made}, i64 {most}')}, ptr {self._word_at(LONGEST)}, align 8"
        )
        code.branch(code.let(f"icmp ne ptr {self.counts}, null"), count, on)
        code.open(count)
        place = row_at(code, "i64", self.counts, sample)
        total = code.let(f"add i64 {code.let(f'load i64, ptr {place}, align 8')}, {made}")
        code.emit(f"store i64 {total}, ptr {place}, align 8")
        code.jump(on)

    def _mark_failed(self, sample: str) -> None:
        code, mark, on = self.code, self.code.label(), self.code.label()
        code.branch(self._has("failed"), mark, on)
        code.open(mark)
        self._put("i8", "1", self.frame.word(layout.FAILED, "ptr"), sample)
        code.jump(on)
        code.open(on)

    def _put(self, scalar: str, value: str, row: str, sample: str) -> None:
        address = row_at(self.code, scalar, row, sample)
        self.code.emit(f"store {scalar} {value}, ptr {address}, align {SIZES[scalar]}")

    def _enter(self) -> None:
        """Find the next sample that is not finished."""
        code, labels = self.code, self.labels
        assert self.frame.mask is not None
        following = code.variable("i64")
        code.open(labels["enter"])
        code.store("i64", self._word(FOLLOWING), following)
        code.jump(labels["look"])
        code.open(labels["look"])
        sample = code.load("i64", following)
        code.branch(code.let(f"icmp slt i64 {sample}, {self._word(END)}"), labels["fresh"], labels["last"])
        code.open(labels["fresh"])
        after = code.let(f"add i64 {sample}, 1")
        code.store("i64", after, following)
        place = row_at(code, "i8", self.frame.rows[self.frame.mask, 0], sample)
        finished = code.let(f"icmp ne i8 {code.let(f'load i8, ptr {place}, align 1')}, 0")
        code.branch(finished, labels["skip"], labels["load"])
        self._skip(following)
        self._load(sample, after)
        code.open(labels["last"])
        self._ask(following)
        self._clear(sample)

    def _skip(self, following: str) -> None:
        """Pass over finished samples, eight at a time: in a batch that was run before there may be millions."""
        code, labels = self.code, self.labels
        assert self.frame.mask is not None
        fits, passed = code.label(), code.label()
        code.open(labels["skip"])
        sample = code.load("i64", following)
        beyond = code.let(f"add i64 {sample}, 8")
        code.branch(code.let(f"icmp sle i64 {beyond}, {self._word(END)}"), fits, labels["look"])
        code.open(fits)
        eight = code.let(f"load i64, ptr {row_at(code, 'i8', self.frame.rows[self.frame.mask, 0], sample)}, align 1")
        # Not 0 exactly where one of the bytes is: it borrows, which others do only with a high bit of their own.
        borrows = code.let(f"sub i64 {eight}, {0x0101010101010101}")
        zeros = code.let(f"and i64 {borrows}, {code.let(f'xor i64 {eight}, -1')}")
        zeros = code.let(f"and i64 {zeros}, {0x8080808080808080 - 2**64}")
        code.branch(code.let(f"icmp eq i64 {zeros}, 0"), passed, labels["look"])
        code.open(passed)
        code.store("i64", beyond, following)
        code.jump(labels["skip"])

    def _load(self, sample: str, after: str) -> None:
        """Let it have the lane."""
        code = self.code
        code.open(self.labels["load"])
        for one in self.groups.held:
            if one.loaded:
                scalar = one.field.scalar
                address = row_at(code, scalar, self.frame.rows[one.place], sample)
                self._set(one.field, code.let(f"load {scalar}, ptr {address}, align {SIZES[scalar]}"))
        self._set(self.groups.sample, sample)
        self._set(self.groups.began, "%first")
        self._set(self.groups.mask, "-1")
        code.emit(f"store i64 {after}, ptr {self._word_at(FOLLOWING)}, align 8")
        code.store("i64", code.let(f"or i64 {code.load('i64', self.active)}, {self.bit}"), self.active)
        code.jump(self.labels["next"])

    def _clear(self, sample: str) -> None:
        """Leave the lane empty. Steps go on in it, from 0: what lay there may be subnormal, and slow."""
        code = self.code
        code.open(self.labels["empty"])
        for one in self.groups.held:
            self._set(one.field, "0.0" if one.type.is_float else "0")
        self._set(self.groups.mask, "0")
        code.emit(f"store i64 {sample}, ptr {self._word_at(FOLLOWING)}, align 8")
        others = code.let(f"xor i64 {self.bit}, -1")
        code.store("i64", code.let(f"and i64 {code.load('i64', self.active)}, {others}"), self.active)
        code.jump(self.labels["next"])

    def _ask(self, following: str) -> None:
        """Go on with another range of samples if whoever runs the loop has one."""
        code, labels = self.code, self.labels
        ask, none, some = (code.label() for _ in range(3))
        run = code.let(f"load ptr, ptr {self._word_at(RUN)}, align 8")
        code.branch(code.let(f"icmp eq ptr {run}, null"), labels["empty"], ask)
        code.open(ask)
        ends = [self._word_at(FOLLOWING), self._word_at(END)]
        more = code.let(f"call i32 {more_of(code, run)}(ptr {run}, ptr {ends[0]}, ptr {ends[1]})")
        code.branch(code.let(f"icmp eq i32 {more}, 0"), none, some)
        code.open(none)
        code.emit(f"store ptr null, ptr {self._word_at(RUN)}, align 8")
        code.jump(labels["empty"])
        code.open(some)
        code.store("i64", self._word(FOLLOWING), following)
        code.jump(labels["look"])

    def _done(self) -> None:
        """Compute what stays the same until the next exchange."""
        code = self.code
        code.open(self.labels["done"])
        code.emit(f"store i64 {code.load('i64', self.active)}, ptr {self.place}, align 8")
        inputs = {one.place: one.lanes(code, "%group") for one in self.groups.held if one.loaded and not one.stored}
        around = Surroundings(self.frame, inputs, lambda: "zeroinitializer", "", "")
        body = Body(self.function, around, "splat (i1 true)")
        if self.groups.kept:
            body.hoist()
        for one in self.groups.kept:
            one.field.store(code, "%group", to_memory(code, one.type, body.value(one.numbers[0])))
        code.emit("ret void")
