"""What the tests of torch share."""

from __future__ import annotations

from typing import Any

import framework_kernels
import pytest


@pytest.fixture
def count_down() -> Any:
    return framework_kernels.count_down
