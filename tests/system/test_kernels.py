"""Kernels compute what the rules for numbers say: front end, evaluator and engine against an oracle of the source.

On the CUDA device transcendentals are those of the C library, which the emulated one calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any

import host_math
import numpy as np
import pytest
from device_runs import fewer
from hypothesis import given
from hypothesis import strategies as st
from kernel_cases import Comparison
from kernel_examples import SOURCES
from kernel_ir import SITE, operation, same, sample
from kernel_oracle import Oracle
from kernel_points import error, exactly, points
from kernel_runs import Run
from random_kernels import Case, kernels, written

import hawk
from eagle.plugin import Kernel
from eagle_cpu.engine.vector_math import functions
from eagle_ir import OPERATIONS, Builder, Function, Type, to_kernel
from eagle_ir.evaluate import NUMPY, evaluate

scalars = st.sampled_from(["float64", "float32"])
seeds = st.integers(0, 2**32 - 1)
widths = st.sampled_from([4, 4, 4, 8, 8, 16, 32, 64, None])  # narrow code compiles faster
lengths = st.sampled_from([0, 1, 3, 7, 18, 33, 70])
cuts = st.lists(st.integers(1, 12), max_size=7)  # each piece on a thread of its own: one to eight


RULES: list[tuple[str, dict[str, Any], Any]] = [
    ("a * b + c", {"a": 1 + 2.0**-30, "b": 1 - 2.0**-30, "c": -1.0}, 0.0),
    ("fma(a, b, c)", {"a": 1 + 2.0**-30, "b": 1 - 2.0**-30, "c": -1.0}, -(2.0**-60)),
    ("a ** 3", {"a": 1.1}, 1.1 * 1.1 * 1.1),
    ("a ** 7", {"a": 1.1}, ((1.1 * 1.1 * 1.1) * (1.1 * 1.1 * 1.1)) * 1.1),
    ("max(a, b)", {"a": -0.0, "b": 0.0}, 0.0),
    ("min(a, b)", {"a": 0.0, "b": -0.0}, -0.0),
    ("max(a, b)", {"a": np.nan, "b": 1.0}, np.nan),
    ("round(a)", {"a": 2.5}, 2.0),
    ("a / b", {"a": 1.0, "b": -0.0}, -np.inf),
    ("a % b", {"a": -1.0, "b": 3.0}, 2.0),
    ("a // b", {"a": np.int32(-(2**31)), "b": np.int32(-1)}, np.int32(-(2**31))),
    ("a // b", {"a": np.int32(-7), "b": np.int32(2)}, np.int32(-4)),
    ("a % b", {"a": np.int32(7), "b": np.int32(0)}, ZeroDivisionError),
    ("a + 1", {"a": np.int32(2**31 - 1)}, np.int32(-(2**31))),
    ("a << b", {"a": np.int32(1), "b": np.int32(32)}, np.int32(0)),
    ("a >> b", {"a": np.int32(-5), "b": np.int32(40)}, np.int32(-1)),
    ("a + b", {"a": np.bool_(True), "b": np.bool_(True)}, np.int32(2)),
    ("a + b", {"a": np.int32(1), "b": np.uint32(2)}, np.int64(3)),
    ("a / b", {"a": np.int32(1), "b": np.int32(4)}, 0.25),
    ("int(a)", {"a": -2.9}, np.int64(-2)),
    ("int(a)", {"a": np.nan}, OverflowError),
    ("Int32(a)", {"a": 2147483648.0}, OverflowError),
    ("a == b or 1 // c > 0", {"a": 1.0, "b": 1.0, "c": np.int32(0)}, np.bool_(True)),
]
ANNOTATIONS = {"float64": "Scalar", "int32": "Int32", "uint32": "UInt32", "int64": "Index", "bool": "Bool"}


pytestmark = pytest.mark.one_seed


@pytest.fixture(autouse=True, scope="module")
def _compiled_now(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """An object cache of our own: code an earlier engine left behind must not stand in for this one's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EAGLE_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


def functions_of(device: Any) -> dict[str, Callable[..., Any]]:
    """The transcendentals of what runs kernels there."""
    return functions() if device.name == "cpu" else host_math.functions()


def run_on(device: Any, kernel: Kernel, arrays: Mapping[str, np.ndarray], params: Any, samples: int, lanes: Any) -> Any:
    """A kernel over copies of arrays: in code of some width on the host, or on the device."""
    if device.name == "cpu":
        return Run(kernel, arrays, params, samples, lanes)
    import kernel_devices

    return kernel_devices.Run(kernel, arrays, params)


