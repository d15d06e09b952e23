"""The specification's code blocks run unchanged, save those that wait for a part of eagle."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
BLOCKS: list[dict[str, Any]] = tomllib.loads((HERE / "blocks.toml").read_text())["block"]
WAITING_FOR = {"", "gpu", "nothing: schema"}


def test_the_list_and_the_folder_agree() -> None:
    assert [block["file"] for block in BLOCKS] == sorted(path.name for path in (HERE / "blocks").iterdir())
    assert {block["waits_for"] for block in BLOCKS} <= WAITING_FOR


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block["file"])
def test_a_block_is_python(block: dict[str, Any]) -> None:
    compile((HERE / "blocks" / block["file"]).read_text(), block["file"], "exec")


@pytest.mark.parametrize("block", [b for b in BLOCKS if not b["waits_for"]], ids=lambda block: block["file"])
@pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive")
def test_a_block_runs_unchanged(block: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder two below the one that holds the notebooks' helpers, as the documentation's notebooks are."""
    (tmp_path / "_shared").symlink_to(HERE.parents[1] / "docs" / "_shared")
    notebook = tmp_path / "start" / "graphs"
    notebook.mkdir(parents=True)
    monkeypatch.chdir(notebook)
    monkeypatch.setattr(sys, "path", list(sys.path))
    path = HERE / "blocks" / block["file"]
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(block.get("preamble", ""), names)
    exec(compile(path.read_text(), str(path), "exec"), names)
    exec(block.get("check", ""), names)


def test_the_first_graph_gives_the_pages_arrays() -> None:
    names: dict[str, Any] = {}
    exec((HERE / "blocks" / "graph_01_first_graph.py").read_text(), names)
    assert names["z"].tolist() == [1.0] * 8
    assert names["g"].backend == "cpu"
    assert names["g"].schedule == ("work_share", "work_share")
    names["x"][:] = 3
    names["g"].launch(2)
    assert names["z"].tolist() == [7.0] * 8
