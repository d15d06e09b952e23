"""Runs eagle graphs over device arrays, as captured CUDA graphs.

Code of an opaque node that launches on a stream it names itself, as with cuda.core, takes `current_stream`.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eagle_cuda.callers import current_stream

__all__ = ["current_stream"]


def __getattr__(name: str) -> Any:
    if name == "current_stream":
        from eagle_cuda.callers import current_stream

        return current_stream
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
