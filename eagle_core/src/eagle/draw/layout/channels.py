"""The space between two layers: on which line each wire runs sideways."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from heapq import heappop, heappush

from eagle.draw.layout.pieces import Piece, Wire

__all__ = ["Run", "assign_tracks"]


@dataclass(eq=False, slots=True)
class Run:
    """One wire between two layers.

    Attributes
    ----------
    wire : Wire
    tops : list of int
        The columns in which it comes from above.
    bottoms : dict of Piece to int
        The columns in which it ends, or goes on, below. They may be moved a little.
    track : int or None
        Its line, counted from 0; None when it is straight.
    """

    wire: Wire
    tops: list[int]
    bottoms: dict[Piece, int]
    track: int | None = None
    over: set[Run] = field(default_factory=set)  # runs that must have a lower line

    @property
    def span(self) -> tuple[int, int]:
        """Its first and its last column."""
        columns = [*self.tops, *self.bottoms.values()]
        return min(columns), max(columns)


def assign_tracks(runs: list[Run]) -> int:
    """Give every run that is not straight a line, so that no two overlap. Return how many lines there are.

    What starts in a column must turn off above what ends in it. Where two wires would each have to turn off above
    the other, one of them ends next to the middle of its box instead.
    """
    _straighten(runs)
    starts = {column: run for run in runs for column in run.tops}
    taken = {column for run in runs for column in run.bottoms.values()} | set(starts)
    for run in runs:
        for piece, column in run.bottoms.items():
            upper = starts.get(column)
            if upper is None or upper is run or column in upper.bottoms.values():
                continue
            if not _reaches(run, upper):
                upper.over.add(run)
            elif (free := _free_column(piece, column, taken)) is not None:
                run.bottoms[piece] = free
                taken.add(free)
    return _fill([run for run in runs if run.span[0] != run.span[1]])


def _straighten(runs: list[Run]) -> None:
    """Let a wire end where it comes from, next to the middle of a box at which no other ends."""
    ending = Counter(piece for run in runs for piece in run.bottoms)
    for run in runs:
        if len(run.tops) == len(run.bottoms) == 1:
            ((piece, _),) = run.bottoms.items()
            inside = 0 < run.tops[0] - int(piece.x) < piece.width - 1
            if piece.movable and piece.draw is not None and piece.entry == 0 and ending[piece] == 1 and inside:
                run.bottoms[piece] = run.tops[0]


def _reaches(upper: Run, lower: Run) -> bool:
    pending, seen = [upper], {upper}
    while pending:
        run = pending.pop()
        if run is lower:
            return True
        new = run.over - seen
        seen |= new
        pending.extend(new)
    return False


def _free_column(piece: Piece, column: int, taken: set[int]) -> int | None:
    """Return a column next to the middle of `piece` in which no other wire starts or ends."""
    if not piece.movable:
        return None
    first, last = (column - 1, column + 1) if piece.draw is None else (int(piece.x) + 1, int(piece.x) + piece.width - 2)
    for step in range(1, piece.width + 2):
        for other in (column + step, column - step):
            if first <= other <= last and other not in taken:
                return other
    return None


def _fill(runs: list[Run]) -> int:
    """Assign lines from the top, in an order that respects which must be above which, left ones first."""
    waiting = dict.fromkeys(runs, 0)
    for run in runs:
        for lower in run.over:
            if lower in waiting:
                waiting[lower] += 1
    lowest = dict.fromkeys(runs, 0)
    lines: list[list[tuple[int, int]]] = []
    ready: list[tuple[tuple[int, int], int]] = []
    for number, run in enumerate(runs):
        if not waiting[run]:
            heappush(ready, (run.span, number))
    numbers = {run: number for number, run in enumerate(runs)}
    while ready:
        _, number = heappop(ready)
        run = runs[number]
        first, last = run.span
        line = lowest[run]
        while line < len(lines) and any(first <= high and low <= last for low, high in lines[line]):
            line += 1
        while line >= len(lines):
            lines.append([])
        lines[line].append((first, last))
        run.track = line
        for lower in run.over & waiting.keys():
            lowest[lower] = max(lowest[lower], line + 1)
            waiting[lower] -= 1
            if not waiting[lower]:
                heappush(ready, (lower.span, numbers[lower]))
    return len(lines)
