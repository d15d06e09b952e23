"""From a kernel to an address: by the object cache, or by generating and compiling code."""

from __future__ import annotations

from enum import Enum

from eagle.plugin import Kernel
from eagle_cpu.engine.chain import Chain
from eagle_cpu.engine.chain_entry import chain_entry
from eagle_cpu.engine.compiler import assemble, link, to_object
from eagle_cpu.engine.launch_entry import launch_entry
from eagle_cpu.engine.loop_entry import loop_entry
from eagle_cpu.engine.object_cache import fetch, keep, key_of
from eagle_cpu.engine.shape import Shape
from eagle_ir import Function, While
from eagle_ir.walking import instructions

__all__ = ["Build", "build", "has_loop", "is_simple", "module_text"]


class Build(Enum):
    """What is compiled at once; the value is the function's name. Each is compiled when it is first wanted."""

    LAUNCH = "eagle_launch"
    CHAIN = "eagle_chain"
    LOOP = "eagle_loop"
    WATCHFUL = "eagle_watchful"
    """The loop that looks for numbers that are not finite."""


def has_loop(kernel: Kernel) -> bool:
    """Whether a kernel writes a mask, so that its samples can end."""
    return any(argument.role == "mask" and argument.mode == "rw" for argument in kernel.arguments)


def build(kernel: Kernel, shape: Shape, which: Build) -> int:
    """Return the address of one of a kernel's functions."""
    key = key_of(kernel, shape, which.value)
    binary = fetch(key)
    if binary is None:
        binary = to_object(module_text(kernel, shape, which), simple=is_simple(kernel, which))
        keep(key, binary)
    return link(binary, [which.value], f"kernel {kernel.name!r}")[which.value]


def module_text(kernel: Kernel, shape: Shape, which: Build) -> str:
    """Return the LLVM IR of one of a kernel's functions."""
    if isinstance(kernel.code, Chain):
        return assemble([chain_entry(kernel.code, shape.lanes)])
    assert isinstance(kernel.code, Function)
    if which is Build.LAUNCH:
        return assemble([launch_entry(kernel.code, shape.lanes)])
    return assemble(loop_entry(kernel.code, shape, watchful=which is Build.WATCHFUL))


def is_simple(kernel: Kernel, which: Build) -> bool:
    """Whether the only loop that matters is that over steps, whose constants are hoisted."""
    if which not in (Build.LOOP, Build.WATCHFUL):
        return False
    assert isinstance(kernel.code, Function)
    return not any(isinstance(one, While) for one in instructions(kernel.code.body))
