"""What importing costs, and what it does not import."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("torch", "warp", "jax", "cupy", "cuda", "llvmlite", "matplotlib", "wcwidth", "pluggy", "importlib.metadata")
CLOSED = {"eagle", "eagle.access", "eagle.busy", "eagle.errors", "eagle.graph", "eagle.plugin"}


def modules_after(code: str) -> set[str]:
    ran = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import sys, numpy; before = set(sys.modules); {code}; print(*(set(sys.modules) - before))",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(ran.stdout.split())


def test_import_eagle_imports_nothing_heavy() -> None:
    imported = modules_after("import eagle")
    assert not {name for name in imported if name in HEAVY or name.partition(".")[0] in HEAVY}
    assert not {name for name in imported if name.startswith("eagle.draw")}


def test_pictures_other_than_plot_import_no_matplotlib() -> None:
    code = "import eagle; g = eagle.Graph(); str(g), g.to_svg(), g.to_mermaid(), g.to_dot()"
    assert "matplotlib" not in {name.partition(".")[0] for name in modules_after(code)}


@pytest.mark.parametrize("name", ["eagle.graph", "eagle.access", "eagle.plugin", "eagle.errors", "eagle.busy"])
def test_the_inner_core_imports_nothing_else_of_eagle(name: str) -> None:
    mine = {module for module in modules_after(f"import {name}") if module.partition(".")[0] == "eagle"}
    assert {".".join(module.split(".")[:2]) for module in mine} <= CLOSED


HOOKS = [f"eagle_{name}.hooks" for name in ("cpu", "cuda", "torch", "jax", "warp")]


@pytest.mark.parametrize("hooks", HOOKS)
def test_a_hooks_module_imports_no_framework(hooks: str) -> None:
    imported = {module.partition(".")[0] for module in modules_after(f"import {hooks}")}
    assert not imported & {"torch", "warp", "jax", "cupy", "cuda", "llvmlite"}
