"""What the core knows of a kernel: its signature, dialect and fingerprint, never its body."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias
from weakref import WeakSet

from eagle.plugin.nodes import Mode

__all__ = ["Argument", "Kernel", "Launch", "Role"]

Role: TypeAlias = Literal["sample", "mask", "table", "param"]
"""What an argument is: a plane with a value per sample, the mask of samples that are done, an array all samples share,
or a number by value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """One argument of a kernel.

    Attributes
    ----------
    name : str
    role : {"sample", "mask", "table", "param"}
    mode : {"r", "w", "rw"}
    dtype : str
        Of one element: ``"float64"``, ``"float32"``, ``"int32"``, ``"uint32"``, ``"int64"``, ``"bool"``.
    shape : tuple of int
        Per sample: ``()`` for a scalar, ``(W,)`` for a vector, ``(R, C)`` for a matrix; the plane of n samples is
        component-major, ``(prod(shape), n)``, or ``(n,)`` for a scalar. The axes of a table, -1 for any length.
    total : bool
        Every sample's value is written whatever happens; never so in a kernel with a mask.
    """

    name: str
    role: Role
    mode: Mode
    dtype: str
    shape: tuple[int, ...] = ()
    total: bool = False


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Kernel:
    """A computation over one sample, in some dialect.

    Attributes
    ----------
    name : str
    arguments : tuple of Argument
    dialect : str
        ``"eagle-ir/1"``. A backend refuses by name what it cannot lower.
    code : object
        The body, as the dialect has it.
    fingerprint : str
        A hash of all that decides the result: code, types, constants; not of names.
    derivative : bool
        Whether it is a derivative of another one, which enters a graph only through reverse mode.
    """

    name: str
    arguments: tuple[Argument, ...]
    dialect: str
    code: object
    fingerprint: str
    derivative: bool = False


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Launch:
    """A kernel bound to arrays: the payload of the node kind ``launch``.

    Attributes
    ----------
    kernel : Kernel
    arrays : mapping of str to array
        One per argument that is no param, checked by `eagle.Plan.bind`.
    params : mapping of str to number
    samples : int
        The length of every plane.
    gate : array or None
        The mask of samples that a kernel without a mask of its own leaves alone, in a loop of several nodes.
    graphs : WeakSet of Graph
        The graphs it stands in, so that it is not bound to other arrays under them.
    """

    kernel: Kernel
    arrays: Mapping[str, object]
    params: Mapping[str, float | int | bool]
    samples: int
    gate: object = None
    graphs: WeakSet[Any] = field(default_factory=WeakSet)
