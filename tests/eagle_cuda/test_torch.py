"""torch on the device: torch itself on a real one, on the emulated one what has its names."""

from __future__ import annotations

import gc
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from cuda_arrays import DeviceArray
from cuda_own import leaves_nothing
from framework_kernels import fall

import eagle
from eagle.errors import BuildError, GraphError, PlaneError
from eagle.graph import child, opaque
from eagle.interop import import_buffer
from eagle.plugin import adapter_of, stream_handle, streams

N = 8


@pytest.fixture
def double(torch: Any) -> Any:
    """Tensors of one axis."""

    def make(value: float = 0.0) -> Any:
        made = torch.zeros(N, dtype=torch.float64, device="cuda")
        return made.fill_(value)

    return make


@pytest.fixture
def affine(torch: Any, double: Any) -> Any:
    """A module: ``2 * x * 3 + weight``, with memory for what is between."""

    class Affine(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(double(1.0), requires_grad=False)
            self.seen: list[bool] = []

        def forward(self, x: Any) -> Any:
            self.seen.append(torch.is_inference_mode_enabled())
            return x * 2.0 * 3.0 + self.weight

    return Affine().eval()


def node_of(model: Any, x: Any, y: Any, **named: Any) -> Any:
    from eagle.frameworks.torch import module

    return module(model, {"x": x}, {"y": y}, **named)


def test_tensors_are_planes_where_they_are(torch: Any, double: Any) -> None:
    x = double()
    memory = adapter_of(x).describe(x)
    assert (memory.device, memory.address, memory.dtype) == (("cuda", 0), x.data_ptr(), "float64")
    assert adapter_of(x[1:]).describe(x[1:]).address == x.data_ptr() + 8


def test_captured_code_runs_on_the_stream_of_the_graph(seed: int, torch: Any, double: Any) -> None:
    x, y, total = double(1.0), double(), torch.zeros(1, dtype=torch.float64, device="cuda")
    g = eagle.Graph()
    g.add_node(opaque(lambda: torch.mul(x, 2.0, out=y), reads={"x": x}, writes={"y": y}))
    g.add_node(eagle.copy(y, into=x))
    g.add_node(eagle.reduce(x, total))
    g.build().launch(3)
    assert (g.backend, g.captures, x.tolist(), total.tolist()) == ("gpu", 1, [8.0] * N, [64.0])


def test_a_launch_is_between_what_the_caller_queues(seed: int, torch: Any, double: Any) -> None:
    x, y = double(1.0), double()
    g = eagle.Graph().add_node(opaque(lambda: torch.add(x, 1.0, out=x), reads={"x": x}, writes={"x": x})).build()
    mine = torch.cuda.Stream()
    mine.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(mine):
        x.mul_(10.0)
        g.enqueue()
        y.copy_(x)
    mine.synchronize()
    assert y.tolist() == [11.0] * N
    g.synchronize()


def test_a_step_on_a_stream_of_torchs_is_between_its_neighbours(seed: int, torch: Any, double: Any) -> None:
    x, y, mine = double(1.0), double(), torch.cuda.Stream()
    g = eagle.Graph()
    g.add_node(opaque(lambda: x.mul_(2.0), reads={"x": x}, writes={"x": x}))
    g.add_node(opaque(lambda: x.copy_(x + 1.0), reads={"x": x}, writes={"x": x}, stream=mine))  # it may allocate
    g.add_node(opaque(lambda: y.copy_(x), reads={"x": x}, writes={"y": y}))
    g.build().launch(2)
    assert g.schedule == ("capture", "eager_stream", "capture")
    assert y.tolist() == [7.0] * N


def test_streams_are_those_of_torch(torch: Any) -> None:
    known, mine = streams()["torch"], torch.cuda.Stream()
    torch.cuda.synchronize()
    assert known.handle(mine) == stream_handle(mine) == mine.cuda_stream
    assert known.handle(object()) is None
    before = known.current(("cuda", 0))
    with known.use(("cuda", 0), mine.cuda_stream):
        assert known.current(("cuda", 0)) == mine.cuda_stream
    assert known.current(("cuda", 0)) == before
    assert known.current(("opencl", 0)) is None


def test_captured_code_that_allocates_is_refused(torch: Any, double: Any) -> None:
    x = double(1.0)
    g = eagle.Graph().add_node(opaque(lambda: x.copy_(x + 1.0), reads={"x": x}, writes={"x": x}), name="mine")
    with pytest.raises(BuildError, match=r"node 'mine'.*allocates memory of torch.*eagle\.frameworks\.torch\.module"):
        g.build()
    g = eagle.Graph().add_node(opaque(lambda: x.add_(1.0), reads={"x": x}, writes={"x": x})).build().launch()
    assert x.tolist() == [2.0] * N


# modules --------------------------------------------------------------------------------------------------------------


def test_a_module_is_captured_and_replayed(seed: int, torch: Any, double: Any, affine: Any) -> None:
    x, y, z = double(1.0), double(), double()
    g = eagle.Graph()
    g.add_node(opaque(lambda: x.add_(1.0), reads={"x": x}, writes={"x": x}))
    g.add_node(node_of(affine, x, y), name="model")
    g.add_node(opaque(lambda: torch.mul(y, 10.0, out=z), reads={"y": y}, writes={"z": z}))
    g.build()
    assert (x.tolist(), y.tolist()) == ([1.0] * N, [0.0] * N)  # a build changes nothing
    calls = len(affine.seen)
    g.launch(2)
    assert (g.schedule, g.captures) == (("capture",) * 3, 1)
    assert z.tolist() == [190.0] * N
    assert len(affine.seen) == calls
    assert all(affine.seen)


def test_its_memory_is_nobody_elses(seed: int, torch: Any, double: Any, affine: Any) -> None:
    x, y = double(1.0), double()
    g = eagle.Graph().add_node(node_of(affine, x, y)).build()
    gc.collect()
    torch.cuda.empty_cache()
    others = [double(float(number)) for number in range(6)]
    g.launch()
    assert y.tolist() == [7.0] * N
    assert [one.tolist() for one in others] == [[float(number)] * N for number in range(6)]


def test_nothing_of_it_is_left_when_the_graph_is_gone(torch: Any, double: Any, affine: Any, unordered: Any) -> None:
    x, y = double(1.0), double()
    torch.cuda.current_stream()
    eagle.Graph().add_node(node_of(affine, x, y)).build().launch()  # what is made once and kept
    with leaves_nothing(unordered):
        g = eagle.Graph().add_node(node_of(affine, x, y)).build().launch()
        del g
    assert y.tolist() == [7.0] * N


@pytest.mark.emulator_only
def test_recording_allocates_nothing_after_the_warm_up(
    torch: Any, double: Any, affine: Any, unordered: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from eagle_torch.capturing import _Recorded

    record, allocated = _Recorded.__call__, []

    def counted(self: Any, stream: int) -> None:
        before = unordered.calls().get("cuMemAlloc", 0)
        record(self, stream)
        allocated.append(unordered.calls().get("cuMemAlloc", 0) - before)

    monkeypatch.setattr(_Recorded, "__call__", counted)
    eagle.Graph().add_node(node_of(affine, double(1.0), double())).build()
    assert unordered.calls()["cuMemAlloc"] > 0
    assert allocated == [0]


def test_two_threads_capture_modules_at_once(seed: int, torch: Any, double: Any, affine: Any) -> None:
    planes = [(double(float(number)), double()) for number in range(4)]

    def build(x: Any, y: Any) -> eagle.Graph:
        return eagle.Graph().add_node(node_of(affine, x, y)).build()

    with ThreadPoolExecutor(2) as pool:
        graphs = list(pool.map(build, *zip(*planes, strict=True)))
    for g in graphs:
        g.launch()
    assert [y.tolist() for _, y in planes] == [[6.0 * number + 1.0] * N for number in range(4)]


def test_weights_updated_in_place_are_seen(seed: int, torch: Any, double: Any, affine: Any) -> None:
    x, y = double(1.0), double()
    g = eagle.Graph().add_node(node_of(affine, x, y)).build().launch()
    affine.weight.add_(5.0)
    g.launch()
    assert y.tolist() == [12.0] * N


def test_weights_that_went_elsewhere_are_refused_by_name(torch: Any, double: Any, affine: Any) -> None:
    g = eagle.Graph().add_node(node_of(affine, double(1.0), double()), name="model").build().launch()
    affine.weight.data = double(3.0)
    with pytest.raises(PlaneError, match=r"node 'model': parameter 'weight'.*param\.data"):
        g.launch()


def test_a_loop_holds_a_module(seed: int, torch: Any, double: Any, affine: Any) -> None:
    x, y, going = double(1.0), double(), double(3.0)
    affine.weight.fill_(0.0)
    count = opaque(lambda: going.add_(-1.0), reads={"n": going}, writes={"n": going})
    step = (node_of(affine, x, y), opaque(lambda: x.copy_(y), reads={"y": y}, writes={"x": x}), count)
    eagle.Graph().add_node(eagle.repeat_while(step, eagle.SkipGuard.nonzero(going))).build().launch()
    assert x.tolist() == [216.0] * N


def test_a_model_and_a_plan_run_in_list_order_once_per_step(seed: int, torch: Any, double: Any) -> None:
    class Push(torch.nn.Module):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            return x * 0.0 + 1.0

    x, push, done = double(1.0), double(), DeviceArray(np.zeros(N, bool))
    x[:2].fill_(3.0)
    steps = [node_of(Push().eval(), x, push), eagle.deploy(fall, steps=1)]
    report = eagle.until_done(steps, x=x, push=push, terminated=done).run()
    assert (report.steps, report.finished) == (3, N)
    assert x.tolist() == [4.0] * N


def test_a_child_steps_in_a_loop(seed: int, torch: Any, double: Any) -> None:
    x, push, done = double(1.0), double(), DeviceArray(np.zeros(N, bool))
    node = child(captured(torch, lambda: push.fill_(1.0)), reads={"done": done}, writes={"push": push})
    report = eagle.until_done([node, eagle.deploy(fall, steps=1)], x=x, push=push, terminated=done).run()
    assert (report.steps, x.tolist()) == (3, [4.0] * N)


@pytest.mark.parametrize(
    ("forward", "says"),
    [
        (lambda x: x[1:] + 1.0, r"plane 'y'.*gives float64\[7\] and the plane holds float64\[8\]"),
        (lambda x: x.add_(1.0), "plane 'x'.*changed an input in place"),
        (lambda x: None, "returned a NoneType"),
    ],
)
def test_what_is_not_its_output_is_refused_at_the_build(torch: Any, double: Any, forward: Any, says: str) -> None:
    class Model(torch.nn.Module):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            return forward(x)

    g = eagle.Graph().add_node(node_of(Model().eval(), double(1.0), double()), name="model")
    with pytest.raises((GraphError, PlaneError), match=f"node 'model'.*{says}"):
        g.build()


def test_a_module_in_training_mode_is_refused_at_the_build(torch: Any, double: Any, affine: Any) -> None:
    affine.training = True
    with pytest.raises(GraphError, match="training mode"):
        eagle.Graph().add_node(node_of(affine, double(1.0), double())).build()


def test_arrays_of_other_libraries_are_given_as_tensors(seed: int, torch: Any, double: Any, affine: Any) -> None:
    x, y = DeviceArray(np.full(N, 2.0)), DeviceArray(np.zeros(N))
    eagle.Graph().add_node(node_of(affine, x, y)).build().launch()
    assert y.to_numpy().tolist() == [13.0] * N


# graphs that torch captured ----------------------------------------------------------------------------------------


def captured(torch: Any, work: Any, *, keep_graph: bool = True) -> Any:
    graph = torch.cuda.CUDAGraph(keep_graph=keep_graph)
    with torch.cuda.graph(graph):
        work()
    return graph


def test_a_graph_of_torchs_runs_in_its_place(seed: int, torch: Any, double: Any) -> None:
    x = double(1.0)
    g = eagle.Graph()
    g.add_node(opaque(lambda: x.mul_(10.0), reads={"x": x}, writes={"x": x}))
    g.add_node(child(captured(torch, lambda: x.add_(1.0)), reads={"x": x}, writes={"x": x}))
    g.build().launch(2)
    assert x.tolist() == [111.0] * N


def test_a_graph_that_was_not_kept_is_refused(torch: Any, double: Any) -> None:
    x = double(1.0)
    owner = captured(torch, lambda: x.add_(1.0), keep_graph=False)
    with pytest.raises(BuildError, match=r"node 'model'.*CUDAGraph\(keep_graph=True\)"):
        eagle.Graph().add_node(child(owner, writes={"x": x}), name="model").build()


def test_a_graph_that_holds_nothing_yet_is_refused(torch: Any, double: Any) -> None:
    with pytest.raises(BuildError, match=r"does not give its graph.*capture_end"):
        eagle.Graph().add_node(child(torch.cuda.CUDAGraph(keep_graph=True), writes={"x": double()})).build()


def test_a_graph_that_draws_random_numbers_is_refused(torch: Any, double: Any) -> None:
    x = double(1.0)
    x.uniform_()

    def work() -> None:
        x.add_(1.0)
        x.uniform_()

    g = eagle.Graph().add_node(child(captured(torch, work), writes={"x": x}), name="model")
    with pytest.raises(BuildError, match=r"node 'model'.*draws random numbers.*'.*distribution.*CUDAGraph.replay"):
        g.build()


@pytest.mark.parametrize("again", [False, True])
def test_a_graph_that_was_reset_or_captured_again_is_refused(torch: Any, double: Any, again: bool) -> None:
    x = double(1.0)
    owner = captured(torch, lambda: x.add_(1.0))
    g = eagle.Graph().add_node(child(owner, reads={"x": x}, writes={"x": x}), name="model").build().launch()
    owner.reset()
    if again:
        with torch.cuda.graph(owner):
            x.add_(1.0)
    with pytest.raises(BuildError, match=r"node 'model'.*reset or captured again"):
        g.launch()


# weights --------------------------------------------------------------------------------------------------------------


def test_a_buffer_is_the_memory_of_its_parameter(seed: int, torch: Any, double: Any) -> None:
    parameter, out = torch.nn.Parameter(double(1.0), requires_grad=True), double()
    g = eagle.Graph().add_node(eagle.copy(import_buffer(parameter), into=out), name="read").build().launch()
    parameter.detach().add_(1.0)
    g.launch()
    assert out.tolist() == [2.0] * N
    parameter.data = double(5.0)
    with pytest.raises(PlaneError, match=r"node 'read', plane 'src'.*import_buffer"):
        g.launch()
