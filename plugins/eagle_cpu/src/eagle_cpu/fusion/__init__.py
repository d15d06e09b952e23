"""Makes native nodes that stand one after another run as one job: tile by tile, and kernels as one fused kernel."""

from eagle_cpu.fusion.joining import Joined, join
from eagle_cpu.fusion.member import Launched, Member
from eagle_cpu.fusion.report import notes

__all__ = ["Joined", "Launched", "Member", "join", "notes"]
