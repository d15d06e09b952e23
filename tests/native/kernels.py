"""Compiles kernels to object files, and writes what it takes to call them as a table in C++, for the sanitizers.

``python kernels.py FOLDER this`` compiles for this processor, ``without-avx512`` for what valgrind knows of it.
``FOLDER/table.h`` holds a ``Subject`` (subject.h) for every entry.
"""

from __future__ import annotations

import dataclasses
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

from eagle.plugin import Argument, Kernel
from eagle_cpu.engine import layout
from eagle_cpu.engine.build import Build, has_loop, is_simple, module_text
from eagle_cpu.engine.chain import Chain, Part, chain_kernel
from eagle_cpu.engine.compiler import to_object
from eagle_cpu.engine.host import Host, host
from eagle_cpu.engine.layout import Layout, components
from eagle_cpu.engine.shape import Shape
from eagle_cpu.engine.vector_math import _PREFIXES, NAMES, variant
from eagle_ir import Builder, Function, Site, Type, Value, to_kernel
from eagle_ir.walking import faulting

SITE = Site("kernels.py", 1, "")
DONE = Argument(name="done", role="mask", mode="rw", dtype="bool")
AXES = (17, 5)
"""The lengths of tables; the driver's integers go from -3 to 20."""

NARROW = 4
STEP_LIMIT = 25
PARAMS = {"float64": 1.25, "float32": 0.75, "int64": 3, "int32": -2, "uint32": 5, "bool": 1}
PACKED = {"float64": "d", "float32": "f", "int64": "q", "int32": "i", "uint32": "I", "bool": "?"}


def plane(name: str, mode: str, dtype: str = "float64", shape: tuple[int, ...] = ()) -> Argument:
    return Argument(name=name, role="sample", mode=mode, dtype=dtype, shape=shape)  # type: ignore[arg-type]


def table(name: str, dtype: str, axes: int) -> Argument:
    return Argument(name=name, role="table", mode="r", dtype=dtype, shape=(-1,) * axes)


def param(name: str, dtype: str) -> Argument:
    return Argument(name=name, role="param", mode="r", dtype=dtype)


def arithmetic() -> Function:
    """Every type, components, params, a plane that is read and written."""
    arguments = [plane("x", "r", shape=(3,)), plane("s", "rw", "float32"), plane("i", "r", "int32")]
    arguments += [plane("u", "r", "uint32"), plane("k", "r", "int64"), param("a", "float64"), param("m", "int64")]
    outputs = [
        plane("y", "w", shape=(3,)),
        plane("j", "w", "int32"),
        plane("v", "w", "uint32"),
        plane("w", "w", "int64"),
    ]
    builder = Builder("arithmetic", [*arguments, *outputs])
    compute, a = builder.compute, builder.parameter("a")
    x, y, z = (builder.load("x", component) for component in range(3))
    length = compute("sqrt", compute("fma", x, x, compute("fma", y, y, compute("mul", z, z))))
    for component, value in enumerate((x, y, z)):
        builder.store("y", compute("div", compute("mul", value, a), length), component)
    s, i, u = builder.load("s"), builder.load("i"), builder.load("u")
    builder.store("s", compute("add", compute("floor", s), compute("convert", x, gives=Type.F32)))
    builder.store("j", compute("max", compute("shl", i, i), compute("sub", i, compute("convert", u, gives=Type.I32))))
    builder.store("v", compute("xor", compute("shr", u, u), compute("not", u)))
    builder.store("w", compute("mul", builder.load("k"), builder.parameter("m")))
    return builder.finish()


