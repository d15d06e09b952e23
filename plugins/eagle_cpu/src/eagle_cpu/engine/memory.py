"""Reading and writing samples: consecutive ones, some of consecutive ones, and reading scattered ones.

Every access is aligned to its element only. A lane outside the mask writes nothing, and reads what is there or nothing.
"""

from __future__ import annotations

from eagle_cpu.engine.code import Code
from eagle_cpu.engine.host import host

__all__ = ["SIZES", "gather", "load", "masked_load", "masked_store", "row_at", "store"]

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
    """Load the lanes of a mask from elements of a row by index; what the others get means nothing.

    There is a first element, even where the mask has no lane.
    """
    if not host().masks or scalar == "i8":
        return _lane_by_lane(code, scalar, row, indices, mask)
    vector = code.vector.of(scalar)
    places = code.let(f"getelementptr {scalar}, ptr {row}, {code.vector.of('i64')} {indices}")
    pointers = code.vector.of("ptr")
    name = f"llvm.masked.gather.{code.vector.mangle(scalar)}.v{code.lanes}p0"
    align = ("i32", str(SIZES[scalar]))
    return code.call(vector, name, [(pointers, places), align, (code.mask_type, mask), (vector, "zeroinitializer")])


def _lane_by_lane(code: Code, scalar: str, row: str, indices: str, mask: str) -> str:
    """Load without a branch per lane: a lane outside the mask reads the first element."""
    vector, many = code.vector.of(scalar), code.vector.of("i64")
    indices = code.select(mask, many, indices, "zeroinitializer")
    result = "zeroinitializer"
    for lane in range(code.lanes):
        address = row_at(code, scalar, row, code.lane(many, indices, lane))
        element = code.let(f"load {scalar}, ptr {address}, align {SIZES[scalar]}")
        result = code.let(f"insertelement {vector} {result}, {scalar} {element}, i32 {lane}")
    return result
