"""Distributions made on the spot, so that plugins in any state can be found as installed ones are."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from eagle.plugin import refresh

GOOD = """
from eagle.plugin import *
from eagle.plugin import hookimpl
EAGLE_CONTRACT = (1, 0)

@hookimpl
def register_node_kind():
    return NodeKind(name=f"{__name__}.thing", access=lambda node: ())
"""
_numbers = itertools.count()


class Site:
    """A folder of distributions on ``sys.path``."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        monkeypatch.syspath_prepend(str(folder))
        refresh()

    def install(
        self,
        source: str = GOOD,
        *,
        name: str = "extra",
        distribution: str = "extra-plugin",
        version: str = "1.2",
        group: str = "eagle.v1",
        module: str | None = None,
        lines: int = 1,
    ) -> str:
        """Install a hooks module under an entry point; return the module's name."""
        module = module or f"extra_plugin_{next(_numbers)}"
        file = self.folder.joinpath(*module.split(".")).with_suffix(".py")
        file.parent.mkdir(exist_ok=True)
        file.write_text(source)
        info = self.folder / f"{distribution.replace('-', '_')}-{version}.dist-info"
        info.mkdir(exist_ok=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n")
        with (info / "entry_points.txt").open("a") as entries:
            entries.write(f"[{group}]\n" + f"{name} = {module}\n" * lines)
        refresh()
        return module
