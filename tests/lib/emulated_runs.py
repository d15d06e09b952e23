"""A run of pytest on the emulated CUDA device, and one that leaves out what needs it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
FOLDERS = tuple(TESTS / name for name in ("cuda_emulator", "eagle_cuda"))  # their modules import cuda.bindings


class EmulatedRuns:
    """
    The pytest plugin behind ``--emulated``.

    Parameters
    ----------
    emulated
        Whether this run has the device. Without it the folders that need it are not looked at, since cuda-bindings need
        not be installed, and tests elsewhere that are marked ``emulated`` are deselected.
    """

    def __init__(self, emulated: bool) -> None:
        self.emulated = emulated

    def load(self, config: pytest.Config) -> None:
        """Load the device, before a test module is imported, because cuda.bindings looks for the driver once."""
        missing = [name for name in ("cuda", "cuda.bindings", "cuda.core", "nvidia") if not _installed(name)]
        if missing:
            raise pytest.UsageError(f"--emulated needs the dependency group 'cuda': no {', '.join(missing)} here")
        import cuda_emulator

        if getattr(config.option, "numprocesses", None):
            cuda_emulator.build()  # once, before the workers load it
        else:
            cuda_emulator.load(config.getoption("--driver"), devices=2)

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        return True if not self.emulated and collection_path in FOLDERS else None

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        for item in items:
            if any(folder in item.path.parents for folder in FOLDERS):
                item.add_marker("emulated")
        if not self.emulated:
            config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("emulated")])
            items[:] = [item for item in items if not item.get_closest_marker("emulated")]


def _installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ImportError:
        return False
