"""Looking at a graph. Each picture takes a graph as it stands, built or not, and takes no guard.

A graph is read (`reading`), cut down to what is to be shown (`view`, `folding`), laid out on a grid (`layout`) and
drawn: as text (`text`), or as a drawing in the plane (`scene`) in SVG (`svg`) and matplotlib (`figure`). Mermaid and
DOT (`mermaid`, `dot`) lay out by themselves what is to be shown. Everything but reading deals with pictures alone.
"""

from eagle.draw.dot import dot
from eagle.draw.explaining import explain
from eagle.draw.figure import figure
from eagle.draw.mermaid import mermaid
from eagle.draw.racing import race_picture
from eagle.draw.svg import svg
from eagle.draw.text import show, text
from eagle.draw.view import view

__all__ = ["dot", "explain", "figure", "mermaid", "race_picture", "show", "svg", "text", "view"]
