"""One layered layout for every format: from what a picture shows to boxes, frames, names and routes on a grid."""

from itertools import count

from eagle.draw.layout.composing import Level
from eagle.draw.layout.geometry import (
    Layout,
    Mark,
    PlacedBox,
    PlacedFrame,
    PlacedName,
    Point,
    Rect,
    Route,
)
from eagle.draw.layout.options import Options
from eagle.draw.picture import Picture

__all__ = [
    "Layout",
    "Mark",
    "Options",
    "PlacedBox",
    "PlacedFrame",
    "PlacedName",
    "Point",
    "Rect",
    "Route",
    "layout",
]


def layout(picture: Picture, options: Options) -> Layout:
    """Lay out `picture`: as generously as fits the width, the same way every time.

    Layers are the picture's rows, wrapped where they are too wide. What does not fit is cut with an ellipsis, and a
    link whose line would go too far is told in words in the box that waits.

    Parameters
    ----------
    picture : Picture
    options : Options
    """
    result = Layout()
    for attempt in options.attempts():
        result = Layout()
        if picture.rows:
            level = Level(picture.rows, picture.links, attempt, count())
            level.draw(0, 0, result)
            result.width, result.height = level.size.width, level.size.height
        if result.width <= options.max_width:
            break
    return result
