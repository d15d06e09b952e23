"""The exceptions eagle raises: one tree, each class also the builtin that people would catch."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = [
    "EagleError",
    "GraphError",
    "GraphTypeError",
    "RaceError",
    "PlaneError",
    "PlaneTypeError",
    "BuildError",
    "Busy",
    "BackendUnavailable",
    "FrameworkNotFound",
    "KernelError",
    "PluginError",
    "PluginWarning",
]


class EagleError(Exception):
    """Root of everything eagle raises itself. An exception of a user's own node passes through unchanged.

    Parameters
    ----------
    what : str
        What happened.
    why : str
        The reason, when `what` does not carry it.
    fix : str
        What to do, as a sentence.
    nodes, planes, plugins : iterable of str
        Labels of the nodes, names of the planes, names of the plugins concerned. A single node or plane is also
        written in front of the message.

    Attributes
    ----------
    what, why, fix : str
    nodes, planes, plugins : tuple of str
    """

    def __init__(
        self,
        what: str = "",
        *,
        why: str = "",
        fix: str = "",
        nodes: Iterable[str] = (),
        planes: Iterable[str] = (),
        plugins: Iterable[str] = (),
    ) -> None:
        super().__init__(what)
        self.what = what
        self.why = why
        self.fix = fix
        self.nodes = tuple(nodes)
        self.planes = tuple(planes)
        self.plugins = tuple(plugins)

    def __str__(self) -> str:
        where = [
            f"{kind} {names[0]!r}"
            for kind, names in (("node", self.nodes), ("plane", self.planes))
            if len(names) == 1 and repr(names[0]) not in self.what
        ]
        text = ", ".join(where) + ": " + self.what if where else self.what
        if self.why:
            text += f": {self.why}"
        if self.fix:
            text += f". {self.fix}"
        return text

    def locate(self, *, node: str | None = None, plane: str | None = None) -> None:
        """Say where it happened, unless the exception already says so."""
        if node is not None and not self.nodes:
            self.nodes = (node,)
        if plane is not None and not self.planes:
            self.planes = (plane,)


class GraphError(EagleError, ValueError):
    """A graph used or put together in a way it cannot be."""


class GraphTypeError(GraphError, TypeError):
    """An argument of the wrong Python type."""


class RaceError(GraphError):
    """Two branches of one group of which one writes what the other touches.

    ``nodes`` and ``planes`` hold the two labels and the two plane names, in add order.
    """


class PlaneError(EagleError, ValueError):
    """One array that cannot be used the way it was given."""


class PlaneTypeError(PlaneError, TypeError):
    """Something that is no array where an array is needed."""


class BuildError(EagleError, RuntimeError):
    """A graph that cannot be built, or was not built yet."""


class Busy(EagleError, RuntimeError):
    """A second call entered a graph while one was in flight."""


class BackendUnavailable(EagleError, RuntimeError):
    """No installed backend can run the graph here."""


class FrameworkNotFound(EagleError, ModuleNotFoundError):
    """A module of eagle that a plugin brings, or the library it needs, is not installed: `name` is what is missing."""


class KernelError(EagleError, SyntaxError):
    """A kernel that is not in its language, with the place in its source.

    Python prints file, line and a caret under the place, as for a syntax error.

    Parameters
    ----------
    what, why, fix : str
        What was found, the reason, and what to write instead.
    filename : str, optional
    lineno : int
        From 1; 0 when there is no source.
    offset, end_offset : int
        Columns from 1, of the first character and behind the last one.
    text : str
        The line of source.
    """

    def __init__(
        self,
        what: str = "",
        *,
        why: str = "",
        fix: str = "",
        filename: str | None = None,
        lineno: int = 0,
        offset: int = 0,
        end_offset: int = 0,
        text: str = "",
    ) -> None:
        super().__init__(what, why=why, fix=fix)
        self.msg = EagleError.__str__(self)
        self.filename = filename
        if lineno:
            self.lineno = self.end_lineno = lineno
            self.offset, self.end_offset, self.text = offset, max(end_offset, offset + 1), text

    def __str__(self) -> str:
        if self.lineno is None or self.offset is None or self.end_offset is None or self.text is None:
            return self.msg
        line = self.text.rstrip()
        stripped = line.lstrip()
        pad = max(self.offset - 1 - (len(line) - len(stripped)), 0)
        width = max(min(self.end_offset, len(line) + 1) - self.offset, 1)
        return f'{self.msg}\n  File "{self.filename}", line {self.lineno}\n    {stripped}\n    {" " * pad}{"^" * width}'


class PluginError(EagleError, RuntimeError):
    """A plugin, or something it brought, that cannot be used."""


class PluginWarning(UserWarning):
    """A plugin that was left out, and why."""
