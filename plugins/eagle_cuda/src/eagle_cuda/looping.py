"""Loops over samples on the device: one persistent kernel in which a free thread takes the next sample."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from eagle.graph.payloads import UntilDone
from eagle.plugin import BuildError, Placed, Step, lowerings
from eagle_cuda.artifacts import artifact_of
from eagle_cuda.context import CudaContext
from eagle_cuda.graph_builder import GraphBuilder
from eagle_cuda.launching import fault_record, surroundings
from eagle_cuda.modules import function
from eagle_cuda.packing import packed
from eagle_cuda.parameters import refuse_too_large
from eagle_cuda.programs import program_for

__all__ = ["lower"]

_LOOP = np.dtype([("next", "u8"), ("longest", "u8"), ("left", "u8")])  # as `Loop` in kernels/samples.cuh
_BESIDE = 9  # parameters that no argument stands for
_NO_LIMIT = 2**62
_BLOCKS = 16  # of a multiprocessor, at most: as many threads as it can hold


def lower(placed: Placed[UntilDone], context: CudaContext) -> Step:
    """Run every sample to its own end, in registers from the step it enters a thread to the step it leaves it.

    A compiled kernel makes one step for all samples and cannot be put into such a loop: they step together.
    """
    payload = placed.node.payload
    launch = payload.launch
    if artifact_of(launch.kernel) is not None:
        return _step_together(placed, context)
    program = program_for(launch.kernel)
    planes = {plane.access.name: plane.memory for plane in placed.planes}
    passed = packed(program.arguments, planes, launch.params)
    refuse_too_large(launch.kernel.name, passed, _BESIDE)
    fault = fault_record(context, program)
    context.ledger.stoppable = True
    report = payload.report

    def read(words: Any) -> None:
        report(int(words["longest"]))

    loop = context.ledger.add(_LOOP, context.here()[0], read, context.here()[1])
    steps, failed = (planes[name].address if name in planes else 0 for name in ("steps taken", "samples failed"))

    def build(builder: GraphBuilder, after: Sequence[int]) -> Sequence[int]:
        entry, end = program.loop_on(builder.device), function(builder.device.ordinal, "loops", "eagle_loop_end")
        around = surroundings(context.ledger, builder, fault)
        words = context.ledger.address(loop)
        last = [builder.fill(words, _LOOP.itemsize, 0, after)]
        if launch.samples:
            arguments = [
                *passed,
                (launch.samples, ctypes.c_longlong),
                *around,
                (_NO_LIMIT if payload.limit is None else payload.limit, ctypes.c_longlong),
                (steps, ctypes.c_void_p),
                (failed, ctypes.c_void_p),
                (words, ctypes.c_void_p),
            ]
            threads = min(launch.samples, builder.device.multiprocessors * _BLOCKS * program.threads)
            last = [builder.kernel(entry, arguments, last, threads=threads, block=program.threads)]
        ended = [(words, ctypes.c_void_p), (planes["all done"].address, ctypes.c_void_p)]
        return [builder.kernel(end, ended, last, threads=1)]

    return context.built(build)


def _step_together(placed: Placed[UntilDone], context: CudaContext) -> Step:
    """Repeat the launch until the mask is true for all samples, as the core does it for any backend."""
    payload = placed.node.payload
    kernel = payload.launch.kernel
    if payload.steps is not None or payload.failed is not None:
        raise BuildError(
            f"steps of the compiled kernel {kernel.name!r} are not counted per sample, nor non-finite states found",
            why="it makes one step for all samples",
            fix="Leave out steps_per_sample= and stop_on_nonfinite=, or deploy the kernel from its source.",
        )
    if payload.limit is None and all(one.mode == "r" for one in kernel.arguments if one.name == payload.mask):
        raise BuildError(
            f"no sample of the compiled kernel {kernel.name!r} would ever end",
            why=f"it reads its mask {payload.mask!r} and does not write it",
            fix="Give max_steps=, or a list of plans of which one writes the mask.",
        )
    (lower,) = (one.lower for one in lowerings() if (one.kind, one.backend) == ("until_done", "*"))
    assert callable(lower)
    return cast("Step", lower(placed, context))
