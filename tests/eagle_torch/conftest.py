"""What the tests of torch share."""

from __future__ import annotations

from typing import Any

import loop_kernels
import pytest


@pytest.fixture
def count_down() -> Any:
    return loop_kernels.count_down
