"""Makes native steps that stand one after another run as one: tile by tile, and kernels as one fused kernel."""

from eagle_cpu.fusion.joining import Fusion
from eagle_cpu.fusion.launched import Launched, Reduced

__all__ = ["Fusion", "Launched", "Reduced"]
