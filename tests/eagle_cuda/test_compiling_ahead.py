"""Kernels compiled ahead: in the bits of the same kernel launched from its source, or refused with the reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cuda_arrays import DeviceArray

import eagle
from eagle.plugin import Argument, GraphTypeError
from eagle_cuda import Artifact, compile_artifact, compile_source, launch_here, modules, save_artifact
from eagle_cuda.architectures import why_not_on
from eagle_cuda.artifacts import artifact_of
from eagle_cuda.device import device as device_numbered
from eagle_cuda.errors import ArtifactError

N = 300


def here() -> str:
    """Return the architecture of this run's device."""
    return device_numbered(0).arch


def arrays(arguments: tuple[Argument, ...]) -> dict[str, Any]:
    """Return host arrays for the arguments, about zero, and numbers for params."""
    draw = np.random.default_rng(7)
    made: dict[str, Any] = {}
    for one in arguments:
        if one.role == "param":
            made[one.name] = 0.375
            continue
        values = draw.uniform(-3.0, 3.0, size=(int(np.prod(one.shape)), N) if one.shape else N)
        made[one.name] = values > 0 if one.dtype == "bool" else values.astype(one.dtype)
    return made


def on_device(given: dict[str, Any]) -> dict[str, Any]:
    return {name: DeviceArray(one) if isinstance(one, np.ndarray) else one for name, one in given.items()}


@pytest.mark.parametrize("name", ["branches", "searches", "flags", "gravity", "turns", "decays"])
def test_a_kernel_gives_the_bits_it_gives_from_source(device: Any, name: str) -> None:
    """Vectors, bools, a loop inside a step, a mask, float32 and fused multiply-adds among them."""
    import kernel_texts

    scalar: Any = kernel_texts.SCALARS.get(name, "float64")
    plan = eagle.deploy(getattr(kernel_texts, name), scalar=scalar)
    compiled = compile_artifact(plan)
    assert (compiled.name, compiled.arguments) == (plan.name, plan.kernel.arguments)
    given = arrays(compiled.arguments)
    wanted, alone, together = on_device(given), on_device(given), on_device(given)
    plan.bind(**wanted).launch()
    launch_here(eagle.deploy(compiled).bind(**alone))
    eagle.Graph().add(eagle.deploy(compiled).bind(**together)).build().launch()
    written = [one.name for one in compiled.arguments if one.mode != "r"]
    assert written
    for one in written:
        bits = wanted[one].to_numpy().tobytes()
        assert alone[one].to_numpy().tobytes() == together[one].to_numpy().tobytes() == bits, one
        assert bits != given[one].tobytes(), one


def test_what_launches_add_to_is_kept(unordered: Any) -> None:
    import kernel_texts

    code = artifact_of(compile_artifact(kernel_texts.gravity, accumulates=("a",)))
    assert code is not None
    assert (code.accumulates, code.compiled_for, code.compiler) == (("a",), here(), f"NVRTC {modules._compiler()}")
    with pytest.raises(ArtifactError, match="accumulates into 'r', which is no plane of numbers that is read and writ"):
        compile_artifact(kernel_texts.gravity, accumulates=("r",))


@pytest.mark.parametrize("name", ["look_up", "divide"])
def test_a_kernel_that_can_fault_is_refused_with_the_line(unordered: Any, tmp_path: Path, name: str) -> None:
    import kernels

    with pytest.raises(eagle.BuildError, match=r"not compiled ahead: a sample can fault in it \(.*\.py:\d+: .*nobody"):
        save_artifact(getattr(kernels, name), tmp_path / "some.ptx")
    assert not list(tmp_path.iterdir())


def test_what_is_no_kernel_is_refused(unordered: Any) -> None:
    with pytest.raises(GraphTypeError, match="a kernel is compiled, not 3"):
        compile_artifact(3)
    import kernel_texts

    with pytest.raises(eagle.BuildError, match="is of dialect 'cuda-artifact/1'"):
        compile_artifact(compile_artifact(kernel_texts.gravity))


def test_the_architecture_is_one_and_goes_with_the_file(unordered: Any, tmp_path: Path) -> None:
    import kernel_texts

    with pytest.raises(eagle.BuildError, match=r"there is no architecture '90'\. Say 'compute_75' for PTX"):
        compile_artifact(kernel_texts.gravity, arch="90")
    with pytest.raises(eagle.BuildError, match=r"code for compute_80 is not kept in a\.cubin"):
        save_artifact(kernel_texts.gravity, tmp_path / "a.cubin", arch="compute_80")
    save_artifact(kernel_texts.gravity, tmp_path / "a.cubin")
    assert f'"compiled_for": "{here()}"' in (tmp_path / "a.json").read_text()
    save_artifact(kernel_texts.gravity, tmp_path / "b.ptx")
    assert '"compiled_for": "compute_75"' in (tmp_path / "b.json").read_text()


