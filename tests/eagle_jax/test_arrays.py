"""JAX's arrays as planes: read in place, never written, refused by name where they are no one block of memory."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import eagle
import hawk
from eagle.graph import opaque
from eagle.plugin import PlaneError, adapter_of
from eagle_jax.arrays import JaxArrays
from hawk import Mutable, Scalar


@hawk.kernel
def twice(x: Scalar):
    return x * 2


@hawk.kernel
def add_to(x: Scalar, total: Mutable[Scalar]):
    total += x


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int8", "uint32", "bool", "complex64"])
def test_a_plane_is_where_the_array_is(dtype: str) -> None:
    x = jnp.ones((3, 4), dtype)
    memory = adapter_of(x).describe(x)
    assert isinstance(adapter_of(x), JaxArrays)
    assert (memory.address, memory.shape) == (x.unsafe_buffer_pointer(), (3, 4))
    assert memory.strides == (4 * memory.itemsize, memory.itemsize)
    assert (memory.dtype, memory.device) == (dtype, ("cpu", 0))


def test_a_kernel_reads_the_array_itself_which_it_waits_for() -> None:
    slow = jax.jit(lambda x: jax.lax.fori_loop(0, 2000, lambda _, y: jnp.sin(y) + 1.0, x))
    start, total = jnp.ones(10_000, "float32"), np.zeros(10_000, np.float32)
    x = slow(start)  # is still computed when it is added
    eagle.Graph().add(eagle.deploy(add_to, scalar="float32").bind(x=x, total=total)).build().launch(2)
    np.testing.assert_array_equal(total, 2 * np.asarray(x))


def test_a_plan_without_an_output_array_allocates_one_of_numpys() -> None:
    out = eagle.deploy(twice, scalar="float32").run(x=jnp.arange(3.0))
    assert isinstance(out, np.ndarray)
    assert out.tolist() == [0.0, 2.0, 4.0]


def test_a_guard_reads_an_element() -> None:
    x, seen = jnp.array([0, 3]), []
    step = eagle.skippable(opaque(lambda: seen.append(1)), eagle.SkipGuard.nonzero(x[1:]))
    eagle.Graph().add_node(step).build().launch()
    assert seen == [1]


def test_a_view_of_numpys_over_the_array_is_the_same_data() -> None:
    x = jnp.arange(4.0)
    g = eagle.Graph().add_node(opaque(lambda: None, reads={"x": x}))
    (read,) = g._stages[0].branches[0][0].planes
    assert read.memory.address == np.asarray(x).ctypes.data


# refused --------------------------------------------------------------------------------------------------------------


def test_an_array_among_the_writes_is_refused_with_the_way_out() -> None:
    with pytest.raises(PlaneError, match="plane 'x': it is written, and JAX arrays are immutable; let the plane"):
        eagle.Graph().add_node(opaque(lambda: None, writes={"x": jnp.ones(3)}), name="step")


def test_a_kernel_that_writes_one_is_refused_with_the_way_out() -> None:
    with pytest.raises(PlaneError, match="JAX arrays are immutable"):
        eagle.deploy(add_to, scalar="float32").bind(x=np.ones(3, np.float32), total=jnp.ones(3))


def test_a_tracer_is_refused_by_name() -> None:
    def traced(x: Any) -> Any:
        eagle.Graph().add_node(opaque(lambda: None, reads={"x": x}), name="step")
        return x

    with pytest.raises(PlaneError, match="node 'step', plane 'x': the array is a tracer of JAX"):
        jax.jit(traced)(jnp.ones(3))


def test_a_deleted_array_is_refused_by_name() -> None:
    x = jnp.ones(3)
    x.delete()
    with pytest.raises(PlaneError, match="node 'step', plane 'x': the JAX array was deleted, or donated"):
        eagle.Graph().add_node(opaque(lambda: None, reads={"x": x}), name="step")


def test_an_array_donated_after_the_build_is_refused_at_launch() -> None:
    x, total = jnp.ones(8), np.zeros(8, np.float32)
    g = eagle.Graph().add(eagle.deploy(add_to, scalar="float32").bind(x=x, total=total), name="add").build().launch()
    jax.jit(lambda x: x + 1, donate_argnums=0)(x)
    assert x.is_deleted()
    with pytest.raises(PlaneError, match=r"node 'add', plane 'x': .*the JAX array was deleted, or donated"):
        g.launch()
    assert total.tolist() == [1.0] * 8


def test_keys_are_refused_with_the_way_out() -> None:
    with pytest.raises(PlaneError, match=r"plane 'key': .*Pass jax\.random\.key_data"):
        eagle.Graph().add_node(opaque(lambda: None, reads={"key": jax.random.key(0)}))


def test_elements_smaller_than_a_byte_are_refused() -> None:
    with pytest.raises(PlaneError, match="plane 'x': the elements of a JAX array of int4 are smaller than a byte"):
        eagle.Graph().add_node(opaque(lambda: None, reads={"x": jnp.ones(4, jnp.int4)}))


SEVERAL = """
import jax, jax.numpy as jnp, numpy as np
import eagle
from eagle.graph import opaque
from jax.sharding import Mesh, NamedSharding, PartitionSpec

mesh = Mesh(np.array(jax.devices()), ("x",))
spread = jax.device_put(jnp.arange(8.0), NamedSharding(mesh, PartitionSpec("x")))
try:
    eagle.Graph().add_node(opaque(lambda: None, reads={"x": spread}))
except eagle.PlaneError as error:
    print(error)
eagle.Graph().add_node(opaque(lambda: None, reads={"x": spread.addressable_shards[1].data}))
"""


def test_an_array_on_several_devices_is_refused_and_a_shard_of_it_is_a_plane() -> None:
    import os
    import subprocess
    import sys

    flags = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
    ran = subprocess.run([sys.executable, "-c", SEVERAL], capture_output=True, text=True, check=True, env=flags)
    assert "plane 'x': the JAX array lies on 2 devices" in ran.stdout
