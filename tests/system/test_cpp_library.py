"""``eagle::exec`` for C++ programs: found by CMake, and aware of the OpenMP region it is called from."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NATIVE = ROOT / "plugins" / "eagle_cpu" / "src" / "native"
CMAKE = shutil.which("cmake", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
CXX = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
pytestmark = pytest.mark.skipif(CXX is None, reason="no C++ compiler")
needs_cmake = pytest.mark.skipif(CMAKE is None, reason="no CMake")

UNIT = """
#include "eagle/exec.h"
int region_of_UNIT(int threads) {
    int inside = 0;
#pragma omp parallel num_threads(2) reduction(+ : inside)
    inside += eagle::exec::in_openmp_region();
    auto body = [&](int64_t, int64_t, const eagle_run* run) { return run->worker == 0 ? 0 : 1; };
    eagle::exec::set_team_size(threads);
    return inside + eagle::exec::run(eagle::exec::job_of(body, 1));
}
"""
MAIN = """
#include "eagle/exec.h"
#include <atomic>
int region_of_with(int);
int region_of_without(int);
int main() {
    std::atomic<int> elsewhere{0};
    auto body = [&](int64_t, int64_t, const eagle_run* run) { elsewhere += run->worker != 0; };
#pragma omp parallel num_threads(2)
    for (int i = 0; i < 100; ++i) eagle::exec::run(eagle::exec::job_of(body, 1000, 1e5));
    if (elsewhere != 0) return 1;
    return region_of_with(3) == 2 && region_of_without(3) == 0 ? 0 : 2;
}
"""


def run(*command: object) -> str:
    ran = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def example(build: Path, package: Path) -> str:
    run(CMAKE, "-S", ROOT / "examples" / "cpp", "-B", build, f"-Deagle_exec_DIR={package}")
    run(CMAKE, "--build", build)
    return run(build / "pendulums")


@needs_cmake
def test_the_example_builds_against_the_installed_package(tmp_path: Path) -> None:
    package = run(sys.executable, "-m", "eagle_cpu", "--cmake-dir").strip()
    assert "4 the same" in example(tmp_path, Path(package))


@needs_cmake
def test_the_library_installs_without_python(tmp_path: Path) -> None:
    run(CMAKE, "-S", NATIVE, "-B", tmp_path / "library")
    run(CMAKE, "--install", tmp_path / "library", "--prefix", tmp_path / "prefix")
    assert "4 the same" in example(tmp_path / "example", tmp_path / "prefix" / "lib" / "cmake" / "eagle_exec")


def test_units_with_openmp_and_without_it_link_and_each_knows_its_own_regions(tmp_path: Path) -> None:
    compile_: list[object] = [CXX, "-std=c++17", "-O1", "-pthread", "-Wall", "-Wextra", "-I", NATIVE]
    (tmp_path / "empty.cpp").write_text("int main() {}")
    tried = [CXX, "-fopenmp", tmp_path / "empty.cpp", "-o", tmp_path / "empty"]
    if subprocess.run([str(word) for word in tried], check=False).returncode != 0:
        pytest.skip("no OpenMP")
    objects = []
    for name, flags in (("with", ["-fopenmp"]), ("without", []), ("main", ["-fopenmp"])):
        source, made = tmp_path / f"{name}.cpp", tmp_path / f"{name}.o"
        source.write_text(MAIN if name == "main" else UNIT.replace("UNIT", name))
        run(*compile_, "-Wno-unknown-pragmas", *flags, "-c", source, "-o", made)
        objects.append(made)
    run(CXX, "-fopenmp", "-pthread", *objects, "-o", tmp_path / "program")
    run(tmp_path / "program")
