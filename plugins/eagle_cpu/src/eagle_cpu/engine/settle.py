"""After some steps of a loop: which samples leave their lanes, and what is written of them."""

from __future__ import annotations

from eagle_cpu.engine import layout
from eagle_cpu.engine.arithmetic import Floats
from eagle_cpu.engine.code import Code
from eagle_cpu.engine.frame import Frame
from eagle_cpu.engine.lane_state import LaneState
from eagle_cpu.engine.memory import gather, mark, scatter
from eagle_ir import Type

__all__ = ["not_finite", "settle"]


def settle(
    code: Code, frame: Frame, state: LaneState, counter: str, steps: str, stopping: str, *, watchful: bool
) -> None:
    """Count the steps taken, and write and free the lanes whose samples ended.

    Parameters
    ----------
    code : Code
    frame : Frame
    state : LaneState
    counter : str
        LLVM's name of the type that counts steps between two checks.
    steps : str
        How many steps were made since the last check.
    stopping : str
        Whether the loop is to stop: every sample then leaves its lane, at its last whole step.
    watchful : bool
        Whether samples that are no longer finite end.
    """
    many, count = code.vector.of("i64"), code.vector.of(counter)
    active, retired = state.mask(state.active), state.mask(state.retired)
    ended = code.load(count, state.ended)
    running = code.let(f"icmp eq {count} {ended}, {code.splat(counter, steps)}")
    taken = _taken(code, state, counter, running)
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


def _taken(code: Code, state: LaneState, counter: str, running: str) -> str:
    """Add the steps since the last check to what every lane's sample took, and return that."""
    many, count = code.vector.of("i64"), code.vector.of(counter)
    ended = code.load(count, state.ended)
    # A sample ended in its step number `ended`, which counts unless it faulted there.
    whole = code.let(f"zext {code.mask_type} {code.complement(state.mask(state.retired))} to {count}")
    taken = code.select(running, count, ended, code.let(f"add {count} {ended}, {whole}"))
    taken = taken if counter == "i64" else code.let(f"sext {count} {taken} to {many}")
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
    for one in state.held:
        if one.stored and one.type is Type.BOOL:
            mark(code, state.get(one), frame.rows[one.place], samples, moved)
        elif one.stored:
            scatter(code, one.scalar, state.get(one), frame.rows[one.place], samples, moved)
    mask_row = frame.rows[frame.mask, 0]
    if watchful:
        mark(code, state.mask(state.done), mask_row, samples, moved)
        failed = code.both(ended, not_finite(code, state))
        mark(code, "splat (i1 true)", frame.word(layout.FAILED, "ptr"), samples, failed)
    else:
        mark(code, "splat (i1 true)", mask_row, samples, ended)
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
