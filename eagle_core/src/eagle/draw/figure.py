"""A graph as a matplotlib figure, made without pyplot."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from eagle.draw.names import Lettering, clusters, width
from eagle.draw.picture import Picture
from eagle.draw.scene import Group, Line, Scene, Shape, Words, scene
from eagle.errors import BackendUnavailable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["PlotUnavailable", "figure"]

_ROW = 2.1  # how high a line is, in widths of a character
_POINTS = 5.6  # of one character's width, in a figure of our own
_ADVANCE = 0.602  # of DejaVu Sans Mono, by its size
_FONT = "DejaVu Sans Mono"

# Okabe and Ito's colours, darkened for white paper: told apart with any colour vision, and by their strokes without.
_LINES: dict[str, dict[str, Any]] = {
    "RAW": {"color": "#0063a0", "linestyle": "solid"},
    "WAR": {"color": "#c04a00", "linestyle": (0, (1, 1.6))},
    "WAW": {"color": "#8a3a86", "linestyle": (0, (5, 2))},
}
_SHAPES: dict[str, dict[str, Any]] = {
    "group": {"facecolor": "#f2f3f6", "edgecolor": "none"},
    "plate": {"facecolor": "white", "edgecolor": "none"},
    "body": {"facecolor": "none", "edgecolor": "#8a5a00", "linestyle": (0, (7, 3))},
    "branch": {"facecolor": "none", "edgecolor": "#5a6472"},
    "node": {"facecolor": "#eef3f9", "edgecolor": "#42546b"},
    "opaque": {"facecolor": "#eef3f9", "edgecolor": "#42546b", "linestyle": (0, (4, 2))},
    "repeated": {"facecolor": "#eef3f9", "edgecolor": "#42546b", "linestyle": (0, (1, 2))},
}
_WORDS: dict[str, tuple[float, str]] = {
    "label": (1.0, "#1b1f24"),
    "header": (1.0, "#1b1f24"),
    "plane": (0.9, "#1b1f24"),
    "title": (0.9, "#8a5a00"),
    "note": (0.9, "#5a6472"),
    "stage": (0.9, "#5a6472"),
    "legend": (0.9, "#5a6472"),
}


class PlotUnavailable(BackendUnavailable, ImportError):
    """matplotlib is not installed."""


def figure(picture: Picture, ax: Axes | None = None, *, names: bool = True, schedule: bool = True) -> Figure:
    """Draw `picture` into `ax`, or into a figure of its own that is as large as it needs to be, and return the figure.

    Raises
    ------
    PlotUnavailable
        matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise PlotUnavailable(
            "plot draws with matplotlib, which is not installed", fix='Install it with: pip install "eagle-core[plot]".'
        ) from error
    drawing = scene(picture, _lettering(), names=names, schedule=schedule, header=ax is None)
    if ax is None:
        size = (drawing.width * _POINTS / 72, drawing.height * _ROW * _POINTS / 72)
        ax = Figure(figsize=size, facecolor="white").add_axes((0, 0, 1, 1))
    _draw(drawing, ax)
    whole = ax.figure
    while not isinstance(whole, Figure):
        whole = whole.figure
    return whole


@lru_cache
def _lettering() -> Lettering:
    """Return the lettering of the font that comes with matplotlib; what it lacks is written as its escape."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    known = frozenset(get_font(findfont(FontProperties(family=_FONT))).get_charmap())
    return Lettering(lambda char: ord(char) in known)


def _draw(drawing: Scene, ax: Axes) -> None:
    ax.set_axis_off()
    ax.set_xlim(0, drawing.width)
    ax.set_ylim(drawing.height * _ROW, 0)
    ax.set_aspect("equal", adjustable="box", anchor="C")
    for depth, group in enumerate(drawing.groups):
        _draw_group(group, ax, 2 + depth / len(drawing.groups))


def _draw_group(group: Group, ax: Axes, above: float) -> None:
    for shape in group.shapes:
        _draw_shape(shape, ax, above)
    for line in group.lines:
        if line.shown:
            _draw_line(line, ax, above)
    for words in group.words:
        _draw_words(words, ax, above)


def _draw_shape(shape: Shape, ax: Axes, above: float) -> None:
    from matplotlib.patches import FancyBboxPatch

    radius = {"plate": 0.0, "body": 0.9, "branch": 0.9, "group": 1.0}.get(shape.role, 0.4)
    ax.add_artist(
        FancyBboxPatch(
            (shape.x, shape.y * _ROW),
            shape.width,
            shape.height * _ROW,
            boxstyle=f"round,pad=0,rounding_size={radius}" if radius else "square,pad=0",
            linewidth=1.0,
            zorder=above,
            **_SHAPES[shape.role],
        )
    )


def _draw_line(line: Line, ax: Axes, above: float) -> None:
    from matplotlib.patches import Polygon

    points = [(x, y * _ROW) for x, y in line.points]
    if line.arrow:
        x, y = points[-1]
        tip = ((x, y), (x - 0.42, y - 1.0), (x + 0.42, y - 1.0))
        ax.add_artist(Polygon(tip, facecolor=_LINES[line.kind]["color"], linewidth=0, zorder=above))
        points[-1] = (x, y - 0.6)
    ax.plot(*zip(*points, strict=True), linewidth=1.3, zorder=above, scalex=False, scaley=False, **_LINES[line.kind])


def _draw_words(words: Words, ax: Axes, above: float) -> None:
    """Write a text as a shape in the drawing's own units: it fits its box in axes of any size."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    scale, color = _WORDS[words.role]
    size = scale / _ADVANCE
    start = {"start": 0.0, "middle": -scale * width(words.text) / 2, "end": -scale * width(words.text)}[words.anchor]
    points, codes = _outline(words.text, words.role == "header")
    if len(points):
        place = np.array([words.x + start, words.y * _ROW + 0.36 * size])
        path = Path(points * np.array([size, -size]) + place, codes)
        ax.add_artist(PathPatch(path, facecolor=color, linewidth=0, zorder=above, gid=words.role))


def _outline(text: str, bold: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the outlines of a text, one unit high, and their codes; all letters of the font are equally wide."""
    parts = [(np.empty((0, 2)), np.empty(0, np.uint8))]
    column = 0
    for cluster in clusters(text):
        points, codes = _glyph(cluster, bold)
        parts.append((points + np.array([column * _ADVANCE, 0.0]), codes))
        column += width(cluster)
    return np.concatenate([points for points, _ in parts]), np.concatenate([codes for _, codes in parts])


@lru_cache(4096)
def _glyph(cluster: str, bold: bool) -> tuple[np.ndarray, np.ndarray]:
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(family=_FONT, weight="bold" if bold else "normal")
    points, codes = text_to_path.get_text_path(font, cluster)
    return np.asarray(points, float).reshape(-1, 2) / text_to_path.FONT_SCALE, np.asarray(codes, np.uint8)
