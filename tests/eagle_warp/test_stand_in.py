"""The stand-in for Warp on the emulated device has no name that Warp has not."""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import Any

import pytest
import warp as wp
import warp_kernels
import warp_stand_in


def public(thing: Any) -> set[str]:
    return {name for name in dir(thing) if not name.startswith("_")}


def assigned(kind: type) -> set[str]:
    """The public attributes that the methods of a class assign to ``self``."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(kind)))
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
        and not node.attr.startswith("_")
    }


def real() -> dict[str, set[str]]:
    x = wp.zeros(2, dtype=wp.float64, device="cpu")
    launch = wp.launch(warp_kernels.scale, 2, [x, wp.float64(2.0), x], device="cpu", record_cmd=True)
    return {
        "array": public(x),
        "Launch": public(launch),
        "Kernel": public(warp_kernels.scale),
        "Graph": public(wp.Graph(wp.get_device("cpu"))),
        "Device": public(wp.get_device("cpu")),
        # Of these there is none without a device.
        "Stream": public(wp.Stream) | assigned(wp.Stream),
        "ScopedStream": public(wp.ScopedStream) | assigned(wp.ScopedStream),
    }


def test_the_module_has_only_names_of_warps() -> None:
    assert public(warp_stand_in.module()) <= public(wp)


@pytest.mark.parametrize("name", sorted(real()))
def test_a_class_has_only_attributes_of_warps(name: str) -> None:
    kind = getattr(warp_stand_in, name)
    own = {"known"}  # what the tests look at
    assert (public(kind) | assigned(kind)) - own <= real()[name]


@pytest.mark.parametrize("name", ["launch", "get_device", "ScopedStream"])
def test_a_function_takes_only_what_warps_does(name: str) -> None:
    taken = inspect.signature(getattr(warp_stand_in, name)).parameters
    assert set(taken) <= set(inspect.signature(getattr(wp, name)).parameters)
