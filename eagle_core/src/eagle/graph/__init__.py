"""Graphs and what they are made of."""

from eagle.access import Edge
from eagle.graph.conditional import Conditional, repeat_while, skippable
from eagle.graph.copy import copy
from eagle.graph.core_kinds import KINDS, LOWERINGS
from eagle.graph.graph import Graph
from eagle.graph.guard import SkipGuard
from eagle.graph.opaque import child, opaque
from eagle.graph.reduce import reduce
from eagle.graph.register import register_node_kind
from eagle.graph.stage import Stage
from eagle.plugin.guards import Guard
from eagle.plugin.nodes import Access, Body, Node, NodeKind
from eagle.plugin.registry import OWN, register

register(*KINDS, *LOWERINGS, owner=OWN)

__all__ = [
    "Access",
    "Body",
    "Conditional",
    "Edge",
    "Graph",
    "Guard",
    "Node",
    "NodeKind",
    "SkipGuard",
    "Stage",
    "child",
    "copy",
    "opaque",
    "reduce",
    "register_node_kind",
    "repeat_while",
    "skippable",
]
