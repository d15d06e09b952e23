"""``make gpu-check`` without a GPU, and what it makes of the reports of test files."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

FILE = Path(__file__).parents[1] / "gpu_check.py"
REPORT = '<testsuites><testsuite tests="9" failures="1" errors="1" skipped="3"/></testsuites>'


@pytest.fixture
def check(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("gpu_check", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "gpu_check", module)
    spec.loader.exec_module(module)
    return module


def test_without_a_gpu_it_says_why_and_that_nothing_has_run(
    check: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(check, "describe", lambda: ("", "no driver was found"))
    assert check.main(["--device"]) == 1
    assert capsys.readouterr().out == ""
    assert check.main([]) == 0
    text = capsys.readouterr().out
    assert "no GPU was used: no driver was found." in text
    assert "Nothing has run" in text


def test_a_report_becomes_a_row(check: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "report.xml").write_text(REPORT)
    row = check.read("some_file.py", tmp_path / "report.xml", 1.5, "")
    assert (row.passed, row.failed, row.skipped, row.seconds) == (4, 2, 3, 1.5)
    assert check.read("other.py", tmp_path / "none.xml", 1.5, "").note == "no report"


def test_the_table_ends_with_the_sum_and_the_device(
    check: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = {"a.py": check.Row("a.py", 3, 0, 1, 2.0), "b.py": check.Row("b.py", 1, 1, 0, 3.0, "stopped")}
    monkeypatch.setattr(check, "describe", lambda: ("Some Device, driver 13.0", None))
    monkeypatch.setattr(check, "run", lambda file, seconds: rows[file.name])
    assert check.main(["--device"]) == 0
    assert check.main(["a.py"]) == 0
    assert check.main(["a.py", "b.py"]) == 1
    last = capsys.readouterr().out.splitlines()[-4:]
    assert last[0].split() == ["a.py", "3", "0", "1", "2.0"]
    assert last[1].split() == ["b.py", "1", "1", "0", "3.0", "stopped"]
    assert last[2].split() == ["all", "4", "1", "1", "5.0"]
    assert last[3] == "on Some Device, driver 13.0"


def test_a_file_is_not_begun_once_the_time_is_up(check: ModuleType) -> None:
    assert check.run(FILE, 0.0).note == "not run: the time was up"


def test_figures_come_after_the_whole_table_only(
    check: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(check, "describe", lambda: ("Some Device", None))
    monkeypatch.setattr(check, "run", lambda file, seconds: check.Row(file.name, 1))
    monkeypatch.setattr(check, "measure", lambda: "\n\nsum of 1000 float64")
    assert check.main([]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "sum of 1000 float64"
    assert check.main(["a.py"]) == 0
    assert "sum of" not in capsys.readouterr().out


@pytest.mark.slow
def test_the_figures_program_runs_on_the_emulated_device() -> None:
    pytest.importorskip("cuda.core")
    command = [sys.executable, "-W", "error", "-m", "benchmarks.gpu", "--emulated"]
    ran = subprocess.run(command, cwd=FILE.parents[1], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    lines = ran.stdout.splitlines()
    assert lines[1].split() == ["case", "arm", "floor", "measured", "times"]
    assert sum("rk4" in line for line in lines) == 4
