"""Array adapters: NumPy's own and the protocols."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eagle
from eagle.errors import PlaneTypeError
from eagle.graph import opaque
from eagle.plugin import adapter_of


class Interface:
    """An array by ``__array_interface__``."""

    def __init__(self, array: np.ndarray, **changes: Any) -> None:
        self.array = array
        self.__array_interface__ = dict(array.__array_interface__) | changes


class DLPack:
    """An array by DLPack."""

    def __init__(self, array: np.ndarray, device: int = 1) -> None:
        self.array, self.device = array, device

    def __dlpack__(self, **keywords: Any) -> Any:
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device, 0


@pytest.mark.parametrize("wrap", [Interface, DLPack])
def test_the_same_memory_is_found_through_any_protocol(wrap: Any) -> None:
    x = np.arange(12.0).reshape(3, 4)[:, ::2]
    here, there = (adapter_of(array).describe(array) for array in (x, wrap(x)))
    for part in ("device", "address", "shape", "strides", "itemsize", "dtype", "space"):
        assert getattr(here, part) == getattr(there, part), part


@pytest.mark.parametrize("wrap", [Interface, DLPack])
def test_edges_cross_the_objects_that_carry_the_memory(wrap: Any) -> None:
    x = np.zeros(8)
    g = eagle.Graph().add_node(opaque(lambda: None, writes={"x": x}))
    g.add_node(opaque(lambda: None, reads={"w": wrap(x[4:])})).add_node(opaque(lambda: None, reads=wrap(np.zeros(3))))
    assert [(e.src, e.dst) for e in g.edges()] == [(0, 1)]


@pytest.mark.parametrize("wrap", [Interface, DLPack])
def test_copies_reductions_and_guards_work_over_any_host_array(wrap: Any) -> None:
    x, y, total, flag = np.arange(4.0), np.zeros(4), np.zeros(1), np.ones(1)
    g = eagle.Graph()
    g.add_node(eagle.skippable(eagle.copy(wrap(x), into=wrap(y)), eagle.SkipGuard.nonzero(wrap(flag))))
    g.add_node(eagle.reduce(wrap(y), wrap(total)))
    g.build().launch()
    assert total[0] == 6


def test_a_read_only_export_cannot_be_written() -> None:
    x = np.zeros(3)
    x.flags.writeable = False
    for array in (Interface(x), DLPack(x)):
        with pytest.raises(eagle.PlaneError, match="read-only"):
            eagle.Graph().add_node(opaque(lambda: None, writes={"x": array}))


def test_an_interface_without_an_address_or_with_a_mask_is_refused() -> None:
    x = np.zeros(3)
    for array, says in ((Interface(x, data=None), "gives no address"), (Interface(x, mask=x), "mask")):
        with pytest.raises(eagle.PlaneError, match=says):
            eagle.Graph().add_node(opaque(lambda: None, reads=array))


@pytest.mark.parametrize(
    "changes",
    [
        {"typestr": "nonsense"},
        {"typestr": None},
        {"shape": None},
        {"data": (1,)},
        {"data": ("a", False)},
        {"strides": (8, 8)},
    ],
    ids=repr,
)
def test_a_dictionary_that_cannot_be_read_is_a_plane_error(changes: dict[str, Any]) -> None:
    with pytest.raises(eagle.PlaneError, match="node 'n', plane 'p'"):
        eagle.Graph().add_node(opaque(lambda: None, reads={"p": Interface(np.zeros(3), **changes)}), name="n")


def test_blocks_of_gigabytes_are_compared() -> None:
    class Huge:
        def __init__(self, address: int) -> None:
            self.__cuda_array_interface__ = {
                "shape": (4, 2**30 - 1),
                "strides": (2**32, 4),
                "typestr": "<f4",
                "data": (address, False),
                "version": 3,
            }

    g = eagle.Graph().add_node(opaque(lambda: None, writes=Huge(1 << 40)))
    g.add_node(opaque(lambda: None, reads=Huge((1 << 40) + 4)))
    assert [edge.kind for edge in g.edges()] == ["RAW"]


def test_a_property_that_raises_says_why() -> None:
    class Variable:
        @property
        def __cuda_array_interface__(self) -> dict[str, Any]:
            raise RuntimeError("it requires grad")

    with pytest.raises(eagle.PlaneError, match="refuses to give its memory: RuntimeError: it requires grad"):
        eagle.Graph().add_node(opaque(lambda: None, reads=Variable()))


def test_device_memory_by_dlpack_alone_is_not_claimed() -> None:
    with pytest.raises(PlaneTypeError, match="install the eagle plugin for its library"):
        eagle.Graph().add_node(opaque(lambda: None, reads=DLPack(np.zeros(3), device=2)))


def test_a_dlpack_that_cannot_be_read_says_why() -> None:
    class Stubborn(DLPack):
        def __dlpack__(self, **keywords: Any) -> Any:
            raise BufferError("complex conjugate bit")

    with pytest.raises(eagle.PlaneError, match="BufferError: complex conjugate bit"):
        eagle.Graph().add_node(opaque(lambda: None, reads=Stubborn(np.zeros(3))))


@pytest.mark.parametrize(
    ("dtype", "name"),
    [
        (np.float64, "float64"),
        (np.bool_, "bool"),
        (">f8", ">f8"),
        ("M8[s]", "<M8[s]"),
        ("i4,f8", "dtype([('f0', '<i4'), ('f1', '<f8')])"),
        ("S3", "|S3"),
    ],
)
def test_dtypes_have_their_plain_names_and_others_numpys_string(dtype: Any, name: str) -> None:
    x = np.zeros(2, dtype)
    assert adapter_of(x).describe(x).dtype == name


@pytest.mark.parametrize("dtype", ["M8[s]", "i4,f8", ">f8", "S3", np.complex64, np.float16])
def test_a_copy_moves_any_dtype_unchanged(dtype: Any) -> None:
    raw = np.arange(24 * np.dtype(dtype).itemsize, dtype=np.uint8)
    x = raw.view(dtype)[::2]
    y = np.zeros_like(x)
    eagle.Graph().add_node(eagle.copy(x, into=y)).build().launch()
    assert y.tobytes() == x.tobytes()


def test_an_adapter_allocates_like_its_arrays() -> None:
    x = np.zeros(3)
    made = adapter_of(x).empty(x, (2, 3), "float32")
    assert isinstance(made, np.ndarray)
    assert (made.shape, made.dtype) == ((2, 3), np.float32)
    with pytest.raises(eagle.PlaneError, match="cannot allocate a DLPack"):
        adapter_of(DLPack(x)).empty(DLPack(x), (1,), "float32")


def test_zero_dimensional_and_empty_arrays_are_arrays() -> None:
    scalar, nothing = np.array(3.0), np.zeros((0, 4))
    g = eagle.Graph().add_node(opaque(lambda: None, writes={"s": scalar, "n": nothing}))
    g.add_node(opaque(lambda: None, reads={"s": scalar, "n": nothing}))
    assert [e.plane for e in g.edges()] == ["s"]
    g.build().launch()
