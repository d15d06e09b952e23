"""Tensors as planes: where their elements are, or why they have no place of their own."""

from __future__ import annotations

import sys
from collections.abc import Hashable
from typing import Any

from eagle.plugin import ArrayAdapter, EagleError, Memory, PlaneError

__all__ = ["TorchArrays"]


class TorchArrays(ArrayAdapter):
    """Every ``torch.Tensor`` with strides over memory of its own, on any device."""

    def claims(self, array: object, /) -> bool:
        """Whether it is a tensor."""
        return isinstance(array, _torch().Tensor)

    def describe(self, array: Any, /) -> Memory:
        """Return the memory of a tensor.

        Raises
        ------
        PlaneError
            It is sparse, nested, quantized, lazily conjugated or negated, not initialised, without memory of its own
            (meta, fake, wrapped by a transformation), or made by a subclass that hides it.
        """
        try:
            _refuse(array)
            address, shape, strides, itemsize = array.data_ptr(), array.shape, array.stride(), array.element_size()
            device = array.device.type, array.device.index if array.device.index is not None else 0
        except EagleError:
            raise
        except Exception as error:  # torch says in many ways that there is no memory
            raise PlaneError(
                f"a {type(array).__name__} refuses to give its memory", why=_first_line(error), fix=_PLAIN
            ) from error
        if address == 0 and array.numel():
            raise PlaneError(f"a {type(array).__name__} of {array.numel()} elements holds no memory", fix=_PLAIN)
        return Memory(
            device=device,
            address=address,
            shape=tuple(shape),
            strides=tuple(step * itemsize for step in strides),
            itemsize=itemsize,
            dtype=_name(array.dtype),
            readonly=_readonly(array),
            keep=(array, array.untyped_storage()),  # `set_` and `.data =` would let go of the memory
        )

    def probe(self, array: Any, /) -> Hashable:
        """Return address, shape, strides and dtype: ``.data =``, ``set_``, ``resize_`` and ``.to`` change one."""
        return array.data_ptr(), array.shape, array.stride(), array.dtype

    def exported(self, array: Any, /) -> Any:
        """Return the tensor without its gradient, which torch would not export."""
        return array.detach()

    def moved(self, array: object, /) -> str:
        """Say what gives a tensor other memory."""
        return (
            "`tensor.data = ...`, set_, resize_ and .to() give a tensor other memory: bind the tensor that is updated "
            "in place, as optimizers do, or build a new graph over this one."
        )

    def empty(self, like: Any, shape: tuple[int, ...], dtype: str, /) -> object:
        """Allocate a tensor on the device of `like`."""
        found = getattr(_torch(), dtype, None)
        if not isinstance(found, _torch().dtype):
            raise PlaneError(f"torch has no dtype {dtype!r}", fix="Pass the array yourself.")
        return _torch().empty(shape, dtype=found, device=like.device)


_PLAIN = "Pass a tensor with memory of its own."


def _torch() -> Any:
    return sys.modules["torch"]


def _name(dtype: object) -> str:
    return str(dtype).removeprefix("torch.")


def _refuse(tensor: Any) -> None:
    """Raise `PlaneError` for a tensor whose elements are not the bytes it points at."""
    what = fix = ""
    if tensor.is_nested:
        what, fix = "a nested tensor, which has no shape", "Pass its padded form, or its tensors one by one."
    elif tensor.layout != _torch().strided:
        what, fix = f"a tensor of layout {_name(tensor.layout)}", "Pass to_dense(), or its parts one by one."
    elif tensor.is_quantized:
        what, fix = "a quantized tensor, whose bytes are not its values", "Pass int_repr() or dequantize()."
    elif tensor.is_conj():
        what, fix = "a conjugate that was not computed yet", "Pass tensor.resolve_conj()."
    elif tensor.is_neg():
        what, fix = "a negative that was not computed yet", "Pass tensor.resolve_neg()."
    elif tensor.is_meta:
        what, fix = "a meta tensor, which has no memory", "Pass a tensor of a real device."
    if what:
        raise PlaneError(f"it is {what}", fix=fix)


def _readonly(tensor: Any) -> str | None:
    if not tensor.requires_grad:
        return None
    return (
        "the tensor requires grad, and autograd would not see the write; pass tensor.detach(), which is the same "
        "memory, or write it under torch.no_grad() in your own code"
    )


def _first_line(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
