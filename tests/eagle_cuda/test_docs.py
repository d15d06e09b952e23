"""Every block marked ``python gpu`` of the pages runs on the device, in the order of its file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "docs" / "gpu.md", ROOT / "plugins" / "eagle_cuda" / "README.md"]
BLOCK = re.compile(r"^```python gpu\n(.*?)^```$", re.M | re.S)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_blocks_of_a_page_run(seed: int, cupy: Any, page: Path, tmp_path: Path) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    blocks = BLOCK.findall(page.read_text())
    assert blocks
    for number, source in enumerate(blocks):
        file = tmp_path / f"{page.stem}_{number}.py"  # a kernel's source is read from its file
        file.write_text(source)
        exec(compile(source, str(file), "exec"), names)


def test_no_page_has_a_block_that_nobody_runs() -> None:
    pages = {*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("plugins/*/*.md"), *ROOT.glob("eagle_core/*.md")}
    assert {page for page in pages if BLOCK.search(page.read_text())} == set(PAGES)
