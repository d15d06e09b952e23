"""A real CUDA device in place of the emulated one, for ``pytest --real-gpu``; what only the latter shows is skipped."""

from __future__ import annotations

from typing import Any, NoReturn

import pytest

__all__ = ["RealDevice", "for_a_real_device"]


class RealDevice:
    """The controls of `cuda_emulator.Emulator`, as far as a real device has them.

    Attributes
    ----------
    driver : str
        Its version, as ``"13.0"``.
    devices : int
        How many there are.
    """

    real = True

    def __init__(self) -> None:
        from cuda.bindings import driver

        self._api = driver
        self._seed: int | None = None
        self._call("cuInit", 0)
        version = int(self._call("cuDriverGetVersion"))
        self.driver = f"{version // 1000}.{version % 1000 // 10}"
        self.devices = int(self._call("cuDeviceGetCount"))

    def seed(self, number: int) -> None:
        """Nothing, for the one order a real device chooses itself; skip a test that compares several."""
        if self._seed not in (None, number):
            self._skip("runs one thing in several orders")
        self._seed = number

    def reset(self) -> None:
        """Let everything pending run, where a context is current; skip a test that comes after one that lost it.

        A capture that a test left open is no such thing, and fails.
        """
        self._seed = None
        if not int(self._call("cuCtxGetCurrent")):
            return
        try:
            self._call("cuCtxSynchronize")
        except RuntimeError as error:
            if "STREAM_CAPTURE" in str(error):
                raise
            pytest.skip(f"a test before this one lost the context, and only the emulated device forgets that: {error}")

    def settle(self) -> None:
        """Let everything pending run."""
        self.reset()

    def run(self, operations: int = -1) -> None:
        """Let everything pending run; a part of it cannot be chosen."""
        if operations >= 0:
            self._skip("runs operations one by one")
        self.reset()

    def capacity(self, nbytes: int) -> NoReturn:
        """Skip the test: a real device's memory is what it is."""
        self._skip("has as little memory as a test wants")

    def live(self) -> NoReturn:
        """Skip the test: NVIDIA's driver does not count its objects."""
        self._skip("counts live objects")

    def pending(self) -> NoReturn:
        """Skip the test."""
        self._skip("says what has not run yet")

    def trace(self) -> NoReturn:
        """Skip the test."""
        self._skip("says in which order things ran")

    def calls(self) -> NoReturn:
        """Skip the test."""
        self._skip("counts calls of the driver")

    def _skip(self, what: str) -> NoReturn:
        pytest.skip(f"only the emulated device {what}")

    def _call(self, name: str, *arguments: Any) -> Any:
        code, *found = getattr(self._api, name)(*arguments)
        if int(code):
            raise RuntimeError(f"{name} answered {code!r}")
        return found[0] if found else None


def for_a_real_device(items: list[pytest.Item]) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Split tests into those to run and the others: of the emulated device's own choices, or repeated by seed."""
    kept: list[pytest.Item] = []
    left_out: list[pytest.Item] = []
    met = set()
    for item in items:
        parameters = dict(callspec.params) if (callspec := getattr(item, "callspec", None)) else {}
        if item.get_closest_marker("emulator_only"):
            left_out.append(item)
            continue
        if "seed" not in parameters:
            kept.append(item)
            continue
        del parameters["seed"]
        key = (item.nodeid.partition("[")[0], repr(sorted(parameters.items(), key=lambda pair: pair[0])))
        (left_out if key in met else kept).append(item)
        met.add(key)
    return kept, left_out
