"""Compiles kernels of the IR to vector code for this machine's processor."""

from eagle_cpu.engine.arguments import Arguments
from eagle_cpu.engine.program import Program, program_for

__all__ = ["Arguments", "Program", "program_for"]
