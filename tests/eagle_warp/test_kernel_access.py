"""What a Warp kernel does with its arrays: read off its code, against its own record and against running it."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import warp as wp
from warp_kernels import USES

from eagle_warp.kernel_access import uses_of

CASES = [pytest.param(kernel, wanted, id=kernel.func.__name__) for kernel, wanted in USES]


@pytest.mark.parametrize(("kernel", "wanted"), CASES)
def test_what_is_read_and_what_is_written(kernel: Any, wanted: dict[str, str]) -> None:
    found = {name: "r" * use.reads + "w" * use.writes for name, use in uses_of(kernel.adj).items()}
    assert found == wanted


@pytest.mark.parametrize(("kernel", "wanted"), CASES)
def test_whatever_warp_itself_sees_written_is_written(kernel: Any, wanted: dict[str, str]) -> None:
    """Warp's record is made where the access of gradients is verified; it misses some writes and invents none."""
    from warp._src.codegen import Adjoint
    from warp._src.context import ModuleBuilder

    options = {**wp.get_module_options(), "verify_autograd_array_access": True}
    adjoint = Adjoint(kernel.func)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of whatever may spoil a gradient
        builder = ModuleBuilder(kernel.module, {**kernel.module.options, **options})
        adjoint.build(builder)
    seen = {one.label for one in adjoint.args if one.is_write}
    assert seen <= {name for name, mode in wanted.items() if "w" in mode}
    if kernel.func.__name__ in ("saxpy", "in_place", "adds_up", "by_functions"):
        assert seen
