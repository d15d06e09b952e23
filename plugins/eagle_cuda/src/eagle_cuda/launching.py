"""Kernel launches on the device: generated CUDA C++ as one explicit kernel node."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from eagle.plugin import Launch, Placed, Step
from eagle_cuda.context import CudaContext
from eagle_cuda.graph_builder import GraphBuilder
from eagle_cuda.ledger import Ledger, Record
from eagle_cuda.programs import Program, program_for
from eagle_ir.faults import fault_at, fault_error
from eagle_ir.gating import gated

__all__ = ["THREADS", "fault_record", "lower", "surroundings"]

_FAULT = np.dtype(
    [("key", "u8"), ("index", "i8"), ("place", "u4"), ("lock", "u4")]
)  # as `Fault` in kernels/samples.cuh
THREADS = 128  # of a block


def lower(placed: Placed[Launch], context: CudaContext) -> Step:
    """Make one step of the kernel for every sample, a finished one being left alone."""
    launch = placed.node.payload
    kernel = launch.kernel if launch.gate is None else gated(launch.kernel)
    program = program_for(kernel)
    planes = {plane.access.name: plane.memory for plane in placed.planes}
    packed = program.signature.packed(planes, launch.params)
    record = fault_record(context, program)
    if program.loops_inside:
        context.ledger.stoppable = True

    def build(builder: GraphBuilder, after: Sequence[int]) -> Sequence[int]:
        function = program.launch_on(builder.device)
        if launch.samples == 0:
            return [builder.empty(after)]
        arguments = [*packed, *surroundings(context.ledger, builder, record, launch.samples)]
        return [builder.kernel(function, arguments, after, threads=launch.samples, block=THREADS)]

    return context.built(build)


def fault_record(context: CudaContext, program: Program) -> Record | None:
    """Make room for the fault of a node's lowest sample, which is raised after the run; None if none can fault."""
    if not program.can_fault:
        return None

    def read(words: Any) -> Exception | None:
        if not words["key"]:
            return None
        sample = ~int(words["key"]) & (2**64 - 1)
        fault = fault_at(program.function, sample, int(words["place"]), int(words["index"]))
        return fault_error(program.kernel, fault)

    order, blame = context.here()
    return context.ledger.add(_FAULT, order, read, blame)


def surroundings(
    ledger: Ledger, builder: GraphBuilder, record: Record | None, samples: int
) -> list[tuple[int | None, Any]]:
    """Return what a generated kernel takes behind its arguments, as pairs of value and ctypes type."""
    ledger.allocate(builder)
    return [
        (samples, ctypes.c_longlong),
        (ledger.outcome, ctypes.c_void_p),
        (0 if record is None else ledger.address(record), ctypes.c_void_p),
        (builder.around, ctypes.c_void_p),
        (ledger.stop_address, ctypes.c_void_p),
    ]
