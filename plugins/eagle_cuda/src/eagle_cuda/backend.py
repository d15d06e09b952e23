"""The backend ``gpu``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from eagle.plugin import Backend, Blueprint, BuildError, Executable, Memory

__all__ = ["CudaBackend"]


class CudaBackend(Backend):
    """Runs every graph whose planes are in the memory of one CUDA device, as captured CUDA graphs."""

    name: ClassVar[str] = "gpu"
    devices: ClassVar[frozenset[str]] = frozenset({"cuda"})

    def why_not(self) -> str | None:
        """Return None when the driver is there, new enough and has a device, else a sentence."""
        from eagle_cuda.driver import why_not

        return why_not()

    def describe(self) -> str:
        """Name the device and the driver."""
        from eagle_cuda.device import device
        from eagle_cuda.planes import current_device

        return device(current_device()).describe()

    def read(self, memory: Memory, index: int, /) -> object:
        """Return one element of a device array, once everything queued on its device is done."""
        from eagle_cuda.reading import read

        return read(memory, index)

    def compile(self, blueprint: Blueprint, options: Mapping[str, object], /) -> Executable:
        """Lower every node, then build the graph. There are no options yet."""
        from eagle_cuda.context import CudaContext
        from eagle_cuda.device import device
        from eagle_cuda.executable import CudaExecutable
        from eagle_cuda.planes import device_of

        if options:
            names = ", ".join(repr(name) for name in options)
            raise BuildError(f"backend 'gpu' has no build option {names}", why="it has none", fix="Leave it out.")
        ordinal = device_of(blueprint)
        context = CudaContext(options, blueprint, ordinal)
        with device(ordinal).current():
            steps = [context.lower(placed) for placed in blueprint.nodes]
            return CudaExecutable(blueprint, context, steps)
