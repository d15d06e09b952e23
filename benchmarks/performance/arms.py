"""Arms that stay: programs in interpreters of their own that answer one request after another, in turn."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.loops import HERE, OTHERS, RAPTOR, environment

__all__ = ["Served", "compare", "serving"]

Row = dict[str, Any]
THREADS = ("EAGLE_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclass
class Served:
    """A running arm, and what it took for the largest number of samples so far, by case."""

    name: str
    process: subprocess.Popen[str]
    taken: dict[str, tuple[int, float]] = field(default_factory=dict)
    gone: str = ""

    def ask(self, case: str, n: int, repeat: int, seconds: float) -> Row:
        """Return the answer, or a row with "error"."""
        if self.gone:
            return {"error": self.gone}
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        request = {"case": case, "n": n, "repeat": repeat, "seconds": seconds}
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            answer: Row = json.loads(self.process.stdout.readline())
        except (OSError, ValueError):
            self.gone = f"{self.name} ended at {case}, {n}"
            print(self.gone, file=sys.stderr)
            return {"error": self.gone}
        if "seconds" in answer:
            self.taken[case] = n, answer["seconds"]
        return answer

    def estimate(self, case: str, n: int) -> float:
        """Return the seconds `n` samples may take, by what fewer took."""
        before, seconds = self.taken.get(case, (n, 0.0))
        return seconds * n / before


@contextmanager
def serving(threads: int, peers: bool) -> Iterator[list[Served]]:
    """Start every arm there is on so many CPUs, eagle first, with empty caches of compiled code."""
    with TemporaryDirectory() as home:
        arms = []
        for name, python, program in programs(peers):
            arm = started(name, python, program, threads, Path(home) / name)
            if arm is not None:
                arms.append(arm)
        try:
            yield arms
        finally:
            for arm in arms:
                arm.process.kill()
                arm.process.communicate()


def programs(peers: bool) -> list[tuple[str, Path, str]]:
    """Return name, interpreter and program of each arm."""
    found = [("eagle", Path(sys.executable), "eagle_served.py")]
    if not peers:
        return found
    for folder, packages, arms in (
        ("raptor", RAPTOR, [("raptor", "eagle_served.py")]),
        ("others", OTHERS, [("numba", "numba_served.py"), ("jax", "jax_served.py")]),
    ):
        try:
            python = environment(folder, *packages)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"{' '.join(packages)}: not installed, left out ({error})", file=sys.stderr)
            continue
        found += [(name, python, program) for name, program in arms]
    return found


def started(name: str, python: Path, program: str, threads: int, home: Path) -> Served | None:
    """Start an arm and wait until it has imported what it needs."""
    home.mkdir()
    caches = {"EAGLE_CACHE_DIR": str(home), "XDG_CACHE_HOME": str(home), "HOME": str(home)}
    cpus = sorted(os.sched_getaffinity(0))[:threads]
    try:
        process = subprocess.Popen(
            ["taskset", "-c", ",".join(map(str, cpus)), str(python), program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=HERE / "arms",
            env=os.environ | caches | dict.fromkeys(THREADS, str(threads)),
        )
    except OSError as error:
        print(f"{name}: did not start, left out ({error})", file=sys.stderr)
        return None
    assert process.stdout is not None
    if not process.stdout.readline():
        process.communicate()
        print(f"{name}: did not start, left out", file=sys.stderr)
        return None
    return Served(name, process)


def compare(arms: Sequence[Served], case: str, n: int, *, rounds: int, cap: float) -> dict[str, Row]:
    """Ask all arms in turn, so many rounds, and return medians: seconds, and the ratio to the first arm's.

    Arms but the first that would take longer than `cap` are left out, and so are those that cannot do it or get
    something else than the first.
    """
    late = {arm.name for arm in arms[1:] if arm.estimate(case, n) > cap}
    asked = [arm for arm in arms if arm.name not in late]
    answers: dict[str, list[Row]] = {arm.name: [] for arm in asked}
    for _ in range(rounds):
        for arm in asked:
            answers[arm.name].append(arm.ask(case, n, repeat=5, seconds=0.1))
    first = answers[arms[0].name]
    found = {arm.name: judged(answers[arm.name], first) for arm in asked}
    return found | {name: {"error": f"would take more than {cap:g} s"} for name in late}


def judged(answers: list[Row], first: list[Row]) -> Row:
    """Return what the rounds of one arm come to, beside those of the first."""
    for row, its in zip(answers, first, strict=True):
        if "error" in row or "error" in its:
            return {"error": row.get("error", "nothing to compare with")}
        if abs(row["check"] - its["check"]) > 1e-6 * max(1.0, abs(its["check"])):
            return {"error": f"computes something else: {row['check']}, not {its['check']}"}
    ratios = [row["seconds"] / its["seconds"] for row, its in zip(answers, first, strict=True)]
    seconds = statistics.median(row["seconds"] for row in answers)
    return {"seconds": seconds, "ratio": statistics.median(ratios), "ratios": ratios}
