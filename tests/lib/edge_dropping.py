"""A graph of the driver with one of its edges left out."""

from __future__ import annotations

from typing import Any

import pytest

from eagle_cuda.graph_builder import GraphBuilder

__all__ = ["Dropping"]


class Dropping:
    """Counts the edges that the builder makes, and leaves one of them out."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, dropped: int | None) -> None:
        self.edges = 0
        original = GraphBuilder.needed

        def needed(builder: GraphBuilder, after: Any) -> list[Any]:
            kept = []
            for node in original(builder, after):
                if self.edges != dropped:
                    kept.append(node)
                self.edges += 1
            return kept

        monkeypatch.setattr(GraphBuilder, "needed", needed)
