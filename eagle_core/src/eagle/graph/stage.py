"""A stage: what one call of ``add``, ``add_node`` or ``add_group`` brought."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from eagle.plugin.blueprint import Placed

__all__ = ["Stage"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stage:
    """The branches of one stage; a plain one has a single branch of one node.

    Attributes
    ----------
    branches : tuple of tuple of Placed
    titles : tuple of (str or None)
        The name given to each branch of several nodes.
    """

    branches: tuple[tuple[Placed[Any], ...], ...]
    titles: tuple[str | None, ...]

    @property
    def is_group(self) -> bool:
        """Whether it forks and joins."""
        return len(self.branches) > 1

    @property
    def nodes(self) -> tuple[Placed[Any], ...]:
        """Its nodes, in the order of adding."""
        return tuple(placed for branch in self.branches for placed in branch) if self.is_group else self.branches[0]

    @property
    def end(self) -> int:
        """One past the index of its last node."""
        return self.branches[-1][-1].index + 1

    @property
    def indices(self) -> tuple[tuple[int, ...], ...]:
        """Its nodes' indices, branch by branch."""
        return tuple(tuple([placed.index for placed in branch]) for branch in self.branches)
