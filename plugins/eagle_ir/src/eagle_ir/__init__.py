"""The kernel IR: what front ends make and backends lower."""

from eagle_ir.builder import Builder
from eagle_ir.kernel import to_kernel
from eagle_ir.operations import OPERATIONS, Operation
from eagle_ir.printer import fingerprint, to_text
from eagle_ir.program import (
    DIALECT,
    Block,
    Compute,
    Const,
    Function,
    Gather,
    If,
    Instruction,
    Load,
    Parameter,
    Site,
    Store,
    Value,
    While,
)
from eagle_ir.types import Type
from eagle_ir.verify import IRError, verify

__all__ = [
    "DIALECT",
    "OPERATIONS",
    "Block",
    "Builder",
    "Compute",
    "Const",
    "Function",
    "Gather",
    "IRError",
    "If",
    "Instruction",
    "Load",
    "Operation",
    "Parameter",
    "Site",
    "Store",
    "Type",
    "Value",
    "While",
    "fingerprint",
    "to_kernel",
    "to_text",
    "verify",
]
