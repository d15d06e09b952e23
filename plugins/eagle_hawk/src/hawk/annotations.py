"""The annotations of a kernel's arguments, and what each says of the argument."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar

from eagle.plugin import Argument
from eagle_ir import Type
from hawk.errors import KernelUseError

__all__ = [
    "Annotation",
    "Bool",
    "Index",
    "Int32",
    "Matrix",
    "Mutable",
    "Param",
    "Quat",
    "Scalar",
    "Table",
    "Terminated",
    "UInt32",
    "Vector",
]

LARGEST = 256
"""The largest number of elements a vector or a matrix may have: each is a value of its own in the compiled kernel."""


@dataclass(frozen=True)
class Annotation:
    """What an annotation says: the role, the type and the shape of an argument.

    Attributes
    ----------
    text : str
        How it is written.
    role : {"sample", "mask", "table", "param"}
    mode : {"r", "rw"}
    type : Type, optional
        None: the plan's float type.
    shape : tuple of int
        Per sample; the axes of a table, -1 for any length.
    """

    text: str
    role: str = "sample"
    mode: str = "r"
    type: Type | None = None
    shape: tuple[int, ...] = ()

    def __repr__(self) -> str:
        return f"hawk.{self.text}"

    def __call__(self, *values: object) -> Any:
        """Convert a number, inside a kernel."""
        raise KernelUseError(
            f"hawk.{self.text}() converts inside kernels only", fix="Outside use float(), int() or NumPy's types"
        )

    def element(self, scalar: Type) -> Type:
        """Return the type of its elements in a plan of the given float type."""
        return self.type or scalar

    def argument(self, name: str, scalar: Type) -> Argument:
        """Return the argument it describes."""
        dtype = self.element(scalar).value
        return Argument(name=name, role=self.role, mode=self.mode, dtype=dtype, shape=self.shape)  # type: ignore[arg-type]


class _Vector:
    def __getitem__(self, size: int) -> Annotation:
        return Annotation(f"Vector[{size}]", shape=_sizes("Vector", size, 1))

    def __repr__(self) -> str:
        return "hawk.Vector"


class _Matrix:
    def __getitem__(self, sizes: tuple[int, int]) -> Annotation:
        shape = _sizes("Matrix", sizes, 2)
        return Annotation(f"Matrix[{shape[0]}, {shape[1]}]", shape=shape)

    def __repr__(self) -> str:
        return "hawk.Matrix"


class _Mutable:
    def __getitem__(self, inner: Annotation) -> Annotation:
        inner = _annotation("Mutable", inner)
        if inner.role != "sample" or inner.mode != "r":
            raise TypeError(f"Mutable[...] holds a plane such as Scalar or Vector[3], not {inner.text}")
        return replace(inner, text=f"Mutable[{inner.text}]", mode="rw")

    def __repr__(self) -> str:
        return "hawk.Mutable"


class _Table:
    def __getitem__(self, inner: Annotation | tuple[Any, ...]) -> Annotation:
        first, *axes = inner if isinstance(inner, tuple) else (inner,)
        first = _annotation("Table", first)
        if first.role != "sample" or first.mode != "r" or first.shape:
            raise TypeError(f"Table[...] holds numbers such as Scalar or Int32, not {first.text}")
        shape = tuple(-1 if isinstance(size, str) else size for size in axes) or (-1,)
        for size in shape:
            if not isinstance(size, int) or isinstance(size, bool) or (size < 1 and size != -1):
                raise TypeError(f"an axis of Table[...] is a whole number, a name, or -1 for any length, not {size!r}")
        text = ", ".join([first.text, *(repr(size) for size in axes)])
        return replace(first, text=f"Table[{text}]", role="table", shape=shape)

    def __repr__(self) -> str:
        return "hawk.Table"


class _Param(Annotation):
    def __getitem__(self, inner: Annotation) -> Annotation:
        inner = _annotation("Param", inner)
        if inner.role != "sample" or inner.mode != "r" or inner.shape:
            raise TypeError(f"Param[...] is one number: Param, Param[Int32] or Param[Bool], not Param[{inner.text}]")
        return replace(inner, text=f"Param[{inner.text}]", role="param")

    def __repr__(self) -> str:
        return "hawk.Param"


def _annotation(outer: str, inner: object) -> Annotation:
    if not isinstance(inner, Annotation):
        raise TypeError(f"{outer}[...] holds an annotation of hawk such as Scalar, not {inner!r}")
    return inner


def _sizes(name: str, sizes: object, count: int) -> tuple[int, ...]:
    found = sizes if isinstance(sizes, tuple) else (sizes,)
    if len(found) != count or not all(isinstance(one, int) and not isinstance(one, bool) and one > 0 for one in found):
        wanted = "Vector[3]" if count == 1 else "Matrix[3, 3]"
        raise TypeError(f"{name} takes its size in positive whole numbers, as {wanted}, not {sizes!r}")
    if prod(found) > LARGEST:
        raise TypeError(f"{name} holds at most {LARGEST} elements; larger arrays are tables: Table[Scalar, -1]")
    return found


if TYPE_CHECKING:  # a type checker sees numbers and arrays; what they are is decided by hawk
    T = TypeVar("T")
    Scalar: TypeAlias = Any
    Int32: TypeAlias = Any
    UInt32: TypeAlias = Any
    Index: TypeAlias = Any
    Bool: TypeAlias = Any
    Quat: TypeAlias = Any
    Param: TypeAlias = Any
    Terminated: TypeAlias = Any
    Vector: TypeAlias = Any
    Matrix: TypeAlias = Any
    Table: TypeAlias = Any
    Mutable = Annotated[T, "rw"]
else:
    Scalar = Annotation("Scalar")
    Int32 = Annotation("Int32", type=Type.I32)
    UInt32 = Annotation("UInt32", type=Type.U32)
    Index = Annotation("Index", type=Type.I64)
    Bool = Annotation("Bool", type=Type.BOOL)
    Quat = Annotation("Quat", shape=(4,))
    Param = _Param("Param", role="param")
    Terminated = Annotation("Terminated", role="mask", mode="rw", type=Type.BOOL)
    Vector = _Vector()
    Matrix = _Matrix()
    Table = _Table()
    Mutable = _Mutable()
