"""The backend ``cpu``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from eagle.plugin import Backend, Blueprint, BuildError, Executable, Kernel
from eagle_cpu.context import CpuContext
from eagle_cpu.executable import CpuExecutable

__all__ = ["CpuBackend"]


class CpuBackend(Backend):
    """Runs every graph whose planes are in host memory: stage after stage, in the order of adding."""

    name: ClassVar[str] = "cpu"
    devices: ClassVar[frozenset[str]] = frozenset({"cpu"})

    def prepare(self, kernel: Kernel, /) -> None:
        """Compile a kernel of the IR ahead, into memory and the cache on disk; other dialects are left to the build."""
        from eagle_cpu.engine import program_for
        from eagle_ir import DIALECT

        if kernel.dialect == DIALECT:
            program_for(kernel)

    def compile(self, blueprint: Blueprint, options: Mapping[str, object], /) -> Executable:
        """Lower every node, in order. There are no options yet."""
        if options:
            names = ", ".join(repr(name) for name in options)
            raise BuildError(f"backend 'cpu' has no build option {names}", why="it has none", fix="Leave it out.")
        context = CpuContext(options, blueprint)
        steps = [context.lower(placed) for placed in blueprint.nodes]
        return CpuExecutable(blueprint, context, steps)
