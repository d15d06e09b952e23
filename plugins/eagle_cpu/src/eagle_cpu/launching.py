"""Kernel launches and loops on the CPU: compiled code over the memory of the planes, on the thread team."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from eagle.graph.payloads import UntilDone
from eagle.plugin import Launch, Placed, Step
from eagle_cpu.context import CpuContext
from eagle_cpu.cost import cost_of
from eagle_cpu.engine import Arguments, Program, program_for
from eagle_cpu.fusion import Launched
from eagle_cpu.team import run as run_on_team
from eagle_ir.faults import fault_error
from eagle_ir.gating import gated

__all__ = ["lower_launch", "lower_until_done"]

_NO_LIMIT = 2**62
_LONG = 1e4  # nanoseconds a sample of a loop may take: enough to wake the team for a handful


def lower_launch(placed: Placed[Launch], context: CpuContext) -> Step:
    """One step of the kernel for every sample, a finished one being left alone."""
    launch = placed.node.payload
    kernel, arrays = launch.kernel, _views(placed, context)
    if launch.gate is not None:
        kernel = gated(kernel)
    program = program_for(kernel)
    arguments = program.arguments(arrays, launch.params, launch.samples)
    context.keep(arguments)
    return context.native(
        program.launch_entry,
        arguments.address,
        samples=launch.samples,
        grain=program.grain,
        cost_ns=cost_of(kernel.code),
        failure=lambda: _fault(program, arguments),
        forget=arguments.reset,
        source=Launched(kernel=kernel, arrays=arrays, params=launch.params),
    )


def lower_until_done(placed: Placed[UntilDone], context: CpuContext) -> Step:
    """Every sample runs to its own end, a lane taking the next sample when one ends."""
    payload = placed.node.payload
    launch = payload.launch
    program = program_for(launch.kernel)
    arguments = program.arguments(_views(placed, context), launch.params, launch.samples)
    limit = _NO_LIMIT if payload.limit is None else payload.limit
    steps, failed = _array(placed, context, "steps taken"), _array(placed, context, "samples failed")
    arguments.set_loop(max_steps=limit, steps=steps, failed=failed)
    context.keep(arguments)
    work = _loop(program, arguments, launch.samples)
    all_done = _array(placed, context, "all done")
    mask = _array(placed, context, payload.mask)
    assert all_done is not None
    assert mask is not None

    def run() -> None:
        arguments.reset()
        try:
            work()
        finally:
            if failed is not None:
                mask[failed] = True
        all_done[0] = arguments.unfinished == 0
        payload.report(arguments.longest)

    return context.compiled(placed, run)


def _loop(program: Program, arguments: Arguments, samples: int) -> Callable[[], None]:
    entry, address, grain = program.loop_entry, arguments.address, program.grain
    assert entry is not None

    def work() -> None:
        if run_on_team(entry, address, samples, grain, cost_ns=_LONG, streams=True):
            raise _fault(program, arguments)

    return work


def _fault(program: Program, arguments: Arguments) -> Exception:
    fault = arguments.fault
    assert fault is not None
    return fault_error(program.kernel, fault)


def _views(placed: Placed[Any], context: CpuContext) -> dict[str, np.ndarray[Any, Any]]:
    """Return every plane as the engine takes it, by the kernel's names."""
    return {plane.access.name: context.view(plane) for plane in placed.planes}


def _array(placed: Placed[Any], context: CpuContext, name: str) -> np.ndarray[Any, Any] | None:
    planes = [plane for plane in placed.planes if plane.access.name == name]
    return context.view(planes[0]) if planes else None
