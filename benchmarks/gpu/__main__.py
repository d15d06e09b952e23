"""Print the table of the GPU's figures; ``make gpu-check`` does it last.

The prediction of every row, from the device's two floors, stands before its figure. Other programs take part where they
are installed: CuPy and torch here, Warp and JAX as the arms of the folder PEERS names. ``--emulated`` tries the code on
the emulated device, with a handful of samples: it says nothing about speed.
"""
# ruff: noqa: E402 -- the emulated device is loaded before anything looks for a driver

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

EMULATED = "--emulated" in sys.argv
SECONDS = 150.0
sys.path.insert(0, str(Path(__file__).parents[1] / "arms"))
if EMULATED:
    sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "lib"))
    import cuda_emulator

    cuda_emulator.load()
    os.environ["EAGLE_CACHE_DIR"] = str(cuda_emulator.BUILD / "cache")

from benchmarks.gpu.arrays import array_maker, has
from benchmarks.gpu.floors import Floors
from benchmarks.gpu.graphs import graph_rows
from benchmarks.gpu.loops import loop_rows
from benchmarks.gpu.row import Row, table


def main() -> int:
    """Measure until the time is up and print what there is."""
    if not EMULATED and not has("cupy"):
        print("benchmarks.gpu: CuPy is not installed; pip install --group gpu brings it.")
        return 1
    floors = Floors.of()
    print(
        floors.name,
        f"{floors.bytes_per_second / 1e9:,.0f} GB/s, {floors.doubles_per_second / 1e9:,.0f} Gop/s of doubles",
    )
    end = time.monotonic() + SECONDS
    rows: list[Row] = []
    for row in _rows(floors):
        rows.append(row)
        if time.monotonic() > end:
            rows.append(Row("the rest", "", 0.0, note="not measured: the time was up"))
            break
    print("\n".join(table(rows)))
    return 0


def _rows(floors: Floors) -> Iterator[Row]:
    array = array_maker(emulated=EMULATED)
    if EMULATED:
        yield from graph_rows(floors, array, samples=32, rounds=1, large=10_000)
        yield from loop_rows(floors, array, [40], 1)
        return
    yield from graph_rows(floors, array, samples=100_000, rounds=5, large=100_000_000)
    yield from loop_rows(floors, array, [10_000, 100_000, 1_000_000], 5)
    for n in (10_000, 100_000, 1_000_000):
        yield from _peers(n)


def _peers(n: int) -> Iterator[Row]:
    """Run the published arms of Warp and JAX, which print a line of JSON per row."""
    folder = os.environ.get("PEERS")
    for module, program, arguments in (("warp", "warp_arm.py", ["cuda:0"]), ("jax", "jax_arm.py", [])):
        if not folder or not has(module):
            continue
        command = [sys.executable, str(Path(folder) / program), str(n), *arguments]
        ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, timeout=SECONDS)
        for line in ran.stdout.splitlines():
            if line.startswith("{"):
                found = json.loads(line)
                yield Row(f"{found['case']}, {n}", found["arm"], float(found["seconds"]))
        if ran.returncode:
            yield Row(f"rk4, {n}", module, 0.0, note=ran.stderr.strip().splitlines()[-1][:80])


if __name__ == "__main__":
    sys.exit(main())
