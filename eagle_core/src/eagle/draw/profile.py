"""``Profile``: how long each node of a graph takes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eagle.plugin.blueprint import Placed

if TYPE_CHECKING:
    from eagle.graph.graph import Graph
    from eagle.graph.stage import Stage

__all__ = ["Profile", "profiled"]

_BAR = 20  # columns of the longest bar


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Profile:
    """How long each node of a graph takes when it runs by itself. Its text is a table.

    Attributes
    ----------
    seconds : mapping of str to float
        For each node, by label, in the order of adding: the mean of the runs.
    runs : int
    backend : str
    stages : tuple
    """

    seconds: Mapping[str, float]
    runs: int
    backend: str
    stages: tuple[Stage, ...]

    def to_chrome_trace(self, path: str | PathLike[str]) -> None:
        """Write a file for ``chrome://tracing`` or Perfetto: one run, the nodes one after another as long as they take.

        Branches of a group have lines of their own.
        """
        events: list[dict[str, Any]] = []
        begin = 0.0
        for number, stage in enumerate(self.stages):
            for line, branch in enumerate(stage.branches):
                for placed in branch:
                    events.append(_event(placed, begin, self.seconds[placed.label], stage=number, line=line))
                    begin += self.seconds[placed.label]
        trace = {"traceEvents": events, "displayTimeUnit": "ns", "otherData": {"backend": self.backend}}
        Path(path).write_text(json.dumps(trace, indent=1), encoding="utf-8")

    def __str__(self) -> str:
        from eagle.draw.names import UNICODE, width

        rows = [
            (UNICODE.spell(placed.label), placed.kind.name, self.seconds[placed.label])
            for stage in self.stages
            for placed in stage.nodes
        ]
        total = sum(self.seconds.values())
        longest = max(self.seconds.values())
        rows.append(("all", "", total))
        names, kinds = max(width(name) for name, _, _ in rows), max(len(kind) for _, kind, _ in rows)
        lines = [f"{self.backend}, mean of {self.runs} run{'s' * (self.runs != 1)}, each node by itself"]
        for name, kind, seconds in rows:
            share = seconds / total if total else 0.0
            bar = "#" * round(_BAR * seconds / longest) if longest and kind else ""
            name += " " * (names - width(name))
            lines.append(f"{name}  {kind:{kinds}}  {seconds * 1e6:12,.2f} us {share:7.1%}  {bar}".rstrip())
        return "\n".join(lines)


def profiled(graph: Graph, n: int) -> Profile:
    """Run a built graph `n` times under its guard and return the times of its nodes."""
    seconds = graph._built().profile(n)
    graph._tally.launches += n
    return Profile(
        seconds=dict(zip(graph.node_labels(), seconds, strict=True)),
        runs=n,
        backend=str(graph.backend),
        stages=graph._snapshot(),
    )


def _event(placed: Placed[Any], begin: float, seconds: float, *, stage: int, line: int) -> dict[str, Any]:
    """Return one complete event of the trace format, whose times are in microseconds."""
    return {
        "name": placed.label,
        "cat": placed.kind.name,
        "ph": "X",
        "ts": begin * 1e6,
        "dur": seconds * 1e6,
        "pid": 1,
        "tid": line,
        "args": {"stage": stage},
    }
