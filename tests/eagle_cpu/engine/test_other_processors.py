"""Code for processors with less than this one runs here too, and gives the evaluator's bits as well."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from engine_programs import cases, kernels
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_kernels import countdown
from test_generated_launches import WIDTHS, check
from test_generated_loops import check_loop

from eagle_cpu.engine import arithmetic, compiler, lane_mask, memory, object_cache, program, shape, vector_math
from eagle_cpu.engine.host import Host, host
from eagle_cpu.engine.shape import Shape
from eagle_ir import Function

if host().machine != "x86_64":
    pytest.skip("these processors are all of one kind", allow_module_level=True)

pytestmark = pytest.mark.filterwarnings("ignore:Generating overly large repr")
OTHERS: dict[str, dict[str, Any]] = {
    "without gathers, masks and fused operations": {"vector_bits": 128, "masks": False, "fused": False},
    "without a vector library": {"machine": "unknown"},
}


@pytest.fixture(params=list(OTHERS))
def other(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Host]:
    """This machine, taken for a lesser one."""
    lesser = OTHERS[request.param]
    if "vector_bits" in lesser:
        lesser = {**lesser, "cpu": "x86-64", "features": ""}
    changed = dataclasses.replace(host(), **lesser)
    for module in (arithmetic, compiler, lane_mask, memory, object_cache, shape, vector_math):
        monkeypatch.setattr(module, "host", lambda: changed)
    monkeypatch.setattr(program, "_slots", {})
    caches = (vector_math.variant, vector_math._functions, object_cache._machine_key, compiler._target)
    for cache in caches:
        cache.cache_clear()
    yield changed
    for cache in caches:
        cache.cache_clear()


FEW = settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@pytest.mark.property(minutes=3)
@FEW
@given(data=st.data())
def test_launches_and_loops_give_the_evaluators_bits(other: Host, data: Any) -> None:
    width = data.draw(WIDTHS)
    with np.errstate(all="ignore"):
        check(data.draw(kernels()), data.draw(cases(most=60)), width, 2, False)
    check_loop(data.draw(kernels(mask="rw")), data.draw(cases(mask="rw", most=60)), width, 2, False, 17, False)


def test_a_narrower_processor_has_fewer_lanes(other: Host) -> None:
    kernel = countdown()
    assert isinstance(kernel.code, Function)
    assert Shape.of(kernel.code).lanes == 4 * other.vector_bits // 64
