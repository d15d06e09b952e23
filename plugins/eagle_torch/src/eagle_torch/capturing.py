"""A module on a GPU: warmed up in memory of its own, then captured."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable
from typing import Any

from eagle.plugin import Placed, PlaneError, Step
from eagle_torch.calls import ModuleCall
from eagle_torch.nodes import Module

__all__ = ["lower"]

_WARM_UPS = 3  # libraries pick their kernels, and torch compiles, in the first calls


def lower(placed: Placed[Module], context: Any) -> Step:
    """Run it a few times without writing its planes, then have it captured.

    It runs on a stream of its own, which a recording forks to and joins again: torch's allocator hands memory out
    again on the stream it was used on, so that what the warm-up left in the pool is all that the recording needs.
    """
    call = ModuleCall(placed, context.device)
    recorded = _Recorded(call, context.device)
    recorded.warm_up()
    context.keep(placed.planes, recorded)
    context.before_launch(_unchanged(placed))
    return context.capture(recorded)  # type: ignore[no-any-return]


class _Recorded:
    """A module with the memory that its captured kernels work in."""

    def __init__(self, call: ModuleCall, device: int) -> None:
        from cuda.core import Device

        torch: Any = sys.modules["torch"]
        self._call = call
        self._device = device
        self._cuda = torch.cuda
        torch.cuda.init()  # a module without weights, over another library's arrays, may be its first use
        self._forget_workspaces = getattr(torch._C, "_cuda_clearCublasWorkspaces", lambda: None)
        self._inference = torch.inference_mode
        self._pool = torch.cuda.MemPool()
        own = Device(device)
        own.set_current()  # cuda.core asks for it in every thread; the build has made the context current already
        self._owned = own.create_stream()  # torch hands out its own streams to several users
        self._stream = torch.cuda.ExternalStream(int(self._owned.handle), device=device)

    def warm_up(self) -> None:
        """Run it, with what the planes hold now, after the caller's work and before what the caller does next.

        The caller's stream may be the legacy default one, and first calls may wait for the device: no capture of
        another thread survives either.
        """
        from eagle_cuda import apart_from_captures

        with apart_from_captures():
            self._warm_up()

    def _warm_up(self) -> None:
        callers = self._cuda.current_stream(self._device)
        self._stream.wait_stream(callers)
        with self._cuda.stream(self._stream), self._cuda.use_mem_pool(self._pool, self._device), self._inference():
            for _ in range(_WARM_UPS):
                self._call.outputs()
        callers.wait_stream(self._stream)
        self._stream.synchronize()

    def __call__(self, stream: int) -> None:
        """Record it on a stream that is captured."""
        captured = self._cuda.ExternalStream(stream, device=self._device)
        with self._cuda.stream(captured):
            self._stream.wait_stream(captured)
            with self._cuda.stream(self._stream), self._cuda.use_mem_pool(self._pool, self._device):
                self._call()
            captured.wait_stream(self._stream)
        # torch keeps cuBLAS's workspace for the stream; in the pool alone, it goes with the pool.
        self._forget_workspaces()


def _unchanged(placed: Placed[Module]) -> Callable[[], None]:
    """Return what refuses a launch after a parameter or buffer went elsewhere: kernels would read the old place."""
    model = placed.node.payload.model
    weights = [*model.named_parameters(), *model.named_buffers()]
    marks = [(name, one, _place(one), one.untyped_storage()) for name, one in weights]  # the storage is kept

    def check() -> None:
        for name, one, place, _ in marks:
            if _place(one) != place:
                raise PlaneError(
                    f"parameter {name!r} of the module moved since the build",
                    why="param.data = ..., set_, resize_ and model.to() give it other memory, and the captured "
                    "kernels read the old one",
                    fix="Update weights in place, as optimizers do, or build a new graph.",
                    nodes=(placed.label,),
                    planes=(name,),
                )

    return check


def _place(tensor: Any) -> Hashable:
    return tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype
