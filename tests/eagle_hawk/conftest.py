"""Kernels from text in files of their own, and one launch of a kernel: by the reference evaluator, or on a device.

In a run with ``--emulated`` what runs kernels does so on the CUDA device; the rest, which runs nothing, is left out.
"""

from __future__ import annotations

import importlib.util
import itertools
import textwrap
from collections.abc import Callable
from functools import partial
from math import prod
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from device_runs import device, host_tests_left_out
from device_runs import under_a_seed as pytest_generate_tests

import hawk
from eagle.plugin import Kernel
from eagle_ir import Function
from eagle_ir.evaluate import Fault, evaluate

HEADER = """\
import math
import numpy as np
import hawk
from hawk import *

"""


__all__ = ["device", "pytest_generate_tests"]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    host_tests_left_out(config, items, str(Path(__file__).parent), silently=True)


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


Launch = Callable[[Kernel, dict[str, np.ndarray], dict[str, Any], int], tuple[Fault | None, dict[str, np.ndarray]]]


def evaluated(kernel: Kernel, arrays: dict[str, np.ndarray], params: dict[str, Any], samples: int) -> Any:
    """Launch a kernel by the reference evaluator."""
    assert isinstance(kernel.code, Function)
    return evaluate(kernel.code, arrays, params, samples), arrays


def on_device(kernel: Kernel, arrays: dict[str, np.ndarray], params: dict[str, Any], samples: int) -> Any:
    """Launch it on the device; what faults does so for the evaluator, too."""
    import kernel_devices

    run = kernel_devices.Run(kernel, arrays, params)
    fault = run.launch()
    assert fault == evaluated(kernel, arrays, params, samples)[0]
    return fault, run.arrays


def launch(how: Launch, kernel: hawk.KernelFunction, scalar: str = "float64", **given: Any) -> Results:
    """Run a kernel over copies of planes; those it only writes are made."""
    made = kernel.__eagle_kernel__(scalar)
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
    fault, arrays = how(made, arrays, params, samples)
    results = Results(arrays)
    results.fault = fault
    return results


@pytest.fixture
def run(device: Any) -> Callable[..., Results]:
    """Give `launch`, on the device of the test."""
    return partial(launch, evaluated if device.name == "cpu" else on_device)
