"""The kernels around a step: one that makes it once for every sample, one that repeats it to each sample's end.

The former is written for the graphs of this process, or to be compiled ahead and launched by anybody.
"""

from __future__ import annotations

import functools
from importlib.resources import files

from eagle_cuda.writer.body import Body
from eagle_cuda.writer.signature import Component, Signature
from eagle_cuda.writer.types import c_type
from eagle_ir import Function, Type

__all__ = ["ALONE", "LAUNCH", "LOOP", "alone_source", "launch_source", "loop_source"]

ALONE = "eagle_alone"
"""What the kernel of `alone_source` is called."""

LAUNCH = "eagle_launch"
"""What the kernel of `launch_source` is called."""
LOOP = "eagle_loop"
"""What that of `loop_source` is called."""

_SURROUNDINGS = ["i64 samples", "Outcome* outcome", "Fault* fault", "u32* around", "const volatile u32* stop"]


def launch_source(function: Function) -> str:
    """Return the text of a kernel that makes one step for every sample that is not finished.

    Behind those of `Signature.declared` its parameters are the number of samples, the graph's ``Outcome``, the node's
    ``Fault``, the word that ends the loop around it or null, and the word by which the host stops loops.
    """
    signature = Signature(function)
    return _text(function, signature, LAUNCH, [*signature.declared(), *_SURROUNDINGS], _launch(signature))


def alone_source(function: Function) -> str:
    """Return the text of the kernel of `launch_source` as an `eagle_cuda.Artifact` has it: it reports to nobody.

    Behind those of `Signature.declared` its one parameter is the number of samples. No sample can fault in the
    function, and nothing stops a loop in it.
    """
    signature = Signature(function)
    return _text(function, signature, ALONE, [*signature.declared(), _SURROUNDINGS[0]], _alone(signature))


def loop_source(function: Function) -> str:
    """Return the text of a kernel that repeats the step to each sample's own end, a free thread taking the next sample.

    It has a mask that it writes. Behind the parameters of `launch_source` it takes the most steps of a sample, where
    to count steps per sample or null, where to mark samples whose floats are no longer finite or null, and its
    ``Loop``.
    """
    signature = Signature(function)
    more = ["i64 limit", "i64* steps", "u8* failed", "Loop* loop"]
    return _text(function, signature, LOOP, [*signature.declared(), *_SURROUNDINGS, *more], _loop(signature))


def _text(function: Function, signature: Signature, name: str, parameters: list[str], lines: list[str]) -> str:
    step = Body(function, signature).lines()
    head = ", ".join([*_step_parameters(signature), "Where& where", "const volatile u32* stop"])
    parts = [
        _prelude(),
        "using namespace eagle;\n",
        f"__device__ __forceinline__ Ended eagle_step({head}) {{",
        *step,
        "}\n",
        f'extern "C" __global__ void {name}({", ".join(parameters)}) {{',
        *("    " + line if line else "" for line in lines),
        "}",
    ]
    return "\n".join(parts) + "\n"


@functools.cache
def _prelude() -> str:
    return (files("eagle_cuda") / "kernels" / "numbers.cuh").read_text("utf-8") + (
        files("eagle_cuda") / "kernels" / "samples.cuh"
    ).read_text("utf-8")


def _step_parameters(signature: Signature) -> list[str]:
    """Return what a step takes: params and tables, what is loaded by value, what is stored by reference."""
    parameters = []
    for position, argument in enumerate(signature.function.arguments):
        type_ = Type(argument.dtype)
        if argument.role == "param":
            parameters.append(f"{c_type(type_)} a{position}")
        elif argument.role == "table":
            held = "u8" if type_ is Type.BOOL else c_type(type_)
            parameters.append(f"const {held}* a{position}")
            parameters += [f"i64 a{position}_n{axis}" for axis in range(len(argument.shape))]
    for one in signature.components:
        if one.loaded:
            parameters.append(f"{c_type(one.type)} {one.name}")
        if one.stored:
            parameters.append(f"{c_type(one.type)}& {one.name}_next")
    return parameters


def _call(signature: Signature) -> str:
    arguments = []
    for position, argument in enumerate(signature.function.arguments):
        if argument.role in ("param", "table"):
            arguments.append(f"a{position}")
        if argument.role == "table":
            arguments += [f"a{position}_n{axis}" for axis in range(len(argument.shape))]
    for one in signature.components:
        if one.loaded:
            arguments.append(one.name)
        if one.stored:
            arguments.append(f"{one.name}_next")
    return f"eagle_step({', '.join([*arguments, 'where', 'stop'])})"


