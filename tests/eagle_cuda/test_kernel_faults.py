"""What faults in kernels and interrupts do to launches and loops on the device."""

from __future__ import annotations

import gc
from typing import Any

import kernels
import numpy as np
import pytest
from cuda_arrays import DeviceArray
from cuda_emulator import Emulator
from cuda_interrupts import interrupted_while_waiting

import eagle
import hawk
from hawk import Index, Int32, Mutable, Scalar, Table, Terminated


@hawk.kernel
def read_behind(i: Mutable[Index], table: Table[Scalar], x: Mutable[Scalar]) -> None:  # type: ignore[type-arg]
    x += table[i]
    i += 1


@hawk.kernel
def walk(i: Mutable[Index], table: Table[Scalar], x: Mutable[Scalar], terminated: Terminated) -> None:  # type: ignore[type-arg]
    x += table[i]
    i += 1
    terminated = x >= 5.0


@hawk.kernel
def turn_on(x: Mutable[Scalar], to: Scalar) -> None:
    while x < to:
        x += 1.0


@hawk.kernel
def never(x: Mutable[Scalar], terminated: Terminated) -> None:
    x += 1.0
    terminated = x < 0.0


@hawk.kernel
def never_of(y: Mutable[Scalar], terminated: Terminated) -> None:
    y += 1.0
    terminated = y < 0.0


@hawk.kernel
def split(a: Int32, b: Int32, c: Mutable[Int32]) -> None:
    c = a // b


def reals(*values: float) -> DeviceArray:
    return DeviceArray(np.array(values, np.float64))


def whole(*values: int, dtype: Any = np.int64) -> DeviceArray:
    return DeviceArray(np.array(values, dtype))


# faults ---------------------------------------------------------------------------------------------------------------


def test_the_repetition_of_a_fault_is_whole_and_later_ones_do_nothing(device: Emulator) -> None:
    before, x, after = reals(0, 0), reals(0, 0), reals(0, 0)
    bump = eagle.deploy(kernels.bump)
    i = whole(0, 2)
    g = eagle.Graph().add(bump.bind(x=before))
    g.add(eagle.deploy(read_behind).bind(i=i, table=reals(1, 1, 1), x=x)).add(bump.bind(x=after)).build()
    with pytest.raises(IndexError, match=r"index 3 is outside table 'table', for sample 1 of kernel 'read_behind'"):
        g.launch(5)
    assert before.to_numpy().tolist() == after.to_numpy().tolist() == [2, 2]
    assert x.to_numpy().tolist() == [2, 1]
    assert i.to_numpy().tolist() == [2, 3]
    i.fill_from(0)
    g.launch(2)
    assert before.to_numpy().tolist() == after.to_numpy().tolist() == [4, 4]


def test_of_several_faults_that_of_the_first_node_and_its_lowest_sample_is_raised(device: Emulator) -> None:
    n = 700
    a, b, c = (DeviceArray(np.ones(n, np.int32)) for _ in range(3))
    from_200, from_3 = (DeviceArray(np.where(np.arange(n) < first, 1, 0).astype(np.int32)) for first in (200, 3))
    g, plan = eagle.Graph(), eagle.deploy(split)
    g.add(plan.bind(a=a, b=from_200, c=b), name="first")
    g.add(plan.bind(a=a, b=from_3, c=c), name="second").build()
    with pytest.raises(ZeroDivisionError, match=r"sample 200 of kernel 'split'.*c = a // b") as caught:
        g.launch(3)
    assert "'first'" in caught.value.__notes__[0]


