"""Looking at a graph: pictures and answers in words, built or not, without a guard."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from os import PathLike
from typing import IO, TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from eagle.graph.graph import Graph

__all__ = ["Looking"]


class Looking:
    """The pictures of a graph. They work on the graph as it stands, and never get in the way of a call.

    All come from one layout, and take the same two arguments for a part of a large graph: `around`, a label or
    several, and `depth`, how many links away from there. What repeats in a graph of more than a screenful is drawn
    once, with a count.
    """

    __slots__ = ()

    def show(
        self,
        *,
        file: IO[str] | None = None,
        width: int | None = None,
        around: str | Iterable[str] | None = None,
        depth: int = 2,
    ) -> None:
        """Print the graph as boxes and lines.

        Parameters
        ----------
        file : text stream, optional
            Where to; standard output by default. A stream that cannot encode lines gets plain characters.
        width : int, optional
            At most so many columns, 20 at least; as many as the terminal has by default.
        around : str or iterable of str, optional
            Labels of nodes: only the part around them.
        depth : int
            How many links away from them.

        Raises
        ------
        GraphError
            There is no such node.
        """
        from eagle.draw import show

        show(_graph(self), file, width, around=around, depth=depth)

    def plot(
        self,
        ax: Axes | None = None,
        edge_labels: bool = True,
        show_schedule: bool = True,
        *,
        around: str | Iterable[str] | None = None,
        depth: int = 2,
    ) -> Figure:
        """Draw the graph with matplotlib, an optional extra.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to. Without, a figure of its own that is as large as it needs to be, and no part of pyplot's state.
        edge_labels : bool
            Whether planes are written at the lines.
        show_schedule : bool
            Whether stages, and after the build how they run, are written on the left.
        around, depth
            As for `show`.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        BackendUnavailable
            matplotlib is not installed. It is an ImportError too.
        GraphError
            There is no such node.
        """
        from eagle.draw import figure, view

        return figure(view(_graph(self), around=around, depth=depth), ax, names=edge_labels, schedule=show_schedule)

    def to_svg(
        self,
        path: str | PathLike[str] | None = None,
        *,
        around: str | Iterable[str] | None = None,
        depth: int = 2,
        seconds: Mapping[str, float] | None = None,
    ) -> str:
        """Return the graph as SVG that needs nothing else, for light pages and dark ones.

        Parameters
        ----------
        path : path, optional
            A file to write it to, too.
        around, depth
            As for `show`.
        seconds : mapping of str to float, optional
            How long a run of the node with a label took, in seconds; said when the node is pointed at.

        Raises
        ------
        GraphError
            There is no such node.
        """
        from eagle.draw import svg, view

        text = svg(view(_graph(self), around=around, depth=depth, seconds=seconds))
        if path is not None:
            from pathlib import Path

            Path(path).write_text(text, encoding="utf-8")
        return text

    def to_mermaid(self, *, around: str | Iterable[str] | None = None, depth: int = 2) -> str:
        """Return the graph as a Mermaid flowchart, to paste into a Markdown page. Arguments as for `show`."""
        from eagle.draw import mermaid, view

        return mermaid(view(_graph(self), around=around, depth=depth))

    def to_dot(self, *, around: str | Iterable[str] | None = None, depth: int = 2) -> str:
        """Return the graph in the DOT language of Graphviz. Arguments as for `show`."""
        from eagle.draw import dot, view

        return dot(view(_graph(self), around=around, depth=depth))

    def explain(self, a: str, b: str) -> str:
        """Return in words whether and why node `b` waits for node `a`.

        Parameters
        ----------
        a, b : str
            Labels of nodes.

        Returns
        -------
        str
            Every hazard between the two with its plane; or the way from one to the other; or that they may overlap.

        Raises
        ------
        GraphError
            There is no such node.
        """
        from eagle.draw import explain

        return explain(_graph(self), a, b)

    def __str__(self) -> str:
        from eagle.draw import text

        return text(_graph(self))

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def _repr_mimebundle_(
        self, include: Container[str] | None = None, exclude: Container[str] | None = None
    ) -> dict[str, Any]:
        makers = {"text/plain": self.__str__, "image/svg+xml": self._repr_svg_}
        return {
            kind: make()
            for kind, make in makers.items()
            if (not include or kind in include) and (not exclude or kind not in exclude)
        }


def _graph(looking: Looking) -> Graph:
    return cast("Graph", looking)
