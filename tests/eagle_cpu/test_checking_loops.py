"""``EAGLE_CHECK=1`` in loops: a kernel that reads an output before it has written it is named, however it is run."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import eagle
import hawk
from eagle.graph import opaque
from eagle.plugin import Access, Kernel, Lowering, Node, NodeKind, register
from eagle_ir import Function, to_kernel

ENTRY = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)
READS = "node '{}', plane 'y': the code reads this output before it has written it"


@hawk.kernel
def climb(x: hawk.Mutable[hawk.Scalar], y: hawk.Mutable[hawk.Scalar], done: hawk.Terminated) -> None:
    x += 1.0
    y += x
    done = x > 3.0


@hawk.kernel
def add_up(x: hawk.Scalar, y: hawk.Mutable[hawk.Scalar]) -> None:
    y += x


@hawk.kernel
def wander(x: hawk.Mutable[hawk.Scalar], done: hawk.Terminated) -> hawk.Scalar:
    x += 1.0
    done = x > 3.0
    return x * 2.0


@hawk.kernel
def doubled(x: hawk.Scalar) -> hawk.Scalar:
    return 2.0 * x


@pytest.fixture
def checking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EAGLE_CHECK", "1")


def untruthful(kernel: Any) -> Kernel:
    """The kernel of a front end that says its `y` is only written, which it reads."""
    honest = eagle.deploy(kernel).kernel
    assert isinstance(honest.code, Function)
    arguments = tuple(replace(one, mode="w") if one.name == "y" else one for one in honest.arguments)
    return to_kernel(replace(honest.code, arguments=arguments))


def ends(x: np.ndarray, mask: np.ndarray) -> Node[Any]:
    """Ends samples in a loop whose kernels do not."""

    def work() -> None:
        x[~mask] += 1.0
        np.logical_or(mask, x > 3.0, out=mask)

    return opaque(work, reads={"x": x, "mask": mask}, writes={"x": x, "mask": mask}, name="ends")


@pytest.mark.usefixtures("checking")
@pytest.mark.parametrize("options", [{}, {"max_steps": 2}, {"steps_per_sample": True}, {"stop_on_nonfinite": True}])
def test_a_loop_over_one_plan_that_reads_its_output_is_told(options: Mapping[str, Any]) -> None:
    x, y, done = np.arange(6.0), np.full(6, 9.0), np.arange(6) >= 4
    runner = eagle.until_done(eagle.deploy(untruthful(climb)), x=x, y=y, done=done, **options)
    with pytest.raises(eagle.PlaneError, match=READS.format("climb")):
        runner.run()
    assert (y[4:] == 9).all()  # of samples that were finished before


@pytest.mark.usefixtures("checking")
def test_a_simulation_that_reads_its_output_is_told() -> None:
    with pytest.raises(eagle.PlaneError, match=READS.format("climb")):
        eagle.simulate(untruthful(climb), x=np.arange(6.0), y=np.zeros(6))


@pytest.mark.usefixtures("checking")
def test_a_plan_with_a_mask_in_a_step_of_several_nodes_is_told() -> None:
    x, y, other = np.arange(6.0), np.zeros(6), np.zeros(6)
    steps = [eagle.deploy(untruthful(climb), steps=1), opaque(lambda: None, writes={"other": other})]
    with pytest.raises(eagle.PlaneError, match=READS.format("climb")):
        eagle.until_done(steps, x=x, y=y).run()


@pytest.mark.usefixtures("checking")
def test_a_plan_that_is_given_the_mask_of_others_is_told() -> None:
    x, y, mask = np.arange(6.0), np.zeros(6), np.zeros(6, bool)
    steps = [ends(x, mask), eagle.deploy(untruthful(add_up), steps=1)]
    with pytest.raises(eagle.PlaneError, match=READS.format("add_up")):
        eagle.until_done(steps, x=x, y=y, terminated=mask).run()


@pytest.mark.usefixtures("checking")
def test_a_native_node_in_a_step_of_several_nodes_is_told() -> None:
    x, y = np.zeros(6), np.zeros(6)

    @ENTRY  # type: ignore[untyped-decorator]
    def entry(args: int, begin: int, end: int, run: int) -> int:
        y[begin:end] += x[begin:end]
        return 0

    def lower(placed: Any, context: Any) -> Any:
        context.keep(entry)
        return context.native(ctypes.cast(entry, ctypes.c_void_p).value, 0, samples=6)

    accesses = [Access(name="x", array=x, mode="r", axis=0), Access(name="y", array=y, mode="w", axis=0)]
    register(
        NodeKind(name="sums in a loop", access=lambda node: accesses, complete_access=True),
        Lowering(kind="sums in a loop", backend="cpu", lower=lower),
    )
    steps = [Node("sums in a loop", None, "strange"), eagle.deploy(wander, steps=1)]
    with pytest.raises(eagle.PlaneError, match=READS.format("strange")):
        eagle.until_done(steps, x=x).run()


def one_plan() -> list[Any]:
    x, done, out = np.arange(6.0), np.array([0, 1, 0, 0, 0, 0], bool), np.full(6, -1.0)
    plan = eagle.deploy(wander)
    runner = eagle.until_done(plan, x=x, done=done, out=out, max_steps=2, steps_per_sample=True, stop_on_nonfinite=True)
    reports = [runner.run(), runner.run()]
    return [x, done, out, runner.steps_taken, runner.failed, [(one.steps, one.finished) for one in reports]]


def several_nodes() -> list[Any]:
    x, mask, out = np.arange(6.0), np.array([0, 1, 0, 0, 0, 0], bool), np.full(6, -1.0)
    steps = [eagle.deploy(doubled, steps=1), ends(x, mask)]
    report = eagle.until_done(steps, x=x, out=out, terminated=mask).run()
    return [x, mask, out, (report.steps, report.finished)]


@pytest.mark.parametrize("loop", [one_plan, several_nodes])
def test_loops_that_read_no_output_leave_what_they_leave_without_the_check(
    loop: Callable[[], list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = loop()
    monkeypatch.setenv("EAGLE_CHECK", "1")
    for now, then in zip(loop(), plain, strict=True):
        np.testing.assert_array_equal(now, then)
