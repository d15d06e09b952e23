"""Looking at a graph. Pictures start here: each takes a graph as it stands, built or not, and takes no guard."""

from eagle.draw.text import show, text

__all__ = ["show", "text"]
