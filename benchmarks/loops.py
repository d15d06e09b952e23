"""Loops that stop per sample, and what compiling them costs, beside other programs that do the same.

``make bench`` runs it; ``make bench PEERS=../shared/peers`` adds numba and JAX, and the published arms of that folder.
Each round runs every arm once, in turn; figures are medians over rounds of ratios within a round. Peers are installed
into environments of their own under ``build/``: the published eagle uses the same import name.

The published eagle and numba let the compiler contract ``a * b + c``, or not, as it likes; eagle never does, so that
its bits do not depend on the machine, unless a kernel asks for it: the rows called fma.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
BUILD = HERE.parent / "build"
ROUNDS = 5
OTHERS, RAPTOR = ("numba", "jax"), ("raptor-eagle", "raptor-hawk")
BARS = {
    "rk4 spread": ("raptor", 6.0),
    "rk4 uniform": ("raptor", 1.5),
    "pendulum": ("numba", 1.0),
    "table walk": ("numba", 1.0),
}


@dataclass(frozen=True)
class Arm:
    """A program that prints rows, and the interpreter it runs in."""

    name: str
    python: Path
    program: Path

    def run(self) -> dict[str, dict[str, float]]:
        """Run it and return its rows by case."""
        if not self.python.exists():
            print(f"{self.name}: there is no {self.python}", file=sys.stderr)
            return {}
        ran = subprocess.run(
            [self.python, self.program], capture_output=True, text=True, check=False, cwd=self.program.parent
        )
        rows = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
        if not rows:
            print(f"{self.name}: nothing came of it\n{ran.stderr[-2000:]}", file=sys.stderr)
        return {row["case"]: row for row in rows}


def environment(name: str, *packages: str) -> Path:
    """Return the interpreter of an environment under build/, made once; or PEERS_OTHERS, PEERS_RAPTOR."""
    if given := os.environ.get(f"PEERS_{name.upper()}"):
        return Path(given)
    folder = BUILD / f"peers-{name}"
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
        (folder / "ready").touch()
    return python


def peers(folder: Path) -> list[Arm]:
    """Return the arms to compare with: our programs in others' tools, and the published ones."""
    others, raptor = environment("others", *OTHERS), environment("raptor", *RAPTOR)
    return [
        Arm("numba", others, HERE / "arms" / "numba_loops.py"),
        Arm("jax", others, HERE / "arms" / "jax_loops.py"),
        Arm("numba", others, folder / "numba_arm.py"),
        Arm("jax", others, folder / "jax_arm.py"),
        Arm("raptor", raptor, folder / "raptor_arm.py"),
    ]


def measure(arms: list[Arm], rounds: int) -> dict[str, dict[str, list[float]]]:
    """Run every arm in turn, and return seconds by case and arm, a list over rounds."""
    seconds: dict[str, dict[str, list[float]]] = {}
    checks: dict[str, float] = {}
    for _ in range(rounds):
        for arm in arms:
            for case, row in arm.run().items():
                seconds.setdefault(case, {}).setdefault(arm.name, []).append(row["seconds"])
                first = checks.setdefault(case, row["check"])
                if abs(row["check"] - first) > 1e-6 * abs(first):
                    print(f"{arm.name} computes something else in {case}: {row['check']}, not {first}", file=sys.stderr)
    return seconds


def compile_times(rounds: int = ROUNDS) -> tuple[list[float], list[float]]:
    """Return the seconds of a deploy, imports apart, with an empty cache and with a full one, in fresh processes."""
    code = (
        "import time, eagle, eagle_loops; eagle.deploy(eagle_loops.walk); "  # imports everything
        "start = time.perf_counter(); eagle.deploy(eagle_loops.rk4); print(time.perf_counter() - start)"
    )
    cold: list[float] = []
    warm: list[float] = []
    for round_ in range(rounds):
        cache = BUILD / f"bench-cache-{os.getpid()}-{round_}"
        for times in (cold, warm):
            ran = subprocess.run(
                [sys.executable, "-c", code],
                capture_output=True,
                text=True,
                check=True,
                cwd=HERE / "arms",
                env=os.environ | {"EAGLE_CACHE_DIR": str(cache)},
            )
            times.append(float(ran.stdout))
        shutil.rmtree(cache)
    return cold, warm


def main() -> None:
    """Measure and print."""
    cold, warm = compile_times()
    print(f"{'deploy of the RK4 kernel, nothing cached':44} {statistics.median(cold) * 1e3:9.1f} ms   at most 80 ms")
    print(f"{'the same, from the cache on disk':44} {statistics.median(warm) * 1e3:9.1f} ms   at most 5 ms")
    arms = [Arm("eagle", Path(sys.executable), HERE / "arms" / "eagle_loops.py")]
    if folder := os.environ.get("PEERS"):
        arms += peers(Path(folder).resolve())
    seconds = measure(arms, ROUNDS)
    print(f"\n{'100,000 samples':16} {'eagle':>10}   others, and how many times eagle's time they take")
    for case in ("rk4 spread", "rk4 spread, fma", "rk4 uniform", "rk4 uniform, fma", "pendulum", "table walk"):
        plain = case.removesuffix(", fma")
        rows = {**seconds.get(plain, {}), "eagle": seconds.get(case, {}).get("eagle", [])}
        ours = rows.pop("eagle", [])
        line = f"{case:16} {statistics.median(ours) * 1e3:7.1f} ms  "
        for name, theirs in rows.items():
            ratio = statistics.median(b / a for a, b in zip(ours, theirs, strict=False))
            bar = f" (bar {BARS[plain][1]:g}x)" if BARS[plain][0] == name else ""
            line += f" {name} {statistics.median(theirs) * 1e3:.1f} ms, {ratio:.1f}x{bar};"
        print(line.rstrip(";"))


if __name__ == "__main__":
    main()
