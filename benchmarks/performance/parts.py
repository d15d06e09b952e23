"""The parts of the measurement: each returns what it found as data that JSON can hold."""

from __future__ import annotations

import importlib.metadata
import platform
import statistics
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks import graph_costs, reductions
from benchmarks.graphs import builds, graph_arms
from benchmarks.loops import HERE, compile_times, measure
from benchmarks.performance.arms import Row, Served, compare, serving
from benchmarks.performance.limits import Machine
from benchmarks.performance.operations import work

from eagle_cpu.team import team_size

sys.path.insert(0, str(HERE / "arms"))
import characters
import eagle_served
import graph_cases
import workloads

EAGER = ("eager loop", "rk4 spread", "eager simulate")
__all__ = ["PARTS", "TINY", "Scale", "Session"]


@dataclass(frozen=True)
class Scale:
    """How much is measured.

    Attributes
    ----------
    sizes : tuple of int
        Numbers of samples of the loops.
    plain, each : tuple of int
        Those of the five kernels launched, and run for each sample's own number of steps.
    large : int
        Elements of the largest reduction.
    rounds : int
        How often all arms take their turn.
    cap : float
        Seconds: peers that would take longer once are left out.
    """

    sizes: tuple[int, ...] = (100, 1000, 10_000, 100_000, 1_000_000, 10_000_000)
    plain: tuple[int, ...] = (100_000, 1_000_000)
    each: tuple[int, ...] = (100_000,)
    eager: tuple[int, ...] = (10_000, 100_000, 1_000_000)
    large: int = reductions.LARGE
    rounds: int = 3
    cap: float = 4.0


TINY = Scale((100, 1000), (1000,), (1000,), (1000,), 10_000, 2, 1.0)


@dataclass
class Session:
    """What every part is given."""

    scale: Scale
    peers: bool
    machine: Machine

    def rounds(self, arm: Served, case: str, n: int) -> int:
        """Fewer rounds of what takes seconds, but two, so that sides take turns."""
        return self.scale.rounds if arm.estimate(case, n) < 1.0 else min(2, self.scale.rounds)


def loops(session: Session) -> list[Row]:
    """RK4, every sample to its end, on one thread and on all."""
    counted = work(eagle_served.kernel("rk4").__eagle_kernel__(), stepping=True)
    rows: list[Row] = []
    for threads in sorted({1, team_size()}):
        with serving(threads, session.peers) as arms:
            for n in session.scale.sizes:
                for dist in ("spread", "uniform"):
                    rounds = session.rounds(arms[0], f"rk4 {dist}", n)
                    found = compare(arms, f"rk4 {dist}", n, rounds=rounds, cap=session.scale.cap)
                    steps = float(workloads.oscillators(n, dist)[2].sum())
                    limit = session.machine.limit(counted, n, steps, threads)
                    row = {"case": dist, "threads": threads, "n": n, "arms": found, "limit": limit._asdict()}
                    rows.append(row | {"steps": steps})
    return rows


def kernels(session: Session) -> dict[str, Any]:
    """Five kernels of different character, launched plainly and until each sample is done; and first answers."""
    threads = team_size()
    with serving(threads, session.peers) as arms:
        first = first_answers(arms)
        rows = [
            kernel_row(session, arms, kind, kernel, n)
            for kernel in characters.KERNELS
            for kind, sizes in (("plain", session.scale.plain), ("each", session.scale.each))
            for n in sizes
        ]
    return {"threads": threads, "rows": rows, "first": first}


def kernel_row(session: Session, arms: list[Served], kind: str, kernel: str, n: int) -> Row:
    found = compare(arms, f"{kind} {kernel}", n, rounds=session.scale.rounds, cap=session.scale.cap)
    each = kind == "each"
    counted = work(eagle_served.kernel(f"{kernel}_each" if each else kernel).__eagle_kernel__(), stepping=each)
    steps = float(characters.steps(n).sum()) if each else float(n)
    limit = session.machine.limit(counted, n, steps, team_size())
    if not each:  # a measurement is several launches
        for row in found.values():
            if "seconds" in row:
                row["seconds"] /= characters.LAUNCHES
    return {"kernel": kernel, "case": kind, "n": n, "arms": found, "limit": limit._asdict()}


def first_answers(arms: list[Served]) -> dict[str, dict[str, float]]:
    """Return, by arm and kernel, the seconds from asking for a kernel to its first result: of few samples, uncached."""
    cases = ["rk4 spread"] + [f"{kind} {kernel}" for kernel in characters.KERNELS for kind in ("plain", "each")]
    found: dict[str, dict[str, float]] = {}
    for arm in arms:
        answers = {case: arm.ask(case, 8, repeat=0, seconds=0.0) for case in cases}
        found[arm.name] = {case: row["first"] for case, row in answers.items() if "first" in row}
        arm.taken.clear()  # a first answer says nothing about more samples
    return found