@pytest.mark.host_only("nothing but the oracle runs")
@pytest.mark.parametrize(("text", "values", "expected"), RULES, ids=[text for text, _, _ in RULES])
def test_the_oracle_states_the_rules(text: str, values: dict[str, Any], expected: Any) -> None:
    arrays = {name: np.array([value]) for name, value in values.items()}
    inside = ", ".join(f"{name}: {ANNOTATIONS[array.dtype.name]}" for name, array in arrays.items())
    oracle = Oracle(f"def kernel({inside}):\n    return {text}\n", "kernel", vars(hawk) | {"fma": hawk.math.fma})
    if isinstance(expected, type):
        assert oracle.run(arrays, {}, 1) == [(0, expected)]
    else:
        arrays["out"] = np.zeros(1, np.asarray(expected).dtype)
        assert not oracle.run(arrays, {}, 1)
        assert same(arrays["out"][0], np.asarray(expected)[()])


@pytest.mark.property(minutes=16)
@fewer()
@given(kernels(smooth=True), scalars, seeds, lengths, widths, cuts)
def test_front_end_and_engine_compute_what_the_source_says(
    device: Any, case: Case, scalar: str, seed: int, samples: int, lanes: int | None, cuts: list[int]
) -> None:
    compared = Comparison(case, scalar, samples, seed, functions_of(device))
    compared.agrees(*compared.evaluated())
    run = run_on(device, compared.kernel, compared.start, compared.params, samples, lanes)
    compared.agrees(run.launch(cuts), run.arrays)


@pytest.mark.property(minutes=12)
@fewer(4)
@given(
    kernels(masked=True),
    scalars,
    seeds,
    st.sampled_from([0, 1, 5, 13, 22]),
    st.sampled_from([4, 4, 8, None]),
    cuts,
    st.sampled_from([0, 1, 2, 3, 4, 5, 8, 16, 17, 33]),
)
def test_a_loop_computes_what_launches_one_after_another_would(
    device: Any, case: Case, scalar: str, seed: int, samples: int, lanes: int | None, cuts: list[int], max_steps: int
) -> None:
    compared = Comparison(case, scalar, samples, seed, functions_of(device))
    expected = compared.loop(max_steps)
    run = run_on(device, compared.kernel, compared.start, compared.params, samples, lanes)
    steps = np.zeros(samples, np.int64)
    compared.agrees(run.loop(max_steps, steps, cuts), run.arrays)
    assert steps[compared.kept].tolist() == expected[compared.kept].tolist()
    assert compared.failures or run.longest == expected.max(initial=0)


@pytest.mark.parametrize("name", SOURCES)
def test_kernels_written_by_hand_compute_what_they_say(name: str, device: Any) -> None:
    case = written(SOURCES[name])
    both: list[tuple[str, tuple[int | None, ...]]] = [("float64", (4, None)), ("float32", (8, 64))]
    for scalar, some in both if device.name == "cpu" else [both[len(name) % 2]]:  # the device's compiler is slow
        compared = Comparison(case, scalar, 50, 0, functions_of(device))
        compared.agrees(*compared.evaluated())
        for lanes in some if device.name == "cpu" else [None]:
            run = run_on(device, compared.kernel, compared.start, compared.params, 50, lanes)
            compared.agrees(run.launch([1, 3]), run.arrays)


LANES = [None, 4, 8, 64]
INTEGERS = [Type.I32, Type.U32, Type.I64]
FLOATS = [Type.F64, Type.F32]


