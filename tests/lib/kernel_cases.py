"""A generated kernel with planes, run by the oracle, by the reference evaluator and by the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from kernel_ir import same
from kernel_numbers import Fault
from kernel_oracle import Failure, Oracle
from kernel_planes import planes
from random_kernels import Case

from eagle.plugin import Kernel
from eagle_ir import Function
from eagle_ir.evaluate import Fault as Retired
from eagle_ir.evaluate import evaluate


class Comparison:
    """One kernel over one set of planes.

    Parameters
    ----------
    case : Case
    scalar : {"float64", "float32"}
    samples, seed : int
        How many samples, and what decides their numbers.
    functions : mapping of str to callable
        The transcendentals.
    """

    def __init__(
        self, case: Case, scalar: str, samples: int, seed: int, functions: Mapping[str, Callable[..., Any]]
    ) -> None:
        module = case.module()
        self.kernel: Kernel = module.kernel.__eagle_kernel__(scalar)
        self.functions = dict(functions)
        self.oracle = Oracle(case.source, "kernel", vars(module), scalar, functions)
        self.samples = samples
        planes_, self.params = planes(case, scalar, samples, seed)
        written = {one.name: one for one in self.kernel.arguments if one.mode == "w"}
        assert set(written) == set(case.outputs)
        self.start = planes_ | {name: before(one.dtype, (*one.shape, samples)) for name, one in written.items()}
        self.expected = self.copy()
        self.failures = self.oracle.run(self.expected, self.params, samples)

    def loop(self, max_steps: int) -> np.ndarray:
        """Let the oracle run every sample to its end or for so many steps, from the start; the steps each took."""
        (mask,) = [one.name for one in self.kernel.arguments if one.role == "mask"]
        self.expected, self.failures = self.copy(), []
        steps = np.zeros(self.samples, np.int64)
        for sample in range(self.samples):
            try:
                while steps[sample] < max_steps and not self.expected[mask][sample]:
                    self.oracle.run_sample(self.expected, self.params, sample)
                    steps[sample] += 1
            except Fault as fault:
                self.failures.append(Failure(sample, fault.kind))
        return steps

    def copy(self) -> dict[str, np.ndarray]:
        return {name: array.copy() for name, array in self.start.items()}

    def evaluated(self) -> tuple[Retired | None, dict[str, np.ndarray]]:
        """What the reference evaluator makes of the kernel's IR."""
        arrays = self.copy()
        assert isinstance(self.kernel.code, Function)
        return evaluate(self.kernel.code, arrays, self.params, self.samples, self.functions), arrays

    @property
    def lowest(self) -> Failure | None:
        return self.failures[0] if self.failures else None

    @property
    def kept(self) -> np.ndarray:
        """Which samples did not fault; what the others hold is unspecified."""
        kept = np.ones(self.samples, bool)
        kept[[failure.sample for failure in self.failures]] = False
        return kept

    def agrees(self, fault: Retired | None, arrays: Mapping[str, np.ndarray]) -> None:
        """Fail unless a run faulted where the oracle does, and left the bits it leaves."""
        found = None if fault is None else Failure(fault.sample, fault.error)
        assert found == self.lowest
        assert not self.differences(arrays)

    def differences(self, arrays: Mapping[str, np.ndarray]) -> dict[str, tuple[Any, Any]]:
        """What differs, by plane: the expected and the found values of samples that did not fault."""
        found = {}
        for one in self.kernel.arguments:
            if one.role in ("sample", "mask"):
                expected, got = self.expected[one.name][..., self.kept], arrays[one.name][..., self.kept]
                if not same(expected, got):
                    found[one.name] = expected, got
        return found


def before(dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """What an output holds before it is written: matrices as rows of components."""
    flat = (int(np.prod(shape[:-1])), shape[-1]) if len(shape) > 1 else shape
    return np.full(flat, 1, dtype)
