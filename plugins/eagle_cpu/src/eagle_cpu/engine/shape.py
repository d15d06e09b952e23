"""How many samples a vector holds, and how many vectors a loop takes in turns."""

from __future__ import annotations

from dataclasses import dataclass

from eagle.plugin import Kernel
from eagle_cpu.engine.chain import Chain
from eagle_cpu.engine.host import host
from eagle_cpu.engine.places import cost, loads, stores, widest
from eagle_ir import OPERATIONS, Compute, Function, While
from eagle_ir.walking import instructions

__all__ = ["MAX_LANES", "Shape"]

MAX_LANES = 64
"""A mask has to fit in a 64-bit word."""

_CHAINS = 4
_MANY_CHAINS = 8
_MOST_BITS = 512  # of a vector: processors that have these have 32 of them
_VERY_FEW = 3
_FEW = 12
_SOME = 24
_STEPS = 64
_FEW_STEPS = 8
_LONG = 400


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of generated code; results do not depend on it.

    Attributes
    ----------
    lanes : int
        Samples in a vector of a launch.
    group : int
        Samples in a vector of a loop.
    groups : int
        How many such vectors a loop takes in turns.
    steps : int
        Steps a loop takes between two looks at whether to stop.
    """

    lanes: int
    group: int
    groups: int
    steps: int

    @classmethod
    def of_kernel(cls, kernel: Kernel, lanes: int | None = None) -> Shape:
        """Return the shape for a kernel of the IR, or for several in a chain."""
        if isinstance(kernel.code, Chain):
            return cls.of_chain(kernel.code, lanes)
        assert isinstance(kernel.code, Function)
        return cls.of(kernel.code, lanes)

    @classmethod
    def of(cls, function: Function, lanes: int | None = None) -> Shape:
        """Return the shape for a function.

        Four native vectors of the widest type computed with are four independent chains, which hide the latency of
        arithmetic. A kernel that holds more than 12 components per sample takes two, more than 24 one, because
        registers would run out. A loop looks whether to stop every 64 steps; every 8 when a step is long or loops.
        """
        held = len(
            {(name, component) for name, component, _ in loads(function)}
            | {(one.argument, one.component) for one in stores(function)}
        )
        chains = _CHAINS if held <= _FEW else 2 if held <= _SOME else 1
        native = host().vector_bits // widest(function)
        long = cost(function.body) > _LONG or any(isinstance(one, While) for one in instructions(function.body))
        together, groups = _in_turns(function, chains)
        return cls(
            lanes=lanes or min(chains * native, MAX_LANES),
            group=lanes or min(together * native, MAX_LANES),
            groups=groups,
            steps=_FEW_STEPS if long else _STEPS,
        )

    @classmethod
    def of_chain(cls, chain: Chain, lanes: int | None = None) -> Shape:
        """Return the shape for kernels in a chain.

        What one gives the next wants at once, so eight vectors are in flight where registers hold them; else as many as
        for a kernel that holds what the chain holds at once. Of 16 registers the lanes of a reduction leave too few.
        """
        held = chain.most_alive()
        functions = chain.functions
        small = max(cost(function.body) for function in functions) <= _FEW
        few = _CHAINS if held <= _FEW else 2 if held <= _SOME else 1
        many = held <= _VERY_FEW and small and (not chain.tallies or host().vector_bits == _MOST_BITS)
        chains = _MANY_CHAINS if many else few
        native = host().vector_bits // max([*map(widest, functions), *(tally.bits for tally in chain.tallies)])
        lanes = lanes or min(chains * native, MAX_LANES)
        return cls(lanes=lanes, group=lanes, groups=1, steps=1)


def _in_turns(function: Function, chains: int) -> tuple[int, int]:
    """Return how many native vectors a loop's group has, for so many chains, and how many groups there are.

    With 32 registers the chains are written in step, so that the processor finds work without looking far ahead, and a
    second group fills the time after an exchange. 16 hold the numbers of two chains at most, and what a step leaves is
    in memory anyway: four groups, of which the processor has as many under way as it can look ahead. Vector mathematics
    is longer than that, and keeps no registers: many calls follow each other.
    """
    plenty = host().vector_bits == _MOST_BITS or host().machine == "aarch64"
    calls = any(isinstance(one, Compute) and OPERATIONS[one.op].transcendental for one in instructions(function.body))
    if plenty:
        return chains, 2
    return (2 * chains, 2) if calls else (min(chains, 2), 4)
