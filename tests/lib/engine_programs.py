"""Random programs of the IR, and arrays for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st

from eagle.plugin import Argument, Kernel
from eagle_ir import OPERATIONS, Builder, Site, Type, Value, to_kernel

TYPES = tuple(Type)
FLOATS = (Type.F64, Type.F32)
SAMPLE_TYPES = {f"in_{type_.short}": type_ for type_ in TYPES}
EXACT = sorted(name for name, operation in OPERATIONS.items() if not operation.transcendental)
MATH = sorted(name for name, operation in OPERATIONS.items() if operation.transcendental)

SPECIAL: dict[Type, list[Any]] = {
    Type.F64: [
        0.0,
        -0.0,
        1.0,
        -1.5,
        2.0,
        0.5,
        np.inf,
        -np.inf,
        np.nan,
        1e300,
        5e-324,
        2.0**31,
        2.0**63,
        -(2.0**63),
        7.25,
    ],
    Type.F32: [
        0.0,
        -0.0,
        1.0,
        -1.5,
        2.0,
        0.5,
        np.inf,
        -np.inf,
        np.nan,
        1e38,
        1e-45,
        2.0**31,
        2.0**63,
        -(2.0**31),
        7.25,
    ],
    Type.I64: [0, 1, -1, 2, 3, -7, 31, 63, 64, 2**31, 2**63 - 1, -(2**63)],
    Type.I32: [0, 1, -1, 2, 3, -7, 31, 32, 2**31 - 1, -(2**31)],
    Type.U32: [0, 1, 2, 3, 7, 31, 32, 2**31, 2**32 - 1],
    Type.BOOL: [False, True],
}


def sample_argument(name: str, type_: Type, mode: Any = "r", shape: tuple[int, ...] = ()) -> Argument:
    return Argument(name=name, role="sample", mode=mode, dtype=type_.value, shape=shape)


@dataclass
class Writer:
    """Draws instructions into a builder; `pool` holds the values that can be used, by type."""

    draw: Any
    builder: Builder
    pool: dict[Type, list[Value]] = field(default_factory=dict)
    transcendental: bool = True
    faulting: bool = True
    line: int = 0

    def site(self) -> Site:
        self.line += 1
        return Site("kernel.py", self.line, f"line {self.line}")

    def value(self, type_: Type) -> Value:
        known = self.pool.get(type_)
        if known and self.draw(st.integers(0, 5)):
            place: int = self.draw(st.integers(0, len(known) - 1))
            return known[-1 - place]
        return self.add(self.builder.const(self.draw(st.sampled_from(SPECIAL[type_])), type_))

    def add(self, value: Value) -> Value:
        self.pool.setdefault(value.type, []).append(value)
        return value

    def instructions(self, count: int, depth: int) -> None:
        for _ in range(count):
            kind = self.draw(st.sampled_from(["compute"] * 6 + ["gather", "if", "while"]))
            if kind == "gather" and self.faulting:
                self.gather()
            elif kind == "if" and depth:
                self.if_(depth - 1)
            elif kind == "while" and depth:
                self.while_(depth - 1)
            else:
                self.compute()

    def compute(self) -> None:
        op = self.draw(st.sampled_from(MATH if self.transcendental and self.draw(st.integers(0, 7)) == 0 else EXACT))
        operation = OPERATIONS[op]
        takes = operation.takes if self.faulting or not operation.faults or op == "convert" else FLOATS
        type_ = self.draw(st.sampled_from(sorted(takes, key=lambda one: one.value)))
        operands = [self.value(type_) for _ in range(operation.operands)]
        gives = None
        if op == "select":
            operands[0] = self.value(Type.BOOL)
        elif op == "convert":
            safe = self.faulting or not type_.is_float
            gives = self.draw(st.sampled_from(TYPES if safe else (*FLOATS, Type.BOOL)))
        self.add(self.builder.compute(op, *operands, site=self.site(), gives=gives))

    def gather(self) -> None:
        table = self.draw(st.sampled_from(["line", "grid", "flags"]))
        indices = [self.index() for _ in range(2 if table == "grid" else 1)]
        self.add(self.builder.gather(table, indices, self.site()))

    def index(self) -> Value:
        """Mostly inside a table of at least one element, sometimes anything."""
        value = self.value(Type.I64)
        if self.draw(st.integers(0, 3)) == 0:
            return value
        mask = self.builder.const(self.draw(st.sampled_from([0, 1, 3])), Type.I64)
        return self.add(self.builder.compute("and", value, mask))

    def block(self, types: Sequence[Type], depth: int, extra: Sequence[Value] = ()) -> list[Value]:
        """Write a block that yields the types; what it defines is forgotten after it."""
        outer = {type_: list(values) for type_, values in self.pool.items()}
        for value in extra:
            self.add(value)
        self.instructions(self.draw(st.integers(0, 4)), depth)
        yields = [self.value(type_) for type_ in types]
        self.pool = outer
        return yields

    def if_(self, depth: int) -> None:
        types = self.draw(st.lists(st.sampled_from(TYPES), min_size=0, max_size=3))
        condition = self.value(Type.BOOL)
        results = self.builder.if_(condition, lambda: self.block(types, depth), lambda: self.block(types, depth))
        for value in results:
            self.add(value)

    def while_(self, depth: int) -> None:
        """A loop of a bounded number of iterations that each sample leaves at a time of its own."""
        builder = self.builder
        types = self.draw(st.lists(st.sampled_from(TYPES), min_size=0, max_size=3))
        limit = builder.compute("and", self.value(Type.I32), builder.const(7, Type.I32))
        initial = [builder.const(0, Type.I32), *(self.value(type_) for type_ in types)]
        outer = self.pool

        def condition(arguments: tuple[Value, ...]) -> Value:
            self.pool = {type_: list(values) for type_, values in outer.items()}
            for value in arguments:
                self.add(value)
            if self.draw(st.booleans()):
                self.instructions(1, 0)
            more = builder.compute("lt", arguments[0], limit)
            if self.draw(st.booleans()):
                more = builder.compute("and", more, self.value(Type.BOOL))
            self.pool = outer
            return more

        def body(arguments: tuple[Value, ...]) -> list[Value]:
            yields = self.block(types, depth, arguments)
            return [builder.compute("add", arguments[0], builder.const(1, Type.I32)), *yields]

        for value in builder.while_(initial, condition, body):
            self.add(value)


OUTPUTS = {
    "out_f64": (Type.F64, "w", ()),
    "out_f32": (Type.F32, "rw", ()),
    "out_i64": (Type.I64, "w", ()),
    "out_i32": (Type.I32, "rw", (2,)),
    "out_u32": (Type.U32, "w", ()),
    "out_b1": (Type.BOOL, "rw", ()),
    "vec_f64": (Type.F64, "rw", (3,)),
}
TABLES = {"line": (Type.F64, (-1,)), "grid": (Type.I64, (-1, -1)), "flags": (Type.BOOL, (-1,))}
PARAMS = {
    "p_f64": Type.F64,
    "p_f32": Type.F32,
    "p_i64": Type.I64,
    "p_i32": Type.I32,
    "p_u32": Type.U32,
    "p_b1": Type.BOOL,
}


def arguments(mask: str | None) -> list[Argument]:
    return [
        *(sample_argument(name, type_) for name, type_ in SAMPLE_TYPES.items()),
        *(sample_argument(name, type_, mode, shape) for name, (type_, mode, shape) in OUTPUTS.items()),
        *(
            Argument(name=name, role="table", mode="r", dtype=type_.value, shape=shape)
            for name, (type_, shape) in TABLES.items()
        ),
        *(Argument(name=name, role="param", mode="r", dtype=type_.value) for name, type_ in PARAMS.items()),
        *([Argument(name="done", role="mask", mode=mask, dtype="bool")] if mask else []),  # type: ignore[arg-type]
    ]


@st.composite
def kernels(draw: Any, mask: str | None = None, transcendental: bool = True, faulting: bool = True) -> Kernel:
    """A kernel that reads and writes every type; with a mask of mode "rw" its samples end after a few steps."""
    builder = Builder("generated", arguments(mask))
    writer = Writer(draw, builder, transcendental=transcendental, faulting=faulting)
    for name in SAMPLE_TYPES:
        writer.add(builder.load(name))
    for name, (_, mode, shape) in OUTPUTS.items():
        if mode == "rw":
            for component in range(shape[0] if shape else 1):
                writer.add(builder.load(name, component))
    for name in PARAMS:
        writer.add(builder.parameter(name))
    if mask:
        writer.add(builder.load("done"))
    writer.instructions(draw(st.integers(1, 10)), 2)
    for name, (type_, _, shape) in OUTPUTS.items():
        for component in range(shape[0] if shape else 1):
            if draw(st.booleans()):
                builder.store(name, writer.value(type_), component)
    if mask == "rw" and draw(st.integers(0, 5)):
        builder.store("done", writer.value(Type.BOOL))
    return to_kernel(builder.finish())


def column(rng: np.random.Generator, type_: Type, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Numbers of a type: special ones, small ones and random ones."""
    special = rng.choice(np.array(SPECIAL[type_], type_.dtype), shape)
    if type_ is Type.BOOL:
        return special
    if type_.is_float:
        ordinary = (rng.normal(size=shape) * np.exp(rng.normal(size=shape) * 3)).astype(type_.dtype)
    else:
        ordinary = rng.integers(0, 5, shape).astype(type_.dtype)
    return np.where(rng.random(shape) < 0.3, special, ordinary)


