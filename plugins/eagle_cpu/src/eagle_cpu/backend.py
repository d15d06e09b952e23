"""The backend ``cpu``."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from typing import ClassVar

from eagle.plugin import Backend, Blueprint, BuildError, Executable, Kernel
from eagle_cpu.context import CpuContext
from eagle_cpu.executable import CpuExecutable
from eagle_cpu.team import team_size

__all__ = ["CpuBackend"]


class CpuBackend(Backend):
    """Runs every graph whose planes are in host memory: stage after stage, in the order of adding."""

    name: ClassVar[str] = "cpu"
    devices: ClassVar[frozenset[str]] = frozenset({"cpu"})
    modules: ClassVar[Mapping[str, str]] = {"eagle._core": "eagle_cpu"}

    def describe(self) -> str:
        """Say how many threads run kernels, copies and reductions."""
        count = team_size()
        return f"{count} thread{'' if count == 1 else 's'} of this {platform.machine() or 'machine'}"

    def prepare(self, kernel: Kernel, /) -> None:
        """Compile a kernel of the IR ahead, into memory and the cache on disk; other dialects are left to the build."""
        from eagle_cpu.engine import program_for
        from eagle_ir import DIALECT

        if kernel.dialect == DIALECT:
            program_for(kernel)

    def compile(self, blueprint: Blueprint, options: Mapping[str, object], /) -> Executable:
        """Lower every node, in order. The only option is ``fuse=False``: every node runs by itself."""
        if unknown := [name for name in options if name != "fuse"]:
            names = ", ".join(map(repr, unknown))
            raise BuildError(
                f"backend 'cpu' has no build option {names}", why="it has 'fuse' only", fix="Leave it out."
            )
        if not isinstance(options.get("fuse", True), bool):
            raise BuildError(f"fuse is {options['fuse']!r}", fix="Give True or False.")
        context = CpuContext(options, blueprint)
        steps = [context.lower(placed) for placed in blueprint.nodes]
        return CpuExecutable(blueprint, context, steps)
