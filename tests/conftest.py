"""Options and profiles of the whole suite."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow], "print_blob": True}
settings.register_profile("quick", max_examples=200, derandomize=True, **COMMON)  # type: ignore[arg-type]
settings.register_profile("deep", max_examples=5000, **COMMON)  # type: ignore[arg-type]
settings.load_profile("quick")
os.environ.pop("EAGLE_PLUGINS", None)
os.environ.pop("EAGLE_DISABLE_PLUGINS", None)
os.environ.pop("EAGLE_STRICT_PLUGINS", None)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--device",
        action="append",
        default=[],
        metavar="PACKAGE.MODULE:CLASS",
        help="run the graph suite on this device instead of the project's own ones; may be given several times",
    )
