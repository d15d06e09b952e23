"""Write one step of a computation down once, as nodes over your own arrays; eagle finds the edges and runs it."""

from eagle.errors import (
    BackendUnavailable,
    BuildError,
    Busy,
    EagleError,
    GraphError,
    PlaneError,
    PluginError,
    PluginWarning,
    RaceError,
)
from eagle.graph import Edge, Graph, SkipGuard, copy, reduce, repeat_while, skippable
from eagle.plugin.counters import counters

__all__ = [
    "BackendUnavailable",
    "BuildError",
    "Busy",
    "EagleError",
    "Edge",
    "Graph",
    "GraphError",
    "PlaneError",
    "PluginError",
    "PluginWarning",
    "RaceError",
    "SkipGuard",
    "copy",
    "counters",
    "reduce",
    "repeat_while",
    "skippable",
]
__version__ = "0.1.0"
