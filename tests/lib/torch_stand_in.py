"""What eagle_torch and its tests use of torch, over the CUDA device of the tests: tensors, modules, streams.

torch itself does not work on the emulated device. Tensors here are of float64 with one axis of at most 1024 elements;
all names are torch's, which ``tests/eagle_torch/test_stand_in.py`` holds them to. Memory, streams and graphs are in
`torch_stand_in_cuda`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace
from typing import Any

import cuda_frame
import numpy as np
import torch_stand_in_cuda as cuda
from cuda_arrays import DeviceArray
from cuda_devices import SOURCE

__all__ = ["Module", "Parameter", "Tensor", "device", "dtype", "module"]


@dataclass(frozen=True)
class device:  # noqa: N801  torch's names
    """``torch.device``."""

    type: str
    index: int | None


class dtype:  # noqa: N801
    """``torch.dtype``."""

    def __init__(self, name: str) -> None:
        self._own_name = name

    def __repr__(self) -> str:
        return f"torch.{self._own_name}"


float64, strided = dtype("float64"), SimpleNamespace()


class Tensor:
    """``torch.Tensor`` of float64 with one axis."""

    is_nested = is_quantized = is_meta = False
    layout, dtype, requires_grad = strided, float64, False
    device = device("cuda", 0)

    def __init__(self, storage: cuda.UntypedStorage, count: int, step: int = 1, offset: int = 0) -> None:
        self._own_storage, self._own_count, self._own_step, self._own_offset = storage, count, step, offset
        self._version = 0

    @property
    def shape(self) -> tuple[int, ...]:
        return (self._own_count,)

    def stride(self) -> tuple[int, ...]:
        return (self._own_step,)

    def element_size(self) -> int:
        return 8

    def numel(self) -> int:
        return self._own_count

    def data_ptr(self) -> int:
        return self._own_storage.data_ptr() + 8 * self._own_offset

    def untyped_storage(self) -> cuda.UntypedStorage:
        return self._own_storage

    def is_conj(self) -> bool:
        return False

    def is_neg(self) -> bool:
        return False

    def is_inference(self) -> bool:
        return False

    @property
    def data(self) -> Tensor:
        return self

    @data.setter
    def data(self, other: Tensor) -> None:
        self._own_storage, self._own_count = other._own_storage, other._own_count
        self._own_step, self._own_offset = other._own_step, other._own_offset

    def detach(self) -> Tensor:
        return Tensor(self._own_storage, self._own_count, self._own_step, self._own_offset)

    def __getitem__(self, index: slice) -> Tensor:
        start, stop, step = index.indices(self._own_count)
        offset = self._own_offset + start * self._own_step
        return Tensor(self._own_storage, len(range(start, stop, step)), step * self._own_step, offset)

    def tolist(self) -> list[float]:
        host = DeviceArray.__new__(DeviceArray)
        host._address, host.shape, host.strides = self.data_ptr(), self.shape, (8 * self._own_step,)
        host.dtype = np.dtype(np.float64)
        return [float(one) for one in host.to_numpy()]

    def clone(self) -> Tensor:
        return add(self, 0.0)

    def copy_(self, other: Tensor) -> Tensor:
        return add(other, 0.0, out=self)

    def add_(self, other: Tensor | float) -> Tensor:
        return add(self, other, out=self)

    def mul_(self, other: float) -> Tensor:
        return mul(self, other, out=self)

    def fill_(self, value: float) -> Tensor:
        _launch("set", self, np.float64(value), count=self._own_count)
        self._version += 1
        return self

    def uniform_(self) -> Tensor:
        cuda.uniform(self.data_ptr(), 8 * self._own_step, self._own_count)
        self._version += 1
        return self

    def __add__(self, other: Tensor | float) -> Tensor:
        return add(self, other)

    def __mul__(self, other: float) -> Tensor:
        return mul(self, other)


class Parameter(Tensor):
    """``torch.nn.Parameter`` of a tensor."""

    def __init__(self, data: Tensor, requires_grad: bool = True) -> None:
        super().__init__(data._own_storage, data._own_count, data._own_step, data._own_offset)
        self.requires_grad = requires_grad


class Module:
    """``torch.nn.Module``."""

    training = True

    def eval(self) -> Module:
        self.training = False
        return self

    def named_parameters(self) -> Iterator[tuple[str, Parameter]]:
        return ((name, one) for name, one in vars(self).items() if isinstance(one, Parameter))

    def named_buffers(self) -> Iterator[tuple[str, Tensor]]:
        return iter(())

    def buffers(self) -> Iterator[Tensor]:
        return iter(())

    def __call__(self, *inputs: Any) -> Any:
        return self.forward(*inputs)  # type: ignore[attr-defined]


class _Here(threading.local):
    inference = False


_here = _Here()


@contextmanager
def inference_mode(mode: bool = True) -> Iterator[None]:
    """``torch.inference_mode``."""
    before, _here.inference = _here.inference, mode
    try:
        yield
    finally:
        _here.inference = before


def is_inference_mode_enabled() -> bool:
    """``torch.is_inference_mode_enabled``."""
    return _here.inference


def empty(count: int, *, dtype: dtype = float64, device: object = "cuda") -> Tensor:
    """``torch.empty``, on the device."""
    return Tensor(cuda.UntypedStorage(max(8 * count, 8)), count)


def zeros(count: int, *, dtype: dtype = float64, device: object = "cuda") -> Tensor:
    """``torch.zeros``."""
    return empty(count).fill_(0.0)


def ones(count: int, *, dtype: dtype = float64, device: object = "cuda") -> Tensor:
    """``torch.ones``."""
    return empty(count).fill_(1.0)


def mul(a: Tensor, b: float, *, out: Tensor | None = None) -> Tensor:
    """``torch.mul`` by a number."""
    return _into(out, a, "scale", a, np.float64(b))


def add(a: Tensor, b: Tensor | float, *, out: Tensor | None = None) -> Tensor:
    """``torch.add``."""
    if isinstance(b, Tensor):
        return _into(out, a, "add", a, b)
    return _into(out, a, "shift", a, np.float64(b))


def as_tensor(data: Any, *, device: object = "cuda") -> Tensor:
    """``torch.as_tensor`` of what has ``__cuda_array_interface__``."""
    interface = data.__cuda_array_interface__
    (count,), (step,) = interface["shape"], interface["strides"]
    return Tensor(cuda.UntypedStorage(8 * count, address=interface["data"][0], keep=data), count, step // 8)


def _into(out: Tensor | None, like: Tensor, name: str, *arguments: Any) -> Tensor:
    target = empty(like._own_count) if out is None else out
    _launch(name, *arguments, target, count=like._own_count)
    target._version += 1
    return target


def _launch(name: str, *arguments: Any, count: int) -> None:
    kernel = cuda_frame.compiled(SOURCE, name)
    flat: list[Any] = []
    for one in arguments:
        flat += [one.data_ptr(), np.int64(8 * one._own_step)] if isinstance(one, Tensor) else [one]
    with cuda_frame.use(cuda.current_stream().cuda_stream or cuda_frame.LEGACY):
        cuda_frame.run(kernel, *flat, threads=count)


def module() -> ModuleType:
    """Return it as the module ``torch``, with kernels compiled already, as torch's are."""
    for name in ("set", "scale", "shift", "add"):
        cuda_frame.compiled(SOURCE, name)
    cuda.compile_kernels()
    torch, nn = ModuleType("torch"), ModuleType("torch.nn")
    nn.__dict__.update(Module=Module, Parameter=Parameter)
    names = (Tensor, device, dtype, inference_mode, is_inference_mode_enabled, empty, zeros, ones, mul, add, as_tensor)
    vars(torch).update({one.__name__: one for one in names})
    backends = SimpleNamespace(cuda=SimpleNamespace(is_built=lambda: True))
    vars(torch).update(
        float64=float64, strided=strided, nn=nn, cuda=cuda.module(), backends=backends, _C=SimpleNamespace()
    )
    return torch
