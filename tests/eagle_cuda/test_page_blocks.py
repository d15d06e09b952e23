"""The blocks of the specification's pages that run on a GPU, unchanged; with CuPy itself only on a real device."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

TESTS = Path(__file__).parents[1]
BLOCKS = TESTS / "spec" / "blocks"


def run(block: str, names: dict[str, Any]) -> dict[str, Any]:
    path = BLOCKS / block
    exec(compile(path.read_text(), str(path), "exec"), names)
    return names


def test_until_done_runs_where_the_arrays_are(
    unordered: Any, cupy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a folder two below the one that holds the notebooks' helpers, as the documentation's notebooks are."""
    (tmp_path / "_shared").symlink_to(TESTS.parent / "docs" / "_shared")
    notebook = tmp_path / "start" / "graphs"
    notebook.mkdir(parents=True)
    monkeypatch.chdir(notebook)
    monkeypatch.setattr(sys, "path", list(sys.path))
    names = run("loop_02_oscillator.py", {"__name__": "__main__"})
    report, runner = names["report"], names["runner"]
    assert names["DEVICE"] == "gpu"
    assert report.launches in (16, 17)
    assert report.done
    again = runner.run()
    assert (again.launches, again.build_s) == (0, 0.0)
    x = runner.planes["x"].get()
    omega = np.linspace(1.0, 3.0, len(x))
    np.testing.assert_allclose(x, np.cos(omega), atol=5e-3)


def test_the_low_level_door(
    device: Any, cupy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a folder beside the one that holds the compiled kernel, as the documentation's notebooks are."""
    from gravity import files_for

    made, notebook = tmp_path / "made", tmp_path / "start" / "graphs"
    made.mkdir()
    notebook.mkdir(parents=True)
    (notebook.parent / "_fixtures").symlink_to(files_for(device, made))
    monkeypatch.chdir(notebook)
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in ("loop_03_loaded_kernel.py", "loop_04_buffers.py", "loop_05_pipeline.py", "loop_06_replays.py"):
        run(block, names)
    assert float(names["rel_err"]) < 1e-13
    assert names["pipe"].captures == 1
    assert capsys.readouterr().out.startswith("5 replays vs 5x the single-launch answer: max rel err = ")