def test_a_fault_ends_the_loop_around_it_and_that_around_that(device: Emulator) -> None:
    on, i, x, after = whole(1, dtype=np.int32), whole(0, 1), reals(0, 0), reals(0)
    step = eagle.deploy(read_behind).bind(i=i, table=reals(1, 1, 1, 1), x=x)
    guard = eagle.SkipGuard.nonzero(on)
    inner: Any = eagle.repeat_while(step.launch, guard, name="inner")
    outer: Any = eagle.repeat_while(inner, guard, name="outer")
    g = eagle.Graph().add_node(outer).add(eagle.deploy(kernels.bump).bind(x=after)).build()
    with pytest.raises(IndexError, match=r"index 4 .* sample 1") as caught:
        g.launch(2)
    assert [note.split(" (")[0] for note in caught.value.__notes__] == [
        "in node 'read_behind'",
        "in node 'inner'",
        "in node 'outer'",
    ]
    assert (inner.iterations, outer.iterations) == (4, 1)
    assert x.to_numpy().tolist() == [4, 3]
    assert after.to_numpy().tolist() == [1]


def test_a_fault_in_a_device_loop_leaves_its_sample_at_a_whole_step_and_the_others_at_their_ends(
    device: Emulator,
) -> None:
    i, x = whole(0, 2, 0, 3), reals(0, 0, 4, 2)
    runner = eagle.until_done(
        eagle.deploy(walk), i=i, table=reals(1, 1, 1, 1, 1), x=x, steps_per_sample=True, max_steps=100
    )
    with pytest.raises(IndexError, match=r"index 5 is outside table 'table', for sample 1 of kernel 'walk'"):
        runner.run()
    assert x.to_numpy().tolist() == [5, 3, 5, 4]
    assert np.asarray(runner.steps_taken).tolist() == [5, 3, 1, 2]
    i.fill_from(0)
    assert runner.run().done
    assert np.asarray(runner.steps_taken).tolist() == [5, 5, 1, 3]


def test_an_error_holds_nothing_of_the_graph_it_came_from(unordered: Emulator) -> None:
    bound = eagle.deploy(kernels.look_up).bind(i=whole(7), table=reals(1), out=reals(0))
    gc.collect()
    before = unordered.live()["graphs"]
    gc.disable()
    try:
        with pytest.raises(IndexError):
            bound.launch()
        assert unordered.live()["graphs"] > before
        del bound
        unordered.settle()
        assert unordered.live()["graphs"] == before
    finally:
        gc.enable()


# interrupts -----------------------------------------------------------------------------------------------------------


def test_an_interrupt_ends_a_kernel_whose_inner_loop_would_not(unordered: Emulator) -> None:
    x, to = reals(0, 0, 0), reals(5, np.inf, 7)
    bound = eagle.deploy(turn_on).bind(x=x, to=to)
    with interrupted_while_waiting():
        bound.launch()
    assert x.to_numpy()[1] == 0  # a sample that was stopped has not been stored
    to.fill_from(20_000)
    bound.launch()  # looks whether it is to stop, and is not
    assert x.to_numpy().tolist() == [20_000] * 3


def test_an_interrupt_ends_a_device_loop_that_would_not_and_it_goes_on_from_there(unordered: Emulator) -> None:
    x = DeviceArray(np.zeros(300))
    runner = eagle.until_done(eagle.deploy(never), x=x, steps_per_sample=True)
    with interrupted_while_waiting() as caught:
        runner.run()
    assert any("0 of 300 samples are finished; run() goes on" in note for note in caught.value.__notes__)
    taken = np.asarray(runner.steps_taken)
    assert (x.to_numpy() == taken).all()
    x.fill_from(-10)
    assert runner.run(3).done


def test_an_interrupt_ends_a_loop_of_several_nodes(unordered: Emulator) -> None:
    x, y = reals(0, 0), reals(0, 0)
    runner = eagle.until_done([eagle.deploy(kernels.bump, steps=1), eagle.deploy(never_of, steps=1)], x=y, y=x)
    with interrupted_while_waiting() as caught:
        runner.run()
    assert any("stopped before their end" in note for note in caught.value.__notes__)
    assert x.to_numpy().tolist() == y.to_numpy().tolist()  # whole steps
    x.fill_from(-10)
    assert runner.run(3).done
