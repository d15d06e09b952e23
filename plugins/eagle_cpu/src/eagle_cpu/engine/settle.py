"""After some steps of a loop: which samples leave their lanes, and what is written of them."""

from __future__ import annotations

from eagle_cpu.engine import layout
from eagle_cpu.engine.arithmetic import Floats
from eagle_cpu.engine.code import Code
from eagle_cpu.engine.frame import Frame, to_memory
from eagle_cpu.engine.lane_clock import LaneClock
from eagle_cpu.engine.lane_state import LaneState
from eagle_cpu.engine.memory import deposit, gather, mark, scatter
from eagle_ir import Type

__all__ = ["not_finite", "settle"]


def settle(
    code: Code, frame: Frame, state: LaneState, clock: LaneClock, steps: str, stopping: str, *, watchful: bool
) -> None:
    """Count the steps taken, and write and free the lanes whose samples ended.

    Parameters
    ----------
    code : Code
    frame : Frame
    state : LaneState
    clock : LaneClock
    steps : str
        How many steps were made since the last check.
    stopping : str
        Whether the loop is to stop: every sample then leaves its lane, at its last whole step.
    watchful : bool
        Whether samples that are no longer finite end.
    """
    many = code.vector.of("i64")
    active, retired = state.mask(state.active), state.mask(state.retired)
    running, ran = clock.read(active, steps)
    taken = _taken(code, state, running, ran)
    over = code.both(active, code.either(code.complement(running), retired))
    limit = code.splat("i64", frame.word(layout.MAX_STEPS))
    leaving = code.either(code.let(f"icmp sge {many} {taken}, {limit}"), code.splat("i1", stopping))
    leaving = code.both(active, code.either(over, leaving))
    write, on = code.label(), code.label()
    code.branch(code.any(leaving), write, on)
    code.open(write)
    _write(code, frame, state, leaving, code.without(over, retired), watchful=watchful)
    code.store(code.mask_type, code.without(active, leaving), state.active)
    code.store(code.mask_type, "zeroinitializer", state.retired)
    code.jump(on)
    code.open(on)


def _taken(code: Code, state: LaneState, running: str, ran: str) -> str:
    """Add the steps since the last check to what every lane's sample took, and return that."""
    many = code.vector.of("i64")
    # The step after those in which a sample's end came counts, unless it faulted there.
    whole = code.let(f"zext {code.mask_type} {code.complement(state.mask(state.retired))} to {many}")
    taken = code.select(running, many, ran, code.let(f"add {many} {ran}, {whole}"))
    taken = code.select(state.mask(state.active), many, taken, "zeroinitializer")
    taken = code.let(f"add {many} {state.numbers(state.taken)}, {taken}")
    code.store(many, taken, state.taken)
    return taken


def not_finite(code: Code, state: LaneState) -> str:
    """Return the lanes that hold a NaN or an infinity among the floats that are stored."""
    found = "zeroinitializer"
    for one in state.held:
        if one.stored and one.type.is_float:
            floats = Floats(code, code.vector, one.type)
            size = floats.intrinsic("fabs", state.get(one))
            finite = floats.compare("olt", size, floats.const(float("inf")))
            found = code.either(found, code.complement(finite))
    return found


def _write(code: Code, frame: Frame, state: LaneState, leaving: str, ended: str, *, watchful: bool) -> None:
    """Store the samples of the lanes `leaving`, of which those in `ended` ended by themselves."""
    assert frame.mask is not None
    many = code.vector.of("i64")
    samples, taken = state.numbers(state.sample), state.numbers(state.taken)
    moved = code.both(leaving, code.let(f"icmp sgt {many} {taken}, zeroinitializer"))
    # One that ends here was not done before, so that a mask of those that did not is written as it stood.
    over = state.mask(state.done) if watchful else ended
    values = [
        (one.scalar, to_memory(code, one.type, state.get(one)), frame.rows[one.place])
        for one in state.held
        if one.stored
    ]
    deposit(code, [*values, ("i8", to_memory(code, Type.BOOL, over), frame.rows[frame.mask, 0])], samples, moved)
    if watchful:
        failed = code.both(ended, not_finite(code, state))
        mark(code, "splat (i1 true)", frame.word(layout.FAILED, "ptr"), samples, failed)
    _count(code, frame, state, samples, taken, leaving)


def _count(code: Code, frame: Frame, state: LaneState, samples: str, taken: str, leaving: str) -> None:
    """Add the steps taken to the array that wants them, and keep the most."""
    many = code.vector.of("i64")
    counted = code.select(leaving, many, taken, "zeroinitializer")
    most = state.numbers(state.longest)
    more = code.let(f"icmp sgt {many} {counted}, {most}")
    code.store(many, code.select(more, many, counted, most), state.longest)
    array = frame.word(layout.STEPS, "ptr")
    add, on = code.label(), code.label()
    code.branch(code.let(f"icmp ne ptr {array}, null"), add, on)
    code.open(add)
    before = gather(code, "i64", array, samples, leaving)
    scatter(code, "i64", code.let(f"add {many} {before}, {taken}"), array, samples, leaving)
    code.jump(on)
    code.open(on)
