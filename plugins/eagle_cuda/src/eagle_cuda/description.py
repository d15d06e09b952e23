"""What stands beside the image of a compiled kernel: its entry and its arguments, as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, NoReturn, cast

from eagle.plugin import Argument, Mode
from eagle_cuda.architectures import is_architecture
from eagle_cuda.artifacts import Artifact
from eagle_cuda.errors import ArtifactError

__all__ = ["FORMAT", "Description", "check", "parsed", "written"]

FORMAT = "eagle-artifact/1"
"""What a description says of itself first."""

_TYPES = ("float64", "float32", "int64", "int32", "uint32", "bool")
_KINDS = ("sample", "mask", "table", "param")
_MODES: dict[str, Mode] = {"read": "r", "write": "w", "read-write": "rw"}
_ACCESS = {mode: access for access, mode in _MODES.items()}
_NAMED = {str: "a string", int: "an integer", bool: "true or false", list: "a list", dict: "an object"}
_WHOLE: dict[str, type] = {
    "format": str,
    "entry": str,
    "arguments": list,
    "name": str,
    "threads": int,
    "compiled_for": str,
    "compiler": str,
    "sha256": str,
}
_ONE: dict[str, type] = {
    "name": str,
    "kind": str,
    "dtype": str,
    "access": str,
    "shape": list,
    "accumulate": bool,
    "total": bool,
}


@dataclass(frozen=True)
class Description:
    """What a description says: an `Artifact` without its image, and the kernel's name and arguments.

    Attributes
    ----------
    name : str
    arguments : tuple of Argument
    entry : str
    threads : int
    accumulates : tuple of str
    compiled_for, compiler : str
        Empty when it does not say.
    sha256 : str
        Of the image, in hexadecimal; empty when it does not say.
    """

    name: str
    arguments: tuple[Argument, ...]
    entry: str
    threads: int
    accumulates: tuple[str, ...]
    compiled_for: str
    compiler: str
    sha256: str

    def with_image(self, image: bytes, origin: str) -> Artifact:
        """Return the artifact."""
        return Artifact(
            image, self.entry, self.threads, self.accumulates, self.compiled_for, self.compiler, origin=origin
        )


def parsed(text: str, file: str) -> Description:
    """Return what a description says.

    Parameters
    ----------
    text : str
    file : str
        Where it is from, for messages.

    Raises
    ------
    ArtifactError
        It is no JSON, of another format, has keys that are unknown, missing, twice there or of another type.
    """
    try:
        given = json.loads(text, object_pairs_hook=lambda pairs: _unique(pairs, file))
    except ValueError as error:
        raise ArtifactError(f"{file} is no JSON", why=str(error), fix=_AGAIN) from error
    if isinstance(given, dict) and given.get("format") != FORMAT:
        raise ArtifactError(
            f"{file} is of format {given.get('format')!r}",
            why=f"this eagle-cuda reads {FORMAT!r}",
            fix="Write it anew with eagle_cuda.save_artifact, or update eagle-cuda.",
        )
    whole = _fields(given, _WHOLE, ("format", "entry", "arguments"), file, "it")
    arguments, adding = [], []
    for position, one in enumerate(whole["arguments"]):
        argument, accumulates = _argument(one, file, f"argument {position}")
        arguments.append(argument)
        adding += [argument.name] * accumulates
    return Description(
        name=whole.get("name", whole["entry"]),
        arguments=tuple(arguments),
        entry=whole["entry"],
        threads=whole.get("threads", 128),
        accumulates=tuple(adding),
        compiled_for=whole.get("compiled_for", ""),
        compiler=whole.get("compiler", ""),
        sha256=whole.get("sha256", ""),
    )


def written(name: str, arguments: Sequence[Argument], artifact: Artifact, sha256: str) -> str:
    """Return the description of an artifact, with one argument a line."""
    head = {"format": FORMAT, "name": name, "entry": artifact.entry, "threads": artifact.threads}
    tail = {"compiled_for": artifact.compiled_for, "compiler": artifact.compiler, "sha256": sha256}
    rows = [json.dumps(_told(one, one.name in artifact.accumulates)) for one in arguments]
    lines = [f"  {json.dumps(key)}: {json.dumps(value)}," for key, value in head.items()]
    lines += ['  "arguments": [', *[f"    {row}," for row in rows[:-1]], *[f"    {row}" for row in rows[-1:]], "  ],"]
    lines += [f"  {json.dumps(key)}: {json.dumps(value)}," for key, value in tail.items() if value]
    return "\n".join(["{", *lines[:-1], lines[-1].removesuffix(","), "}"]) + "\n"


def check(name: str, arguments: Iterable[Argument], artifact: Artifact) -> None:
    """Refuse what cannot be a compiled kernel, whoever described it.

    Raises
    ------
    ArtifactError
        It names the kernel, the file if there is one, and the argument.
    """
    where = f"{artifact.origin}: " if artifact.origin else ""
    what = f"{where}compiled kernel {name!r}"
    arguments = tuple(arguments)
    names = [one.name for one in arguments]
    masks = [one.name for one in arguments if one.role == "mask"]
    for one in arguments:
        if (wrong := _wrong_in(one, bool(masks))) is not None:
            _refuse(f"{what} has an argument {one.name!r} that {wrong}", (one.name,))
    if len(set(names)) < len(names):
        _refuse(f"{what} has two arguments of one name", tuple(sorted({n for n in names if names.count(n) > 1})))
    if len(masks) > 1:
        _refuse(f"{what} has two masks", tuple(masks))
    if not any(one.role in ("sample", "mask") for one in arguments):
        _refuse(f"{what} has no plane with a value per sample, which says how many there are")
    added_to = {one.name for one in arguments if one.role == "sample" and one.mode == "rw" and one.dtype != "bool"}
    if unfit := [name for name in artifact.accumulates if name not in added_to]:
        _refuse(f"{what} accumulates into {unfit[0]!r}, which is no plane of numbers that is read and written")
    if not artifact.entry:
        _refuse(f"{what} names no entry")
    if not 1 <= artifact.threads <= 1024:
        _refuse(f"{what} is to run with {artifact.threads} threads in a block; a device has 1 to 1024")
    if artifact.compiled_for and not is_architecture(artifact.compiled_for):
        _refuse(f"{what} is for {artifact.compiled_for!r}, which is no architecture, such as 'compute_75' or 'sm_90'")


_AGAIN = "Write it anew with eagle_cuda.save_artifact."


def _unique(pairs: list[tuple[str, Any]], file: str) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ArtifactError(f"{file} has the key {twice!r} twice", why="which of the two counts is not said")
    return found


def _fields(given: object, types: dict[str, type], required: Sequence[str], file: str, what: str) -> dict[str, Any]:
    """Return an object of which every key is known and of its type."""
    if not isinstance(given, dict):
        raise ArtifactError(f"{file}: {what} is no object with keys and values, but {given!r}", fix=_AGAIN)
    for key, value in given.items():
        if key not in types:
            raise ArtifactError(f"{file}: {what} has an unknown key {key!r}", fix=f"The keys are {', '.join(types)}.")
        if type(value) is not types[key]:
            raise ArtifactError(f"{file}: {key!r} of {what} is {value!r}", fix=f"It has to be {_NAMED[types[key]]}.")
    if missing := [key for key in required if key not in given]:
        raise ArtifactError(f"{file}: {what} lacks {', '.join(map(repr, missing))}", fix=_AGAIN)
    return given


def _argument(given: object, file: str, what: str) -> tuple[Argument, bool]:
    """Return an argument, and whether launches add to it."""
    one = _fields(given, _ONE, ("name", "kind", "dtype"), file, what)
    _one_of(one["kind"], _KINDS, f"{file}: the kind of {what}")
    if one["kind"] in ("sample", "mask") and "access" not in one:
        raise ArtifactError(f"{file}: {what} lacks 'access'", fix=f"Say one of {', '.join(map(repr, _MODES))}.")
    access = one.get("access", "read")
    _one_of(access, tuple(_MODES), f"{file}: the access of {what}")
    argument = Argument(
        name=one["name"],
        role=one["kind"],
        mode=_MODES[access],
        dtype=one["dtype"],
        shape=cast("tuple[int, ...]", tuple(one.get("shape", ()))),
        total=one.get("total", False),
    )
    return argument, one.get("accumulate", False)


def _one_of(value: str, known: Sequence[str], what: str) -> None:
    if value not in known:
        raise ArtifactError(f"{what} is {value!r}", fix=f"It is one of {', '.join(map(repr, known))}.")


def _told(argument: Argument, accumulates: bool) -> dict[str, Any]:
    told: dict[str, Any] = {"name": argument.name, "kind": argument.role, "dtype": argument.dtype}
    if argument.shape:
        told["shape"] = list(argument.shape)
    if argument.role != "param":
        told["access"] = _ACCESS[argument.mode]
    return {**told, **({"accumulate": True} if accumulates else {}), **({"total": True} if argument.total else {})}


def _wrong_in(one: Argument, masked: bool) -> str | None:
    """Say what an argument cannot be, or nothing."""
    if not one.name.isidentifier():
        return "is no name that a call could give"
    if one.dtype not in _TYPES:
        return f"is of dtype {one.dtype!r}; there are {', '.join(_TYPES)}"
    if any(type(size) is not int for size in one.shape):
        return f"has the shape {list(one.shape)}, which is not of integers"
    least, most = {"sample": (0, 2), "table": (1, 8)}.get(one.role, (0, 0))
    if not least <= len(one.shape) <= most or (one.role == "sample" and prod(one.shape) < 1):
        return f"has the shape {list(one.shape)}, which a {one.role} cannot have"
    if any(size < (-1 if one.role == "table" else 1) for size in one.shape):
        return f"has the shape {list(one.shape)}; a size is 1 or more, and -1 stands for any length of a table"
    if one.role in ("param", "table") and one.mode != "r":
        return f"is a {one.role} and is written; only a sample's planes and the mask can be"
    if one.role == "mask" and one.dtype != "bool":
        return f"is a mask of {one.dtype}; it is of bool"
    if one.total and (one.mode != "w" or one.role != "sample" or masked):
        return "is total; only a plane that is written and not read is, in a kernel without a mask"
    return None


def _refuse(what: str, planes: tuple[str, ...] = ()) -> NoReturn:
    raise ArtifactError(what, fix="Describe the kernel as it was compiled.", planes=planes)
