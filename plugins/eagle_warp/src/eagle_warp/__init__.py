"""Warp in eagle graphs: its arrays are planes, `launch` makes a node of a kernel, `eagle.graph.child` takes its graphs.

Warp is imported when `launch` is asked for.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eagle_warp.api import launch

__all__ = ["launch"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from eagle_warp import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
