"""The names of architectures, and which device runs what was compiled for which."""

from __future__ import annotations

import re

from eagle.plugin import BuildError

__all__ = ["OLDEST_PTX", "is_architecture", "suffix_for", "why_not_on"]

OLDEST_PTX = "compute_75"
"""The oldest architecture that CUDA 13 compiles for, so that PTX for it runs on every device of a CUDA 13 driver."""

_NAME = re.compile(r"(compute|sm)_(\d+)([af]?)")


def is_architecture(name: str) -> bool:
    """Whether it is the name of an architecture: ``"sm_90"`` of a device, ``"compute_75"`` of PTX."""
    return _NAME.fullmatch(name) is not None


def suffix_for(name: str) -> str:
    """Return what files of code for an architecture end in: ``".ptx"`` or ``".cubin"``.

    Raises
    ------
    BuildError
        It is no architecture.
    """
    found = _NAME.fullmatch(name)
    if found is None:
        raise BuildError(f"there is no architecture {name!r}", fix=f"Say {OLDEST_PTX!r} for PTX, 'sm_90' for a cubin.")
    return ".ptx" if found[1] == "compute" else ".cubin"


def why_not_on(compiled_for: str, arch: str) -> str | None:
    """Return None if a device of architecture `arch` may run it, else why not.

    A cubin runs on devices of the same major version and no smaller a minor one, PTX on devices that are no older;
    with an ``a`` behind the number both run on that architecture alone, with an ``f`` within the major version
    (CUDA C++ Programming Guide, "Compute Capabilities"). What is not known is left to the driver.
    """
    made, here = _NAME.fullmatch(compiled_for), _NAME.fullmatch(arch)
    if made is None or here is None:
        return None
    wanted, number = int(made[2]), int(here[2])
    if made[3] == "a" and number != wanted:
        return f"it is for {compiled_for} alone, and the device is {arch}"
    same_major = number // 10 == wanted // 10
    if number < wanted or (not same_major and (made[1] == "sm" or made[3] == "f")):
        what = "PTX" if made[1] == "compute" else "machine code"
        return f"it is {what} for {compiled_for}, and the device is {arch}"
    return None