def branches() -> Function:
    """Newton's square root by a loop in one branch, the number itself in the other."""
    builder = Builder("branches", [plane("x", "r"), plane("y", "w"), plane("turns", "w", "int64")])
    compute, x = builder.compute, builder.load("x")

    def newton() -> tuple[Value, ...]:
        def more(carried: tuple[Value, ...]) -> Value:
            root, turns = carried
            error = compute("abs", compute("sub", compute("mul", root, root), x))
            far = compute("gt", error, builder.const(1e-9, Type.F64))
            return compute("and", far, compute("lt", turns, builder.const(40, Type.I64)))

        def turn(carried: tuple[Value, ...]) -> tuple[Value, ...]:
            root, turns = carried
            better = compute("mul", compute("add", root, compute("div", x, root)), builder.const(0.5, Type.F64))
            return better, compute("add", turns, builder.const(1, Type.I64))

        return builder.while_([builder.const(1.0, Type.F64), builder.const(0, Type.I64)], more, turn)

    positive = compute("gt", x, builder.const(0.0, Type.F64))
    root, turns = builder.if_(positive, newton, lambda: [x, builder.const(-1, Type.I64)])
    builder.store("y", root)
    builder.store("turns", turns)
    return builder.finish()


def lookup() -> Function:
    """Tables of one and two axes, flags among them, many indices outside."""
    arguments = [plane("i", "r", "int64"), plane("j", "r", "int64"), plane("y", "w"), plane("n", "w", "int32")]
    tables = [table("grid", "float64", 2), table("row", "int32", 1), table("flags", "bool", 1)]
    builder = Builder("lookup", [*arguments, *tables, plane("flag", "w", "bool")])
    i, j = builder.load("i"), builder.load("j")
    builder.store("y", builder.gather("grid", [i, j], SITE))
    builder.store("n", builder.gather("row", [j], SITE))
    builder.store("flag", builder.gather("flags", [i], SITE))
    return builder.finish()


def division() -> Function:
    """Integer divisions, many by zero, and a conversion that can fault."""
    arguments = [plane("a", "r", "int64"), plane("b", "r", "int64"), plane("c", "r", "int32"), plane("x", "r")]
    outputs = [plane("d", "w", "int64"), plane("e", "w", "int32"), plane("f", "w", "int32")]
    builder = Builder("division", [*arguments, *outputs])
    compute, c = builder.compute, builder.load("c")
    builder.store("d", compute("floordiv", builder.load("a"), builder.load("b"), site=SITE))
    builder.store("e", compute("mod", builder.const(1000, Type.I32), c, site=SITE))
    huge = compute("mul", builder.load("x"), builder.const(1e9, Type.F64))
    builder.store("f", compute("convert", huge, gives=Type.I32, site=SITE))
    return builder.finish()


def flags() -> Function:
    """Bool planes of every mode, and a mask that leaves finished samples alone."""
    gate = dataclasses.replace(DONE, mode="r")
    arguments = [plane("p", "r", "bool", (2,)), plane("q", "rw", "bool"), plane("r", "w", "bool"), plane("x", "rw")]
    builder = Builder("flags", [*arguments, param("on", "bool"), gate])
    compute, x = builder.compute, builder.load("x")
    either = compute("or", builder.load("p", 0), compute("not", builder.load("p", 1)))
    builder.store("q", compute("xor", builder.load("q"), either))
    builder.store("r", compute("and", compute("lt", x, builder.const(1.0, Type.F64)), builder.parameter("on")))
    builder.store("x", compute("select", either, x, compute("neg", x)))
    return builder.finish()


def mathematics() -> Function:
    """The vector math library, in both float types and of a param."""
    arguments = [plane("x", "r"), plane("s", "r", "float32"), param("a", "float64")]
    builder = Builder("mathematics", [*arguments, plane("y", "w"), plane("t", "w", "float32")])
    compute, x = builder.compute, builder.load("x")
    power = compute("pow", compute("abs", x), compute("sin", builder.parameter("a")))
    builder.store("y", compute("add", compute("exp", x), power))
    builder.store("t", compute("fmod", compute("cos", builder.load("s")), builder.const(0.3, Type.F32)))
    return builder.finish()