def eager(session: Session) -> list[Row]:
    """The specification's comparison: a look at the mask after every step, or one launch that looks for itself."""
    rows: list[Row] = []
    with serving(team_size(), peers=False) as (arm,):
        for n in session.scale.eager:
            pairs = [
                [arm.ask(how, n, repeat=3, seconds=0.1)["seconds"] for how in EAGER]
                for _ in range(session.rounds(arm, "eager loop", n))
            ]
            loop, graph, anew = (statistics.median(column) for column in zip(*pairs, strict=True))
            ratio = statistics.median(a / b for a, b, _ in pairs)
            rows.append({"n": n, "loop": loop, "graph": graph, "anew": anew, "ratio": ratio})
    return rows


def graphs(session: Session) -> list[Row]:
    """Chains, forks, mixtures, sums and launches, with the limit of those that the machine bounds."""
    rows: list[Row] = []
    for case, arms in measure(graph_arms(), session.scale.rounds).items():
        ours, theirs = arms["eagle"], arms.get("raptor", [])
        row: Row = {"case": case, "seconds": statistics.median(ours)}
        if theirs:
            row["raptor"] = statistics.median(theirs)
            row["ratio"] = statistics.median(b / a for a, b in zip(ours, theirs, strict=False))
        rows.append(row | graph_limit(session.machine, case))
    return rows


def graph_limit(machine: Machine, case: str) -> Row:
    """Return the limit of a graph: every plane once through memory, and the operations of all its kernels.

    What kernels compute of the plane a chain only reads is needed once for each kernel. Sums are beside their limit in
    the part on reductions, and a launch of next to nothing has none.
    """
    kind, n = case.split(",")[0].split()[0], case.rpartition(" ")[2]
    if kind not in ("chain", "fork", "mixed"):
        return {}
    runs, moved, touched = {"chain": (128, 3, 2), "fork": (128, 24 - 7, 9), "mixed": (20, 7, 4)}[kind]
    whole, again = (
        [work(kernel.__eagle_kernel__(), stepping=stepping).operations["add"] for kernel in graph_cases.KERNELS]
        for stepping in (False, True)
    )
    if kind == "mixed":
        again = whole  # what is read changes, too
    samples, count = int(n), len(whole)
    operations = samples * sum((whole if i < count else again)[i % count] for i in range(runs))
    memory = 8 * moved * samples / machine.bandwidth(8 * touched * samples, team_size())
    arithmetic = operations / machine.rate("add", team_size())
    seconds, bound = max((memory, "memory"), (arithmetic, "operations"))
    return {"limit": {"seconds": seconds, "bound": bound}, "bytes": 8 * moved * samples, "operations": operations}


def reduced(session: Session) -> list[Row]:
    """Reductions beside NumPy and beside reading."""
    return [
        {"op": op, "dtype": str(x.dtype), "n": x.size, "bytes": x.nbytes, "special": special}
        | dict(zip(("eagle", "numpy", "reading"), times, strict=True))
        for op, x, times, special in reductions.rows(session.scale.large)
    ]


def costs(session: Session) -> list[Row]:
    """What importing, building and launching cost the host."""
    return [figure._asdict() for figure in graph_costs.figures(5 * session.scale.rounds)]


def compiling(session: Session) -> Row:
    """Deploys and builds in fresh processes, with an empty cache and with a full one."""
    cold, warm = compile_times(session.scale.rounds)
    fresh, cached = builds(session.scale.rounds)
    return {
        "deploy": {"cold": statistics.median(cold), "warm": statistics.median(warm)},
        "builds": [
            {"nodes": nodes, "cold": statistics.median(a), "warm": statistics.median(b)}
            for nodes, a, b in zip((100, 200, 400), zip(*fresh, strict=True), zip(*cached, strict=True), strict=True)
        ],
    }


def machine(session: Session) -> Row:
    """What this machine is and can do."""
    names = ("eagle-core", "eagle-cpu", "numpy", "llvmlite")
    return {
        "processor": processor(),
        "system": f"{platform.system()} {platform.machine()}",
        "versions": {"python": platform.python_version()} | {name: importlib.metadata.version(name) for name in names},
        "limits": [session.machine.described(threads) for threads in sorted({1, team_size()})],
    }


def processor() -> str:
    try:
        with open("/proc/cpuinfo") as file:  # noqa: PTH123 - a file of the kernel's
            return next(line.partition(":")[2].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


PARTS: dict[str, Callable[[Session], Any]] = {
    "machine": machine,
    "loops": loops,
    "kernels": kernels,
    "eager": eager,
    "graphs": graphs,
    "reductions": reduced,
    "costs": costs,
    "compiling": compiling,
}
