"""Every block marked ``python torch`` of the pages runs, in the order of its file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "plugins" / "eagle_torch" / "README.md"
BLOCK = re.compile(r"^```python torch\n(.*?)^```$", re.M | re.S)


def test_the_blocks_of_the_readme_run() -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    blocks = BLOCK.findall(PAGE.read_text())
    assert blocks
    for number, source in enumerate(blocks):
        exec(compile(source, f"<block {number} of {PAGE.name}>", "exec"), names)


def test_no_page_has_a_block_that_nobody_runs() -> None:
    pages = {*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("plugins/*/*.md"), *ROOT.glob("eagle_core/*.md")}
    assert {page for page in pages if BLOCK.search(page.read_text())} == {PAGE}
