"""Freezing a graph for the build, and refusing branches that would race."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eagle.access import Race, before, first_race
from eagle.errors import RaceError
from eagle.graph.stage import Stage
from eagle.plugin.blueprint import Blueprint, Placed

__all__ = ["frozen"]


def frozen(stages: Sequence[Stage]) -> Blueprint:
    """Return the graph of these stages as a blueprint.

    Raises
    ------
    RaceError
        One branch of a group writes what another one touches.
    """
    nodes = tuple(placed for stage in stages for placed in stage.nodes)
    indices = tuple(stage.indices for stage in stages)
    for number, branches in enumerate(indices):
        if (race := first_race(nodes, branches)) is not None:
            raise _race_error(nodes, race, number)
    return Blueprint(title="the graph", nodes=nodes, stages=indices, before=before(nodes, indices))


def _race_error(nodes: Sequence[Placed[Any]], race: Race, stage: int) -> RaceError:
    def says(label: str, plane: str, writes: bool) -> str:
        return f"node {label!r} {'writes' if writes else 'reads'} plane {plane!r}"

    first, second = nodes[race.first].label, nodes[race.second].label
    one = says(first, race.first_plane, race.first_writes)
    other = says(second, race.second_plane, race.second_writes)
    more = f" ({race.others} more pairs of nodes in this group do so too)" if race.others else ""
    error = RaceError(
        f"branches of the group at stage {stage} would race: {one}, {other}, and the two share memory{more}",
        fix="Give each branch a plane of its own, or put both nodes into one branch.",
        nodes=(first, second),
        planes=(race.first_plane, race.second_plane),
    )
    error.add_note(_picture(race, (first, second)))
    return error


def _picture(race: Race, nodes: tuple[str, str]) -> str:
    from eagle.draw import race_picture

    planes = ((race.first_writes, race.first_plane), (race.second_writes, race.second_plane))
    first, second = (f"{'writes' if writes else 'reads'} {plane}" for writes, plane in planes)
    return race_picture(nodes, (first, second))
