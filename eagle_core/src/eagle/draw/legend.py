"""What the lines of a picture mean."""

from __future__ import annotations

from eagle.access import Edge
from eagle.draw.layout import Layout

__all__ = ["kinds_of", "meaning"]


def kinds_of(laid: Layout) -> tuple[str, ...]:
    """Return the kinds of reasons a picture shows, in the order RAW, WAR, WAW."""
    present: set[str] = set()
    for link in (*(route.link for route in laid.routes), *laid.after):
        flows = {plane for kind, plane in link.hazards if kind == "RAW"}
        present.update(kind for kind, plane in link.hazards if kind == "RAW" or plane not in flows)
    return tuple(kind for kind in ("RAW", "WAR", "WAW") if kind in present)


def meaning(kind: str) -> str:
    """Return what a kind of reason says, in plain words."""
    return Edge(0, 0, "", kind).meaning
