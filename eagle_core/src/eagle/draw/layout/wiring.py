"""Links gathered into wires: lines that fork and join without saying more than the links do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count

from eagle.draw.layout.pieces import Wire
from eagle.draw.picture import Key, Link

__all__ = ["Bundle", "bundles_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """The links of one wire: from each of the sources to each of the targets.

    Attributes
    ----------
    wire : Wire
    links : dict of (Key, Key) to Link
    names : dict of Key to str
        The planes of each source, as written under it.
    """

    wire: Wire
    links: dict[tuple[Key, Key], Link]
    names: dict[Key, tuple[str, ...]]

    @property
    def sources(self) -> tuple[Key, ...]:
        """Where it comes from."""
        return tuple(dict.fromkeys(src for src, _ in self.links))

    @property
    def targets(self) -> tuple[Key, ...]:
        """Where it goes."""
        return tuple(dict.fromkeys(dst for _, dst in self.links))


def bundles_of(links: Iterable[Link], numbers: count[int]) -> list[Bundle]:
    """Gather `links`, none of which stays inside one branch.

    Links from one box with the same hazards are one line that forks. Lines to the very same boxes, of one kind, are
    one line that joins. So a line always joins each of its sources with each of its targets.
    """
    forks: dict[tuple[Key, tuple[tuple[str, str], ...]], list[Link]] = {}
    for link in links:
        forks.setdefault((link.src, link.hazards), []).append(link)
    joins: dict[tuple[tuple[Key, ...], str], list[Link]] = {}
    for fork in forks.values():
        targets = tuple(sorted(link.dst for link in fork))
        joins.setdefault((targets, fork[0].kind), []).extend(fork)
    return [
        Bundle(
            wire=Wire(next(numbers)),
            links={(link.src, link.dst): link for link in join},
            names={link.src: link.planes for link in join},
        )
        for join in joins.values()
    ]
