"""From a kernel to addresses: by the object cache, or by generating and compiling code."""

from __future__ import annotations

from enum import Enum

from eagle.plugin import Kernel
from eagle_cpu.engine.compiler import assemble, link, to_object
from eagle_cpu.engine.launch_entry import launch_entry
from eagle_cpu.engine.loop_entry import loop_entry
from eagle_cpu.engine.object_cache import fetch, key_of, keep
from eagle_cpu.engine.shape import Shape
from eagle_cpu.engine.support import SUPPORT
from eagle_ir import Function

__all__ = ["Build", "build", "has_loop"]


class Build(Enum):
    """What is compiled together."""

    PLAIN = "plain"
    """The launch, and the loop of a kernel that has one."""
    WATCHFUL = "watchful"
    """The loop that looks for numbers that are not finite; compiled when one asks for it."""


def has_loop(kernel: Kernel) -> bool:
    """Whether a kernel writes a mask, so that its samples can end."""
    return any(argument.role == "mask" and argument.mode == "rw" for argument in kernel.arguments)


def build(kernel: Kernel, shape: Shape, which: Build) -> dict[str, int]:
    """Return the addresses of a kernel's functions by name."""
    names = ["eagle_launch", "eagle_loop"] if has_loop(kernel) else ["eagle_launch"]
    names = ["eagle_watchful"] if which is Build.WATCHFUL else names
    key = key_of(kernel, shape, which.value)
    binary = fetch(key)
    if binary is None:
        binary = to_object(module_text(kernel, shape, which))
        keep(key, binary)
    return link(binary, names, f"kernel {kernel.name!r}")


def module_text(kernel: Kernel, shape: Shape, which: Build) -> str:
    """Return the LLVM IR of a kernel."""
    assert isinstance(kernel.code, Function)
    functions = []
    if which is Build.PLAIN:
        functions.append(launch_entry(kernel.code, shape.lanes))
    if has_loop(kernel):
        functions.append(loop_entry(kernel.code, shape, watchful=which is Build.WATCHFUL))
    return assemble(functions, SUPPORT)
