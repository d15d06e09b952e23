"""From LLVM IR text to machine code in memory. One lock guards all of LLVM."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Any

from eagle.plugin import count
from eagle_cpu.engine.code import Code
from eagle_cpu.engine.host import host
from eagle_cpu.engine.locking import llvm_lock
from eagle_cpu.engine.symbols import check_symbols
from eagle_cpu.engine.vector_math import NAMES, variant

__all__ = ["assemble", "compiled", "link", "to_object"]

_SHARED = """
!0 = !{!"branch_weights", i32 1, i32 1048576}
attributes #0 = { nounwind "min-legal-vector-width"="512" "prefer-vector-width"="512" }
attributes #2 = { noinline nounwind "min-legal-vector-width"="512" "prefer-vector-width"="512" }
attributes #1 = { cold noinline nounwind "min-legal-vector-width"="512" "prefer-vector-width"="512" }
"""


_alive: list[Any] = []  # machine code stays where it is for the life of the process


def assemble(functions: Iterable[tuple[Code, str]]) -> str:
    """Return the text of a module.

    Parameters
    ----------
    functions : iterable of (Code, str)
        Each function's code and its head, ``define ... @name(...)``.
    """
    texts, declared = [], {}
    for code, head in functions:
        texts.append(code.function(head))
        declared.update(code.declared)
    return "\n".join([*texts, *declared.values(), _SHARED])


def to_object(text: str, *, simple: bool = False) -> bytes:
    """Compile LLVM IR to an object file: the new pass manager at O2, without its own vectorisers.

    Parameters
    ----------
    text : str
    simple : bool
        There is no loop whose constants are not written before it already. A few passes then give the same code in a
        fraction of the time.
    """
    with llvm_lock():
        return _to_object(text, simple=simple)


def link(binary: bytes, names: Sequence[str], title: str) -> dict[str, int]:
    """Load an object file and return the addresses of functions in it.

    Raises
    ------
    BuildError
        It refers to something that generated code has no business with. The linker itself would accept that silently.
    """
    symbols = check_symbols(binary, title)
    with llvm_lock():
        return _link(binary, names, symbols)


# Two functions of their own, so that what they made of LLVM's is freed before the lock is.
def _to_object(text: str, *, simple: bool) -> bytes:
    import llvmlite.binding as llvm

    module = llvm.parse_assembly(text)
    machine = _machine()
    tuning = llvm.create_pipeline_tuning_options(speed_level=2)
    tuning.slp_vectorization = tuning.loop_vectorization = False
    tuning.loop_unrolling = tuning.loop_interleaving = False
    builder = llvm.create_pass_builder(machine, tuning)
    passes = _few_passes() if simple else builder.getModulePassManager()
    passes.run(module, builder)
    return bytes(machine.emit_object(module))


def _few_passes() -> Any:
    import llvmlite.binding as llvm

    passes = llvm.create_new_module_pass_manager()
    passes.add_sroa_pass()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    return passes


def _link(binary: bytes, names: Sequence[str], symbols: Iterable[str]) -> dict[str, int]:
    import llvmlite.binding as llvm

    for symbol in symbols:
        name = symbol.removeprefix("eagle_math_")
        if name != symbol and name in NAMES:
            llvm.add_symbol(symbol, variant(name).address)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(binary))
    engine.finalize_object()
    _alive.append(engine)
    return {name: engine.get_function_address(name) for name in names}


def compiled(text: str, names: Sequence[str], title: str) -> dict[str, int]:
    """Compile and load at once."""
    count("kernels_compiled", 0)
    return link(to_object(text), names, title)


@functools.cache
def _target() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_triple(host().triple)


def _machine() -> Any:
    return _target().create_target_machine(cpu=host().cpu, features=host().features, opt=2, jit=True)
