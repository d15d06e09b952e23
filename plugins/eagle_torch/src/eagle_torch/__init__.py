"""PyTorch in eagle graphs. It is `eagle.frameworks.torch`: ``module`` makes a node of a module.

torch is imported with the first node: eagle imports this package whether or not anybody uses torch.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eagle_torch.modules import module

__all__ = ["module"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        import torch  # noqa: F401  what follows finds it in sys.modules

        from eagle_torch import modules

        return getattr(modules, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
