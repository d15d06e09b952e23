"""PyTorch in eagle graphs. It is `eagle.frameworks.torch`: ``module`` makes a node of a module."""

import torch as _torch  # who asks for nodes of torch wants it, or to hear that it is missing

from eagle_torch.modules import module

assert _torch is not None
__all__ = ["module"]
