"""Write one step of a computation down once, as nodes over your own arrays; eagle finds the edges and runs it."""

from typing import TYPE_CHECKING, Any

from eagle.errors import (
    BackendUnavailable,
    BuildError,
    Busy,
    EagleError,
    GraphError,
    KernelError,
    PlaneError,
    PluginError,
    PluginWarning,
    RaceError,
)
from eagle.graph import Edge, Graph, SkipGuard, copy, reduce, repeat_while, skippable
from eagle.plugin.counters import counters

if TYPE_CHECKING:
    from eagle.loop import Runner, RunReport, until_done
    from eagle.pipeline import GraphPipeline
    from eagle.plan import BoundPlan, CopyWarning, Plan, deploy
    from eagle.simulation import SimResult, simulate

# Who builds graphs of callables alone does not pay for kernels.
_ON_USE = {
    **dict.fromkeys(("Runner", "RunReport", "until_done"), "eagle.loop"),
    **dict.fromkeys(("BoundPlan", "CopyWarning", "Plan", "deploy"), "eagle.plan"),
    "GraphPipeline": "eagle.pipeline",
    **dict.fromkeys(("SimResult", "simulate"), "eagle.simulation"),
    **{name: f"eagle.{name}" for name in ("frameworks", "interop", "loaded")},  # modules of their own
}


def __getattr__(name: str) -> Any:
    if name not in _ON_USE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module = import_module(_ON_USE[name])
    value = globals()[name] = vars(module).get(name, module)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_ON_USE})


__all__ = [
    "BackendUnavailable",
    "BoundPlan",
    "BuildError",
    "Busy",
    "CopyWarning",
    "EagleError",
    "Edge",
    "Graph",
    "GraphError",
    "GraphPipeline",
    "KernelError",
    "Plan",
    "PlaneError",
    "PluginError",
    "PluginWarning",
    "RaceError",
    "RunReport",
    "Runner",
    "SimResult",
    "SkipGuard",
    "copy",
    "counters",
    "deploy",
    "reduce",
    "repeat_while",
    "simulate",
    "skippable",
    "until_done",
]
__version__ = "0.1.0"
