"""Taking away what nobody uses: values that were loaded or computed for nothing, and cannot fault."""

from __future__ import annotations

from dataclasses import replace

from eagle_ir import Block, Compute, Const, Function, If, Instruction, Load, Parameter, Store, Value, While

__all__ = ["pruned"]


def pruned(function: Function) -> Function:
    """Return `function` without values that decide nothing. What can fault stays."""
    return replace(function, body=_block(function.body, set()))


def _block(block: Block, used: set[Value]) -> Block:
    """Go backwards through a block; `used` holds what is used behind it, and afterwards what it uses itself."""
    used.update(block.yields)
    kept: list[Instruction] = []
    for instruction in reversed(block.instructions):
        found = _kept(instruction, used)
        if found is not None:
            kept.append(found)
    return replace(block, instructions=tuple(reversed(kept)))


def _kept(instruction: Instruction, used: set[Value]) -> Instruction | None:
    if isinstance(instruction, If):
        return _if(instruction, used)
    if isinstance(instruction, While):
        return _while(instruction, used)
    if isinstance(instruction, Store):
        used.add(instruction.value)
        return instruction
    harmless = isinstance(instruction, Const | Load | Parameter) or (
        isinstance(instruction, Compute) and instruction.site is None
    )
    if harmless and instruction.result not in used:
        return None
    if isinstance(instruction, Compute):
        used.update(instruction.operands)
    elif not isinstance(instruction, Const | Load | Parameter):
        used.update(instruction.indices)
    return instruction


def _if(choice: If, used: set[Value]) -> If | None:
    wanted = [position for position, result in enumerate(choice.results) if result in used]
    then, orelse = (
        _block(replace(block, yields=tuple(block.yields[k] for k in wanted)), used)
        for block in (choice.then, choice.orelse)
    )
    if not wanted and not then.instructions and not orelse.instructions:
        return None
    used.add(choice.condition)
    return If(tuple(choice.results[k] for k in wanted), choice.condition, then, orelse)


def _while(loop: While, used: set[Value]) -> While:
    """Keep what a loop carries for what comes behind it, or for its own condition and body."""
    wanted = {position for position, result in enumerate(loop.results) if result in used}
    while True:
        inside: set[Value] = set()
        kept = sorted(wanted)
        body = _block(replace(loop.body, yields=tuple(loop.body.yields[k] for k in kept)), inside)
        condition = _block(loop.condition, inside)
        more = wanted | {position for position, argument in enumerate(loop.arguments) if argument in inside}
        if more == wanted:
            break
        wanted = more
    used.update(inside, (loop.initial[k] for k in kept))
    results, initial, arguments = (
        tuple(values[k] for k in kept) for values in (loop.results, loop.initial, loop.arguments)
    )
    return While(results, initial, arguments, condition, body)
