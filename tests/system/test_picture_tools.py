"""Pictures in the tools they are for: Mermaid's own parser, Chromium, Graphviz."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from gallery_graphs import GALLERY
from hypothesis import HealthCheck, Phase, given, settings
from picture_graphs import HOSTILE, graphs, nothing

import eagle
from eagle.draw.names import UNICODE
from eagle.draw.view import view
from eagle.graph import opaque

pytestmark = pytest.mark.slow
HERE = Path(__file__).parent


def run(*command: object, **how: Any) -> subprocess.CompletedProcess[str]:
    ran = subprocess.run(
        [str(word) for word in command], capture_output=True, encoding="utf-8", check=False, timeout=300, **how
    )
    assert ran.returncode == 0, f"{command} failed:\n{ran.stdout[-4000:]}\n{ran.stderr[-4000:]}"
    return ran


def tool(name: str, package: str) -> str:
    """Return the path of a program, installed from Debian's packages if it is not there and this may be done."""
    found = shutil.which(name)
    if found is None and shutil.which("apt-get") and os.geteuid() == 0:
        run("apt-get", "update")
        run(
            "apt-get",
            "install",
            "-y",
            "--no-install-recommends",
            package,
            env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"},
        )
        found = shutil.which(name)
    if found is not None:
        return found
    missing = f"{name} is not installed, and cannot be from here: install the Debian package {package}"
    if os.environ.get("CI"):
        raise AssertionError(missing)
    pytest.skip(missing)


def named(name: str) -> eagle.Graph:
    x = np.zeros(1)
    g = eagle.Graph().add_node(opaque(nothing, writes={name: x}), name=name)
    return g.add_node(eagle.skippable(opaque(nothing, reads={name: x}), eagle.SkipGuard.nonzero(np.ones(1))), name=name)


