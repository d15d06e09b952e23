"""Options and profiles of the whole suite."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from deep_runs import MINUTES, DeepRuns
from hypothesis import HealthCheck, settings

TESTS = Path(__file__).parent
EMULATED = ("cuda_emulator", "eagle_cuda")
FRAMEWORKS = {"eagle_torch": "torch", "eagle_warp": "warp", "eagle_jax": "jax"}

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
        "--emulated",
        action="store_true",
        help="load the emulated CUDA device into this run; without it the tests that need it are left out",
    )
    parser.addoption(
        "--real-gpu",
        action="store_true",
        help="run the tests of the emulated CUDA device on the real one of this machine; make gpu-check does",
    )
    parser.addoption(
        "--frameworks",
        action="store_true",
        help="run the tests that use torch, Warp and JAX, which have to be installed; without it they are left out",
    )
    parser.addoption("--driver", default="13.0", help="the driver version the emulated device poses as")
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
    if config.getoption("--frameworks") and (missing := [n for n in FRAMEWORKS.values() if not _installed(n)]):
        raise pytest.UsageError(f"--frameworks needs the dependency group 'frameworks': no {', '.join(missing)} here")
    if _on_device(config):
        _load_device(config)


def _load_device(config: pytest.Config) -> None:
    """Load it before a test module is imported, because cuda.bindings looks for the driver once."""
    if config.getoption("--emulated") and config.getoption("--real-gpu"):
        raise pytest.UsageError("--emulated or --real-gpu: a process has one driver")
    missing = [name for name in ("cuda", "cuda.bindings", "cuda.core", "nvidia") if not _installed(name)]
    if missing:
        raise pytest.UsageError(f"this needs the dependency group 'cuda': no {', '.join(missing)} here")
    import cuda_emulator
    from cuda_emulator_build import BUILD

    if config.getoption("--real-gpu"):
        from cuda_real import RealDevice

        try:
            cuda_emulator.hold(RealDevice())
        except Exception as error:
            raise pytest.UsageError(f"--real-gpu: {error}") from error
    elif getattr(config.option, "numprocesses", None):
        cuda_emulator.build()  # once, before the workers load it
    else:
        cuda_emulator.load(config.getoption("--driver"), devices=2)
        os.environ["EAGLE_CACHE_DIR"] = str(BUILD / "cache")  # its machine code is no device's


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the folders whose modules import what need not be installed: cuda.bindings, torch, Warp, JAX."""
    if collection_path.parent != TESTS or not collection_path.is_dir():
        return None
    if collection_path.name in FRAMEWORKS and not config.getoption("--frameworks"):
        return True
    return True if collection_path.name in EMULATED and not _on_device(config) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if any(TESTS / folder in item.path.parents for folder in EMULATED):
            item.add_marker("emulated")
    left_out: list[pytest.Item] = []
    if config.getoption("--real-gpu"):
        from cuda_real import for_a_real_device

        _, left_out = for_a_real_device(items)
    elif not config.getoption("--emulated"):
        left_out = [item for item in items if item.get_closest_marker("emulated")]
    config.hook.pytest_deselected(items=left_out)
    unwanted = set(left_out)
    items[:] = [item for item in items if item not in unwanted]


@pytest.fixture
def without_cuda(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As if eagle-cuda were not installed, on every machine."""
    from eagle.plugin import refresh

    monkeypatch.setenv("EAGLE_DISABLE_PLUGINS", "cuda")
    refresh()
    yield
    monkeypatch.undo()
    refresh()


def _on_device(config: pytest.Config) -> bool:
    return bool(config.getoption("--emulated") or config.getoption("--real-gpu"))


def _installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ImportError:
        return False
