"""The CUDA C++ of some kernels, kept as text; equal kernels have equal texts, whatever they are called."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import kernel_texts
import pytest

import hawk
from eagle.plugin import Kernel
from eagle_cuda.writer import alone_source, launch_source, loop_source
from eagle_cuda.writer.entries import _prelude
from eagle_ir import Function

GOLDEN = Path(__file__).parent / "golden"


def text_of(kernel: Kernel, write: Callable[[Function], str] = launch_source) -> str:
    assert isinstance(kernel.code, Function)
    text = write(kernel.code)
    assert text.startswith(_prelude())
    return text.removeprefix(_prelude())


@pytest.mark.parametrize("name", ["branches", "searches", "divides", "flags", "gravity", "turns"])
def test_the_text_of_a_kernel(name: str) -> None:
    """A text that changed on purpose is written anew by deleting the file."""
    kernel = getattr(kernel_texts, name)
    text = text_of(kernel.__eagle_kernel__(kernel_texts.SCALARS.get(name, "float64")))
    path = GOLDEN / f"{name}.cu"
    if not path.exists():
        path.write_text(text, "utf-8")
        pytest.fail(f"{path} is new")
    assert text == path.read_text("utf-8")


@pytest.mark.parametrize(
    ("name", "write", "kept"),
    [
        ("decays", loop_source, "decays_loop"),
        ("decays", alone_source, "decays_alone"),
        ("searches", alone_source, "searches_alone"),
    ],
)
def test_the_text_of_a_loop_and_of_a_kernel_compiled_ahead(
    name: str, write: Callable[[Function], str], kept: str
) -> None:
    text = text_of(getattr(kernel_texts, name).__eagle_kernel__("float64"), write)
    path = GOLDEN / f"{kept}.cu"
    if not path.exists():
        path.write_text(text, "utf-8")
        pytest.fail(f"{path} is new")
    assert text == path.read_text("utf-8")


@hawk.kernel
def first(position: hawk.Scalar, by: hawk.Param, place: hawk.Mutable[hawk.Scalar]) -> None:
    moved = position * by
    place += moved


@hawk.kernel
def second(a: hawk.Scalar, b: hawk.Param, c: hawk.Mutable[hawk.Scalar]) -> None:
    x = a * b
    c = c + x


@hawk.kernel
def third(a: hawk.Scalar, b: hawk.Param, c: hawk.Mutable[hawk.Scalar]) -> None:
    c = c - a * b


def test_equal_kernels_have_equal_texts_whatever_they_are_called() -> None:
    one, other, different = (text_of(kernel.__eagle_kernel__("float64")) for kernel in (first, second, third))
    assert one == other
    assert one != different
    assert text_of(first.__eagle_kernel__("float32")) != one


def test_every_float_is_written_with_all_its_bits() -> None:
    text = text_of(kernel_texts.constants.__eagle_kernel__("float64"))
    for number in (0.1, 5e-324, 1.7976931348623157e308):
        assert number.hex() in text
    assert "infinity<double>()" in text
    assert "not_a_number<double>()" in text
    single = text_of(kernel_texts.constants.__eagle_kernel__("float32"))
    assert "0x1.99999a0000000p-4f" in single
