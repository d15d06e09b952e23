"""What in a kernel's arguments is a generator's state, and what only looks a little like one."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle_torch.random_numbers import _holds_state

CELLS = st.integers(1 << 36, 1 << 38).map(lambda number: number * 512)
ADDRESS = 0x7F2A_4000_0000


def state(seed: int, offset: int, drawn: int = 4, captured: int = 1) -> bytes:
    return struct.pack("<QQQB7x", seed, offset, drawn, captured)


@pytest.mark.property
@given(
    seed=CELLS,
    apart=st.integers(1, 1 << 20),
    drawn=st.integers(0, 1 << 20),
    before=st.binary(max_size=64).filter(lambda one: len(one) % 8 == 0),
    after=st.binary(max_size=64),
    padding=st.binary(min_size=7, max_size=7),
)
def test_a_state_is_found_at_any_place_of_an_argument(
    seed: int, apart: int, drawn: int, before: bytes, after: bytes, padding: bytes
) -> None:
    made = state(seed, seed + 512 * apart, 4 * drawn)[:25] + padding
    assert _holds_state(before + made + after)


@pytest.mark.parametrize(
    "argument",
    [
        b"",
        struct.pack("<Q", ADDRESS),
        struct.pack("<QQ", ADDRESS, ADDRESS + 512),  # the tensors of an elementwise kernel
        struct.pack("<QQQQ", ADDRESS, ADDRESS + 512, ADDRESS + 1024, ADDRESS + 1536),
        struct.pack("<QQQQ", ADDRESS, ADDRESS + 512, 8, 0),
        state(ADDRESS, ADDRESS),
        state(ADDRESS, ADDRESS + 8),  # two elements of one tensor
        state(ADDRESS, ADDRESS + 512, drawn=3),
        state(ADDRESS, ADDRESS + 512, captured=0),
        state(0, ADDRESS),
        state(1024, 2048),  # numbers, not addresses
        state(12345 * 512, 0),  # a seed by value, which is not captured
    ],
)
def test_other_arguments_are_no_state(argument: bytes) -> None:
    assert not _holds_state(argument)
