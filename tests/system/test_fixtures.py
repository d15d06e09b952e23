"""The documentation's compiled kernel: the committed files say what their source is, and are what the script makes."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FIXTURES = Path(__file__).parents[2] / "docs" / "_fixtures"


@pytest.fixture
def maker() -> Any:
    pytest.importorskip("cuda.core")
    spec = importlib.util.spec_from_file_location("make_gravity", FIXTURES / "make_gravity.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_committed_files_are_read_as_what_the_script_describes(maker: Any) -> None:
    from eagle_cuda.artifact_files import read_artifact

    kernel = read_artifact(FIXTURES / "gravity.ptx")
    assert (kernel.name, kernel.arguments) == ("gravity", maker.ARGUMENTS)
    code: Any = kernel.code
    assert (code.entry, code.accumulates, code.compiled_for) == (maker.ENTRY, ("out",), maker.ARCH)
    assert code.compiler == f"NVRTC {maker.VERSION}"


def test_the_sidecar_declares_that_launches_add_as_the_page_says() -> None:
    rows = json.loads((FIXTURES / "gravity.json").read_text())["arguments"]
    assert [row["name"] for row in rows if row.get("accumulate")] == ["out"]


def test_the_ptx_is_for_the_driver_that_the_script_names(maker: Any) -> None:
    major, minor = map(int, maker.VERSION.split("."))
    isa = f"{major - 4}.{minor}"  # PTX ISA, "Release Notes": 12.3 has 8.3
    assert f"\n.version {isa}\n" in (FIXTURES / "gravity.ptx").read_text()
    assert maker.WHEEL.partition("==")[2].startswith(maker.VERSION)


def test_it_is_read_and_looked_at_without_a_device(maker: Any) -> None:
    code = f"""
import eagle_cuda.loaded
eagle_cuda.loaded.why_not = lambda: "there is no device"
from eagle.loaded import LoadedVector
print(LoadedVector({str(FIXTURES / "gravity.ptx")!r}).signature.splitlines()[0])
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "out: float64, shape (3, n), added to\n"


@pytest.mark.slow
def test_the_committed_files_are_what_the_script_makes(maker: Any, tmp_path: Path) -> None:
    wheel, made = tmp_path / "wheel", tmp_path / "made"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(wheel), maker.WHEEL]
    got = subprocess.run(install, capture_output=True, text=True, check=False)
    if got.returncode:
        pytest.skip(f"{maker.WHEEL}, which the files were made with, cannot be had here: {got.stderr.strip()[-200:]}")
    (library,) = wheel.glob("nvidia/*/lib/libnvrtc.so.12")
    made.mkdir()
    subprocess.run([sys.executable, str(FIXTURES / "make_gravity.py"), str(library), str(made)], check=True)
    assert {path.name for path in made.iterdir()} == {"gravity.ptx", "gravity.json"}
    for path in made.iterdir():
        assert path.read_bytes() == (FIXTURES / path.name).read_bytes(), path.name


@pytest.mark.slow
def test_another_compiler_is_refused(maker: Any, tmp_path: Path) -> None:
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(tmp_path)]
    subprocess.run([*install, "nvidia-cuda-nvrtc>=13,<14"], check=True)
    (library,) = tmp_path.glob("nvidia/*/lib/libnvrtc.so.13")
    command = [sys.executable, str(FIXTURES / "make_gravity.py"), str(library), str(tmp_path)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert "is what makes these files" in ran.stderr
    assert not (tmp_path / "gravity.ptx").exists()
