"""The README's blocks run, one after the other, with sources as a notebook keeps them."""

from __future__ import annotations

import linecache
import re
from pathlib import Path
from typing import Any

import pytest

README = Path(__file__).parents[2] / "plugins" / "eagle_hawk" / "README.md"
BLOCK = re.compile(r"^```py(?:thon)?\n(.*?)^```$", re.M | re.S)


def test_the_blocks_run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    blocks = BLOCK.findall(README.read_text())
    assert len(blocks) == 2
    for number, text in enumerate(blocks):
        name = f"<README {number}>"
        monkeypatch.setitem(linecache.cache, name, (len(text), None, text.splitlines(keepends=True), name))
        exec(compile(text, name, "exec"), names)
    assert "landed  Terminated       mask, read and written  bool (n,)" in capsys.readouterr().out
