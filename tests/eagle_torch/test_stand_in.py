"""The stand-in that the emulated device's tests use has nothing that torch has not."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from typing import Any

import pytest
import torch
import torch_stand_in
import torch_stand_in_cuda

PAIRS = [
    (torch_stand_in.Tensor, torch.Tensor),
    (torch_stand_in.Parameter, torch.nn.Parameter),
    (torch_stand_in.Module, torch.nn.Module),
    (torch_stand_in.device, torch.device),
    (torch_stand_in_cuda.Stream, torch.cuda.Stream),
    (torch_stand_in_cuda.ExternalStream, torch.cuda.ExternalStream),
    (torch_stand_in_cuda.MemPool, torch.cuda.MemPool),
    (torch_stand_in_cuda.UntypedStorage, torch.UntypedStorage),
    (torch_stand_in_cuda.CUDAGraph, torch.cuda.CUDAGraph),
]
SPACES = [(torch_stand_in_cuda.module(), torch.cuda)]
STUBS = ast.parse(Path(torch._C.__file__).parent.joinpath("_C", "__init__.pyi").read_text())


def stubbed(real: type) -> set[str]:
    """The names of a class's base in C++, which a torch without CUDA has not: as its stub tells them."""
    bases = {base.__name__ for base in real.__mro__}
    parts = [part for one in STUBS.body if isinstance(one, ast.ClassDef) and one.name in bases for part in one.body]
    fields = (part.target for part in parts if isinstance(part, ast.AnnAssign))
    return {part.name for part in parts if isinstance(part, ast.FunctionDef)} | {
        one.id for one in fields if isinstance(one, ast.Name)
    }


def names(mine: type) -> set[str]:
    made = {name for one in mine.__mro__ if one not in (object, tuple) for name in vars(one)}
    used = {
        part.attr
        for part in ast.walk(ast.parse(inspect.getsource(mine)))
        if isinstance(part, ast.Attribute)
        and isinstance(part.ctx, ast.Store)
        and isinstance(part.value, ast.Name)
        and part.value.id == "self"
    }
    return {name for name in made | used if not name.startswith(("__", "_own_"))}


@pytest.mark.parametrize(("mine", "real"), PAIRS, ids=lambda one: one.__name__)
def test_a_class_has_only_what_torchs_has(mine: type, real: type) -> None:
    annotated = {name for base in real.__mro__ for name in vars(base).get("__annotations__", ())}
    theirs = set(dir(real)) | annotated | stubbed(real)
    assert names(mine) <= theirs


def test_a_module_has_only_what_torchs_has() -> None:
    found = [name for mine, real in SPACES for name in vars(mine) if not name.startswith("__")]
    assert found
    assert not [name for name in found if not hasattr(torch.cuda, name)]
    for name in ("inference_mode", "is_inference_mode_enabled", "empty", "zeros", "ones", "mul", "add", "as_tensor"):
        assert hasattr(torch, name)


@pytest.mark.parametrize(
    ("mine", "real"),
    [
        *(
            (getattr(torch_stand_in_cuda, name), getattr(torch.cuda, name))
            for name in ("current_stream", "stream", "use_mem_pool", "is_initialized", "is_current_stream_capturing")
        ),
        *(
            (getattr(torch_stand_in_cuda.CUDAGraph, name), getattr(torch.cuda.CUDAGraph, name))
            for name in ("capture_begin", "capture_end", "reset", "raw_cuda_graph")
        ),
        (torch_stand_in_cuda.MemPool.snapshot, torch.cuda.MemPool.snapshot),
        (torch_stand_in_cuda.Stream.wait_stream, torch.cuda.Stream.wait_stream),
        (torch_stand_in_cuda.CUDAGraph.__init__, torch.cuda.CUDAGraph.__new__),
        (torch_stand_in_cuda.ExternalStream.__init__, torch.cuda.ExternalStream.__new__),
        (torch_stand_in_cuda.Stream.__init__, torch.cuda.Stream.__new__),
    ],
    ids=lambda one: one.__qualname__,
)
def test_a_function_takes_only_what_torchs_takes(mine: Any, real: Any) -> None:
    taken = [name for name in inspect.signature(mine).parameters if name != "self"]
    theirs = [name for name in inspect.signature(real).parameters if name not in ("self", "cls")]
    assert taken == theirs[: len(taken)]


def test_what_eagle_takes_from_torch_for_a_device_is_there() -> None:
    assert {"raw_cuda_graph", "reset"} <= set(dir(torch.cuda.CUDAGraph))
    assert {"cuda_stream"} <= stubbed(torch.cuda.Stream)
    assert callable(torch.backends.cuda.is_built)
