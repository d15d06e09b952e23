"""Edges from memory: which bytes a plane covers, which planes share one, and what order that asks for."""

from eagle.access.coverage import covers
from eagle.access.edges import Edge, edges, reduced_edges
from eagle.access.footprint import Footprint, footprint, overlap
from eagle.access.order import before
from eagle.access.races import Race, first_race

__all__ = [
    "Edge",
    "Footprint",
    "Race",
    "before",
    "covers",
    "edges",
    "first_race",
    "footprint",
    "overlap",
    "reduced_edges",
]
