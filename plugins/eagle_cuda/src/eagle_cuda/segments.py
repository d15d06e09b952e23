"""A graph cut at the nodes that the host runs: captured graphs, and calls between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from eagle.plugin import Blueprint
from eagle_cuda.driving import DrivenStep
from eagle_cuda.steps import CudaStep, HostStep

__all__ = ["Segment", "cut", "cuts", "words"]


@dataclass(frozen=True)
class Segment:
    """Nodes that run as one captured graph, or one node that the host runs.

    Attributes
    ----------
    indices : tuple of int
    host : HostStep or None
    """

    indices: tuple[int, ...]
    host: HostStep | None = None


def cut(blueprint: Blueprint, steps: Sequence[CudaStep]) -> Iterator[Segment]:
    """Yield the segments, in order. Only a node that is a whole stage can be the host's, unless the host drives it."""
    run: list[int] = []
    for stage in blueprint.stages:
        members = [index for branch in stage for index in branch]
        if any(isinstance(steps[index], DrivenStep) for index in members):
            members.sort()  # the order of adding fits all that must wait
        for index in members:
            step = steps[index]
            if isinstance(step, DrivenStep) or (len(members) == 1 and isinstance(step, HostStep)):
                if run:
                    yield Segment(tuple(run))
                yield Segment((index,), step)
                run = []
            else:
                run.append(index)
    if run:
        yield Segment(tuple(run))


def words(blueprint: Blueprint, segments: Sequence[Segment]) -> tuple[str, ...]:
    """Return how each stage runs, one word each."""
    hosts = {segment.indices[0]: segment.host for segment in segments if segment.host is not None}
    found = []
    for stage in blueprint.stages:
        host = next((hosts[index] for branch in stage for index in branch if index in hosts), None)
        found.append("capture" if host is None else "eager_host" if host.stream is None else "eager_stream")
    return tuple(found)


def cuts(blueprint: Blueprint, segments: Sequence[Segment]) -> tuple[str, ...]:
    """Say in words which nodes cut the graph."""
    return tuple(
        f"node {blueprint.nodes[segment.indices[0]].label!r} runs on the host at every launch "
        f"({_reason(segment.host)}) and cuts the captured graph"
        for segment in segments
        if segment.host is not None
    )


def _reason(host: HostStep) -> str:
    if isinstance(host, DrivenStep):
        return host.why
    return "eager=True" if host.stream is None else "stream="
