"""The gallery shows what eagle draws."""

from __future__ import annotations

from pathlib import Path

import pytest
from gallery_graphs import GALLERY, hazards, the_pages

PAGE = Path(__file__).parents[3] / "docs" / "gallery.md"
HEAD = """\
# Gallery

What `print(g)` shows, 80 columns wide. `g.to_svg()` and `g.plot()` draw the same layout, `g.to_mermaid()` and
`g.to_dot()` say the same to other tools. A test writes this page anew and fails when it changes: look at the change,
then commit it.
"""


def gallery() -> str:
    parts = [HEAD]
    for title, make in GALLERY.items():
        parts.append(f"## {title}\n\n```text\n{make()}\n```\n")
    g = hazards()
    parts.append(f"## The first example for Mermaid\n\n```mermaid\n{the_pages().to_mermaid()}```\n")
    parts.append(f"## The first example for Graphviz\n\n```dot\n{the_pages().to_dot()}```\n")
    answers = [f'>>> g.explain("{a}", "{b}")\n{g.explain(a, b)}' for a, b in (("load", "reset"), ("load", "report"))]
    parts.append(f"## Why one node waits for another\n\n```text\n{chr(10).join(answers)}\n```\n")
    return "\n".join(parts)


def test_the_gallery_is_what_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    drawn = gallery()
    kept = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    if drawn != kept:
        PAGE.write_text(drawn, encoding="utf-8")
    assert kept == drawn, "docs/gallery.md was not what is drawn, and is written anew: look at what changed"
