"""Compiled kernels in files: what is written is what is read, and whatever is wrong is said of the file it is in."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import eagle
from eagle.plugin import Argument
from eagle_cuda import Artifact, save_artifact
from eagle_cuda.artifact_files import read_artifact
from eagle_cuda.artifacts import artifact_of
from eagle_cuda.compiling import artifact_kernel
from eagle_cuda.description import parsed, written
from eagle_cuda.errors import ArtifactError, ArtifactNotFound

X = Argument(name="x", role="sample", mode="r", dtype="float64", shape=(3,))
OUT = Argument(name="out", role="sample", mode="rw", dtype="float64")
GRID = Argument(name="grid", role="table", mode="r", dtype="float32", shape=(-1, 4))
MU = Argument(name="mu", role="param", mode="r", dtype="int32")
DONE = Argument(name="done", role="mask", mode="rw", dtype="bool")
ARGUMENTS = (X, OUT, GRID, MU, DONE)
IMAGE = b"the bytes of an image"
CODE = Artifact(IMAGE, "entry", 64, ("out",), compiled_for="compute_75", compiler="NVRTC 13.0")


# what is written is read ----------------------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "pull.ptx"
    save_artifact(artifact_kernel("pull", ARGUMENTS, CODE), file)
    return file


def test_both_files_hold_the_whole_kernel(file: Path) -> None:
    kernel = read_artifact(file)
    assert (kernel.name, kernel.arguments, kernel.code) == ("pull", ARGUMENTS, CODE)
    assert artifact_of(kernel).origin == str(file)  # type: ignore[union-attr]
    assert file.read_bytes() == IMAGE


def test_a_description_needs_no_more_than_an_entry_and_arguments(file: Path) -> None:
    rows = [{"name": "x", "kind": "sample", "dtype": "float64", "access": "write"}]
    describe(file, {"format": "eagle-artifact/1", "entry": "entry", "arguments": rows})
    kernel = read_artifact(file)
    assert (kernel.name, kernel.code) == ("entry", Artifact(IMAGE, "entry"))
    assert kernel.arguments == (Argument(name="x", role="sample", mode="w", dtype="float64"),)


def test_the_fingerprint_is_of_image_entry_and_arguments_and_not_of_names(file: Path) -> None:
    def fingerprint(code: Artifact = CODE, arguments: tuple[Argument, ...] = ARGUMENTS, name: str = "pull") -> str:
        return artifact_kernel(name, arguments, code).fingerprint

    assert read_artifact(file).fingerprint == fingerprint() == fingerprint(name="other")
    others = [fingerprint(Artifact(IMAGE + b".", "entry", 64)), fingerprint(Artifact(IMAGE, "other", 64))]
    others += [fingerprint(Artifact(IMAGE, "entry", 32)), fingerprint(Artifact(IMAGE, "entry", 64), (X, GRID, MU))]
    assert len({fingerprint(), *others}) == 5


SIZES = st.integers(1, 9)
NAMES = st.from_regex(r"\A[a-z_][a-z0-9_]{0,5}\Z").filter(str.isidentifier)
NUMBERS = st.sampled_from(["float64", "float32", "int64", "int32", "uint32", "bool"])


@st.composite
def kernels(draw: st.DrawFn) -> tuple[tuple[Argument, ...], Artifact]:
    masked = draw(st.booleans())
    names = draw(st.lists(NAMES, min_size=2, max_size=6, unique=True))
    arguments = [Argument(name=names.pop(), role="mask", mode=draw(MODES), dtype="bool")] if masked else []
    for name in names:
        role = draw(st.sampled_from(["sample", "table", "param"]))
        dtype = draw(NUMBERS)
        if role == "sample":
            mode, shape = draw(MODES), tuple(draw(st.lists(SIZES, max_size=2)))
            total = mode == "w" and not masked and draw(st.booleans())
            arguments.append(Argument(name=name, role="sample", mode=mode, dtype=dtype, shape=shape, total=total))
        elif role == "table":
            shape = tuple(draw(st.lists(SIZES | st.just(-1), min_size=1, max_size=3)))
            arguments.append(Argument(name=name, role="table", mode="r", dtype=dtype, shape=shape))
        else:
            arguments.append(Argument(name=name, role="param", mode="r", dtype=dtype))
    if all(one.role in ("table", "param") for one in arguments):
        arguments.append(Argument(name="SAMPLES", role="sample", mode="r", dtype="float64"))
    able = [one.name for one in arguments if one.role == "sample" and one.mode == "rw" and one.dtype != "bool"]
    adding = tuple(name for name in able if draw(st.booleans()))
    code = Artifact(draw(st.binary(min_size=1)), draw(NAMES), draw(st.integers(1, 1024)), adding)
    return tuple(draw(st.permutations(arguments))), code


MODES: Any = st.sampled_from(["r", "w", "rw"])


@pytest.mark.property
@given(kernels(), NAMES)
def test_every_description_reads_as_it_was_written(drawn: tuple[tuple[Argument, ...], Artifact], name: str) -> None:
    arguments, code = drawn
    artifact_kernel(name, arguments, code)  # it is one
    told = parsed(written(name, arguments, code, "00"), "some.json")
    assert (told.name, told.arguments, told.sha256) == (name, arguments, "00")
    read = told.with_image(code.image, "")
    assert (read.entry, read.threads, set(read.accumulates)) == (code.entry, code.threads, set(code.accumulates))


# files ----------------------------------------------------------------------------------------------------------------


def describe(file: Path, description: object) -> None:
    file.with_suffix(".json").write_text(json.dumps(description))


def test_an_image_that_is_not_there_is_a_file_not_found(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"there is no file .*none\.cubin of a compiled kernel\. Name a file"):
        read_artifact(tmp_path / "none.cubin")


def test_a_description_that_is_not_there_is_named(file: Path) -> None:
    file.with_suffix(".json").unlink()
    with pytest.raises(ArtifactNotFound, match=r"no file .*pull\.json that describes pull\.ptx\. .*save_artifact") as e:
        read_artifact(file)
    assert isinstance(e.value, eagle.BuildError)


def test_a_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    (tmp_path / "folder.ptx").mkdir()
    with pytest.raises(ArtifactError, match=r"folder\.ptx of a compiled kernel cannot be read: .*directory"):
        read_artifact(tmp_path / "folder.ptx")


@pytest.mark.parametrize("name", ["pull.json", "pull.so", "pull"])
def test_another_suffix_is_refused_with_those_there_are(file: Path, name: str) -> None:
    for use in (read_artifact, lambda path: save_artifact(artifact_kernel("pull", ARGUMENTS, CODE), path)):
        with pytest.raises(ArtifactError, match=r"does not end in \.ptx or \.cubin"):
            use(file.with_name(name))


def test_an_empty_image_is_refused(file: Path) -> None:
    file.write_bytes(b"")
    with pytest.raises(ArtifactError, match=r"pull\.ptx is empty"):
        read_artifact(file)


def test_a_description_of_another_image_is_found_out(file: Path) -> None:
    file.write_bytes(IMAGE + b" of another kernel")
    with pytest.raises(ArtifactError, match=r"pull\.json describes another image than .*pull\.ptx: the sha256"):
        read_artifact(file)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"{'entry': 1}", r"pull\.json is no JSON: .*line 1"),
        (b"\xff\xfe", r"pull\.json is no text in UTF-8"),
        (b"[]", r"pull\.json: it is no object"),
        (b'{"format": "eagle-artifact/2", "new": 1}', r"is of format 'eagle-artifact/2': this .* 'eagle-artifact/1'"),
        (b"{}", r"is of format None"),
        (b'{"format": "eagle-artifact/1", "entry": "a", "entry": "b"}', r"pull\.json has the key 'entry' twice"),
        (b'{"format": "eagle-artifact/1", "entry": "a"}', r"it lacks 'arguments'"),
    ],
)
def test_a_description_that_is_none_is_refused(file: Path, text: bytes, message: str) -> None:
    file.with_suffix(".json").write_bytes(text)
    with pytest.raises(ArtifactError, match=message):
        read_artifact(file)


def change(key: str, value: object) -> Callable[[Any], None]:
    return lambda told: told.update({key: value})


def change_argument(position: int, **keys: object) -> Callable[[Any], None]:
    return lambda told: told["arguments"][position].update(keys)


@pytest.mark.parametrize(
    ("break_it", "message"),
    [
        (change("thread", 1), r"it has an unknown key 'thread'\. The keys are format, entry"),
        (change("threads", "64"), r"'threads' of it is '64'\. It has to be an integer"),
        (change("threads", True), r"'threads' of it is True\. It has to be an integer"),
        (change("threads", 0), r"pull\.ptx: compiled kernel 'pull' is to run with 0 threads"),
        (change("threads", 1025), r"with 1025 threads in a block; a device has 1 to 1024"),
        (change("entry", ""), r"names no entry"),
        (change("arguments", {}), r"'arguments' of it is \{\}\. It has to be a list"),
        (change("arguments", []), r"has no plane with a value per sample"),
        (change("arguments", [1]), r"argument 0 is no object"),
        (change("compiled_for", "volta"), r"is for 'volta', which is no architecture"),
        (change_argument(0, role="sample"), r"argument 0 has an unknown key 'role'"),
        (change_argument(0, kind="plane"), r"the kind of argument 0 is 'plane'\. It is one of 'sample', 'mask'"),
        (change_argument(0, access="r"), r"the access of argument 0 is 'r'\. It is one of 'read', 'write'"),
        (change_argument(1, accumulate=1), r"'accumulate' of argument 1 is 1\. It has to be true or false"),
        (change_argument(0, accumulate=True), r"accumulates into 'x', which is no plane of numbers that is read and"),
        (change_argument(4, accumulate=True), r"accumulates into 'done'"),
        (change_argument(0, name="x y"), r"has an argument 'x y' that is no name that a call could give"),
        (change_argument(0, name="out"), r"has two arguments of one name"),
        (change_argument(0, dtype="float16"), r"an argument 'x' that is of dtype 'float16'; there are float64, flo"),
        (change_argument(0, shape=[3.0]), r"an argument 'x' that has the shape \[3\.0\], which is not of integers"),
        (change_argument(0, shape=[2, 2, 2]), r"the shape \[2, 2, 2\], which a sample cannot have"),
        (change_argument(0, shape=[0]), r"the shape \[0\], which a sample cannot have"),
        (change_argument(0, shape=[-2, -2]), r"the shape \[-2, -2\]; a size is 1 or more"),
        (change_argument(2, shape=[-2]), r"'grid' that has the shape \[-2\]; a size is 1 or more, and -1 stands"),
        (change_argument(2, shape=[]), r"the shape \[\], which a table cannot have"),
        (change_argument(3, shape=[2]), r"'mu' that has the shape \[2\], which a param cannot have"),
        (change_argument(2, access="read-write"), r"'grid' that is a table and is written"),
        (change_argument(3, access="write"), r"'mu' that is a param and is written"),
        (change_argument(4, dtype="int32"), r"'done' that is a mask of int32; it is of bool"),
        (change_argument(1, total=True), r"'out' that is total; only a plane that is written and not read is"),
        (change_argument(1, kind="mask", dtype="bool", accumulate=False), r"has two masks"),
    ],
)
def test_what_a_description_cannot_say_is_refused_by_name(
    file: Path, break_it: Callable[[Any], None], message: str
) -> None:
    told = json.loads(file.with_suffix(".json").read_text())
    break_it(told)
    describe(file, told)
    with pytest.raises(ArtifactError, match=message):
        read_artifact(file)


def test_access_of_a_plane_has_to_be_said(file: Path) -> None:
    told = json.loads(file.with_suffix(".json").read_text())
    del told["arguments"][0]["access"]
    describe(file, told)
    with pytest.raises(ArtifactError, match=r"argument 0 lacks 'access'\. Say one of 'read', 'write', 'read-write'"):
        read_artifact(file)


# writing --------------------------------------------------------------------------------------------------------------


def test_what_could_not_be_read_back_is_not_written(tmp_path: Path) -> None:
    from dataclasses import replace

    broken = replace(artifact_kernel("pull", ARGUMENTS, CODE), arguments=(X, X))
    with pytest.raises(ArtifactError, match="has two arguments of one name"):
        save_artifact(broken, tmp_path / "pull.ptx")
    assert not list(tmp_path.iterdir())


def test_machine_code_is_not_written_as_ptx(tmp_path: Path) -> None:
    kernel = artifact_kernel("pull", ARGUMENTS, Artifact(IMAGE, "entry", compiled_for="sm_90"))
    with pytest.raises(eagle.BuildError, match=r"code for sm_90 is not kept in pull\.ptx.*Name the file pull\.cubin"):
        save_artifact(kernel, tmp_path / "pull.ptx")
    save_artifact(kernel, tmp_path / "pull.cubin")
    assert read_artifact(tmp_path / "pull.cubin").code == kernel.code


def test_a_compiled_kernel_is_not_compiled_for_another_architecture(tmp_path: Path) -> None:
    with pytest.raises(eagle.BuildError, match=r"kernel 'pull' is compiled already\. Leave arch= out"):
        save_artifact(artifact_kernel("pull", ARGUMENTS, CODE), tmp_path / "pull.ptx", arch="compute_90")
