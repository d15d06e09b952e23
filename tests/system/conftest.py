"""Tests of plans and loops run on the host and on the CUDA device."""

from __future__ import annotations

from pathlib import Path

import pytest
from device_runs import device, host_tests_left_out, pytest_generate_tests

__all__ = ["device", "pytest_generate_tests"]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    host_tests_left_out(config, items, str(Path(__file__).parent))
