"""Graphs of plans: what a launch and a build take, beside the published eagle and the memory.

``make bench`` runs it; ``make bench PEERS=../shared/peers`` adds the published eagle, installed as in `loops`. Each
round runs every arm once, in turn; figures are medians over rounds of ratios within a round.

Of the mixed graph it says how many bytes it has to move when every plane is read once and written once, and what share
of the bandwidth that is: two threads copying, measured in the same run. Where planes stay in the cache it is above 1.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from benchmarks.loops import BUILD, HERE, RAPTOR, Arm, environment, measure

ROUNDS = 5
BARS = {
    "launch() of 1": "at most 2 us",
    "chain of 128, N = 1024": "at least 20x",
    "chain of 128, N = 100000": "at least 12x",
    "fork of 8 x 16, N = 1024": "at least 3x",
}
MIXED_BYTES = 8 * (4 + 3 + 2)
"""Of a sample of the mixed graph: four planes read, three of them written, and two read once more to be summed."""
BUILDS = """
import random, sys, time
import eagle, graph_cases
plans = [eagle.deploy(kernel) for kernel in graph_cases.KERNELS]
planes, choice = graph_cases.planes(10_000, 6, 0), random.Random(1)
def graph(nodes):
    g = eagle.Graph()
    for _ in range(nodes):
        a, x = choice.sample(planes, 2)
        g.add(choice.choice(plans).bind(a=a, x=x))
    return g
graph(2).build(fuse=False)
for nodes in (100, 200, 400):
    g = graph(nodes)
    start = time.perf_counter()
    g.build()
    print(time.perf_counter() - start)
"""


def bandwidth() -> float:
    """Return how many bytes a second two threads read and write together, copying arrays that no cache holds."""
    arrays = [(np.ones(2**24), np.zeros(2**24)) for _ in range(2)]
    best = float("inf")
    with ThreadPoolExecutor(2) as pool:
        for _ in range(7):
            start = time.perf_counter()
            list(pool.map(lambda pair: np.copyto(pair[1], pair[0]), arrays))
            best = min(best, time.perf_counter() - start)
    return 2 * sum(source.nbytes for source, _ in arrays) / best


def builds(rounds: int = ROUNDS) -> tuple[list[list[float]], list[list[float]]]:
    """Return the seconds of builds of 100, 200 and 400 nodes in fresh processes: nothing cached, then from the disk."""
    cold: list[list[float]] = []
    warm: list[list[float]] = []
    for round_ in range(rounds):
        cache = BUILD / f"bench-graphs-{os.getpid()}-{round_}"
        for times in (cold, warm):
            ran = subprocess.run(
                [sys.executable, "-c", BUILDS],
                capture_output=True,
                text=True,
                check=True,
                cwd=HERE / "arms",
                env=os.environ | {"EAGLE_CACHE_DIR": str(cache)},
            )
            times.append([float(line) for line in ran.stdout.split()])
        shutil.rmtree(cache)
    return cold, warm


def report_builds() -> None:
    for words, bar, rounds in zip(("nothing cached", "from the disk"), (1000, 50), builds(), strict=True):
        figures = ", ".join(
            f"{nodes} nodes {statistics.median(times) * 1e3:.0f} ms"
            for nodes, times in zip((100, 200, 400), zip(*rounds, strict=True), strict=True)
        )
        print(f"build, {words}: {figures}   (200 nodes: at most {bar} ms)")


def report_launches(seconds: dict[str, dict[str, list[float]]], bytes_per_second: float) -> None:
    print(f"\nmemory: {bytes_per_second / 1e9:.1f} GB/s copied by two threads")
    print(f"{'graphs of plans':26} {'eagle':>12}   the published eagle, and how many times eagle's time it takes")
    for case, rows in seconds.items():
        ours, theirs = rows["eagle"], rows.get("raptor", [])
        line = f"{case:26} {statistics.median(ours) * 1e6:9.1f} us"
        if theirs:
            ratio = statistics.median(b / a for a, b in zip(ours, theirs, strict=False))
            line += f"   {statistics.median(theirs) * 1e6:9.1f} us, {ratio:.1f}x"
        if case.startswith("mixed"):
            moved = MIXED_BYTES * int(case.rpartition(" ")[2])
            share = moved / statistics.median(ours) / bytes_per_second
            line += f"   {moved / 1e6:.2f} MB, {share:.0%} of the bandwidth   at least 3x"
        print(f"{line}   {BARS.get(case, '')}".rstrip())


def graph_arms() -> list[Arm]:
    program = HERE / "arms" / "graph_cases.py"
    arms = [Arm("eagle", Path(sys.executable), program)]
    if os.environ.get("PEERS"):
        try:
            arms.append(Arm("raptor", environment("raptor", *RAPTOR), program))
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"{' '.join(RAPTOR)}: not installed, left out ({error})", file=sys.stderr)
    return arms


def main() -> None:
    """Measure and print."""
    report_builds()
    report_launches(measure(graph_arms(), ROUNDS), bandwidth())


if __name__ == "__main__":
    main()
