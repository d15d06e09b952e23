"""Arrays in slabs: memory that has a handle and an offset, and no address."""

from eagle_slab.memory import Slab, SlabArray

__all__ = ["Slab", "SlabArray"]
