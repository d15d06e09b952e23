"""The CUDA C++ of eagle, its own and that of kernels, compiles with NVIDIA's own compiler, which needs no GPU."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "lib" / "kernel_sources.py"
ARCHS = ("sm_80", "sm_90", "sm_100", "sm_120")
LEAST = {"own": 5, "written": 60, "ahead": 20, "examples": 70, "generated": 10}


@pytest.fixture(scope="module")
def nvrtc(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of the library, from its wheel."""
    pytest.importorskip("cuda.core")
    folder = tmp_path_factory.mktemp("nvrtc")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder)]
    subprocess.run([*install, "nvidia-cuda-nvrtc>=13,<14"], check=True)
    (library,) = folder.glob("nvidia/*/lib")
    return str(library)


@pytest.mark.slow
@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("group", LEAST)
def test_every_source_compiles_with_nvrtc(group: str, arch: str, nvrtc: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(SCRIPT), group, arch],
        env={**os.environ, "LD_LIBRARY_PATH": nvrtc},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) >= LEAST[group]
