"""Names as text that can be drawn: spelled so that they break nothing, measured in columns, cut with an ellipsis."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from wcwidth import wcswidth, wcwidth

__all__ = ["ASCII", "TIMES", "UNICODE", "Lettering", "clusters", "lettering_for", "width"]

TIMES = "\N{MULTIPLICATION SIGN}"
_STAND_INS = {"≤": "<=", TIMES: "x", "…": "...", "·": "|"}


@dataclass(frozen=True, slots=True)
class Lettering:
    """How a picture spells names.

    Attributes
    ----------
    can_show : callable
        Whether a character can be shown where the picture goes; one that cannot is written as its escape.
    ellipsis, times : str
        What stands for the rest of a name, and in front of a count.
    """

    can_show: Callable[[str], bool]
    ellipsis: str = "…"
    times: str = TIMES

    def spell(self, name: str) -> str:
        """Return `name` on one line: control, invisible, lone and unshowable characters as their escapes."""
        if name.isascii() and name.isprintable():
            return name
        spelled: list[str] = []
        for char in name:
            if not self.can_show(char) and char in _STAND_INS:
                spelled.append(_STAND_INS[char])
            elif not char.isprintable() or not self.can_show(char) or wcwidth(char) < (not spelled):
                spelled.append(char.encode("unicode_escape").decode())
            else:
                spelled.append(char)
        return "".join(spelled)

    def cut(self, text: str, room: int) -> str:
        """Return `text`, spelled already, in at most `room` columns; what was cut ends with the ellipsis."""
        if width(text) <= room:
            return text
        if room < len(self.ellipsis):
            return self.ellipsis[: max(room, 0)]
        kept, used = [], len(self.ellipsis)
        for cluster in clusters(text):
            used += width(cluster)
            if used > room:
                break
            kept.append(cluster)
        return "".join((*kept, self.ellipsis))


def width(text: str) -> int:
    """Return how many columns of a terminal `text` takes."""
    return len(text) if text.isascii() else max(wcswidth(text), 0)


def clusters(text: str) -> Iterator[str]:
    """Yield `text` in pieces that belong together: a character with the combining ones behind it."""
    if text.isascii():
        yield from text
        return
    piece = ""
    for char in text:
        if piece and wcwidth(char) > 0:
            yield piece
            piece = ""
        piece += char
    if piece:
        yield piece


UNICODE = Lettering(lambda char: True)
ASCII = Lettering(str.isascii, ellipsis="...", times="x")


def lettering_for(encoding: str) -> Lettering:
    """Return the lettering of a stream whose encoding has no lines to draw with, but may have letters."""

    def can_show(char: str) -> bool:
        try:
            char.encode(encoding)
        except (UnicodeError, LookupError):
            return False
        return True

    return Lettering(can_show, ellipsis=ASCII.ellipsis, times=ASCII.times)