def test_a_cubin_without_a_device_has_to_be_told_what_it_is_for(
    unordered: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import kernel_texts

    from eagle_cuda import compiling

    monkeypatch.setattr(compiling, "why_not", lambda: "there is no NVIDIA driver here")
    with pytest.raises(eagle.BuildError, match=r"says what to compile for: there is no NVIDIA driver.*Say arch='comp"):
        save_artifact(kernel_texts.gravity, tmp_path / "a.cubin")


# CUDA C++ -------------------------------------------------------------------------------------------------------------

TABLE = """
extern "C" __global__ void look(const float* grid, long long rows, long long columns, const int* row, unsigned step,
                                bool twice, float* out, long long samples) {
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= samples || row[i] >= rows) return;
    out[i] = grid[row[i] * columns + step] * (twice ? 2.0f : 1.0f);
}
"""
LOOK = (
    Argument(name="grid", role="table", mode="r", dtype="float32", shape=(-1, 4)),
    Argument(name="row", role="sample", mode="r", dtype="int32"),
    Argument(name="step", role="param", mode="r", dtype="uint32"),
    Argument(name="twice", role="param", mode="r", dtype="bool"),
    Argument(name="out", role="sample", mode="w", dtype="float32", total=True),
)


def test_cuda_c_takes_every_kind_of_argument(device: Any) -> None:
    grid = np.arange(20, dtype=np.float32).reshape(5, 4)
    row = np.arange(N, dtype=np.int32) % 5
    plan = eagle.deploy(compile_source(TABLE, "look", LOOK, threads=32))
    for twice in (False, True):
        out = plan.run(grid=DeviceArray(grid), row=DeviceArray(row), step=3, twice=twice)
        np.testing.assert_array_equal(np.asarray(out), grid[row, 3] * (2 if twice else 1))


def test_cuda_c_that_does_not_compile_is_refused_with_the_compilers_words(unordered: Any) -> None:
    with pytest.raises(eagle.BuildError, match=r"(?s)NVRTC does not take the source of kernel 'look': .*nowhere"):
        compile_source(TABLE.replace("step]", "nowhere]"), "look", LOOK)
    with pytest.raises(eagle.BuildError, match=r"(?s)source of kernel 'look': .*nowhere"):
        compile_source(TABLE.replace("step]", "nowhere]"), "look", LOOK, arch="compute_75")


def test_arguments_that_make_no_kernel_are_refused(unordered: Any) -> None:
    with pytest.raises(ArtifactError, match=r"compiled kernel 'look' has no plane with a value per sample"):
        compile_source(TABLE, "look", LOOK[:1])


def test_what_is_passed_is_what_the_arguments_say(unordered: Any) -> None:
    from eagle_cuda.packing import packed, parameter_kinds

    planes = {one.name: _memory(one) for one in LOOK if one.role != "param"}
    passed = packed(LOOK, planes, {"step": 1, "twice": True})
    assert [kind for _, kind in passed] == parameter_kinds(LOOK)


def _memory(one: Argument) -> Any:
    from eagle.plugin import adapter_of

    array = DeviceArray(np.zeros([4 if size < 0 else size for size in one.shape] or [N], one.dtype))
    return adapter_of(array).describe(array)


# architectures --------------------------------------------------------------------------------------------------------


DEVICES = ("75", "80", "89", "90", "100", "103", "120")


@pytest.mark.parametrize(
    ("compiled_for", "runs_on"),
    [
        ("compute_75", "75 80 89 90 100 103 120"),
        ("compute_90", "90 100 103 120"),
        ("compute_90a", "90"),
        ("compute_100f", "100 103"),
        ("sm_80", "80 89"),
        ("sm_89", "89"),
        ("sm_90a", "90"),
        ("sm_100f", "100 103"),
        ("", "75 80 89 90 100 103 120"),
    ],
)
def test_code_runs_on_devices_it_is_compatible_with(compiled_for: str, runs_on: str) -> None:
    """As the CUDA C++ Programming Guide says of compute capabilities."""
    assert [number for number in DEVICES if why_not_on(compiled_for, f"sm_{number}") is None] == runs_on.split()


def test_an_artifact_made_by_hand_says_nothing_of_where_it_is_from() -> None:
    assert Artifact(image=b"x", entry="e") == Artifact(b"x", "e", 128, (), "", "", origin="a file")