def walk() -> Function:
    """A loop that reads a table until it faults, ends or turns infinite, whichever is first."""
    arguments = [plane("x", "rw", shape=(2,)), plane("n", "rw", "int32"), plane("back", "rw", "bool")]
    builder = Builder("walk", [*arguments, plane("scale", "r"), table("steps", "float64", 1), DONE])
    compute, n, back = builder.compute, builder.load("n"), builder.load("back")
    step = builder.gather("steps", [compute("convert", n, gives=Type.I64)], SITE)
    scale = compute("sqrt", compute("abs", builder.load("scale")))  # computed once for a sample
    x = compute("fma", compute("abs", step), scale, builder.load("x", 0))
    builder.store("x", x, 0)
    builder.store("x", compute("mul", builder.load("x", 1), builder.load("x", 1)), 1)
    builder.store("n", compute("add", n, compute("convert", back, gives=Type.I32)))
    builder.store("back", compute("not", back))
    builder.store("done", compute("gt", x, builder.const(12.0, Type.F64)))
    return builder.finish()


def narrow() -> Function:
    """A loop in 32 bits with a loop inside and a call of the vector math library."""
    builder = Builder("narrow", [plane("x", "rw", "float32"), plane("n", "rw", "int32"), DONE])
    compute, one = builder.compute, builder.const(1, Type.I32)
    limit = compute("and", builder.load("n"), builder.const(7, Type.I32))

    def turn(carried: tuple[Value, ...]) -> tuple[Value, ...]:
        return compute("add", carried[0], compute("exp", compute("sin", carried[0]))), compute("add", carried[1], one)

    first = [builder.load("x"), builder.const(0, Type.I32)]
    x, _ = builder.while_(first, lambda carried: compute("lt", carried[1], limit), turn)
    builder.store("x", x)
    builder.store("n", compute("sub", builder.load("n"), one))
    builder.store("done", compute("gt", x, builder.const(30.0, Type.F32)))
    return builder.finish()


def endless() -> Function:
    """A loop that only being stopped ends."""
    builder = Builder("endless", [plane("x", "rw"), plane("flag", "rw", "bool"), DONE])
    x = builder.compute("add", builder.load("x"), builder.const(1.0, Type.F64))
    builder.store("x", x)
    builder.store("flag", builder.compute("not", builder.load("flag")))
    builder.store("done", builder.compute("lt", x, builder.const(-100.0, Type.F64)))
    return builder.finish()


KERNELS = (arithmetic, branches, lookup, division, flags, mathematics, walk, narrow, endless)


def chain() -> Kernel:
    """All that nothing can fault in, one after another; planes of one name and kind are the same."""
    slots: dict[tuple[object, ...], int] = {}
    parts: list[Part] = []
    for kernel in (to_kernel(make()) for make in KERNELS if make is not endless):
        assert isinstance(kernel.code, Function)
        if not faulting(kernel.code.body):
            rows = {
                one.name: [
                    slots.setdefault((one.name, one.dtype, one.shape, component), len(slots))
                    for component in range(components(one))
                ]
                for one in kernel.arguments
                if one.role != "param"
            }
            parts.append((kernel, rows))
    assert len(parts) > 2
    return dataclasses.replace(chain_kernel(parts), name="chain")


def entries(kernel: Kernel) -> tuple[Build, ...]:
    if isinstance(kernel.code, Chain):
        return (Build.CHAIN,)
    return (Build.LAUNCH, Build.LOOP, Build.WATCHFUL) if has_loop(kernel) else (Build.LAUNCH,)


def objects(kernel: Kernel, shape: Shape) -> Iterator[tuple[str, bytes]]:
    """Compile each entry of a kernel under its own name, calling what is behind `eagle_math_*` directly."""
    for which in entries(kernel):
        name = f"{kernel.name}_{shape.lanes}_{which.value.removeprefix('eagle_')}"
        text = module_text(kernel, shape, which).replace(f"@{which.value}(", f"@{name}(")
        for function in map(variant, NAMES):
            prefix, _ = _PREFIXES.get((host().machine, host().vector_bits), ("", 0))
            operands = "v" * function.operands
            symbol = f"_ZGV{prefix}N{function.lanes}{operands}_{function.name}" if function.lanes else function.name
            text = text.replace(f"@{function.symbol}(", f"@{symbol}(")
        yield name, to_object(text, simple=is_simple(kernel, which))


