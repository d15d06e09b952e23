"""Runs eagle graphs over host arrays."""

from pathlib import Path

from eagle_cpu import _native
from eagle_cpu.team import BRANCH_TASKS_MAX_SAMPLES

__all__ = ["BRANCH_TASKS_MAX_SAMPLES", "cmake_dir"]


def cmake_dir() -> Path:
    """Return the folder with which ``find_package(eagle_exec)`` finds the C++ library ``eagle::exec``."""
    return Path(_native.__file__).parent / "cmake" / "eagle_exec"
