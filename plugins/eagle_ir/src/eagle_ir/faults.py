"""From what a backend recorded to an exception that names kernel, source line, table, sample and index."""

from __future__ import annotations

from eagle.plugin import Kernel
from eagle_ir.evaluate import Fault
from eagle_ir.program import Function, Gather
from eagle_ir.walking import faulting

__all__ = ["fault_at", "fault_error"]


def fault_at(function: Function, sample: int, place: int, index: int) -> Fault:
    """Return the fault at one of a function's instructions that can fault.

    Parameters
    ----------
    function : Function
    sample : int
    place : int
        Its position among them.
    index : int
        The index outside a table.
    """
    instruction = faulting(function.body)[place]
    assert instruction.site is not None
    if isinstance(instruction, Gather):
        return Fault(sample, IndexError, instruction.site, instruction.argument, index)
    return Fault(sample, OverflowError if instruction.op == "convert" else ZeroDivisionError, instruction.site)


def fault_error(kernel: Kernel, fault: Fault) -> Exception:
    """Return the exception to raise for a fault.

    Parameters
    ----------
    kernel : Kernel
    fault : Fault

    Returns
    -------
    IndexError, ZeroDivisionError or OverflowError
    """
    assert isinstance(kernel.code, Function)
    site = kernel.code.sites[fault.site]
    what = {
        IndexError: f"index {fault.index} is outside table {fault.table!r}",
        ZeroDivisionError: "integer division by zero",
        OverflowError: "a float does not fit in the integer it is converted to",
    }[fault.error]
    return fault.error(
        f"{what}, for sample {fault.sample} of kernel {kernel.name!r} ({site.file}:{site.line}: {site.text.strip()})"
    )
