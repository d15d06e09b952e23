"""What was joined, in words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from eagle_cpu.fusion.pieces import Piece, obstacle_of
from eagle_cpu.steps import NativeStep

__all__ = ["notes"]

_FEW = 4


def notes(step: NativeStep, obstacle: str | None) -> list[str]:
    """Return a line on how steps run, one for each that is not fused, and one on why the next step is not joined.

    Parameters
    ----------
    step : NativeStep
        Joined steps, or one by itself.
    obstacle : str or None
    """
    pieces: tuple[Piece, ...] = getattr(step, "pieces", ()) if len(step.members) > 1 else ()
    lines = [f"{_named([member.placed.label for member in step.members])}: {_how(step, pieces)}"]
    if any(member.launched is not None for member in step.members):  # else there is nothing to be fused with
        lines += [f"  not fused: {why}" for piece in pieces if (why := _not_fused(piece)) is not None]
    return lines + ([] if obstacle is None else [f"  cut: {obstacle}"])


def _named(labels: Sequence[str]) -> str:
    return ", ".join(labels) if len(labels) <= _FEW else f"{labels[0]} .. {labels[-1]} ({len(labels)} nodes)"


def _how(step: NativeStep, pieces: Sequence[Piece]) -> str:
    if not pieces:
        return "by itself"
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
