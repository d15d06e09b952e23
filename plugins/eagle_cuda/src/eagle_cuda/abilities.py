"""What a driver can do, by its version: the one place that knows which functions came when."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["OLDEST", "Abilities"]

OLDEST = 12000
"""The oldest driver that graphs run on, as it states its version."""


@dataclass(frozen=True, slots=True)
class Abilities:
    """What a driver can do.

    cuda-bindings looks each function up with the version its signature is of, and a driver that is older than that
    version gives none, not even an older signature of it (CUDA driver API, ``cuGetProcAddress``). So what is
    asked here is also whether the function can be called at all.

    Attributes
    ----------
    version : int
        As the driver states it: 12040 is 12.4.
    """

    version: int

    @property
    def cuda(self) -> str:
        """The version of CUDA that the driver is for, as ``"12.4"``."""
        return f"{self.version // 1000}.{self.version % 1000 // 10}"

    @property
    def conditional_nodes(self) -> bool:
        """Whether a graph may hold IF and WHILE nodes (``cuGraphConditionalHandleCreate``)."""
        return self.version >= 12030

    @property
    def captures_into_graphs(self) -> bool:
        """Whether code can be captured between nodes of a graph that is there (``cuStreamBeginCaptureToGraph``)."""
        return self.version >= 12030

    @property
    def tells_parameters(self) -> bool:
        """Whether it says what a kernel takes (``cuFuncGetParamInfo``), and what it is called (``cuFuncGetName``)."""
        return self.version >= 12040

    @property
    def most_parameter_bytes(self) -> int:
        """How many bytes of parameters a kernel takes, at most.

        CUDA C++ Programming Guide, "__global__ function parameters": more came with CUDA 12.1.
        """
        return 32764 if self.version >= 12010 else 4096

    @property
    def numbers_graphs(self) -> bool:
        """Whether each graph has a number of its own (``cuGraphGetId``)."""
        return self.version >= 13010

    @property
    def without_nodes(self) -> str:
        """Why the host decides what conditional nodes would: the end of a sentence."""
        return f"the driver, for CUDA {self.cuda}, has no conditional nodes, which came with 12.3"
