"""A graph cut at the nodes that the host runs: captured graphs, and calls between them; and that in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from eagle.plugin import Blueprint
from eagle_cuda.steps import CudaStep, HostStep

__all__ = ["Segment", "cut", "cuts", "decisions", "words"]


@dataclass(frozen=True)
class Segment:
    """Nodes that run as one captured graph, unless the host decides about some of them, or one node that the host runs.

    Attributes
    ----------
    indices : tuple of int
    host : HostStep or None
    """

    indices: tuple[int, ...]
    host: HostStep | None = None


def cut(blueprint: Blueprint, steps: Sequence[CudaStep]) -> Iterator[Segment]:
    """Yield the segments, in order. Only a node that is a whole stage can be the host's."""
    run: list[int] = []
    for stage in blueprint.stages:
        members = [index for branch in stage for index in branch]
        step = steps[members[0]]
        if len(members) == 1 and isinstance(step, HostStep):
            if run:
                yield Segment(tuple(run))
            yield Segment((members[0],), step)
            run = []
        else:
            run.extend(members)
    if run:
        yield Segment(tuple(run))


def words(blueprint: Blueprint, segments: Sequence[Segment], steps: Sequence[CudaStep]) -> tuple[str, ...]:
    """Return how each stage runs, one word each: in a ``"host_driven"`` one the host decides what conditionals do."""
    hosts = {segment.indices[0]: segment.host for segment in segments if segment.host is not None}
    found = []
    for stage in blueprint.stages:
        host = hosts.get(stage[0][0])
        if host is not None:
            found.append("eager_host" if host.stream is None else "eager_stream")
        else:
            by_host = any(steps[index].by_host for branch in stage for index in branch)
            found.append("host_driven" if by_host else "capture")
    return tuple(found)


def decisions(blueprint: Blueprint, steps: Sequence[CudaStep], why: str) -> tuple[str, ...]:
    """Say in words about which nodes the host decides, and why."""
    return tuple(
        f"node {placed.label!r} is driven by the host, which reads its guard back between launches: {why}"
        for placed, step in zip(blueprint.nodes, steps, strict=True)
        if step.by_host
    )


def cuts(blueprint: Blueprint, segments: Sequence[Segment]) -> tuple[str, ...]:
    """Say in words which nodes cut the graph."""
    return tuple(
        f"node {blueprint.nodes[segment.indices[0]].label!r} runs on the host at every launch "
        f"({'eager=True' if segment.host.stream is None else 'stream='}) and cuts the captured graph"
        for segment in segments
        if segment.host is not None
    )
