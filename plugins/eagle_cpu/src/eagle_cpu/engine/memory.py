"""Reading and writing samples: consecutive ones, some of consecutive ones, and scattered ones, lane by lane.

Every access is aligned to its element only. A lane outside the mask touches no memory.
"""

from __future__ import annotations

from collections.abc import Sequence

from eagle_cpu.engine.code import Code
from eagle_cpu.engine.host import host
from eagle_cpu.engine.support import support

__all__ = ["deposit", "expand", "gather", "load", "mark", "masked_load", "masked_store", "row_at", "scatter", "store"]

SIZES = {"double": 8, "i64": 8, "float": 4, "i32": 4, "i8": 1}


def row_at(code: Code, scalar: str, row: str, index: str) -> str:
    """Return the address of an element of a row."""
    return code.let(f"getelementptr {scalar}, ptr {row}, i64 {index}")


def load(code: Code, scalar: str, address: str) -> str:
    """Load a lane each from consecutive elements."""
    return code.let(f"load {code.vector.of(scalar)}, ptr {address}, align {SIZES[scalar]}")


def store(code: Code, scalar: str, value: str, address: str) -> None:
    """Store all lanes to consecutive elements."""
    code.emit(f"store {code.vector.of(scalar)} {value}, ptr {address}, align {SIZES[scalar]}")


def masked_load(code: Code, scalar: str, address: str, mask: str) -> str:
    """Load the lanes of a mask from consecutive elements; the others are 0."""
    vector = code.vector.of(scalar)
    name = f"llvm.masked.load.{code.vector.mangle(scalar)}.p0"
    align = ("i32", str(SIZES[scalar]))
    return code.call(vector, name, [("ptr", address), align, (code.mask_type, mask), (vector, "zeroinitializer")])


def masked_store(code: Code, scalar: str, value: str, address: str, mask: str) -> None:
    """Store the lanes of a mask to consecutive elements, leaving the others' bytes alone."""
    vector = code.vector.of(scalar)
    name = f"llvm.masked.store.{code.vector.mangle(scalar)}.p0"
    align = ("i32", str(SIZES[scalar]))
    code.call("void", name, [(vector, value), ("ptr", address), align, (code.mask_type, mask)])


def gather(code: Code, scalar: str, row: str, indices: str, mask: str) -> str:
    """Load the lanes of a mask from elements of a row by index; the others are 0."""
    vector = code.vector.of(scalar)
    places = code.let(f"getelementptr {scalar}, ptr {row}, {code.vector.of('i64')} {indices}")
    if not host().expands or scalar == "i8":
        return _lane_by_lane(code, scalar, places, mask)
    pointers = code.vector.of("ptr")
    name = f"llvm.masked.gather.{code.vector.mangle(scalar)}.v{code.lanes}p0"
    align = ("i32", str(SIZES[scalar]))
    return code.call(vector, name, [(pointers, places), align, (code.mask_type, mask), (vector, "zeroinitializer")])


def scatter(code: Code, scalar: str, value: str, row: str, indices: str, mask: str) -> None:
    """Store the lanes of a mask to elements of a row by index; bytes by `mark`, as no processor scatters them."""
    vector, pointers = code.vector.of(scalar), code.vector.of("ptr")
    places = code.let(f"getelementptr {scalar}, ptr {row}, {code.vector.of('i64')} {indices}")
    name = f"llvm.masked.scatter.{code.vector.mangle(scalar)}.v{code.lanes}p0"
    align = ("i32", str(SIZES[scalar]))
    code.call("void", name, [(vector, value), (pointers, places), align, (code.mask_type, mask)])


def deposit(code: Code, values: Sequence[tuple[str, str, str]], indices: str, mask: str) -> None:
    """Store the lanes of a mask to elements of several rows by index, lane after lane.

    Few lanes at a time: a scatter takes as long for one lane as for all, and for each row anew.

    Parameters
    ----------
    code : Code
    values : sequence of (str, str, str)
        For each row: the element's type, the lanes, the row.
    indices, mask : str
    """
    many = code.vector.of("i64")
    samples, left = code.variable(many), code.variable("i64")
    spilled = [code.variable(code.vector.of(scalar)) for scalar, _, _ in values]
    code.store(many, indices, samples)
    code.store("i64", code.word(mask), left)
    for (scalar, value, _), variable in zip(values, spilled, strict=True):
        code.store(code.vector.of(scalar), value, variable)
    head, inside, after = code.label(), code.label(), code.label()
    code.jump(head)
    code.open(head)
    bits = code.load("i64", left)
    code.branch(code.let(f"icmp ne i64 {bits}, 0"), inside, after)
    code.open(inside)
    lane = code.call("i64", "llvm.cttz.i64", [("i64", bits), ("i1", "true")])
    sample = code.let(f"load i64, ptr {row_at(code, 'i64', samples, lane)}, align 8")
    for (scalar, _, row), variable in zip(values, spilled, strict=True):
        align = f"align {SIZES[scalar]}"
        value = code.let(f"load {scalar}, ptr {row_at(code, scalar, variable, lane)}, {align}")
        code.emit(f"store {scalar} {value}, ptr {row_at(code, scalar, row, sample)}, {align}")
    code.store("i64", code.let(f"and i64 {bits}, {code.let(f'sub i64 {bits}, 1')}"), left)
    code.jump(head)
    code.open(after)


def mark(code: Code, value: str, row: str, indices: str, mask: str) -> None:
    """Store a mask, as bytes 0 and 1, to elements of a row by index: in the lanes of `mask`."""
    many = code.vector.of("i64")
    samples = code.variable(many)
    code.store(many, indices, samples)
    for byte, lanes in ((1, code.both(mask, value)), (0, code.without(mask, value))):
        bits = code.word(lanes)
        support(code, "eagle_mark", f"ptr {row}, i64 {bits}, ptr {samples}, i8 {byte}")


def expand(code: Code, scalar: str, row: str, first: str, ranks: str, mask: str, kept: str) -> str:
    """Load consecutive elements, from `first` on, into the lanes of a mask in order; the others keep what they held.

    Parameters
    ----------
    code : Code
    scalar, row, first : str
    ranks : str
        The number of each lane among those of the mask, for hardware that has no such instruction.
    mask, kept : str
    """
    vector = code.vector.of(scalar)
    if host().expands and scalar != "i8":
        name = f"llvm.masked.expandload.{code.vector.mangle(scalar)}"
        address = row_at(code, scalar, row, first)
        return code.call(vector, name, [("ptr", address), (code.mask_type, mask), (vector, kept)])
    many = code.vector.of("i64")
    loaded = gather(code, scalar, row, code.let(f"add {many} {ranks}, {code.splat('i64', first)}"), mask)
    return code.select(mask, vector, loaded, kept)


def _lane_by_lane(code: Code, scalar: str, places: str, mask: str) -> str:
    """Load without a branch per lane: a lane outside the mask reads a spare word of the function's own."""
    spare = code.variable("i64")
    code.emit(f"store i64 0, ptr {spare}, align 64")
    vector, pointers = code.vector.of(scalar), code.vector.of("ptr")
    places = code.select(mask, pointers, places, code.splat("ptr", spare))
    result = "zeroinitializer"
    for lane in range(code.lanes):
        element = code.let(f"load {scalar}, ptr {code.lane(pointers, places, lane)}, align {SIZES[scalar]}")
        result = code.let(f"insertelement {vector} {result}, {scalar} {element}, i32 {lane}")
    return result
