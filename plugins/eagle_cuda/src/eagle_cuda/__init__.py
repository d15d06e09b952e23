"""Runs eagle graphs over device arrays, as captured CUDA graphs.

Code that names its stream with every call, as with cuda.core, takes `current_stream` in an opaque node, and says with
`use_stream` which stream of its own launches are to be in order with.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eagle_cuda.callers import current_stream, use_stream

__all__ = ["current_stream", "use_stream"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from eagle_cuda import callers

        return getattr(callers, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