@pytest.fixture(scope="module")
def cases() -> list[eagle.Graph]:
    """Graphs of every shape, with every name."""
    collected = [*(make() for make in GALLERY.values()), *map(named, HOSTILE)]

    @settings(
        max_examples=150,
        phases=[Phase.generate],
        database=None,
        derandomize=True,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(graphs(most=5))
    def collect(g: eagle.Graph) -> None:
        collected.append(g)

    collect()
    return collected


# Mermaid --------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def mermaid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the mermaid package."""
    tool("node", "nodejs")
    folder = tmp_path_factory.mktemp("mermaid")
    run(
        tool("npm", "npm"),
        "install",
        "--no-audit",
        "--no-fund",
        "--ignore-scripts",
        "mermaid@11",
        "jsdom@24",
        cwd=folder,
    )
    shutil.copy(HERE / "picture_tools.mjs", folder)
    return folder


def decoded(text: str) -> str:
    """A text as Mermaid shows it."""
    return html.unescape(text.replace("ﬂ°°", "&#").replace("ﬂ°", "&").replace("¶ß", ";"))


def test_mermaids_own_parser_reads_every_graph_with_every_label(mermaid: Path, cases: list[eagle.Graph]) -> None:
    (mermaid / "cases.json").write_text(json.dumps([g.to_mermaid() for g in cases]))
    run("node", "picture_tools.mjs", cwd=mermaid)
    parsed = json.loads((mermaid / "parsed.json").read_text())
    assert [case for case in parsed if "error" in case] == []
    for g, case in zip(cases, parsed, strict=True):
        picture = view(g)
        assert case["edges"] >= len(picture.links)
        shown = [decoded(text) for text in (*case["labels"], *case["titles"])]
        if len(g.node_labels()) == len({box.label for row in picture.rows for box in row.boxes}):
            for label in g.node_labels():
                assert any(UNICODE.spell(label).strip() in text for text in shown) or _is_inside(g, label)


def _is_inside(g: eagle.Graph, label: str) -> bool:
    """Whether a node is drawn as a frame that does not repeat its label."""
    return any(box.label == label and box.frames for row in view(g).rows for box in row.boxes)


def chromium(page: Path, folder: Path, *flags: str) -> str:
    """Return the document of a page after its scripts ran."""
    return run(
        tool("chromium", "chromium"),
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--no-first-run",
        f"--user-data-dir={folder / 'profile'}",
        "--virtual-time-budget=60000",
        *flags,
        page.as_uri(),
    ).stdout


def test_a_dozen_render_in_a_browser(mermaid: Path) -> None:
    chosen = [*(make() for make in GALLERY.values()), *map(named, HOSTILE[:6])]
    texts = [g.to_mermaid() for g in chosen]
    script = (mermaid / "node_modules" / "mermaid" / "dist" / "mermaid.min.js").as_uri()
    page = mermaid / "page.html"
    page.write_text(
        f'<!doctype html><meta charset="utf-8"><body><script src="{script}"></script><script>\n'
        f"const texts = {json.dumps(texts).replace('<', chr(92) + 'u003c')};\n"
        "mermaid.initialize({startOnLoad: false});\n"
        "(async () => { for (const [number, text] of texts.entries()) {\n"
        "  const part = document.createElement('section'); document.body.append(part);\n"
        "  try { part.innerHTML = (await mermaid.render('g' + number, text)).svg; part.className = 'drawn'; }\n"
        "  catch (error) { part.textContent = 'failed: ' + error; } } })();\n"
        "</script>",
        encoding="utf-8",
    )
    document = chromium(page, mermaid, "--dump-dom")
    assert "failed: " not in document.rpartition("</script>")[2]
    assert document.count('class="drawn"') == len(texts)
    for label in ("combine", "leapfrog: repeat ≤ 100", "skip if guard", "right_out"):
        assert label in document


def test_svg_opens_in_a_browser_with_every_text_inside_the_picture(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    body = "\n".join(make().to_svg() for make in GALLERY.values())
    page.write_text(
        f'<!doctype html><meta charset="utf-8"><body>{body}<pre id="out"></pre><script>\n'
        "const bad = [];\n"
        "for (const svg of document.querySelectorAll('svg')) {\n"
        "  const whole = svg.getBoundingClientRect();\n"
        "  for (const group of svg.querySelectorAll('g')) {\n"
        "    const rect = group.querySelector('rect.node, rect.opaque');\n"
        "    for (const text of group.querySelectorAll('text')) {\n"
        "      const box = text.getBoundingClientRect(), room = (rect ?? svg).getBoundingClientRect();\n"
        "      const legend = rect && text.classList.contains('legend');\n"
        "      const limit = legend ? whole : room;\n"
        "      if (box.left < limit.left - 1 || box.right > limit.right + 1) bad.push(text.textContent);\n"
        "    } } }\n"
        "document.getElementById('out').textContent = 'outside: ' + JSON.stringify(bad);\n</script>",
        encoding="utf-8",
    )
    document = chromium(page, tmp_path, "--dump-dom")
    assert re.findall(r"outside: (.*?)</pre>", document) == ["[]"]


# Graphviz -------------------------------------------------------------------------------------------------------------


def test_graphviz_reads_every_graph(cases: list[eagle.Graph], tmp_path: Path) -> None:
    path = tmp_path / "all.dot"
    path.write_text("\n".join(g.to_dot() for g in cases), encoding="utf-8")
    ran = run(tool("dot", "graphviz"), "-Tcanon", path)
    assert ran.stdout.count("digraph eagle") == len(cases)
    assert ran.stderr == ""


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_graphviz_shows_a_name_as_it_is(name: str) -> None:
    drawn = run(tool("dot", "graphviz"), "-Tsvg", input=named(name).to_dot()).stdout
    texts = {
        (text.text or "").replace("\xa0", " ")
        for text in ElementTree.fromstring(drawn).iter()
        if text.tag.endswith("}text")
    }
    assert UNICODE.spell(name) in texts