def unaligned(array: np.ndarray[Any, Any], offset: int) -> np.ndarray[Any, Any]:
    """The same numbers inside a larger array: rows with other things around, aligned to the element only."""
    guarded = np.full((*array.shape[:-1], array.shape[-1] + 2 * offset), 1, array.dtype)
    inside = guarded[..., offset : offset + array.shape[-1]]
    inside[...] = array
    return inside


@dataclass
class Case:
    """Arrays and params for the generated kernels."""

    arrays: dict[str, np.ndarray[Any, Any]]
    params: dict[str, Any]
    samples: int

    def copy(self) -> Case:
        """The same numbers in memory of their own, laid out alike, with the bytes around the planes."""
        copies = {}
        for name, array in self.arrays.items():
            base = array if array.base is None else array.base
            assert isinstance(base, np.ndarray)
            fresh = base.copy()
            start = (array.__array_interface__["data"][0] - base.__array_interface__["data"][0]) // array.itemsize
            fresh = fresh.reshape(-1)
            strides = [stride // array.itemsize for stride in array.strides]
            copies[name] = np.lib.stride_tricks.as_strided(
                fresh[start:], array.shape, [stride * array.itemsize for stride in strides]
            )
            copies[name + ".base"] = fresh
        return Case(copies, self.params, self.samples)


@st.composite
def cases(draw: Any, mask: str | None = None, most: int = 200) -> Case:
    samples = draw(st.one_of(st.integers(0, 40), st.integers(0, most)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    offset = draw(st.integers(0, 3))
    arrays = {name: unaligned(column(rng, type_, (samples,)), offset) for name, type_ in SAMPLE_TYPES.items()}
    for name, (type_, _, shape) in OUTPUTS.items():
        arrays[name] = unaligned(column(rng, type_, (*shape, samples)), offset)
    arrays["line"] = column(rng, Type.F64, (draw(st.integers(0, 5)),))
    arrays["grid"] = column(rng, Type.I64, (draw(st.integers(0, 5)), draw(st.integers(1, 4))))
    arrays["flags"] = column(rng, Type.BOOL, (draw(st.integers(0, 5)),))
    if mask:
        arrays["done"] = unaligned(rng.random(samples) < draw(st.sampled_from([0.0, 0.3, 1.0])), offset)
    params = {name: column(rng, type_, (1,))[0] for name, type_ in PARAMS.items()}
    return Case(arrays, params, samples)