def specials(type_: Type) -> np.ndarray:
    """Numbers of a type with which operations go wrong."""
    kind: Any = type_.dtype.type
    if type_ is Type.BOOL:
        return np.array([False, True])
    if type_.is_integer:
        low, high = int(np.iinfo(kind).min), int(np.iinfo(kind).max)
        edges = [0, 1, 2, 3, 7, 31, 32, 33, 63, 64, -1, -2, -7, -32, low, low + 1, high, high - 1, high // 2]
        return np.array(sorted({one for one in edges if low <= one <= high}), kind)
    limits = np.finfo(kind)
    near = [0.0, 1.0, 1.5, 2.5, 0.5, 7.0, 0.1, 1e-30, 1e30, 2.0**23 + 0.5, 2.0**52 - 0.5, np.inf, float(limits.max)]
    near += [float(limits.tiny), float(limits.smallest_subnormal), 2.0**31, 2.0**32, 2.0**63, 2.0**31 - 0.5]
    return np.array([*near, *(-one for one in near), np.nan], kind)


def pairs(type_: Type) -> dict[str, np.ndarray]:
    a, b = np.array(list(product(specials(type_), repeat=2)), type_.dtype).T
    return {"a": a.copy(), "b": b.copy(), "c": np.random.default_rng(0).choice(specials(type_), len(a))}


def several(type_: Type, ops: list[str], conversions: list[Type]) -> Function:
    """All these operations in one function, of three operands at most."""
    results = {op: Type.BOOL if OPERATIONS[op].gives == "bool" else type_ for op in ops}
    outputs = results | {gives.value: gives for gives in conversions}
    planes = [sample(name, type_) for name in "abc"]
    b = Builder("several", [*planes, *(sample(name, result, "w") for name, result in outputs.items())])
    values = [b.load(name) for name in "abc"]
    for op in ops:
        b.store(op, b.compute(op, *values[: OPERATIONS[op].operands], site=SITE))
    for gives in conversions:
        b.store(gives.value, b.compute("convert", values[0], site=SITE, gives=gives))
    return b.finish()


def agree(device: Any, function: Function, arrays: dict[str, np.ndarray]) -> None:
    """Fail unless the outputs, at every width, are the evaluator's; a sample that faults is compared by that."""
    samples = len(next(iter(arrays.values())))
    outputs = {one.name: np.zeros(samples, one.dtype) for one in function.arguments if one.mode == "w"}
    expected = {name: array.copy() for name, array in (arrays | outputs).items()}
    fault = evaluate(function, expected, {}, samples, functions_of(device))
    for lanes in LANES if device.name == "cpu" else [None]:
        run = run_on(device, to_kernel(function), arrays | outputs, {}, samples, lanes)
        assert run.launch() == fault
        found = run.arrays
        for name in outputs:
            assert same(found[name], expected[name]), (name, lanes)


@pytest.mark.parametrize("type_", list(Type))
def test_operations_give_the_evaluator_s_bits_at_every_width(type_: Type, device: Any) -> None:
    ops = [
        op
        for op, one in OPERATIONS.items()
        if type_ in one.takes
        and op not in ("select", "convert")
        and not (one.transcendental or (one.faults and type_.is_integer))
    ]
    conversions = [gives for gives in Type if not (type_.is_float and gives.is_integer)]
    agree(device, several(type_, ops, conversions), pairs(type_))


@pytest.mark.parametrize("type_", INTEGERS)
@pytest.mark.parametrize("op", ["floordiv", "mod"])
def test_division_of_integers_gives_the_evaluator_s_bits_and_faults(op: str, type_: Type, device: Any) -> None:
    arrays = pairs(type_)
    good = {f"x{number}": arrays[name][arrays["b"] != 0] for number, name in enumerate("ab")}
    agree(device, operation(op, [type_, type_]), good)
    turned = {f"x{number}": arrays[name][::-1].copy() for number, name in enumerate("ab")}
    agree(device, operation(op, [type_, type_]), turned)


@pytest.mark.parametrize("gives", INTEGERS)
@pytest.mark.parametrize("type_", FLOATS)
def test_floats_become_integers_or_fault_as_in_the_evaluator(type_: Type, gives: Type, device: Any) -> None:
    function, numbers = operation("convert", [type_], gives), specials(type_)
    out = np.zeros(1, gives.dtype)
    good = [one for one in numbers if evaluate(function, {"x0": np.array([one]), "out": out}, {}, 1) is None]
    agree(device, function, {"x0": np.array(good, type_.dtype)})
    agree(device, function, {"x0": numbers})


@pytest.mark.parametrize("type_", FLOATS)
def test_transcendentals_give_the_same_bits_in_every_lane(type_: Type, device: Any) -> None:
    agree(device, several(type_, [op for op, one in OPERATIONS.items() if one.transcendental], []), pairs(type_))


@pytest.mark.host_only("the device's are measured where there is one")
@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("name", sorted(NUMPY))
def test_transcendentals_are_within_four_units_in_the_last_place(name: str, kind: Any) -> None:
    function, worst = functions()[name], 0.0
    for numbers in points(name, kind, 60):
        exact = exactly(name, *numbers)
        if abs(exact) <= float(np.finfo(kind).max):
            worst = max(worst, error(function(*numbers), exact))
    assert 0 < worst <= 4
