"""Compiles kernels of the IR to vector code for this machine's processor."""

from eagle_cpu.engine.arguments import Arguments
from eagle_cpu.engine.faults import fault_error
from eagle_cpu.engine.program import Program, program_for

__all__ = ["Arguments", "Program", "fault_error", "program_for"]
