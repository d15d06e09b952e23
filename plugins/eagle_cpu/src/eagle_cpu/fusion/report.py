"""What was joined, in words."""

from __future__ import annotations

from collections.abc import Sequence

from eagle_cpu.fusion.joining import Joined
from eagle_cpu.fusion.pieces import Piece

__all__ = ["notes"]


def notes(joined: Sequence[Joined]) -> list[str]:
    """Return a line for each job, and one for why the next node is not part of it."""
    lines = []
    for job in joined:
        labels = [member.label for member in job.members]
        lines.append(f"{_named(labels)}: {_how(job)}")
        if job.obstacle is not None:
            lines.append(f"  cut here: {job.obstacle}")
    return lines


def _named(labels: Sequence[str]) -> str:
    if len(labels) <= 3:
        return ", ".join(labels)
    return f"{labels[0]} .. {labels[-1]} ({len(labels)} nodes)"


def _how(job: Joined) -> str:
    if len(job.members) == 1:
        return "by itself"
    if job.tile is None:
        return f"one fused kernel over {job.samples} samples"
    pieces = ", ".join(map(_piece, _distinct(job.pieces)))
    return f"tile by tile, {job.tile} of {job.samples} samples at a time: {pieces}"
