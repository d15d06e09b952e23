"""A few kernels by name."""

from __future__ import annotations

from eagle.plugin import Argument, Kernel
from eagle_ir import Builder, Site, Type, Value, to_kernel

SITE = Site("model.py", 12, "    y = table[i] // k")


def plane(name: str, mode: str = "r", dtype: str = "float64", shape: tuple[int, ...] = ()) -> Argument:
    return Argument(name=name, role="sample", mode=mode, dtype=dtype, shape=shape)  # type: ignore[arg-type]


def scale(factor: float = 3.0) -> Kernel:
    """y = x * factor."""
    builder = Builder("scale", [plane("x"), plane("y", "w")])
    builder.store("y", builder.compute("mul", builder.load("x"), builder.const(factor, Type.F64)))
    return to_kernel(builder.finish())


def mathematics(op: str, operands: int, dtype: Type = Type.F64) -> Kernel:
    """y = op(a, b, p) of samples, and z the same of params."""
    names = ["a", "b"][:operands]
    arguments = [plane(name, "r", dtype.value) for name in names]
    arguments += [Argument(name=f"p{name}", role="param", mode="r", dtype=dtype.value) for name in names]
    builder = Builder(op, [*arguments, plane("y", "w", dtype.value), plane("z", "w", dtype.value)])
    builder.store("y", builder.compute(op, *(builder.load(name) for name in names)))
    builder.store("z", builder.compute(op, *(builder.parameter(f"p{name}") for name in names)))
    return to_kernel(builder.finish())


def lookup() -> Kernel:
    """y = table[i] // k, which can fault in two ways."""
    table = Argument(name="table", role="table", mode="r", dtype="int64", shape=(-1,))
    builder = Builder("lookup", [plane("i", "r", "int64"), plane("k", "r", "int64"), table, plane("y", "w", "int64")])
    found = builder.gather("table", [builder.load("i")], SITE)
    builder.store("y", builder.compute("floordiv", found, builder.load("k"), site=SITE))
    return to_kernel(builder.finish())


def to_int() -> Kernel:
    """y = int(x)."""
    builder = Builder("to_int", [plane("x"), plane("y", "w", "int32")])
    builder.store("y", builder.compute("convert", builder.load("x"), gives=Type.I32, site=SITE))
    return to_kernel(builder.finish())


def endless(*, masked: bool) -> Kernel:
    """A loop inside the body that ends for x == 0 only; with a mask, each step subtracts 1 from x first."""
    done = Argument(name="done", role="mask", mode="rw", dtype="bool")
    builder = Builder("endless", [plane("x", "rw"), *([done] if masked else [])])
    zero, one = builder.const(0.0, Type.F64), builder.const(1.0, Type.F64)
    x = builder.load("x")
    x = builder.compute("sub", x, one) if masked else x

    def more(arguments: tuple[Value, ...]) -> Value:
        return builder.compute("eq", x, builder.const(-1.0, Type.F64))

    (turns,) = builder.while_([zero], more, lambda arguments: [builder.compute("add", arguments[0], one)])
    builder.store("x", builder.compute("add", x, builder.compute("mul", turns, zero)))
    if masked:
        builder.store("done", builder.compute("lt", x, builder.const(-5.0, Type.F64)))
    return to_kernel(builder.finish())


def countdown() -> Kernel:
    """left -= 1 each step; done at 0. seen counts the steps."""
    done = Argument(name="done", role="mask", mode="rw", dtype="bool")
    builder = Builder("countdown", [plane("left", "rw"), plane("seen", "rw", "int64"), done])
    left = builder.compute("sub", builder.load("left"), builder.const(1.0, Type.F64))
    builder.store("left", left)
    builder.store("seen", builder.compute("add", builder.load("seen"), builder.const(1, Type.I64)))
    builder.store("done", builder.compute("le", left, builder.const(0.0, Type.F64)))
    return to_kernel(builder.finish())
