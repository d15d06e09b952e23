"""Tensors as planes: zero copy, exact overlap, and what is refused by name."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import eagle
from eagle.graph import opaque
from eagle.plugin import PlaneError, adapter_of
from eagle_torch.arrays import TorchArrays


def touch(tensor: Any, *, write: bool = False, name: str = "x") -> eagle.Graph:
    planes = {name: tensor}
    reads, writes = (None, planes) if write else (planes, None)
    return eagle.Graph().add_node(opaque(lambda: None, reads, writes), name="touch")


def test_a_write_is_seen_on_both_sides() -> None:
    x, out = torch.arange(8.0), torch.zeros(8)
    eagle.Graph().add_node(eagle.copy(x, into=out)).build().launch()
    assert out.tolist() == x.tolist()
    x[0] = 5.0
    shared = x.numpy()
    assert adapter_of(x).describe(x).address == x.data_ptr() == shared.ctypes.data
    total = torch.zeros(1)
    eagle.Graph().add_node(eagle.reduce(shared, total)).build().launch()
    assert total.item() == x.sum().item()


@pytest.mark.parametrize(
    ("dtype", "name", "size"),
    [
        (torch.bfloat16, "bfloat16", 2),
        (torch.float16, "float16", 2),
        (torch.bool, "bool", 1),
        (torch.uint16, "uint16", 2),
        (torch.complex64, "complex64", 8),
        (torch.float8_e4m3fn, "float8_e4m3fn", 1),
    ],
)
def test_every_dtype_has_its_own_name(dtype: Any, name: str, size: int) -> None:
    memory = adapter_of(x := torch.zeros(3, 2, dtype=dtype)).describe(x)
    assert (memory.dtype, memory.itemsize, memory.strides, memory.shape) == (name, size, (2 * size, size), (3, 2))


def test_bfloat16_is_copied_bit_for_bit() -> None:
    x, out = torch.arange(8, dtype=torch.bfloat16) / 3, torch.zeros(8, dtype=torch.bfloat16)
    eagle.Graph().add_node(eagle.copy(x, into=out)).build().launch()
    assert torch.equal(x, out)


def test_a_kernel_never_takes_bfloat16_for_something_else() -> None:
    with pytest.raises(PlaneError, match="bfloat16"):
        eagle.Graph().add_node(eagle.reduce(torch.ones(3, dtype=torch.bfloat16), torch.ones(1, dtype=torch.bfloat16)))


def test_views_share_exactly_the_bytes_they_share() -> None:
    base = torch.zeros(6, 4)
    left, right, tail = base[:, 0], base[:, 1], base[3:]
    g = eagle.Graph()
    g.add_node(opaque(lambda: None, writes={"left": left}))
    g.add_node(opaque(lambda: None, reads={"right": right}))
    g.add_node(opaque(lambda: None, reads={"tail": tail}))
    g.add_node(opaque(lambda: None, reads={"numpy": base.numpy()[0]}))
    assert [(edge.src, edge.dst) for edge in g.edges()] == [(0, 2), (0, 3)]


@pytest.mark.property
@given(data=st.data())
def test_overlap_is_that_of_the_elements(data: st.DataObject) -> None:
    base = torch.zeros(48)
    numbers = torch.arange(48)

    def view(label: str) -> tuple[Any, set[int]]:
        rows, columns = data.draw(st.integers(1, 4), label), data.draw(st.integers(1, 4))
        strides = data.draw(st.integers(0, 7)), data.draw(st.integers(1, 3))
        start = data.draw(st.integers(0, 12))
        taken = numbers.as_strided((rows, columns), strides, start)
        return base.as_strided((rows, columns), strides, start), set(taken.flatten().tolist())

    (a, mine), (b, theirs) = view("a"), view("b")
    g = eagle.Graph()
    g.add_node(opaque(lambda: None, writes={"a": a})).add_node(opaque(lambda: None, reads={"b": b}))
    assert bool(g.edges()) == bool(mine & theirs)


def test_strided_tensors_are_reduced_and_copied_as_they_lie() -> None:
    base = torch.arange(12.0).reshape(4, 3)
    total, turned = torch.zeros(1), torch.zeros(3, 4)
    g = eagle.Graph().add_node(eagle.reduce(base[:, 1], total)).add_node(eagle.copy(base.T, into=turned))
    g.build().launch()
    assert total.item() == base[:, 1].sum().item()
    assert torch.equal(turned, base.T)


def test_a_tensor_that_requires_grad_is_read_and_never_written() -> None:
    x, out = torch.ones(3, requires_grad=True), torch.zeros(3)
    eagle.Graph().add_node(eagle.copy(x, into=out)).build().launch()
    assert out.tolist() == [1, 1, 1]
    for one in (x, x * 2):
        with pytest.raises(PlaneError, match=r"node 'touch', plane 'x'.*requires grad.*detach"):
            touch(one, write=True)
    eagle.Graph().add_node(eagle.copy(out, into=x.detach())).build().launch()


def quantized() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8)


def nested() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])


def under_vmap() -> Any:
    caught = []
    torch.vmap(lambda one: caught.append(one) or one)(torch.ones(3))  # type: ignore[func-returns-value]
    return caught[0]


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: torch.ones(3).to_sparse(), "layout sparse_coo.*to_dense"),
        (nested, "nested"),
        (quantized, "quantized.*int_repr"),
        (lambda: torch.ones(3, dtype=torch.complex64).conj(), "resolve_conj"),
        (lambda: torch.ones(3, dtype=torch.complex64).conj().imag, "resolve_neg"),
        (lambda: torch.empty(3, device="meta"), "meta"),
        (torch.nn.UninitializedParameter, "refuses to give its memory"),
        (under_vmap, "memory"),
    ],
)
def test_a_tensor_without_plain_memory_is_refused_by_name(make: Callable[[], Any], says: str) -> None:
    with pytest.raises(PlaneError, match=f"(?s)node 'touch', plane 'x'.*{says}"):
        touch(make())


def test_a_kind_that_hides_its_memory_is_refused() -> None:
    class Wrapped(torch.Tensor):
        @staticmethod
        def __new__(cls: type) -> Any:
            return torch.Tensor._make_wrapper_subclass(cls, (3,))

        @classmethod
        def __torch_dispatch__(cls, *_: Any, **__: Any) -> Any:
            raise NotImplementedError

    with pytest.raises(PlaneError, match="memory"):
        touch(Wrapped())


def test_inference_tensors_are_plain_memory() -> None:
    with torch.inference_mode():
        x, out = torch.ones(3), torch.zeros(3)
    eagle.Graph().add_node(eagle.copy(x, into=out)).build().launch()
    assert out.tolist() == [1, 1, 1]


def other_data(x: Any) -> None:
    x.data = torch.zeros(3)


def other_bits(x: Any) -> None:
    x.data = x.data.view(torch.int32)


@pytest.mark.parametrize(
    "change",
    [
        other_data,
        other_bits,
        lambda x: x.set_(torch.zeros(3)),
        lambda x: x.resize_(30),
        lambda x: x.resize_(1),
        lambda x: x.untyped_storage().resize_(0),
        lambda x: x.t_() if x.ndim == 2 else x.as_strided_((3,), (0,)),
        lambda x: torch.nn.ParameterList([x]).to(torch.float64),
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_tensor_that_went_elsewhere_is_refused_by_name(change: Callable[[Any], object]) -> None:
    x, out = torch.nn.Parameter(torch.ones(3), requires_grad=False), torch.zeros(3)
    g = eagle.Graph().add_node(eagle.copy(x, into=out), name="take").build().launch()
    with torch.no_grad():
        change(x)
    with pytest.raises(PlaneError, match=r"node 'take', plane 'src': the array moved.*in place"):
        g.launch()


def test_memory_let_go_of_is_still_there_until_the_launch_is_refused() -> None:
    x, total = torch.ones(1 << 16), torch.zeros(1)
    memory = adapter_of(x).describe(x)
    x.set_(torch.zeros(3))
    filler = [torch.zeros(1 << 16) for _ in range(20)]
    assert memory.address not in {one.data_ptr() for one in filler}
    assert memory.keep is not None


def test_tensors_without_elements_share_nothing() -> None:
    g = touch(torch.zeros(0), write=True)
    g.add_node(opaque(lambda: None, writes={"y": torch.zeros(0)}))
    assert not g.edges()


def test_tensors_are_made_and_read_where_a_tensor_is_given() -> None:
    adapter = TorchArrays()
    made: Any = adapter.empty(torch.zeros(1), (2, 3), "float32")
    assert (tuple(made.shape), made.dtype) == ((2, 3), torch.float32)
    assert adapter.read(torch.tensor([3, 4]), 1) == 4
    assert adapter.host(made).ctypes.data == made.data_ptr()
    with pytest.raises(PlaneError, match="no dtype 'nothing'"):
        adapter.empty(made, (1,), "nothing")


def test_nothing_imports_a_framework_that_is_installed() -> None:
    code = (
        "import eagle, sys; from importlib import metadata, import_module\n"
        "for entry in metadata.entry_points(group='eagle.v1'): import_module(entry.value)\n"
        "import numpy as np; from eagle.graph import opaque\n"
        "x = np.zeros(3); g = eagle.Graph().add_node(opaque(lambda: None, reads={'x': x})).build().launch()\n"
        "print(*{name for name in ('torch', 'warp', 'jax', 'cupy') if name in sys.modules})"
    )
    ran = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert not ran.stdout.strip()


def test_a_mask_and_planes_of_a_loop_may_be_tensors(count_down: Any) -> None:
    n, left = 5, torch.tensor([3.0, 1.0, 2.0, 5.0, 4.0], dtype=torch.float64)
    done = torch.zeros(n, dtype=torch.bool)
    report = eagle.until_done(eagle.deploy(count_down), left=left, terminated=done).run()
    assert report.steps == 5
    assert left.tolist() == [0.0] * n
    assert done.all()
    assert np.from_dlpack(done).all()
