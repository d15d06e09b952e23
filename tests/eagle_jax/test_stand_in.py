"""The stand-in for JAX on the emulated device has no name that JAX has not."""

from __future__ import annotations

import inspect
from typing import Any

import jax
import jax.numpy as jnp
import jax_stand_in
import numpy as np
import pytest

from eagle.plugin import adapter_of
from eagle_jax.dlpack import Exported


def public(thing: Any) -> set[str]:
    return {name for name in dir(thing) if not name.startswith("_")}


def real() -> dict[str, Any]:
    traced = jax.jit(lambda x: x).trace(jax.ShapeDtypeStruct((2,), np.float32))
    return {
        "Array": jnp.ones(2),
        "Device": jax.devices()[0],
        "Traced": traced,
        "ShapeDtypeStruct": jax.ShapeDtypeStruct((2,), np.float32),
        "Tracer": jax.core.Tracer,
    }


def test_the_module_has_only_names_of_jaxs() -> None:
    stand_in = jax_stand_in.module()
    assert public(stand_in) <= public(jax)
    for part in ("core", "dlpack", "numpy"):
        assert public(getattr(stand_in, part)) <= public(getattr(jax, part))
    assert jax.config.jax_enable_x64 is False


@pytest.mark.parametrize("name", ["Array", "Device", "ShapeDtypeStruct", "Tracer"])
def test_a_class_has_only_attributes_of_jaxs(name: str) -> None:
    made = {"Array": lambda kind: kind(None, (2,)), "ShapeDtypeStruct": lambda kind: kind((2,), np.float32)}
    kind: Any = getattr(jax_stand_in, name)
    stand_in = made.get(name, lambda kind: kind())(kind)
    assert public(stand_in) <= public(real()[name])


def test_tracing_lowering_and_compiling_are_jaxs_own_calls() -> None:
    traced = real()["Traced"]
    assert hasattr(traced, "lower")
    assert hasattr(traced.lower(), "compile")
    assert callable(traced.lower().compile())
    assert hasattr(jax.jit(lambda x: x), "trace")


def test_the_functions_take_what_jaxs_do() -> None:
    assert "copy" in inspect.signature(jax.dlpack.from_dlpack).parameters
    assert "backend" in inspect.signature(jax.local_devices).parameters
    assert "stream" in inspect.signature(jnp.ones(2).__dlpack__).parameters


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "uint16", "bool", "complex64"])
def test_jax_reads_exported_memory_in_place(dtype: str) -> None:
    raw = np.zeros(256, np.uint8)
    start = -raw.ctypes.data % 64
    x = raw[start : start + 64].view(dtype)[:4]
    x[:] = 1
    asked: list[int | None] = []
    exported = Exported(adapter_of(x).describe(x), ready=asked.append)
    with jax.enable_x64(True):
        array = jax.dlpack.from_dlpack(exported, copy=False)
    assert array.unsafe_buffer_pointer() == x.ctypes.data
    assert (array.dtype.name, array.shape) == (dtype, (4,))
    assert len(asked) == 1
    assert (np.asarray(array) == x).all()
