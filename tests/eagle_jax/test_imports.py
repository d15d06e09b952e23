"""With JAX and Warp installed, eagle and its plugins' hooks import neither."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest

FRAMEWORKS = ("jax", "jaxlib", "warp", "torch")

EVERYTHING = """
import importlib, sys
from importlib.metadata import entry_points
import numpy as np
import eagle, eagle_jax, eagle_warp
for entry in entry_points(group="eagle.v1"):
    entry.load()
from eagle.graph import opaque
from eagle.plugin import plugins, streams
assert {"jax", "warp"} <= {plugin.name for plugin in plugins()}
x = np.zeros(3)
eagle.Graph().add_node(opaque(lambda: x.fill(1), writes={"x": x})).build().launch()
streams()
print(*{name.partition(".")[0] for name in sys.modules})
"""


def test_nothing_of_eagle_imports_a_framework_until_it_is_used() -> None:
    assert all(importlib.util.find_spec(name) for name in ("jax", "warp"))
    ran = subprocess.run([sys.executable, "-W", "error", "-c", EVERYTHING], capture_output=True, text=True, check=True)
    assert not set(FRAMEWORKS) & set(ran.stdout.split())


ABSENT = """
import sys
from importlib.machinery import PathFinder

class Without(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name == "{needs}" else PathFinder.find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Without
from eagle.errors import FrameworkNotFound
try:
    from eagle.frameworks import {name}
except FrameworkNotFound as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("name", "needs", "pip"), [("jax", "jax", "pip install jax"), ("warp", "warp", "pip install warp-lang")]
)
def test_a_framework_that_is_absent_is_named_with_what_to_install(name: str, needs: str, pip: str) -> None:
    code = ABSENT.format(name=name, needs=needs)
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert f"eagle.frameworks.{name} needs {needs}, which is not installed. {pip}" in ran.stdout
