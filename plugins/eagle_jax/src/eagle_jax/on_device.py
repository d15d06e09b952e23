"""A JAX function on the GPU: called by the host at every launch, on a stream of its own.

JAX computes on streams nobody else can choose. What orders its work against ours is DLPack: JAX names the stream that
has to wait for the planes it reads, and a result is asked to make our stream wait for it. So the host never waits.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import jax

from eagle.plugin import BuildError, Memory, Placed, PlaneError, Step
from eagle_cuda.device import device
from eagle_cuda.driver import call
from eagle_cuda.errors import CudaError
from eagle_jax.dlpack import Exported
from eagle_jax.payload import JaxFunction
from eagle_jax.tracing import Traced

__all__ = ["lower"]

_NON_BLOCKING = 1  # CU_STREAM_NON_BLOCKING
_NO_TIMING = 2  # CU_EVENT_DISABLE_TIMING
_LEGACY = 1  # CU_STREAM_LEGACY
_NOT_READY = 600


def lower(placed: Placed[JaxFunction], context: Any) -> Step:
    """Compile the function for the device, and have the host call it between two captured graphs.

    Raises
    ------
    BuildError
        It stands in a conditional or a loop, or JAX has no such device here.
    PlaneError
        A plane is not contiguous.
    """
    if context.in_body:
        raise BuildError(
            "a JAX function cannot stand inside a conditional or a loop on the GPU",
            why="the host calls it at every launch, and the device does not wait for the host there",
            fix="Call runner.run(max_steps=k), then your code, in a loop of your own; or capture the model with a "
            "library that can.",
        )
    for plane in placed.planes:
        if not plane.memory.is_contiguous:
            raise PlaneError(
                "the array is not contiguous, and JAX reads and gives contiguous ones on a GPU",
                fix="Add an eagle.copy into a contiguous array.",
                planes=(plane.access.name,),
            )
    work = _DeviceCall(placed, context.device)
    context.keep(work)
    return context.host(work, stream=work.stream)  # type: ignore[no-any-return]


class _DeviceCall:
    """Calls the function over the planes, and copies the results into them on its stream.

    Attributes
    ----------
    stream : int
    """

    def __init__(self, placed: Placed[JaxFunction], ordinal: int) -> None:
        payload = placed.node.payload
        self._traced: Traced = payload.traced()
        self._compiled = self._traced.compiled(_jax_device(ordinal))
        with device(ordinal).current():
            handle = call("cuStreamCreate", _NON_BLOCKING)
            self._event = call("cuEventCreate", _NO_TIMING)
        self.stream = int(handle)
        self._in_flight: deque[tuple[Any, object]] = deque()
        weakref.finalize(self, _release, ordinal, handle, self._event, self._in_flight).atexit = False
        planes = {plane.access.name: plane for plane in placed.planes}
        self._reads = [_source(planes[name].access.array, planes[name].memory, ordinal, self) for name in payload.reads]
        self._writes = [planes[name].memory for name in payload.writes]

    def __call__(self) -> None:
        """Queue the call behind what the stream has to do, and the copies of its results behind that."""
        self._forget_finished()
        with self._traced.precision():
            results = self._compiled(*(source() for source in self._reads))
        # Every result is waited for before a plane is written: the function may read that plane.
        held = [result.__dlpack__(stream=self.stream) for result in results]
        for memory, result in zip(self._writes, results, strict=True):
            _copy(memory, result, self.stream)
        copied = call("cuEventCreate", _NO_TIMING)
        call("cuEventRecord", copied, self.stream)
        self._in_flight.append((copied, (results, held)))

    def make_wait(self, stream: int | None) -> None:
        """Have a stream of JAX's wait for ours; without one it is the host that waits."""
        if stream is None:
            call("cuStreamSynchronize", self.stream)
            return
        call("cuEventRecord", self._event, self.stream)
        call("cuStreamWaitEvent", stream or _LEGACY, self._event, 0)

    def _forget_finished(self) -> None:
        """Let go of results that were copied."""
        while self._in_flight and _is_done(self._in_flight[0][0]):
            event, _ = self._in_flight.popleft()
            call("cuEventDestroy", event)


def _source(array: object, memory: Memory, ordinal: int, work: _DeviceCall) -> Callable[[], Any]:
    """Return what gives the argument of a call: JAX's own array, or a new view of a plane that is ready by then."""
    if isinstance(array, jax.Array):
        return lambda: array
    waiting = weakref.WeakMethod(work.make_wait)
    exported = Exported(memory, ordinal, lambda stream: waiting()(stream))  # type: ignore[misc]
    return lambda: jax.dlpack.from_dlpack(exported, copy=False)


def _copy(memory: Memory, result: Any, stream: int) -> None:
    count = memory.itemsize
    for one in memory.shape:
        count *= one
    if count:
        call("cuMemcpyDtoDAsync", memory.address, result.unsafe_buffer_pointer(), count, stream)


def _is_done(event: Any) -> bool:
    try:
        call("cuEventQuery", event)
    except CudaError as error:
        if error.code == _NOT_READY:
            return False
        raise
    return True


def _release(ordinal: int, stream: Any, event: Any, in_flight: deque[tuple[Any, object]]) -> None:
    with device(ordinal).current():
        call("cuStreamSynchronize", stream)
        for one in (event, *(copied for copied, _ in in_flight)):
            call("cuEventDestroy", one)
        call("cuStreamDestroy", stream)
    in_flight.clear()


def _jax_device(ordinal: int) -> Any:
    try:
        known: Sequence[Any] = jax.local_devices(backend="cuda")
    except RuntimeError as error:
        raise BuildError(
            "JAX has no CUDA device here", why=str(error), fix="Install it with CUDA: pip install jax[cuda13]."
        ) from error
    for one in known:
        if one.local_hardware_id == ordinal:
            return one
    raise BuildError(
        f"JAX does not see CUDA device {ordinal}", why=f"it sees {len(known)}", fix="Check JAX_CUDA_VISIBLE_DEVICES."
    )
