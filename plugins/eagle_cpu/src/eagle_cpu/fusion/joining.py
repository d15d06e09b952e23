"""Steps that line up become one step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import lcm

import numpy as np

from eagle_cpu._native import tiles_entry
from eagle_cpu.fusion.alignment import Alignment
from eagle_cpu.fusion.pieces import Piece, PieceMaker
from eagle_cpu.fusion.report import Report
from eagle_cpu.steps import NativeStep

__all__ = ["Fusion", "Joined"]

_TILE_BYTES = 24 * 1024
"""Of the planes that a tile touches: half of a small first-level cache."""
_LEAST_TILE = 256
"""Samples: calling a piece costs tens of nanoseconds."""
_HEAD, _WORDS = 2, 3


class Joined(NativeStep):
    """Native steps as one, which runs all of them for a tile of samples before the next tile.

    Parameters
    ----------
    pieces : sequence of Piece
        What is called for a tile, in order.
    bytes_per_sample : int
        Of the planes they touch.

    Attributes
    ----------
    pieces : tuple of Piece
    tile : int
        Samples in a tile; all where there is only one piece.
    """

    __slots__ = ("_block", "_members", "pieces", "tile")

    def __init__(self, pieces: Sequence[Piece], bytes_per_sample: int) -> None:
        self.pieces = tuple(pieces)
        self._members = tuple(member for piece in pieces for member in piece.members)
        first, grain = self._members[0], lcm(*(piece.grain for piece in pieces))
        tile = max(_LEAST_TILE, _TILE_BYTES // max(bytes_per_sample, 1))
        self.tile = max(first.samples, 1) if len(pieces) == 1 else max(tile // grain, 1) * grain
        words = (word for piece in pieces for word in (piece.entry, piece.args, 0))
        self._block = np.array([self.tile, len(pieces), *words], np.int64)
        fused = len(self._members) > len(pieces) == 1  # which cannot fail
        entry, args = (pieces[0].entry, pieces[0].args) if fused else (tiles_entry(), self._block.ctypes.data)
        super().__init__(
            _not_alone,
            first.placed,
            entry,
            args,
            samples=first.samples,
            grain=grain,
            cost_ns=sum(piece.cost_ns for piece in pieces),
            forget=self._forget,
        )

    @property
    def members(self) -> tuple[NativeStep, ...]:
        """The steps, in order."""
        return self._members

    def failed(self) -> NativeStep | None:
        """Return the first step whose code failed: one that can is a piece by itself."""
        failed = np.flatnonzero(self._block[_HEAD + _WORDS - 1 :: _WORDS])
        return self.pieces[failed[0]].members[0] if failed.size else None

    def _forget(self) -> None:
        self._block[_HEAD + _WORDS - 1 :: _WORDS] = 0
        for member in self._members:
            if member.forget is not None:
                member.forget()


class Fusion:
    """Joins the native steps of one graph where they line up, and remembers what was joined and why not more.

    Parameters
    ----------
    fuse : bool
        Whether to; else every step stays by itself.
    """

    def __init__(self, *, fuse: bool = True) -> None:
        self._fuse = fuse
        self._make = PieceMaker()
        self._report = Report()
        if not fuse:
            self._report.say("every node runs by itself: the graph was built with fuse=False")

    def join(self, steps: Sequence[NativeStep], *, beside: bool = False) -> list[NativeStep]:
        """Return steps that do what `steps`, run one after another, do: bit for bit.

        Parameters
        ----------
        steps : sequence of NativeStep
            In the order they are to run in, with nothing else in between.
        beside : bool
            Whether others of several nodes run at the same time: then each remembers whether it failed, to tell the
            lowest node.
        """
        if not self._fuse:
            return list(steps)
        if len(steps) == 1 and not beside:
            self._report.add(steps[0], None)
            return list(steps)
        joined = []
        for alignment, obstacle in _aligned(steps):
            run = alignment.steps
            alone = len(run) == 1 and not beside
            joined.append(run[0] if alone else Joined(list(self._make.of(run)), alignment.bytes))
            self._report.add(joined[-1], obstacle)
        return joined

    def notes(self) -> list[str]:
        """Return what was joined, in words."""
        return self._report.lines()


def _aligned(steps: Sequence[NativeStep]) -> Iterator[tuple[Alignment, str | None]]:
    """Yield runs of steps that line up, each with why it ends."""
    alignment = Alignment()
    for step in steps:
        why = alignment.admit(step)
        if why is not None:
            yield alignment, why
            alignment = Alignment()
            alignment.admit(step)
    if alignment.steps:
        yield alignment, None


def _not_alone(step: NativeStep) -> Callable[[], object]:
    raise AssertionError("joined steps are part of a native run")
