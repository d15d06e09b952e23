"""Every block marked ``python jax`` of the README runs, in the order of its file."""

from __future__ import annotations

from pathlib import Path

from page_blocks import ROOT, pages_with, run_blocks

PAGE = ROOT / "plugins" / "eagle_jax" / "README.md"


def test_the_blocks_of_the_readme_run(tmp_path: Path) -> None:
    run_blocks(PAGE, "jax", tmp_path)


def test_no_page_has_a_block_that_nobody_runs() -> None:
    assert pages_with("jax") == {PAGE}
