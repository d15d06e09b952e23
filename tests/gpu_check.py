"""The tests of the emulated CUDA device on the real one, one process per file, then figures, and the tables of both.

``make gpu-check`` runs it. Without a GPU it says why there is none and that nothing has run. A file has a process of
its own because an error of the device, which some tests make on purpose, ends a process's use of it.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

TESTS = Path(__file__).parent
SHARED = ("test_loops", "test_loop_faults", "test_plans", "test_rebinding", "test_kernels")  # with the host
PLACES = ("eagle_cuda", *(f"system/{name}.py" for name in SHARED), "eagle_hawk", "graph_suite", "cuda_emulator")
SECONDS = 290.0  # of the eight minutes the command may take
FIGURES = 170.0  # for benchmarks.gpu, which ends by itself before


@dataclass(frozen=True)
class Row:
    """What one test file said."""

    file: str
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0
    note: str = ""


def main(arguments: Sequence[str]) -> int:
    """Run the files named, or all of them; return 1 when anything failed or did not finish.

    With ``--device`` nothing is run or said: return 0 if there is a device to run on, else 1.
    """
    device, why = describe()
    if list(arguments) == ["--device"]:
        return int(why is not None)
    if why is not None:
        print(f"gpu-check: no GPU was used: {why}.\nNothing has run; the emulated device is checked by make test.")
        return 0
    files = [Path(name) for name in arguments] or [file for name in PLACES for file in sorted_files(TESTS / name)]
    end = time.monotonic() + SECONDS
    rows = [run(file, end - time.monotonic()) for file in files]
    figures = measure() if not arguments else ""
    print("\n" + table(rows, device) + figures)
    return 1 if any(row.failed or row.note for row in rows) else 0


def measure() -> str:
    """Return the table of `benchmarks.gpu`, or why there is none."""
    command = [sys.executable, "-m", "benchmarks.gpu"]
    try:
        ran = subprocess.run(command, cwd=TESTS.parent, timeout=FIGURES, capture_output=True, text=True, check=False)
    except subprocess.TimeoutExpired:
        return "\n\nfigures: stopped, the time was up"
    return f"\n\n{ran.stdout}" + (
        f"figures ended with {ran.returncode}: {ran.stderr[-2000:]}" if ran.returncode else ""
    )


def describe() -> tuple[str, str | None]:
    """Return the device in words, and why it cannot be used."""
    from eagle.plugin.lookup import backend_named, described, why_not

    backend = backend_named("gpu")
    if backend is None:
        return "", "the backend is not installed; install the distribution eagle-cuda"
    if (reason := why_not(backend)) is not None:
        return "", reason
    return described(backend), None


def sorted_files(place: Path) -> Iterator[Path]:
    """Return the test files of a folder, by name, or the one that the place is."""
    return iter([place] if place.is_file() else sorted(place.rglob("test_*.py")))


def run(file: Path, seconds: float) -> Row:
    """Run one file in a process of its own, for at most so many seconds."""
    name = str(file.resolve().relative_to(TESTS)) if file.resolve().is_relative_to(TESTS) else str(file)
    if seconds <= 0:
        return Row(name, note="not run: the time was up")
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "--real-gpu", "-q", f"--junitxml={report}", str(file)]
        try:
            code = subprocess.run(command, cwd=TESTS.parent, timeout=seconds, check=False).returncode
            note = "" if code in (0, 1, 5) else f"pytest ended with {code}"
        except subprocess.TimeoutExpired:
            note = "stopped: the time was up"
        return read(name, report, time.monotonic() - began, note)


def read(name: str, report: Path, seconds: float, note: str) -> Row:
    """Return what a report in pytest's XML says."""
    if not report.exists():
        return Row(name, seconds=seconds, note=note or "no report")
    (suite,) = ElementTree.parse(report).getroot().iter("testsuite")
    total, failed, errors, skipped = (int(suite.get(key, "0")) for key in ("tests", "failures", "errors", "skipped"))
    return Row(name, total - failed - errors - skipped, failed + errors, skipped, seconds, note)


def table(rows: Sequence[Row], device: str) -> str:
    """Return all rows with their sum, and the device, as text."""
    whole = Row(
        "all",
        sum(row.passed for row in rows),
        sum(row.failed for row in rows),
        sum(row.skipped for row in rows),
        sum(row.seconds for row in rows),
    )
    width = max(len(row.file) for row in (*rows, whole))
    lines = [f"{'test file':{width}}  passed  failed  skipped  seconds"]
    for row in (*rows, whole):
        numbers = f"{row.passed:6}  {row.failed:6}  {row.skipped:7}  {row.seconds:7.1f}"
        lines.append(f"{row.file:{width}}  {numbers}  {row.note}".rstrip())
    return "\n".join([*lines, f"on {device}"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
