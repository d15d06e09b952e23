"""Kernels from text in files of their own, and one launch of a kernel by the reference evaluator."""

from __future__ import annotations

import importlib.util
import itertools
import textwrap
from collections.abc import Callable
from math import prod
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import hawk
from eagle_ir import Function
from eagle_ir.evaluate import Fault, evaluate

HEADER = """\
import math
import numpy as np
import hawk
from hawk import *

"""


class Results(dict[str, Any]):
    """The planes after a launch, and the fault if there was one."""

    fault: Fault | None = None


@pytest.fixture
def define(tmp_path: Path) -> Callable[[str], ModuleType]:
    """Import a module made of the usual imports, which take five lines, and some source."""
    serial = itertools.count()

    def make(source: str, header: str = HEADER) -> ModuleType:
        path = tmp_path / f"kernels_{next(serial)}.py"
        path.write_text(header + textwrap.dedent(source).lstrip("\n"), encoding="utf-8")
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return make


def launch(kernel: hawk.KernelFunction, scalar: str = "float64", **given: Any) -> Results:
    """Run a kernel over copies of planes; those it only writes are made."""
    made = kernel.__eagle_kernel__(scalar)
    code = made.code
    assert isinstance(code, Function)
    arrays: dict[str, np.ndarray] = {}
    params: dict[str, Any] = {}
    for one in made.arguments:
        if one.role == "param":
            params[one.name] = given[one.name]
        elif one.name in given:
            arrays[one.name] = np.array(given[one.name], dtype=one.dtype)
    samples = next(
        (arrays[one.name].shape[-1] for one in made.arguments if one.role != "table" and one.name in arrays), 1
    )
    for one in made.arguments:
        if one.role != "param" and one.name not in arrays:
            shape = (prod(one.shape), samples) if one.shape else (samples,)
            arrays[one.name] = np.zeros(shape, dtype=one.dtype)
    results = Results(arrays)
    results.fault = evaluate(code, arrays, params, samples)
    return results


@pytest.fixture
def run() -> Callable[..., Results]:
    """Give `launch`."""
    return launch
