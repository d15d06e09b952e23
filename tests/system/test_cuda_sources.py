"""The CUDA C++ of eagle compiles with NVIDIA's own compiler for every architecture, which needs no GPU."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

COMPILE = """
from importlib.resources import files
from cuda.core import Program, ProgramOptions
from eagle_cuda.modules import FLAGS, source

names = sorted(path.name[:-3] for path in (files("eagle_cuda") / "kernels").iterdir() if path.name.endswith(".cu"))
assert names == ["conditions", "copies", "loops", "reductions"], names
for name in names:
    for arch in ("sm_80", "sm_90", "sm_100", "sm_120"):
        code = Program(source(name), "c++", ProgramOptions(arch=arch, **FLAGS)).compile("cubin").code
        assert bytes(code[:4]) == b"\\x7fELF", (name, arch)
        print(name, arch, len(code))
"""


@pytest.mark.slow
def test_every_source_compiles_with_nvrtc(tmp_path: Path) -> None:
    pytest.importorskip("cuda.core")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(tmp_path)]
    subprocess.run([*install, "nvidia-cuda-nvrtc>=13,<14"], check=True)
    (library,) = tmp_path.glob("nvidia/*/lib")
    environment = {**os.environ, "LD_LIBRARY_PATH": str(library)}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", COMPILE], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 16
