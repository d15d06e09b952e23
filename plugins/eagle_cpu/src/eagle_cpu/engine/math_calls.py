"""Calls of the transcendentals: vectors of any width are cut into pieces of the width that the function takes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from eagle_cpu.engine.code import Code
from eagle_cpu.engine.forms import Form
from eagle_cpu.engine.vector_math import HARMLESS, Variant, variant

__all__ = ["call_lanes", "call_uniform", "entries"]


def call_lanes(code: Code, name: str, operands: Sequence[str], mask: str | None) -> str:
    """Call a function on vectors of double; lanes outside `mask` are given a harmless number instead."""
    function, vector = variant(name), code.vector.of("double")
    harmless = code.vector.const("double", HARMLESS.get(name, 0.5))
    if mask is not None:
        operands = [code.select(mask, vector, operand, harmless) for operand in operands]
    if function.lanes == 0:
        return _lane_by_lane(code, function, operands)
    pieces = []
    for first in range(0, code.lanes, function.lanes):
        cut = [_cut(code, operand, first, function.lanes, harmless) for operand in operands]
        pieces.append(_call(code, function, cut))
    return _joined(code, pieces, function.lanes)


def call_uniform(code: Code, name: str, operands: Sequence[str]) -> str:
    """Call a function on numbers, by the same variant, so that the bits are those that lanes get."""
    function = variant(name)
    if function.lanes == 0:
        return code.call("double", function.symbol, [("double", operand) for operand in operands])
    piece = Code(function.lanes)
    piece.lines, piece.declared, piece._count = code.lines, code.declared, code._count
    vectors = [piece.splat("double", operand) for operand in operands]
    result = piece.lane(Form(function.lanes).of("double"), _call(piece, function, vectors), 0)
    code._count = piece._count
    return result


def entries(names: Iterable[str]) -> dict[str, int]:
    """Compile a C function of doubles for each name, ``eagle_one_NAME``, and return their addresses by name."""
    from eagle_cpu.engine.compiler import assemble, compiled

    functions = []
    for name in names:
        code = Code(max(variant(name).lanes, 4))
        operands = [f"%a{position}" for position in range(variant(name).operands)]
        code.emit(f"ret double {call_uniform(code, name, operands)}")
        head = f"define double @eagle_one_{name}({', '.join(f'double {operand}' for operand in operands)}) #0"
        functions.append((code, head))
    addresses = compiled(assemble(functions), [f"eagle_one_{name}" for name in names], "vector math")
    return {name.removeprefix("eagle_one_"): address for name, address in addresses.items()}


def _call(code: Code, function: Variant, operands: Sequence[str]) -> str:
    vector = Form(function.lanes).of("double")
    pairs = [(vector, operand) for operand in operands]
    return code.call(vector, function.symbol, pairs, convention=function.convention)


def _lane_by_lane(code: Code, function: Variant, operands: Sequence[str]) -> str:
    vector, result = code.vector.of("double"), "zeroinitializer"
    for lane in range(code.lanes):
        numbers = [("double", code.lane(vector, operand, lane)) for operand in operands]
        number = code.call("double", function.symbol, numbers)
        result = code.let(f"insertelement {vector} {result}, double {number}, i32 {lane}")
    return result


def _cut(code: Code, operand: str, first: int, lanes: int, harmless: str) -> str:
    """Return lanes first..first+lanes of a vector, filled with the harmless number beyond its end."""
    vector = code.vector.of("double")
    chosen = ", ".join(f"i32 {min(first + lane, code.lanes)}" for lane in range(lanes))
    return code.let(f"shufflevector {vector} {operand}, {vector} {harmless}, <{lanes} x i32> <{chosen}>")


def _joined(code: Code, pieces: list[str], lanes: int) -> str:
    """Return the pieces one after another, `code.lanes` numbers; the number of pieces is a power of two."""
    while len(pieces) > 1:
        pairs = zip(pieces[::2], pieces[1::2], strict=True)
        pieces = [_shuffled(code, f"<{lanes} x double>", pair, 2 * lanes) for pair in pairs]
        lanes *= 2
    if lanes == code.lanes:
        return pieces[0]
    return _shuffled(code, f"<{lanes} x double>", (pieces[0], "poison"), code.lanes)


def _shuffled(code: Code, kind: str, pair: tuple[str, str], lanes: int) -> str:
    """Return the first lanes of two vectors behind each other."""
    order = ", ".join(f"i32 {lane}" for lane in range(lanes))
    return code.let(f"shufflevector {kind} {pair[0]}, {kind} {pair[1]}, <{lanes} x i32> <{order}>")
