"""Every block marked ``python jax`` of the README runs, in the order of its file."""

from __future__ import annotations

import linecache
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "plugins" / "eagle_jax" / "README.md"
BLOCK = re.compile(r"^```python jax\n(.*?)^```$", re.M | re.S)


def test_the_blocks_of_the_readme_run(monkeypatch: pytest.MonkeyPatch) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    blocks = BLOCK.findall(PAGE.read_text())
    assert blocks
    for number, source in enumerate(blocks):
        file = f"<block {number} of the README of eagle-jax>"  # kernels look for their source there
        monkeypatch.setitem(linecache.cache, file, (len(source), None, source.splitlines(keepends=True), file))
        exec(compile(source, file, "exec"), names)


def test_no_page_has_a_block_that_nobody_runs() -> None:
    pages = {*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("plugins/*/*.md"), *ROOT.glob("eagle_core/*.md")}
    assert {page for page in pages if BLOCK.search(page.read_text())} == {PAGE}
