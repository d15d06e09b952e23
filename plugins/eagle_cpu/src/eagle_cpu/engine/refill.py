"""Filling the empty lanes of a loop with the next samples."""

from __future__ import annotations

from eagle_cpu.engine.code import Code
from eagle_cpu.engine.frame import Frame, from_memory, to_memory
from eagle_cpu.engine.host import host
from eagle_cpu.engine.lane_state import LaneState
from eagle_cpu.engine.memory import expand, gather, masked_load, row_at
from eagle_ir import Type

__all__ = ["refill"]


def refill(code: Code, frame: Frame, state: LaneState, empty: str, following: str) -> None:
    """Let the samples from `following` on enter the lanes of `empty`, in order, as long as there are some.

    A sample that is finished already takes no lane: its lane stays empty, and the caller comes here again.
    """
    many = code.vector.of("i64")
    ranks = _ranks(code, empty)
    left = code.let(f"sub i64 %end, {following}")
    within = code.let(f"icmp ult {many} {ranks}, {code.splat('i64', left)}")
    entering = code.both(empty, within)
    count = code.count(entering)
    fresh = _unfinished(code, frame, ranks, entering, following, count)
    for one in state.held:
        if not one.loaded:
            continue
        kept = to_memory(code, one.type, state.get(one))
        value = expand(code, one.scalar, frame.rows[one.place], following, ranks, entering, kept)
        state.put(one, from_memory(code, one.type, value))
    sample = code.let(f"add {many} {ranks}, {code.splat('i64', following)}")
    code.store(many, code.select(fresh, many, sample, state.numbers(state.sample)), state.sample)
    code.store(many, code.select(fresh, many, "zeroinitializer", state.numbers(state.taken)), state.taken)
    code.store(code.mask_type, code.either(state.mask(state.active), fresh), state.active)
    code.store("i64", code.let(f"add i64 {following}, {count}"), state.following)


def _unfinished(code: Code, frame: Frame, ranks: str, entering: str, following: str, count: str) -> str:
    """Return the entering lanes whose sample is not finished; usually all of them, which one load tells."""
    assert frame.mask is not None
    row, many = frame.rows[frame.mask, 0], code.vector.of("i64")
    fresh = code.variable(code.mask_type)
    code.store(code.mask_type, entering, fresh)
    some, on = code.label(), code.label()
    inside = code.let(f"icmp ult {many} {code.iota('i64')}, {code.splat('i64', count)}")
    finished = from_memory(code, Type.BOOL, masked_load(code, "i8", row_at(code, "i8", row, following), inside))
    code.branch(code.any(finished), some, on)
    code.open(some)
    samples = code.let(f"add {many} {ranks}, {code.splat('i64', following)}")
    finished = from_memory(code, Type.BOOL, gather(code, "i8", row, samples, entering))
    code.store(code.mask_type, code.without(entering, finished), fresh)
    code.jump(on)
    code.open(on)
    return code.load(code.mask_type, fresh)


def _ranks(code: Code, mask: str) -> str:
    """Return the number of each lane of a mask among those of the mask; the other lanes' numbers mean nothing."""
    many = code.vector.of("i64")
    if host().expands:
        table = ", ".join(f"i64 {lane}" for lane in range(code.lanes))
        code.declared["eagle_iota"] = f"@eagle_iota = private constant [{code.lanes} x i64] [{table}]"
        name = f"llvm.masked.expandload.{code.vector.mangle('i64')}"
        pairs = [("ptr", "@eagle_iota"), (code.mask_type, mask), (many, "zeroinitializer")]
        return code.call(many, name, pairs)
    total = code.let(f"zext {code.mask_type} {mask} to {many}")
    distance = 1
    while distance < code.lanes:
        order = [lane - distance if lane >= distance else code.lanes for lane in range(code.lanes)]
        indices = ", ".join(f"i32 {lane}" for lane in order)
        shifted = code.let(f"shufflevector {many} {total}, {many} zeroinitializer, <{code.lanes} x i32> <{indices}>")
        total = code.let(f"add {many} {total}, {shifted}")
        distance *= 2
    return code.let(f"sub {many} {total}, splat (i64 1)")
