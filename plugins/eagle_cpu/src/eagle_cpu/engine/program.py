"""A kernel compiled for this machine."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from eagle.plugin import BuildError, Kernel
from eagle_cpu.engine.arguments import Arguments
from eagle_cpu.engine.build import Build, build, has_loop
from eagle_cpu.engine.chain import CHAIN_DIALECT, Chain
from eagle_cpu.engine.host import host
from eagle_cpu.engine.shape import Shape
from eagle_ir import DIALECT, Function

__all__ = ["Program", "program_for"]


@dataclass(frozen=True, slots=True)
class Program:
    """A kernel's machine code.

    Attributes
    ----------
    kernel : Kernel
    shape : Shape
    """

    kernel: Kernel
    shape: Shape

    @property
    def launch_entry(self) -> int:
        """Address of an ``eagle_entry`` that runs one step for the samples of a range."""
        return _built(self.kernel, self.shape, Build.CHAIN if _is_chain(self.kernel) else Build.LAUNCH)

    @property
    def loop_entry(self) -> int | None:
        """Address of one that runs every unfinished sample to its end or to the limit of steps.

        None for a kernel without a mask that it writes.
        """
        return _built(self.kernel, self.shape, Build.LOOP) if has_loop(self.kernel) else None

    @property
    def grain(self) -> int:
        """What the cuts of ranges are to be multiples of."""
        return self.shape.lanes

    @property
    def under_way(self) -> int:
        """How many samples a loop holds at a time."""
        return self.shape.group * self.shape.groups

    def arguments(
        self,
        arrays: Mapping[str, np.ndarray[Any, Any]],
        params: Mapping[str, float | int | bool],
        samples: int,
    ) -> Arguments:
        """Pack arrays and params for the entries.

        Parameters
        ----------
        arrays : mapping of str to ndarray
            One per argument that is no param. They are not checked.
        params : mapping of str to number
        samples : int
        """
        return Arguments(self.kernel, arrays, params, samples, self._watchful)

    def _watchful(self) -> int:
        return _built(self.kernel, self.shape, Build.WATCHFUL)


def program_for(kernel: Kernel, *, lanes: int | None = None) -> Program:
    """Return the program of a kernel: from memory, from the disk, or compiled now.

    A kernel that writes a mask gets its loop at once and its launch when that is first wanted.

    Parameters
    ----------
    kernel : Kernel
    lanes : int, optional
        Samples in a vector, of a launch and of a loop, a power of two from 4 to 64, instead of what suits the kernel.

    Raises
    ------
    BuildError
        The kernel is of a dialect that this engine does not lower.
    """
    if not _is_chain(kernel) and (kernel.dialect != DIALECT or not isinstance(kernel.code, Function)):
        raise BuildError(
            f"kernel {kernel.name!r} is of dialect {kernel.dialect!r}",
            why=f"the CPU engine compiles {DIALECT!r}",
            fix="Deploy it for a backend that takes this dialect",
        )
    shape = _shape(kernel, lanes)
    which = Build.CHAIN if _is_chain(kernel) else Build.LOOP if has_loop(kernel) else Build.LAUNCH
    _built(kernel, shape, which)
    return Program(kernel, shape)


def _is_chain(kernel: Kernel) -> bool:
    return kernel.dialect == CHAIN_DIALECT and isinstance(kernel.code, Chain)


@dataclass
class _Slot:
    lock: threading.Lock = field(default_factory=threading.Lock)
    address: int | None = None


_slots: dict[tuple[object, ...], _Slot] = {}
_shapes: dict[tuple[object, ...], Shape] = {}


def _shape(kernel: Kernel, lanes: int | None) -> Shape:
    """Return a kernel's shape, which takes a walk over its body, from memory where it was asked for before."""
    key = (kernel.fingerprint, lanes, host())
    if key not in _shapes:
        _shapes[key] = Shape.of_kernel(kernel, lanes)
    return _shapes[key]


def _built(kernel: Kernel, shape: Shape, which: Build) -> int:
    """Return an address from memory; of many threads that ask for one function, one builds it and the others wait."""
    slot = _slots.setdefault((kernel.fingerprint, shape, which), _Slot())
    if slot.address is None:
        with slot.lock:
            if slot.address is None:
                slot.address = build(kernel, shape, which)
    return slot.address


def _after_fork() -> None:
    """Free the locks that other threads of the parent may have held."""
    for slot in _slots.values():
        slot.lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
