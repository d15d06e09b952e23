"""The marked code blocks of the project's pages: run as their reader would, and found wherever they stand."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

__all__ = ["ROOT", "pages_with", "run_blocks"]

ROOT = Path(__file__).parents[2]
PLACES = ("*.md", "docs/*.md", "plugins/*/*.md", "eagle_core/*.md")


def run_blocks(page: Path, mark: str, folder: Path) -> None:
    """Run the blocks marked ``python MARK`` of a page in its order, sharing their names.

    Each is a file in `folder`, where a kernel's source is read from.
    """
    names: dict[str, Any] = {"__name__": "__main__"}
    blocks = _blocks(page, mark)
    assert blocks
    for number, source in enumerate(blocks):
        file = folder / f"{page.stem}_{number}.py"
        file.write_text(source)
        exec(compile(source, str(file), "exec"), names)


def pages_with(mark: str) -> set[Path]:
    """Return the pages that have a block with a mark."""
    return {page for place in PLACES for page in ROOT.glob(place) if _blocks(page, mark)}


def _blocks(page: Path, mark: str) -> list[str]:
    return re.findall(rf"^```python {mark}\n(.*?)^```$", page.read_text(), re.M | re.S)
