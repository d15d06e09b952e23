"""The arrays of device memory that tests use."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cuda_arrays import DeviceArray
from cuda_emulator import Emulator


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "c8", ">f8", "i4,f8"])
def test_values_come_back_as_they_went_in(dtype: str) -> None:
    values = np.zeros((2, 3), dtype)
    values.reshape(-1).view(np.uint8)[::5] = 1
    array = DeviceArray(values)
    assert array.dtype == values.dtype
    assert array.to_numpy().tobytes() == values.tobytes()


@pytest.mark.parametrize(
    "index", [0, -1, (1, 2), np.s_[::2], np.s_[::-1], np.s_[1:, ::-2], np.s_[..., 1], np.s_[None, :, 0], np.s_[0:0]]
)
def test_views_share_the_memory(index: Any) -> None:
    values = np.arange(12.0).reshape(3, 4)
    array = DeviceArray(values.copy())
    view = array[index]
    assert np.array_equal(view.to_numpy(), values[index])
    assert view.shape == values[index].shape
    view.fill_from(-1.0)
    values[index] = -1.0
    assert np.array_equal(array.to_numpy(), values)


def test_a_copying_index_or_shape_is_refused() -> None:
    array = DeviceArray(np.arange(6.0).reshape(2, 3))
    with pytest.raises(TypeError, match="basic indexing"):
        array[[0, 1]]
    with pytest.raises(TypeError, match="copy"):
        array[:, ::2].reshape(4)
    assert array.reshape(3, 2).to_numpy().tolist() == [[0, 1], [2, 3], [4, 5]]


def test_the_interface_is_that_of_version_three() -> None:
    array = DeviceArray(np.zeros((2, 3), np.float32), stream=1)
    interface = array[:, 1].__cuda_array_interface__
    assert interface["version"] == 3
    assert interface["shape"] == (2,)
    assert interface["strides"] == (12,)
    assert interface["data"] == (array.address + 4, False)
    assert interface["typestr"] == "<f4"
    assert interface["stream"] == 1


def test_an_array_of_no_elements_has_no_address() -> None:
    array = DeviceArray(np.zeros((0, 3)))
    assert array.__cuda_array_interface__["data"][0] == 0
    assert array.to_numpy().shape == (0, 3)
    assert DeviceArray.empty((2, 0)).to_numpy().shape == (2, 0)


def test_memory_goes_with_the_last_view(emulator: Emulator) -> None:
    before = emulator.live()["allocations"]
    array = DeviceArray(np.arange(4))
    view = array[2:]
    del array
    assert emulator.live()["allocations"] == before + 1
    assert view.to_numpy().tolist() == [2, 3]
    del view
    assert emulator.live()["allocations"] == before
