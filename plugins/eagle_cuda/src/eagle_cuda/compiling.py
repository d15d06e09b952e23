"""Kernels compiled ahead, to be kept in files: from hawk or another front end, and from CUDA C++."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from eagle.plugin import Argument, BuildError, EagleError, GraphTypeError, Kernel, Plan
from eagle_cuda.architectures import OLDEST_PTX, suffix_for
from eagle_cuda.artifacts import ARTIFACT_DIALECT, Artifact
from eagle_cuda.description import check
from eagle_cuda.device import device
from eagle_cuda.driver import why_not
from eagle_cuda.modules import compiled, compiler
from eagle_cuda.planes import current_device
from eagle_cuda.programs import program_for
from eagle_cuda.writer import ALONE, alone_source
from eagle_ir import Function
from eagle_ir.walking import faulting

__all__ = ["artifact_kernel", "compile_artifact", "compile_source"]


def compile_artifact(kernel: object, *, arch: str | None = None, accumulates: Sequence[str] = ()) -> Kernel:
    """Compile a kernel ahead, to be saved, or launched by `eagle_cuda.launch_here`.

    Parameters
    ----------
    kernel : kernel
        What ``@hawk.kernel`` returns, a `eagle.Plan` of one, which also says the type of its floats, or a `Kernel`.
    arch : str, optional
        ``"compute_75"`` and the like for PTX, which devices of that architecture and newer ones take; ``"sm_90"`` and
        the like for machine code. By default machine code for the current device; what names one takes no device.
    accumulates : sequence of str
        The arguments that each launch adds to.

    Returns
    -------
    Kernel
        With the name and the arguments of the given one, of the dialect ``"cuda-artifact/1"``.

    Raises
    ------
    BuildError
        A sample can fault in it, it is compiled already, there is no compiler, or no device and nothing says what for.
    GraphTypeError
        It is no kernel.
    """
    given = _kernel(kernel)
    function = program_for(given).function
    _refuse_faults(given, function)
    wanted = _wanted(arch)
    code = Artifact(
        image=compiled(alone_source(function), wanted),
        entry=ALONE,
        accumulates=tuple(accumulates),
        compiled_for=wanted,
        compiler=compiler(),
    )
    return artifact_kernel(given.name, given.arguments, code)


def compile_source(
    source: str,
    entry: str,
    arguments: Sequence[Argument],
    *,
    arch: str | None = None,
    name: str | None = None,
    threads: int = 128,
    accumulates: Sequence[str] = (),
) -> Kernel:
    """Compile CUDA C++ of your own to a kernel that can be bound, saved and launched.

    Contraction is off, nothing is flushed to zero, division and square root are rounded correctly.

    Parameters
    ----------
    source : str
        What the entry's parameters have to be, `eagle_cuda.Artifact` says.
    entry : str
        The kernel's name in it, which ``extern "C"`` keeps.
    arguments : sequence of Argument
    arch : str, optional
        As for `compile_artifact`.
    name : str, optional
        What messages call the kernel; by default, `entry`.
    threads : int
        Of a block.
    accumulates : sequence of str
        The arguments that each launch adds to.

    Raises
    ------
    BuildError
        The compiler does not take it, there is none, or no device and nothing says what to compile for.
    ArtifactError
        The arguments do not make a kernel.
    """
    wanted = _wanted(arch)
    title = entry if name is None else name
    try:
        image = compiled(source, wanted)
    except EagleError:
        raise
    except Exception as error:
        raise BuildError(f"NVRTC does not take the source of kernel {title!r}", why=str(error)) from error
    code = Artifact(image, entry, threads, tuple(accumulates), compiled_for=wanted, compiler=compiler())
    return artifact_kernel(title, tuple(arguments), code)


def artifact_kernel(name: str, arguments: tuple[Argument, ...], code: Artifact) -> Kernel:
    """Return an artifact as a kernel. Raises `ArtifactError` unless what it says of itself can be."""
    check(name, arguments, code)
    told = repr((code.entry, code.threads, [repr(one) for one in arguments]))
    fingerprint = hashlib.sha256(told.encode() + b"\0" + code.image).hexdigest()
    return Kernel(name=name, arguments=arguments, dialect=ARTIFACT_DIALECT, code=code, fingerprint=fingerprint)


def _wanted(arch: str | None) -> str:
    """Return the architecture to compile for."""
    if arch is not None:
        suffix_for(arch)  # which refuses what is none
        return arch
    if (reason := why_not()) is not None:
        raise BuildError(
            "nothing says what to compile for", why=reason, fix=f"Say arch={OLDEST_PTX!r} for PTX, or 'sm_90', say."
        )
    return device(current_device()).arch


def _kernel(given: object) -> Kernel:
    if isinstance(given, Plan):
        return given.kernel
    if isinstance(given, Kernel):
        return given
    make: Any = getattr(given, "__eagle_kernel__", None)
    if make is None or isinstance(given, type):
        raise GraphTypeError(f"a kernel is compiled, not {given!r}", fix="Pass what @hawk.kernel returns, or a plan.")
    made = make("float64")
    assert isinstance(made, Kernel)
    return made


def _refuse_faults(kernel: Kernel, function: Function) -> None:
    found = faulting(function.body)
    if not found:
        return
    site = None if found[0].site is None else function.sites[found[0].site]
    where = "" if site is None else f" ({site.file}:{site.line}: {site.text.strip()})"
    raise BuildError(
        f"kernel {kernel.name!r} is not compiled ahead: a sample can fault in it{where}",
        why="a table's index, an integer division and a float made an integer are checked, and by itself a compiled "
        "kernel has nobody to report to",
        fix="Launch it from source, in a graph, or write it without these.",
    )
