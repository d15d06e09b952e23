"""Runs eagle graphs over host arrays."""

from eagle_cpu.team import BRANCH_TASKS_MAX_SAMPLES

__all__ = ["BRANCH_TASKS_MAX_SAMPLES"]
