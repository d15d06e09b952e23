"""Kernel launches on the device: generated CUDA C++ as one explicit kernel node."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from eagle.plugin import BuildError, Launch, Placed, Step
from eagle_cuda.artifacts import ArtifactProgram
from eagle_cuda.context import CudaContext
from eagle_cuda.driver import api, call
from eagle_cuda.graph_builder import GraphBuilder, kernel_parameters
from eagle_cuda.ledger import Ledger, Record
from eagle_cuda.packing import packed
from eagle_cuda.parameters import refuse_too_large
from eagle_cuda.programs import Program, launch_program
from eagle_cuda.steps import CudaStep
from eagle_ir.faults import fault_at, fault_error
from eagle_ir.gating import gated

__all__ = ["LaunchStep", "fault_record", "lower", "surroundings"]

# As `Fault` in kernels/samples.cuh.
_FAULT = np.dtype([("key", "u8"), ("index", "i8"), ("place", "u4"), ("lock", "u4")])
_SURROUNDINGS = 5  # parameters that no argument stands for


def lower(placed: Placed[Launch], context: CudaContext) -> Step:
    """Make one step of the kernel for every sample, a finished one being left alone."""
    launch = placed.node.payload
    program = launch_program(launch.kernel)
    if launch.gate is not None:
        if isinstance(program, ArtifactProgram):
            raise BuildError(
                f"compiled kernel {launch.kernel.name!r} has no mask",
                why="in a loop of several nodes it has to leave finished samples alone",
                fix="Use a kernel that takes the mask.",
            )
        program = launch_program(gated(launch.kernel))
    if program.loops_inside:
        context.ledger.stoppable = True
    return LaunchStep(program, placed, context.ledger, fault_record(context, program))


class LaunchStep(CudaStep):
    """A kernel node that can be bound to other arrays when the graph is instantiated."""

    def __init__(
        self, program: Program | ArtifactProgram, placed: Placed[Launch], ledger: Ledger, fault: Record | None
    ) -> None:
        self._program, self._ledger, self._fault = program, ledger, fault
        self._arguments, self._samples = _packed(program, placed)
        self._node: tuple[int, Any, list[tuple[Any, Any]]] | None = None

    def add(self, builder: GraphBuilder, after: Sequence[int]) -> Sequence[int]:
        """Add the node, an empty one for no samples."""
        function = self._program.launch_on(builder.device)
        if self._samples == 0:
            return [builder.empty(after)]
        around = surroundings(self._ledger, builder, self._fault) if self._program.reports else []
        arguments = [*self._arguments, (self._samples, ctypes.c_longlong), *around]
        node = builder.kernel(function, arguments, after, threads=self._samples, block=self._program.threads)
        self._node = node, function, around
        return [node]

    def patch(self, executable: Any, placed: Placed[Launch]) -> bool:
        """Bind the node of an executable graph to other planes and params; False where that cannot be done."""
        arguments, samples = _packed(self._program, placed)
        if self._node is None or samples == 0:
            return False
        node, function, around = self._node
        passed = [*arguments, (samples, ctypes.c_longlong), *around]
        parameters = kernel_parameters(function, passed, samples, self._program.threads)
        call("cuGraphExecKernelNodeSetParams", executable, api().CUgraphNode(node), parameters)
        self._arguments, self._samples = arguments, samples
        return True


def _packed(program: Program | ArtifactProgram, placed: Placed[Launch]) -> tuple[list[tuple[Any, Any]], int]:
    launch = placed.node.payload
    planes = {plane.access.name: plane.memory for plane in placed.planes}
    passed = packed(program.arguments, planes, launch.params)
    refuse_too_large(launch.kernel.name, passed, _SURROUNDINGS if program.reports else 1)
    return passed, launch.samples


def fault_record(context: CudaContext, program: Program | ArtifactProgram) -> Record | None:
    """Make room for the fault of a node's lowest sample, which is raised after the run; None if none can fault."""
    if isinstance(program, ArtifactProgram) or not program.can_fault:
        return None

    def read(words: Any) -> Exception | None:
        if not words["key"]:
            return None
        sample = ~int(words["key"]) & (2**64 - 1)
        fault = fault_at(program.function, sample, int(words["place"]), int(words["index"]))
        return fault_error(program.kernel, fault)

    context.ledger.faults = True
    order, blame = context.here()
    return context.ledger.add(_FAULT, order, read, blame)


def surroundings(ledger: Ledger, builder: GraphBuilder, record: Record | None) -> list[tuple[Any, Any]]:
    """Return what a generated kernel takes behind the number of samples, as pairs of value and ctypes type."""
    ledger.allocate(builder)
    return [
        (ledger.outcome, ctypes.c_void_p),
        (0 if record is None else ledger.address(record), ctypes.c_void_p),
        (builder.around, ctypes.c_void_p),
        (ledger.stop_address, ctypes.c_void_p),
    ]
