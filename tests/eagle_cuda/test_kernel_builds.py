"""Kernels that cannot be built on the device, or only after a detour; what is compiled, kept and given back."""

from __future__ import annotations

import ctypes
import gc
import hashlib
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import kernels
import numpy as np
import pytest
from cuda.bindings import nvrtc
from cuda_arrays import DeviceArray
from cuda_emulator import Emulator
from cuda_own import call, leaves_nothing, use_device
from kernel_ir import sample

import eagle
from eagle.plugin import Kernel
from eagle_cuda import modules, parameters
from eagle_cuda.abilities import Abilities
from eagle_cuda.device import device as device_of
from eagle_cuda.parameters import check_parameters
from eagle_cuda.programs import program_for
from eagle_ir import Builder, Type, to_kernel

pytestmark = pytest.mark.usefixtures("unordered")
FORGET: list[Callable[[], None]] = [
    modules._function.cache_clear,
    modules._module.cache_clear,
    modules._compile.cache_clear,
    modules._compiler.cache_clear if hasattr(modules._compiler, "cache_clear") else lambda: None,
]


@pytest.fixture
def forgetful() -> Iterator[Callable[[], None]]:
    """Have the process forget every kernel it has compiled or loaded; what is on disk stays."""

    def forget() -> None:
        for clear in FORGET:
            clear()

    forget()
    yield forget
    forget()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forgetful: Callable[[], None]) -> Path:
    """A cache of the test's own."""
    monkeypatch.setenv("EAGLE_CACHE_DIR", str(tmp_path))
    return tmp_path


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is compiled from now on, by architecture."""
    compiled: list[str] = []
    real = modules._compile

    def compile_(text: str, arch: str) -> bytes:
        compiled.append(arch)
        return real(text, arch)

    monkeypatch.setattr(modules, "_compile", compile_)
    return compiled


def reals(count: int = 3) -> DeviceArray:
    return DeviceArray(np.zeros(count))


def bumped(x: DeviceArray) -> list[float]:
    """What one launch of a kernel leaves in zeros."""
    x.fill_from(0)
    eagle.deploy(kernels.bump).bind(x=x).launch()
    found: list[float] = x.to_numpy().tolist()
    return found


# too much -------------------------------------------------------------------------------------------------------------


def summing(count: int, mask: bool) -> Kernel:
    """A kernel of so many planes, which writes one of them."""
    names = [f"x{number}" for number in range(count)]
    arguments = [sample(name) for name in names]
    if mask:
        arguments.append(replace(sample("done", Type.BOOL, "rw"), role="mask", total=False))
    builder = Builder("summing", [*arguments, sample("out", Type.F64, "rw")])
    total = builder.load("out")
    for name in names[:3]:
        total = builder.compute("add", total, builder.load(name))
    builder.store("out", total)
    if mask:
        builder.store("done", builder.const(True, Type.BOOL))
    return to_kernel(builder.finish())


def bound(kernel: Kernel) -> dict[str, Any]:
    x = reals()
    return {one.name: x for one in kernel.arguments if one.role == "sample" and one.mode == "r"} | {"out": reals()}


def test_a_kernel_of_hundreds_of_planes_runs() -> None:
    kernel = summing(600, mask=False)
    planes = bound(kernel)
    planes["x0"] = planes["x2"] = DeviceArray(np.ones(3))
    eagle.Plan(kernel).bind(**planes).launch(2)
    assert planes["out"].to_numpy().tolist() == [4, 4, 4]


def test_more_parameters_than_a_kernel_can_have_are_refused_by_kernel_and_limit(unordered: Emulator) -> None:
    kernel = summing(4200, mask=False)
    plan, planes = eagle.Plan(kernel), bound(kernel)
    with leaves_nothing(unordered), pytest.raises(eagle.BuildError) as caught:
        eagle.Graph().add(plan.bind(**planes), name="many").build()
    for part in ("kernel 'summing' takes 33648 bytes of parameters", "32764 bytes at most", "node 'many'"):
        assert part in str(caught.value)


def test_a_driver_before_12_1_takes_fewer_parameters_and_the_refusal_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parameters, "abilities", lambda: Abilities(12000))
    fits, kernel = summing(506, mask=False), summing(507, mask=False)
    eagle.Plan(fits).bind(**bound(fits)).launch()
    with pytest.raises(eagle.BuildError, match=r"takes 4104 bytes .* driver for CUDA 12\.0 a kernel takes 4096 bytes"):
        eagle.Plan(kernel).bind(**bound(kernel)).launch()


def test_a_loop_of_too_many_parameters_is_refused_too() -> None:
    kernel = summing(4090, mask=True)  # a step of it alone would fit
    runner = eagle.until_done(eagle.Plan(kernel), **bound(kernel))
    with pytest.raises(eagle.BuildError, match=r"kernel 'summing' takes 328\d\d bytes of parameters"):
        runner.run()


def test_what_does_not_fit_the_compiled_function_is_refused_before_it_is_passed() -> None:
    use_device()
    function = program_for(kernels.bump.__eagle_kernel__()).launch_on(device_of(0))
    pointers = [ctypes.c_void_p, ctypes.c_longlong, *[ctypes.c_void_p] * 4]
    if not device_of(0).abilities.tells_parameters:
        pytest.skip("this driver does not say what a function takes")
    check_parameters(function, pointers, device_of(0).abilities)
    for wrong in (pointers[:-1], [*pointers, ctypes.c_int], [ctypes.c_int, *pointers[1:]]):
        with pytest.raises(eagle.BuildError, match=r"takes parameters of \[8, 8, 8, 8, 8, 8\] bytes"):
            check_parameters(function, wrong, device_of(0).abilities)
    check_parameters(function, [], Abilities(12030))  # which cannot be asked


def test_without_memory_a_build_fails_clearly_leaves_nothing_and_the_next_one_works(unordered: Emulator) -> None:
    x = reals()
    plan = eagle.deploy(kernels.bump)
    plan.bind(x=x).launch()
    unordered.capacity(1)
    with leaves_nothing(unordered), pytest.raises(eagle.EagleError) as caught:
        eagle.Graph().add(plan.bind(x=x), name="last straw").build()
    for part in ("no memory left", "OUT_OF_MEMORY", "Free arrays", "last straw"):
        assert part in str(caught.value)
    with pytest.raises(eagle.EagleError, match="no memory left"):
        eagle.deploy(kernels.scale).run(x=x, factor=2.0)
    unordered.reset()
    plan.bind(x=x).launch()
    assert x.to_numpy().tolist() == [2, 2, 2]


# where planes are -----------------------------------------------------------------------------------------------------


def test_planes_of_the_host_and_of_the_device_are_refused_together() -> None:
    with pytest.raises(eagle.PlaneError, match="plane 'a' is in cpu memory and plane 'x' in cuda memory"):
        eagle.deploy(kernels.affine).bind(a=np.zeros(3), x=reals())
    with pytest.raises(eagle.PlaneError, match="cuda memory"):
        eagle.simulate(kernels.decay, x=reals(), rate=np.full(3, 0.5))


def test_planes_on_two_devices_are_refused_naming_both(unordered: Emulator) -> None:
    if unordered.devices < 2:
        pytest.skip("there is one device")
    a, before = reals(), call("cuCtxGetCurrent")
    use_device(1)
    x = reals()
    call("cuCtxSetCurrent", before)
    with pytest.raises(eagle.PlaneError, match=r"plane 'x': the array is on device 1.*plane 'a' .* is on device 0"):
        eagle.deploy(kernels.affine).bind(a=a, x=x).launch()


def test_a_plan_runs_on_the_device_of_its_planes_whatever_is_current(unordered: Emulator) -> None:
    if unordered.devices < 2:
        pytest.skip("there is one device")
    before = call("cuCtxGetCurrent")
    use_device(1)
    x, counts = reals(), DeviceArray(np.array([2, 3], np.int32))
    call("cuCtxSetCurrent", before)
    assert bumped(x) == [1, 1, 1]
    assert eagle.simulate(kernels.count_down, left=counts).report.steps == 3


# compiling ------------------------------------------------------------------------------------------------------------


def test_a_kernel_of_another_dialect_is_refused_by_name() -> None:
    kernel = replace(kernels.bump.__eagle_kernel__(), dialect="other/1")
    with pytest.raises(eagle.BuildError, match=r"'odd'.*kernel 'bump' is of dialect 'other/1'.*compiles 'eagle-ir/1'"):
        eagle.Graph().add(eagle.Plan(kernel).bind(x=reals()), name="odd").build()


def test_without_nvrtc_a_plan_is_deployed_for_the_host_and_a_build_for_the_device_says_what_to_do(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> None:
        raise type("DynamicLibNotFoundError", (RuntimeError,), {})("libnvrtc.so.13")

    monkeypatch.setattr(nvrtc, "nvrtcVersion", missing)
    plan = eagle.deploy(kernels.bump)
    x = np.zeros(3)
    plan.bind(x=x).launch()
    assert x.tolist() == [1, 1, 1]
    with pytest.raises(eagle.BuildError, match=r"NVRTC is not found.*plans.*Install eagle-cuda\[toolkit\]"):
        plan.bind(x=reals()).launch()


def test_code_is_compiled_once_and_found_on_disk_after_that(
    cache: Path, forgetful: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = counted(monkeypatch)
    x = reals()
    for _ in range(2):
        assert bumped(x) == [1, 1, 1]
        assert eagle.Graph().add(eagle.deploy(kernels.bump).bind(x=x)).build().num_nodes() == 1
        forgetful()
    assert len(compiled) == 1


@pytest.mark.parametrize("damage", ["cut off", "of another device", "of other text"])
def test_a_cache_that_does_not_fit_is_made_anew(damage: str, cache: Path, forgetful: Callable[[], None]) -> None:
    x = reals()
    assert bumped(x) == [1, 1, 1]
    (file,) = cache.rglob("*.cubin")
    good = file.read_bytes()
    if damage == "cut off":
        file.write_bytes(good[:-100])
    elif damage == "of another device":  # all there, and not for this one
        file.write_bytes(hashlib.sha256(b"an image").digest() + b"an image")
    else:
        file.write_bytes(b"")
    forgetful()
    assert bumped(x) == [1, 1, 1]
    assert file.read_bytes() == good


@pytest.mark.parametrize(("driver", "refused"), [(12020, True), (13000, False)])
def test_code_that_a_driver_does_not_load_is_blamed_on_a_compiler_of_a_newer_major_version(
    driver: int, refused: bool, cache: Path, forgetful: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(modules, "abilities", lambda: Abilities(driver))
    monkeypatch.setattr(modules, "_compile", lambda text, arch: b"no image")
    monkeypatch.setattr(modules, "_compiler", lambda: "13.0")
    for _ in range(2):  # compiled just now, and found on disk
        with pytest.raises(eagle.EagleError, match="INVALID_IMAGE") as caught:
            bumped(reals())
        said = "the driver, for CUDA 12.2, does not load what NVRTC 13.0 compiles"
        assert (said in str(caught.value), "nvidia-cuda-nvrtc-cu12" in str(caught.value)) == (refused, refused)


def test_a_cache_that_cannot_be_written_is_done_without(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = cache / "file"
    file.write_text("in the way")
    monkeypatch.setenv("EAGLE_CACHE_DIR", str(file))
    with pytest.warns(eagle.PluginWarning, match="cache"):
        assert bumped(reals()) == [1, 1, 1]


def test_many_threads_deploy_one_kernel_and_one_compiles(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = counted(monkeypatch)
    together = threading.Barrier(200)

    def deploy(number: int) -> list[float]:
        x = reals(2)
        together.wait(60)
        return bumped(x)

    with ThreadPoolExecutor(200) as pool:
        assert list(pool.map(deploy, range(200))) == [[1, 1]] * 200
    assert len(compiled) == 1


def test_launches_and_loops_leave_nothing_of_the_driver_behind(unordered: Emulator) -> None:
    def everything() -> None:
        x, i = reals(), DeviceArray(np.array([0, 9, 1]))
        eagle.deploy(kernels.scale).run(x=x, factor=2.0)
        eagle.simulate(kernels.decay, x=x, rate=DeviceArray(np.full(3, 0.5)), stop_on_nonfinite=True)
        eagle.simulate([kernels.bump, kernels.count_down], x=x, left=DeviceArray(np.array([1, 2, 3], np.int32)))
        with pytest.raises(IndexError):
            eagle.deploy(kernels.look_up).run(i=i, table=x)

    everything()  # its kernels stay loaded
    gc.collect()
    unordered.run()
    with leaves_nothing(unordered):
        everything()
        gc.collect()
        unordered.run()
