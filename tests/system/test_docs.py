"""Every Python block of the README, the docs and the packages' READMEs runs, in the order of its file."""

from __future__ import annotations

import linecache
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("eagle_core/*.md"), *ROOT.glob("plugins/*/*.md")]
)
BLOCK = re.compile(r"^```python(?: name=(\S+))?\n(.*?)^```$", re.M | re.S)


def blocks(page: Path) -> list[tuple[str, str]]:
    return [(name, source) for name, source in BLOCK.findall(page.read_text())]


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: str(page.relative_to(ROOT)))
def test_the_blocks_of_a_page_run(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks go on from those before; one with a name is a module, which later ones import."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, (name, source) in enumerate(blocks(page)):
        file = f"<block {number} of {page.name}>"
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)  # kernels look for theirs
        code = compile(source, file, "exec")
        if not name:
            exec(code, names)
            continue
        module = ModuleType(name)
        package, _, last = name.rpartition(".")
        monkeypatch.setitem(sys.modules, name, module)
        if package:
            monkeypatch.setitem(sys.modules, package, ModuleType(package))
            setattr(sys.modules[package], last, module)
        exec(code, module.__dict__)


def test_there_are_blocks_to_run() -> None:
    assert sum(len(blocks(page)) for page in PAGES) >= 6


def test_the_readmes_first_example_is_the_specifications() -> None:
    first = (ROOT / "tests" / "spec" / "blocks" / "graph_01_first_graph.py").read_text()
    assert blocks(ROOT / "README.md")[0][1] == first
