"""JAX in eagle graphs: its arrays are planes, and `node` makes a node of a JAX function.

JAX is imported when `node` is asked for.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eagle_jax.api import node

__all__ = ["node"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from eagle_jax import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
