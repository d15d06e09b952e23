"""The backend ``gpu``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from eagle.plugin import Backend, Blueprint, BuildError, Executable, Kernel, Memory

if TYPE_CHECKING:
    import numpy as np

__all__ = ["CudaBackend"]


class CudaBackend(Backend):
    """Runs every graph whose planes are in the memory of one CUDA device, as captured CUDA graphs."""

    name: ClassVar[str] = "gpu"
    devices: ClassVar[frozenset[str]] = frozenset({"cuda"})
    modules: ClassVar[Mapping[str, str]] = {"eagle.loaded": "eagle_cuda.loaded"}

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

    def fetch(self, memory: Memory, /) -> np.ndarray[Any, Any]:
        """Return a copy of a device array on the host, once everything queued on its device is done."""
        from eagle_cuda.reading import fetch

        return fetch(memory)

    def clear(self, memory: Memory, /) -> None:
        """Set every byte of a contiguous device array to zero."""
        from eagle_cuda.reading import clear

        clear(memory)

    def empty(self, like: Memory, shape: tuple[int, ...], dtype: str, /) -> object:
        """Allocate an `eagle_cuda.DeviceArray` on the device of `like`."""
        from eagle_cuda.device_array import DeviceArray
        from eagle_cuda.planes import place_of

        return DeviceArray(shape, dtype, place_of(like.address).ordinal)

    def prepare(self, kernel: Kernel, /) -> None:
        """Compile a kernel of the IR for the current device, into the cache; other dialects are left to the build."""
        from eagle_cuda.programs import prepare

        prepare(kernel)

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
