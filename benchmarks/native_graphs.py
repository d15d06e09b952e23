"""Graphs of plans on the CPU: what a launch costs, chains, forks, beside the published eagle.

``make bench`` runs it; ``make bench PEERS=../shared/peers`` adds the published eagle, installed as in `loops`. Each
round runs every arm once, in turn; figures are medians over rounds of ratios within a round. The machine has to be
idle: the published eagle's threads wait for each other after every node.
"""

from __future__ import annotations

import os
import statistics
import sys
from pathlib import Path

from benchmarks.loops import HERE, Arm, environment, measure

ROUNDS = 5
BARS = {"launch() of 1": "at most 2 us", "fork of 8 x 16, 1024": "at least 3x"}


def main() -> None:
    """Measure and print."""
    program = HERE / "arms" / "graph_chains.py"
    arms = [Arm("eagle", Path(sys.executable), program)]
    if os.environ.get("PEERS"):
        arms.append(Arm("raptor", environment("raptor", "raptor-eagle", "raptor-hawk"), program))
    print(f"{'graphs of plans':34} {'eagle':>12}   the published eagle, and how many times eagle's time it takes")
    for case, rows in measure(arms, ROUNDS).items():
        ours, theirs = rows["eagle"], rows.get("raptor", [])
        line = f"{case:34} {statistics.median(ours) * 1e6:9.2f} us"
        if theirs:
            ratio = statistics.median(b / a for a, b in zip(ours, theirs, strict=False))
            line += f"   {statistics.median(theirs) * 1e6:9.2f} us, {ratio:.1f}x"
        print(f"{line}   {BARS.get(case, '')}".rstrip())


if __name__ == "__main__":
    main()
