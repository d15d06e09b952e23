"""A graph as SVG: one file that needs nothing else, for light pages and dark ones."""

from __future__ import annotations

from hashlib import sha256
from html import escape
from itertools import pairwise

from eagle.draw.names import UNICODE
from eagle.draw.picture import Picture
from eagle.draw.scene import Group, Line, Shape, Words, scene

__all__ = ["svg"]

_X, _Y = 8.0, 17.0
_CORNER = 6.0

_STYLE = """
.{id} {{ --ground:#fff; --ink:#1b1f24; --faint:#5a6472; --fill:#eef3f9; --edge:#42546b;
  --panel:#f5f6f8; --frame:#8a5a00; --raw:#0063a0; --war:#c04a00; --waw:#8a3a86;
  color-scheme:light dark; max-width:100%; height:auto }}
@media (prefers-color-scheme: dark) {{ .{id} {{ --ground:#14181d; --ink:#e8eaed; --faint:#a3adba; --fill:#233044;
  --edge:#9db2cc; --panel:#1c2128; --frame:#e0a63a; --raw:#63b6ee; --war:#f08a3c; --waw:#d694d0 }} }}
.{id} text {{ font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace; font-size:13px;
  fill:var(--ink); dominant-baseline:central; white-space:pre }}
.{id} .plane,.{id} .note,.{id} .stage,.{id} .legend,.{id} .title {{ font-size:11.5px }}
.{id} .note,.{id} .stage,.{id} .legend {{ fill:var(--faint) }}
.{id} .header {{ font-weight:bold }}
.{id} .title {{ fill:var(--frame) }}
.{id} rect {{ fill:none; stroke:var(--edge); stroke-width:1.3 }}
.{id} .ground,.{id} .plate {{ fill:var(--ground); stroke:none }}
.{id} .node,.{id} .opaque,.{id} .repeated {{ fill:var(--fill) }}
.{id} .opaque {{ stroke-dasharray:5 3 }}
.{id} .repeated {{ stroke-dasharray:1 3 }}
.{id} .group {{ fill:var(--panel); stroke:none }}
.{id} .body {{ stroke:var(--frame); stroke-dasharray:9 4; pointer-events:all }}
.{id} .branch {{ stroke:var(--faint) }}
.{id} path {{ fill:none; stroke-width:1.6 }}
.{id} .RAW {{ stroke:var(--raw) }} .{id} .WAR {{ stroke:var(--war); stroke-dasharray:2 4; stroke-linecap:round }}
.{id} .WAW {{ stroke:var(--waw); stroke-dasharray:8 4 }}
.{id} .tip {{ stroke:none }} .{id} .tip.RAW {{ fill:var(--raw) }} .{id} .tip.WAR {{ fill:var(--war) }}
.{id} .tip.WAW {{ fill:var(--waw) }}
.{id} .near {{ stroke:var(--frame); stroke-width:9; stroke-opacity:0; pointer-events:stroke }}
.{id} g:hover>.near {{ stroke-opacity:.3 }}
"""


def svg(picture: Picture) -> str:
    """Return `picture` as the text of an SVG file."""
    drawing = scene(picture, UNICODE)
    body = "\n".join(filter(None, map(_group, drawing.groups)))
    name = f"eagle-{sha256(body.encode()).hexdigest()[:10]}"
    width, height = drawing.width * _X, drawing.height * _Y
    title = f"eagle graph: {', '.join(map(UNICODE.spell, picture.header))}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{name}" role="img" aria-labelledby="{name}-title" '
        f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}">\n'
        f'<title id="{name}-title">{escape(title)}</title>\n'
        f"<style>{_STYLE.format(id=name)}</style>\n"
        f'<rect class="ground" width="100%" height="100%"/>\n{body}\n</svg>\n'
    )


def _group(group: Group) -> str:
    parts = [f"<title>{escape(group.tooltip)}</title>"] if group.tooltip else []
    parts += map(_shape, group.shapes)
    parts += map(_line, group.lines)
    parts += map(_words, group.words)
    if not parts:
        return ""
    return f"<g>{''.join(parts)}</g>"


def _shape(shape: Shape) -> str:
    radius = {"group": 10, "body": 9, "branch": 9}.get(shape.role, 4)
    return (
        f'<rect class="{shape.role}" x="{shape.x * _X:.1f}" y="{shape.y * _Y:.1f}" '
        f'width="{shape.width * _X:.1f}" height="{shape.height * _Y:.1f}" rx="{radius}"/>'
    )


def _words(words: Words) -> str:
    anchor = "" if words.anchor == "start" else f' text-anchor="{words.anchor}"'
    return (
        f'<text class="{words.role}" x="{words.x * _X:.1f}" y="{words.y * _Y:.1f}"{anchor}>{escape(words.text)}</text>'
    )


def _line(line: Line) -> str:
    points = [(x * _X, y * _Y) for x, y in line.points]
    tip = ""
    if not line.shown:
        return f'<path class="near" d="{_rounded(points)}"/>'
    if line.arrow:
        (x, y) = points[-1]
        tip = f'<path class="tip {line.kind}" d="M{x:.1f} {y:.1f}l-3.5 -8h7z"/>'
        points[-1] = (x, y - 4)
    return f'<path class="{line.kind}" d="{_rounded(points)}"/>{tip}'


def _rounded(points: list[tuple[float, float]]) -> str:
    """Return a path along `points` with round corners."""
    parts = [f"M{points[0][0]:.1f} {points[0][1]:.1f}"]
    for (before, corner), (_, after) in pairwise(pairwise(points)):
        enter, leave = _toward(corner, before), _toward(corner, after)
        parts.append(f"L{enter[0]:.1f} {enter[1]:.1f}Q{corner[0]:.1f} {corner[1]:.1f} {leave[0]:.1f} {leave[1]:.1f}")
    parts.append(f"L{points[-1][0]:.1f} {points[-1][1]:.1f}")
    return "".join(parts)


def _toward(corner: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    """Return a place a little from `corner` on the way to `other`, at most half of it."""
    dx, dy = other[0] - corner[0], other[1] - corner[1]
    length = abs(dx) + abs(dy)
    step = min(_CORNER, length / 2) / length if length else 0
    return corner[0] + dx * step, corner[1] + dy * step
