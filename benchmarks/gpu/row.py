"""One line of the table: what was predicted, what was measured."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

__all__ = ["Row", "measured", "table"]


@dataclass(frozen=True)
class Row:
    """A figure.

    Attributes
    ----------
    case, arm : str
    seconds : float
    floor : float
        The prediction, made before anything ran; 0 where there is none.
    note : str
    """

    case: str
    arm: str
    seconds: float
    floor: float = 0.0
    note: str = ""


def measured(run: Callable[[], float], rounds: int) -> float:
    """Return the median of what several runs say they took; the first is not counted."""
    run()
    return statistics.median(run() for _ in range(rounds))


def table(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the lines: floor first, then the figure and how many times the floor it is."""
    case, arm = (max([len(name), *(len(getattr(row, name)) for row in rows)]) for name in ("case", "arm"))
    yield f"{'case':{case}}  {'arm':{arm}}         floor      measured   times"
    for row in rows:
        floor = f"{row.floor * 1e3:9.3f} ms" if row.floor else ""
        seconds = f"{row.seconds * 1e3:9.3f} ms" if row.seconds else ""
        times = f"{row.seconds / row.floor:.2f}" if row.floor and row.seconds else ""
        yield f"{row.case:{case}}  {row.arm:{arm}}  {floor:>12}  {seconds:>12}  {times:>6}  {row.note}".rstrip()