def rows(kernel: Kernel, shape: Shape) -> Iterator[str]:
    """Return a row of the table for each way to run a kernel."""
    base, limit = f"{kernel.name}_{shape.lanes}", 2**62 if kernel.name == "endless" else STEP_LIMIT
    steps = f'{{"steps", Type::int64, 1, 0, {layout.STEPS}, -1}}'
    failed = f'{{"failed", Type::boolean, 1, 0, {layout.FAILED}, -1}}'
    loop = [f"{{{layout.MAX_STEPS}, {limit}}}"]
    watchful = [*loop, f"{{{layout.WATCHFUL}, reinterpret_cast<int64_t>(&{base}_watchful)}}"]
    if isinstance(kernel.code, Chain):
        yield row(kernel, shape, f"{base}_chain", "", [], [])
        return
    yield row(kernel, shape, f"{base}_launch", "", [], [])
    if has_loop(kernel):
        yield row(kernel, shape, f"{base}_loop", "", loop, [])
        yield row(kernel, shape, f"{base}_loop", ", watchful", watchful, [steps, failed])


def row(kernel: Kernel, shape: Shape, entry: str, how: str, words: list[str], arrays: list[str]) -> str:
    places = Layout.of(kernel.arguments)
    words, arrays = list(words), list(arrays)
    for argument in kernel.arguments:
        word, type_ = places.offsets[argument.name], f"Type::{argument.dtype.replace('bool', 'boolean')}"
        if argument.role == "param":
            packed = struct.pack(PACKED[argument.dtype], PARAMS[argument.dtype]).ljust(8, b"\0")
            words.append(f"{{{word}, {int.from_bytes(packed, 'little', signed=True)}}}")
        elif argument.role == "table":
            axes = AXES[: len(argument.shape)]
            words += [f"{{{word + 1 + axis}, {length}}}" for axis, length in enumerate(axes)]
            length = axes[0] * (axes[1] if len(axes) > 1 else 1)
            arrays.append(f'{{"{argument.name}", {type_}, 1, {length}, {word}, -1}}')
        else:
            many = components(argument)
            arrays.append(f'{{"{argument.name}", {type_}, {many}, 0, {word}, {word + 1 if many > 1 else -1}}}')
    faults = str(isinstance(kernel.code, Function) and bool(faulting(kernel.code.body))).lower()
    endless = str(kernel.name == "endless" and not entry.endswith("launch")).lower()
    head = f'"{entry}{how}", {entry}, {shape.lanes}, {faults}, {endless}, {places.size}'
    return f"    {{{head}, {{{', '.join(words)}}}, {{{', '.join(arrays)}}}}},"


def write(folder: Path) -> None:
    """Write the object files and the table."""
    names: list[str] = []
    table_rows: list[str] = []
    for kernel in (*(to_kernel(make()) for make in KERNELS), chain()):
        for shape in dict.fromkeys((Shape.of_kernel(kernel), Shape.of_kernel(kernel, NARROW))):
            for name, binary in objects(kernel, shape):
                (folder / f"{name}.o").write_bytes(binary)
                names.append(name)
            table_rows += rows(kernel, shape)
    constants = {
        "kOutcomeWords": layout.LONGEST + 1,
        "kFaultSample": layout.FAULT_SAMPLE,
        "kNoSample": layout.NO_SAMPLE,
    }
    lines = ["#pragma once", '#include "subject.h"']
    lines += [f"constexpr int64_t {name} = {value};" for name, value in constants.items()]
    lines += [f'extern "C" int32_t {name}(void*, int64_t, int64_t, const eagle_run*);' for name in names]
    lines += ["const Subject subjects[] = {", *table_rows, "};"]
    (folder / "table.h").write_text("\n".join(lines) + "\n")


def take_for(changed: Host) -> None:
    """Let the engine take this processor for another one, before it first looks."""
    for name, module in list(sys.modules.items()):
        if name.startswith("eagle_cpu.engine.") and "host" in vars(module):
            vars(module)["host"] = lambda: changed
    globals()["host"] = lambda: changed


if __name__ == "__main__":
    if sys.argv[2] == "without-avx512" and host().masks:
        take_for(dataclasses.replace(host(), cpu="x86-64-v3", features="", vector_bits=256, masks=False, fused=True))
    write(Path(sys.argv[1]))
