"""A loop whose range ends asks for the next one while its lanes still run, and each range is run once."""

from __future__ import annotations

import ctypes
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from engine_programs import Case, cases, kernels
from engine_running import MORE, POLL, StreamingRun, call
from hypothesis import given
from hypothesis import strategies as st
from small_kernels import countdown
from test_generated_loops import WIDTHS, check_loop

from eagle.plugin import Kernel
from eagle_cpu.engine import program_for


class Ranges:
    """Gives these ranges one after another, and counts how often it was asked in vain; `stop` at the first poll."""

    def __init__(self, ranges: list[tuple[int, int]], *, stop: bool = False) -> None:
        self.left, self.in_vain = list(ranges), 0
        self.flag = ctypes.c_int32(0)
        self._kept = MORE(self._give), POLL(lambda _: setattr(self.flag, "value", int(stop)))
        more, poll = (ctypes.cast(one, ctypes.c_void_p).value for one in self._kept)
        self.run = StreamingRun(ctypes.sizeof(StreamingRun), 0, ctypes.pointer(self.flag), poll, more)

    def _give(self, _: int, begin: Any, end: Any) -> int:
        if not self.left:
            self.in_vain += 1
            return 0
        begin[0], end[0] = self.left.pop(0)
        return 1


def counting(left: np.ndarray, lanes: int) -> tuple[Any, np.ndarray, np.ndarray, Any]:
    """A program that counts down from `left`, and its arrays."""
    seen, done = np.zeros(left.size, np.int64), np.zeros(left.size, bool)
    program = program_for(countdown(), lanes=lanes)
    return program, seen, done, program.arguments({"left": left, "seen": seen, "done": done}, {}, left.size)


@given(
    lengths=st.lists(st.integers(0, 40), min_size=1, max_size=6),
    lanes=st.sampled_from([4, 16]),
    data=st.data(),
)
def test_samples_of_every_range_run_to_their_own_end(lengths: list[int], lanes: int, data: Any) -> None:
    cuts = np.concatenate([[0], np.cumsum(lengths)])
    ranges = [(int(a), int(b)) for a, b in pairwise(cuts)]
    wanted = np.array(data.draw(st.lists(st.integers(1, 9), min_size=int(cuts[-1]), max_size=int(cuts[-1]))), float)
    order = data.draw(st.permutations(ranges))
    program, seen, done, arguments = counting(wanted.copy(), lanes)
    arguments.set_loop(max_steps=100)
    given_out = Ranges(order[1:])
    assert call(program.loop_entry, arguments.address, [order[0]], ctypes.addressof(given_out.run)) == [0]
    some = order[0][0] < order[0][1]
    assert given_out.left == ([] if some else order[1:])  # it asks when a lane becomes free
    assert given_out.in_vain == some  # once it is told that there are no more, it asks no more
    assert np.array_equal(done, np.full(wanted.size, some))
    assert np.array_equal(seen, np.where(done, wanted, 0))


def test_a_loop_that_is_stopped_asks_for_nothing() -> None:
    left = np.full(200, np.inf)
    program, seen, _, arguments = counting(left, 4)
    arguments.set_loop(max_steps=2**62)
    given_out = Ranges([(100, 200)], stop=True)
    assert call(program.loop_entry, arguments.address, [(0, 100)], ctypes.addressof(given_out.run)) == [-1]
    assert given_out.left == [(100, 200)]
    assert seen.any()
    assert not seen[program.under_way :].any()


@pytest.mark.parametrize("lanes", [4, 64])
def test_the_limit_of_steps_holds_for_samples_that_came_later(lanes: int) -> None:
    program, seen, done, arguments = counting(np.full(90, np.inf), lanes)
    arguments.set_loop(max_steps=70)
    given_out = Ranges([(30, 60), (60, 90)])
    assert call(program.loop_entry, arguments.address, [(0, 30)], ctypes.addressof(given_out.run)) == [0]
    assert set(seen) == {70}
    assert not done.any()


@pytest.mark.property(minutes=4)
@pytest.mark.filterwarnings("ignore:Generating overly large repr")
@given(
    kernels(mask="rw"),
    cases(mask="rw", most=80),
    WIDTHS,
    st.integers(1, 3),
    st.booleans(),
    st.sampled_from([1, 5, 40]),
    st.booleans(),
)
def test_generated_loops_over_ranges_they_ask_for(
    kernel: Kernel, case: Case, width: int | None, cut: int, backwards: bool, max_steps: int, watch: bool
) -> None:
    def ask(entry: int, address: int, ranges: list[tuple[int, int]]) -> list[int]:
        given_out = Ranges(ranges[1:])
        codes = call(entry, address, ranges[:1], ctypes.addressof(given_out.run))
        # Without a lane that becomes free nothing is asked for: the team would call again.
        return codes + call(entry, address, given_out.left)

    check_loop(kernel, case, width, cut, backwards, max_steps, watch, ask)


def test_a_loop_takes_no_more_than_its_range_before_its_first_step() -> None:
    left = np.full(64, np.inf)
    program, seen, _, arguments = counting(left, 4)
    arguments.set_loop(max_steps=2**62)
    given_out = Ranges([(2, 64)], stop=True)
    assert program.under_way > 2
    assert call(program.loop_entry, arguments.address, [(0, 2)], ctypes.addressof(given_out.run)) == [-1]
    assert given_out.left == [(2, 64)]  # for other threads: no lane has become free
    assert seen[:2].all()


@pytest.mark.parametrize("finished", [7, 8, 9, 63, 64, 65, 1000])
def test_finished_samples_are_passed_over(finished: int) -> None:
    samples = finished + 20
    program, seen, done, arguments = counting(np.full(samples, 3.0), 4)
    done[3 : 3 + finished] = True
    done.view(np.uint8)[4] = 255  # any byte but 0
    wanted = np.where(done, 0, 3)
    arguments.set_loop(max_steps=100)
    assert call(program.loop_entry, arguments.address, [(0, samples)]) == [0]
    assert seen.tolist() == wanted.tolist()
    assert done.all()
