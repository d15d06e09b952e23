"""Kernels of the IR as CUDA C++: one text per kernel and way of running it, the same for equal kernels."""

from eagle_cuda.writer.entries import ALONE, LAUNCH, LOOP, alone_source, launch_source, loop_source
from eagle_cuda.writer.signature import Signature

__all__ = ["ALONE", "LAUNCH", "LOOP", "Signature", "alone_source", "launch_source", "loop_source"]
