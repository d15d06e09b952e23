"""Kernels of the IR as CUDA C++: one text per kernel and way of running it, the same for equal kernels."""

from eagle_cuda.writer.entries import LAUNCH, LOOP, launch_source, loop_source
from eagle_cuda.writer.signature import Signature

__all__ = ["LAUNCH", "LOOP", "Signature", "launch_source", "loop_source"]
