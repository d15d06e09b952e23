"""Where rows of kernels are cut into pieces."""

from __future__ import annotations

from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle_cpu.fusion.cutting import cut


@pytest.mark.parametrize(
    ("kinds", "limit", "expected"),
    [
        ("", 4, []),
        ("abc", 4, [3]),
        ("abcde", 4, [4, 1]),
        ("aaaaaaaaaa", 4, [4, 4, 2]),
        ("abababababab", 4, [4, 4, 4]),
        ("abcabcabcabcabcabcabc", 8, [6, 6, 6, 3]),
        ("xyabababababz", 4, [2, 4, 4, 2, 1]),
        ("abcdeabcdeabcde", 4, [4, 4, 4, 3]),
    ],
)
def test_repetitions_are_cut_into_equal_pieces(kinds: str, limit: int, expected: list[int]) -> None:
    assert cut(kinds, [1] * len(kinds), limit) == expected


def test_a_kernel_larger_than_the_limit_is_a_piece_by_itself() -> None:
    assert cut("abc", [1, 9, 1], 4) == [1, 1, 1]


@pytest.mark.property
@given(st.lists(st.integers(0, 3), max_size=60), st.tuples(*[st.integers(0, 5)] * 4), st.integers(1, 20))
def test_pieces_cover_the_row_and_stay_within_the_limit(kinds: list[int], size: tuple[int, ...], limit: int) -> None:
    sizes = [size[kind] for kind in kinds]
    pieces = cut(kinds, sizes, limit)
    ends = list(accumulate(pieces))
    assert all(pieces)
    assert sum(pieces) == len(kinds)
    for count, end in zip(pieces, ends, strict=True):
        assert count == 1 or sum(sizes[end - count : end]) <= limit
