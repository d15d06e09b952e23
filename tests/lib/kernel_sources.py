"""Compile the CUDA C++ of kernels with NVIDIA's own NVRTC: a process of its own, which finds the library first.

``python kernel_sources.py GROUP ARCH...`` prints a line for each text and architecture; GROUP is a key of `GROUPS`.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eagle.plugin import Kernel
from eagle_cuda.conditions import BY_HOST
from eagle_cuda.modules import FLAGS, source
from eagle_cuda.programs import program_for
from eagle_cuda.writer import ALONE, LAUNCH, LOOP, alone_source

TESTS = Path(__file__).parents[1]
MODULES = ("kernels", "graph_kernels", "kernel_texts", "examples.orbits")


def own() -> Iterator[tuple[str, str]]:
    """The sources eagle comes with."""
    names = sorted(path.name[:-3] for path in (files("eagle_cuda") / "kernels").iterdir() if path.name.endswith(".cu"))
    assert names == ["conditions", "copies", "loops", "reductions"], names
    for name in names:
        yield name, source(name)
    yield "conditions, by the host", BY_HOST + source("conditions")


def written() -> Iterator[tuple[str, str]]:
    """The kernels of the tests and of the examples, in both float types."""
    for name in MODULES:
        yield from texts_of(importlib.import_module(name))


def ahead() -> Iterator[tuple[str, str]]:
    """Those of them that are compiled ahead, to be launched by themselves: the ones that cannot fault."""
    for module in map(importlib.import_module, MODULES):
        for name, kernel in kernels_of(module):
            program = program_for(kernel.__eagle_kernel__("float64"))
            if not program.can_fault:
                yield f"{module.__name__}.{name} {ALONE}", alone_source(program.function)


def examples() -> Iterator[tuple[str, str]]:
    """Those that each go where a front end or a backend may take a wrong turn."""
    from kernel_examples import SOURCES
    from random_kernels import written

    for name, text in SOURCES.items():
        yield from texts(name, written(text).module().kernel)


def generated(count: int = 300) -> Iterator[tuple[str, str]]:
    """Random functions of the IR, their launches and their loops, as one text each kind: NVRTC takes long to begin."""
    from engine_programs import kernels

    found: list[Kernel] = []

    @settings(
        max_examples=count, database=None, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
    )
    @given(st.sampled_from([None, "r", "rw"]).flatmap(lambda mask: kernels(mask=mask)))
    def collect(kernel: Kernel) -> None:
        found.append(kernel)

    collect()
    together: dict[str, list[str]] = {LAUNCH: [], LOOP: []}
    for number, kernel in enumerate(found):
        program = program_for(kernel)
        for entry in (LAUNCH, LOOP) if program.finishes else (LAUNCH,):
            together[entry].append(renamed(program.text(entry), number, whole=not together[entry]))
    for entry, parts in together.items():
        for begin in range(0, len(parts), 20):
            head = "" if begin == 0 else prelude()
            yield f"{entry} {begin}", head + "\n".join(parts[begin : begin + 20])


def renamed(text: str, number: int, *, whole: bool) -> str:
    """One of several kernels in one text: without the beginning that all have, and with names of its own."""
    text = text if whole else text.removeprefix(prelude())
    for name in ("eagle_step", LAUNCH, LOOP):
        text = text.replace(f" {name}(", f" {name}_{number}(")
    return text


def prelude() -> str:
    """What every text begins with."""
    from eagle_cuda.writer import entries

    return entries._prelude()


def texts_of(module: ModuleType) -> Iterator[tuple[str, str]]:
    """The texts of every kernel of a module."""
    for name, kernel in kernels_of(module):
        yield from texts(f"{module.__name__}.{name}", kernel)


def kernels_of(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """The kernels of a module, by name."""
    for name, value in vars(module).items():
        if hasattr(value, "__eagle_kernel__") and hasattr(value, "signature"):
            yield name, value


def texts(name: str, kernel: Any) -> Iterator[tuple[str, str]]:
    """The texts of a kernel of hawk: a launch and, if it ends its samples, a loop, in both float types."""
    for scalar in ("float64", "float32"):
        program = program_for(kernel.__eagle_kernel__(scalar))
        for entry in (LAUNCH, LOOP) if program.finishes else (LAUNCH,):
            yield f"{name} {scalar} {entry}", program.text(entry)


GROUPS: dict[str, Callable[[], Iterator[tuple[str, str]]]] = {
    "own": own,
    "written": written,
    "ahead": ahead,
    "examples": examples,
    "generated": generated,
}


def main(group: str, *archs: str) -> None:
    """Compile every text of a group, and say what became of it."""
    from cuda.core import Program, ProgramOptions

    seen: set[str] = set()
    for name, text in GROUPS[group]():
        if text in seen:
            continue
        seen.add(text)
        for arch in archs:
            code = Program(text, "c++", ProgramOptions(arch=arch, **FLAGS)).compile("cubin").code
            assert bytes(code[:4]) == b"\x7fELF", (name, arch)
            print(name, arch, len(code), flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore", category=UserWarning)
    sys.path[:0] = [str(TESTS.parent)]
    main(*sys.argv[1:])
