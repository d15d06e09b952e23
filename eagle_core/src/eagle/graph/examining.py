"""Running a built graph node by node, to see how long each takes and whether each keeps to its declaration."""

from __future__ import annotations

from typing import TYPE_CHECKING, SupportsIndex, cast

from eagle.errors import GraphError

if TYPE_CHECKING:
    from eagle.draw.profile import Profile
    from eagle.graph.graph import Graph

__all__ = ["Examining"]


class Examining:
    """Runs of a graph whose purpose is to be watched. They leave behind what a launch leaves behind."""

    __slots__ = ()

    def profile(self, n: SupportsIndex = 10) -> Profile:
        """Run the graph `n` times, node by node, and return how long each took.

        A node runs by itself, spread over the threads there are: what branches side by side or fusion save is not in
        the figures, and a fraction of a microsecond for calling it is.

        Parameters
        ----------
        n : int
            At least 1.

        Returns
        -------
        Profile
            ``print`` shows a table; ``g.to_svg(seconds=profile.seconds)`` puts the times into the picture.

        Raises
        ------
        BuildError
            The graph is not built, or its backend does not time nodes.
        GraphError
            `n` is less than 1.
        Exception
            As `launch`.
        """
        from eagle.draw.profile import profiled

        graph = _graph(self)
        return graph._guard.hold(lambda: profiled(graph, _positive(n)))

    def check(self) -> str:
        """Run the graph once, node by node, and look whether each writes only what it declares.

        The bytes of every plane of the graph that a node does not declare as written are compared before and after it,
        and NumPy's arrays among them are write-protected meanwhile. A node that runs into the protection is run again
        without it, from the planes as they were: the bytes decide, because some libraries refuse protected arrays even
        for reading. What a node reads without declaring it is not seen, nor what it writes outside the graph's planes.

        Returns
        -------
        str
            What was looked at, in a sentence.

        Raises
        ------
        PlaneError
            Nodes wrote what they do not declare; it names them and the planes. The graph has run to its end.
        BuildError
            The graph is not built, or its backend does not check nodes.
        Exception
            As `launch`.
        """
        graph = _graph(self)

        def check() -> str:
            said = graph._built().check()
            graph._tally.launches += 1
            return said

        return graph._guard.hold(check)


def _positive(n: SupportsIndex) -> int:
    from eagle.graph.graph import repetitions

    count = repetitions(n)
    if count == 0:
        raise GraphError("n is 0", fix="Give 1 or more runs to take the time of.")
    return count


def _graph(examining: Examining) -> Graph:
    return cast("Graph", examining)
