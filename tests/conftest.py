"""Options and profiles of the whole suite."""

from __future__ import annotations

import os

import pytest
from deep_runs import MINUTES, DeepRuns
from hypothesis import HealthCheck, settings

COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow], "print_blob": True}
settings.register_profile("quick", max_examples=200, derandomize=True, **COMMON)  # type: ignore[arg-type]
# A round of deep_runs.
settings.register_profile("deep", max_examples=200, **COMMON)  # type: ignore[arg-type]
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
    parser.addoption(
        "--deep",
        type=float,
        metavar="PATIENCE",
        help=f"run properties for their minutes ({MINUTES:g} unless they say) times this, instead of once",
    )


def pytest_configure(config: pytest.Config) -> None:
    patience = config.getoption("--deep")
    if patience is not None:
        config.pluginmanager.register(DeepRuns(patience))
