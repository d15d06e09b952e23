"""What was joined, in words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from eagle_cpu.fusion.launched import Launched
from eagle_cpu.fusion.pieces import Piece, obstacle_of
from eagle_cpu.steps import NativeStep

__all__ = ["Report"]

_FEW = 4


class Report:
    """Lines on how steps run; those that run by themselves, one after another, share one."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._alone: list[str] = []  # labels that are not among the lines yet

    def lines(self) -> list[str]:
        """Return what was added, in words."""
        self._settle()
        return list(self._lines)

    def say(self, line: str) -> None:
        """Add a line."""
        self._settle()
        self._lines.append(line)

    def _settle(self) -> None:
        if self._alone:
            how = "by itself" if len(self._alone) == 1 else "each by itself"
            self._lines.append(f"{_named(self._alone)}: {how}")
            self._alone.clear()

    def add(self, step: NativeStep, obstacle: str | None) -> None:
        """Add a line on how steps run, one for each that is not fused, and one on why the next step is not joined.

        Parameters
        ----------
        step : NativeStep
            Joined steps, or one by itself.
        obstacle : str or None
        """
        if len(step.members) == 1:
            self._alone.append(step.members[0].placed.label)
        else:
            pieces: tuple[Piece, ...] = getattr(step, "pieces", ())
            self.say(f"{_named([member.placed.label for member in step.members])}: {_how(step, pieces)}")
            if any(
                isinstance(member.source, Launched) for member in step.members
            ):  # else there is nothing to be fused with
                for why in filter(None, map(_not_fused, pieces)):
                    self.say(f"  not fused: {why}")
        if obstacle is not None:
            self.say(f"  cut: {obstacle}")


def _named(labels: Sequence[str]) -> str:
    return ", ".join(labels) if len(labels) <= _FEW else f"{labels[0]} .. {labels[-1]} ({len(labels)} nodes)"


def _how(step: NativeStep, pieces: Sequence[Piece]) -> str:
    if len(pieces) == 1:
        return f"one fused kernel over {step.samples} samples"
    tile: int = getattr(step, "tile", 0)
    kinds = ", ".join(_kind(count, len(list(same))) for count, same in groupby(len(piece.members) for piece in pieces))
    return f"tile by tile, {min(tile, step.samples)} of {step.samples} samples at a time: {kinds}"


def _kind(members: int, times: int) -> str:
    if members == 1:
        return f"{times} node{'s' if times > 1 else ''}"
    return f"{times} fused kernel{'s' if times > 1 else ''} of {members} nodes"


def _not_fused(piece: Piece) -> str | None:
    return obstacle_of(piece.members[0]) if len(piece.members) == 1 else None