def _launch(signature: Signature) -> list[str]:
    return _once(
        signature,
        "sample >= samples || outcome->halted != 0",
        [
            f"const Ended ended = {_call(signature)};",
            "if (ended == FAULTED) note(outcome, fault, around, sample, where);",
            "if (ended != WHOLE) return;",
        ],
    )


def _alone(signature: Signature) -> list[str]:
    step = ["const volatile u32 never = 0, *const stop = &never;", f"if ({_call(signature)} != WHOLE) return;"]
    return _once(signature, "sample >= samples", step)


def _once(signature: Signature, left_out: str, step: list[str]) -> list[str]:
    """Write one thread's sample: what it loads, the step, what it stores."""
    mask = signature.mask_component
    lines = [
        "const i64 sample = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x;",
        f"if ({left_out}) return;",
    ]
    if mask is not None:
        lines.append(f"if ({mask.place} != 0) return;")
    lines += [f"const {c_type(one.type)} {one.name} = {_read(one)};" for one in signature.components if one.loaded]
    lines += [f"{c_type(one.type)} {one.name}_next;" for one in signature.components if one.stored]
    lines += ["Where where{0, 0};", *step]
    return lines + [f"{one.place} = {one.name}_next;" for one in signature.components if one.stored]


def _loop(signature: Signature) -> list[str]:
    """Write one endless loop whose turn is one step: nested ones would have a warp wait for its longest sample."""
    mask = signature.mask_component
    assert mask is not None
    stored = [one for one in signature.components if one.stored]
    done = f"{mask.name}_next" if mask.stored else "false"
    finite = " && ".join(f"is_finite({one.name}_next)" for one in stored if one.type.is_float) or "true"
    return [
        "if (outcome->halted != 0) return;",
        "i64 sample = -1, taken = 0, longest = 0;",
        *[f"{c_type(one.type)} {one.name} = {_zero(one.type)};" for one in signature.components],
        *[f"{c_type(one.type)} {one.name}_next = {_zero(one.type)};" for one in stored],
        "for (u32 turns = 0;; ++turns) {",
        *["    " + line for line in _taking(signature, mask)],
        "    const bool stopping = turns % 1024 == 0 && *stop != 0;",
        "    Where where{0, 0};",
        "    Ended ended = stopping ? STOPPED : WHOLE;",
        f"    if (!stopping) ended = {_call(signature)};",
        "    bool over = ended != WHOLE, bad = false;",
        "    if (ended == WHOLE) {",
        "        ++taken;",
        *[f"        {one.name} = {one.name}_next;" for one in stored],
        f"        bad = failed != nullptr && !({finite});",
        f"        over = bad || {done} || taken == limit;",
        "    }",
        "    if (!over) continue;",
        *["    " + line for line in _leaving(stored, mask)],
        "}",
        "if (longest > 0) atomicMax(&loop->longest, static_cast<u64>(longest));",
    ]


def _taking(signature: Signature, mask: Component) -> list[str]:
    """Have a thread without a sample take the next one that is not finished."""
    return [
        "if (sample < 0) {",
        "    do sample = next(loop);",
        f"    while (sample < samples && {mask.place} != 0);",
        "    if (sample >= samples) break;",
        "    taken = 0;",
        *[f"    {one.name} = {_read(one)};" for one in signature.components],
        "}",
    ]


def _leaving(stored: list[Component], mask: Component) -> list[str]:
    """Write a sample that ended, and what it came to; unless it took no step, because then it is as it was."""
    return [
        "if (ended == FAULTED) note(outcome, fault, around, sample, where);",
        "if (taken > 0) {",
        *[f"    {one.place} = {one.name};" for one in stored if one is not mask],
        f"    {mask.place} = {mask.name} || bad;",
        "    if (bad) failed[sample] = 1;",
        "    if (steps != nullptr) steps[sample] += taken;",
        "}",
        f"if (!{mask.name} && !bad) loop->left = 1;",
        "if (taken > longest) longest = taken;",
        "sample = -1;",
        "if (ended == STOPPED) break;",
    ]


def _read(one: Component) -> str:
    return f"{one.place} != 0" if one.type is Type.BOOL else one.place


def _zero(type_: Type) -> str:
    return "false" if type_ is Type.BOOL else "0"
