"""The performance page: what its limits count, and that page and plots come of the results alone."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "arms"))

import characters
import eagle_served
from benchmarks.performance import arms
from benchmarks.performance.operations import work
from benchmarks.performance.page import page
from benchmarks.performance.plots import plots

LIMIT = {"seconds": 1e-3, "bound": "memory"}
OURS, THEIRS = {"seconds": 2e-3, "ratio": 1.0}, {"seconds": 7e-3, "ratio": 3.5}


def results() -> dict[str, Any]:
    found = {"eagle": OURS, "numba": THEIRS, "jax": {"error": "would take more than 4 s"}}
    row = {"threads": 2, "n": 1000, "steps": 5e3, "arms": found, "limit": LIMIT}
    loops = [row | {"case": case} for case in ("spread", "uniform")]
    return {"loops": {"at": "today", "took": 3.0, "tiny": True, "data": loops}}


def test_a_runge_kutta_step_is_the_forty_operations_counted_in_machine_code() -> None:
    counted = work(eagle_served.kernel("rk4").__eagle_kernel__(), stepping=True)
    assert counted.operations == {"add": 40}


def test_what_changes_in_no_step_costs_nothing_in_a_loop() -> None:
    kernel = eagle_served.kernel("branches_each").__eagle_kernel__()
    assert work(kernel, stepping=True).operations.total() < work(kernel, stepping=False).operations.total()


def test_bytes_are_those_read_and_those_written() -> None:
    counted = work(eagle_served.kernel("turn").__eagle_kernel__(), stepping=False)
    assert (counted.touched, counted.moved) == (8 * 12, 8 * (12 + 3))


@pytest.mark.parametrize("name", characters.KERNELS)
def test_every_kernel_does_the_same_in_steps_of_its_own_as_launched(name: str) -> None:
    launched, each = eagle_served.plain(name, 50), eagle_served.each(f"{name}_each", 50)
    for case in (launched, each):
        first = case.check(case.run(*case.setup()))
        assert case.check(case.run(*case.setup())) == first


def test_the_page_shows_figures_ratios_shares_and_why_a_peer_is_missing() -> None:
    text = page(results())
    assert "| spread | 2 | 1,000 | 2 ms | 1 ms (memory), 50% | 7 ms, 3.5x | - |" in text
    assert "JAX: would take more than 4 s" in text
    assert "no measurement" in text


def test_the_same_results_give_the_same_plots() -> None:
    assert plots(results()) == plots(results())
    assert list(plots(results())) == ["loops.svg"]


def test_an_arm_that_computes_something_else_is_not_compared() -> None:
    ours, theirs = [{"seconds": 1.0, "check": 2.0}], [{"seconds": 0.5, "check": 2.1}]
    assert "something else" in arms.judged(theirs, ours)["error"]
    assert arms.judged(ours, ours)["ratio"] == 1.0


def test_an_arm_that_cannot_start_is_left_out(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert arms.started("peer", tmp_path / "no_python", "serve.py", 1, tmp_path / "home") is None
    assert "left out" in capfd.readouterr().err
