"""From wheels, in environments of their own: the core alone, and a stranger's plugin that passes the graph suite."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("eagle_ir", "eagle_hawk", "eagle_cpu", "eagle_cuda", "eagle_torch", "eagle_jax", "eagle_warp")
PROJECTS = ("eagle_core", *(f"plugins/{package}" for package in PACKAGES), "tests/stranger")
LIBRARIES = ("numpy", "pluggy", "wcwidth", "pytest", "hypothesis")

pytestmark = pytest.mark.slow


def run(*command: object, check: bool = True) -> subprocess.CompletedProcess[str]:
    ran = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, check=False, cwd=ROOT, env=environment()
    )
    if check and ran.returncode:
        raise AssertionError(f"{command} failed:\n{ran.stdout}\n{ran.stderr}")
    return ran


def environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "EAGLE_"))}


class Environment:
    """A virtual environment made from a folder of wheels alone."""

    def __init__(self, folder: Path, wheels: Path, *distributions: str) -> None:
        venv.create(folder, with_pip=True)
        self.bin = folder / ("Scripts" if os.name == "nt" else "bin")
        run(self.bin / "python", "-m", "pip", "install", "--no-index", "--find-links", wheels, *distributions)

    def python(self, code: str) -> str:
        return run(self.bin / "python", "-W", "error", "-c", code).stdout


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheels")
    for project in PROJECTS:
        run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", folder, ROOT / project)
    run(sys.executable, "-m", "pip", "wheel", "-w", folder, *LIBRARIES)
    return folder


@pytest.fixture(scope="module")
def stranger(wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return Environment(tmp_path_factory.mktemp("stranger"), wheels, "eagle-slab", "pytest", "hypothesis")


@pytest.fixture(scope="module")
def core(wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return Environment(tmp_path_factory.mktemp("core"), wheels, "eagle-core")


def test_the_wheel_of_eagle_cuda_holds_the_sources_it_compiles(wheels: Path) -> None:
    (wheel,) = wheels.glob("eagle_cuda-*.whl")
    sources = {path.name for path in (ROOT / "plugins/eagle_cuda/src/eagle_cuda/kernels").glob("*.cu")}
    held = {Path(name).name for name in ZipFile(wheel).namelist()}
    assert sources
    assert sources | {"py.typed", "hooks.py"} <= held


def test_the_strangers_plugin_is_found_by_its_entry_point(stranger: Environment) -> None:
    (row,) = json.loads(run(stranger.bin / "eagle", "plugins", "--json").stdout)
    assert (row["name"], row["distribution"], row["version"], row["state"]) == ("slab", "eagle-slab", "0.3.0", "ready")
    text = run(stranger.bin / "eagle", "doctor").stdout
    for part in ("slab, for slab memory, can run here", "eagle_slab.times", "install the distribution eagle-cpu"):
        assert part in text


def test_the_graph_suite_passes_on_the_strangers_backend(stranger: Environment) -> None:
    device = "eagle_slab.device:SlabDevice"
    ran = run(
        stranger.bin / "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/graph_suite", "--device", device
    )
    assert " passed" in ran.stdout
    assert "skipped" not in ran.stdout


def test_the_core_alone_finds_edges_and_says_what_to_install(core: Environment) -> None:
    out = core.python(
        "import numpy as np, eagle\n"
        "from eagle.graph import opaque\n"
        "x, y = np.zeros(3), np.zeros(3)\n"
        "g = eagle.Graph().add_node(opaque(lambda: None, writes={'x': x}), name='a')\n"
        "g.add_node(eagle.copy(x, into=y), name='b')\n"
        "print(g.edges())\n"
        "g.show()\n"
        "try:\n"
        "    g.build()\n"
        "except eagle.BackendUnavailable as error:\n"
        "    print(error)\n"
    )
    for part in ("plane='x', kind='RAW'", "╎   a   ╎", "│   b   │", "Install the distribution eagle-cpu"):
        assert part in out


def test_the_core_alone_has_a_command_line_that_says_what_to_install(core: Environment) -> None:
    for command in ("demo", "doctor"):
        ran = run(core.bin / "eagle", command, check=False)
        assert ran.returncode == 1
        assert "nstall the distribution eagle-cpu" in ran.stdout
    assert "No plugins are installed" in run(core.bin / "eagle", "plugins").stdout
