"""What is outside the language: the message says what to do, and the caret stands under the place."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import pytest

import hawk
from eagle.errors import EagleError

ARGUMENTS = "x: Scalar, n: Int32, v: Vector[3], m: Mutable[Scalar], k: Mutable[Int32], t: Table[Scalar], p: Param"

# body: (a part of the message, what the caret stands under)
BODIES: dict[str, tuple[str, str]] = {
    "y = z": ("the name 'z' is not defined", "z"),
    "y = y": ("'y' is unassigned here", "y"),
    "if x > 0:\n    y = 1.0\nm = y": ("'y' may be unassigned here. Give it a value before", "y"),
    "while m < x:\n    y = 1.0\n    m += 1\nm = y": ("'y' may be unassigned here", "y"),
    "for i in range(n):\n    y = 1.0\nm = y": ("'y' may be unassigned here", "y"),
    "for i in range(n):\n    pass\nm = i": ("'i' may be unassigned here", "i"),
    "while True:\n    if x > 0:\n        break\n    y = x\nm = y": ("'y' may be unassigned here", "y"),
    "x = 1.0": ("'x' is read only. Annotate it Mutable[Scalar] to write it in place, or use another name", "x"),
    "p += 1.0": ("'p' is read only. Use another name", "p"),
    "v[0] = 1.0": ("'v' is read only. Annotate it Mutable[Vector[3]]", "v[0]"),
    "t[0] = 1.0": ("the elements of the table t cannot be assigned. A table is read only", "t[0]"),
    "k = x": ("'k' is Int32 and cannot hold a Scalar. Convert it: int(x)", "k"),
    "k += 0.5": ("'k' is Int32 and cannot hold a Scalar", "k"),
    "m = v": ("'m' is Mutable[Scalar] and cannot hold a Vector[3]", "m"),
    "m = t": ("'m' is Mutable[Scalar] and cannot hold the table t", "m"),
    "m = v + [1, 2]": ("a Vector[3] does not go with a Vector[2]", "v + [1, 2]"),
    "m = v[3]": ("the index 3 is outside 0..2", "3"),
    "m = v[n]": ("not known to be within 0..2. Use a constant, the variable of a loop over range(3), or i % 3", "n"),
    "m = v[x]": ("an index is a whole number, not a Scalar. Convert it: int(x)", "x"),
    "m = v[0, 1]": ("2 indices for a Vector[3]", "v[0, 1]"),
    "m = t[x]": ("an index is a whole number, not a Scalar", "x"),
    "m = t[-1]": ("the index -1 is outside the table: indices do not wrap", "-1"),
    "m = t[0, 1]": ("t has 1 axes. Index it by 1 whole numbers", "t[0, 1]"),
    "m = len(t)": ("the length of t is not known. Pass it as a Param[Index]", "len(t)"),
    "m = x[0]": ("a Scalar cannot be indexed", "x[0]"),
    "m = x.real": ("a Scalar has no attribute 'real'", "x.real"),
    "m = math.nope(x)": ("has no attribute 'nope'", "math.nope"),
    "m = v @ x": ("@ multiplies vectors and matrices, not a Scalar. Numbers take *", "v @ x"),
    "if v:\n    pass": ("a Vector[3] is no condition. Compare numbers", "v"),
    "m = v > 0": ("a number is needed here, not a Vector[3]", "v"),
    "m = x & 1": ("bitwise operators take whole numbers or truth values", "x & 1"),
    "m = ~x": ("~ takes whole numbers, not a Scalar", "~x"),
    "m = x in v": ("in and not in are not part", "v"),
    "m = x is None": ("is, is not, in", "None"),
    "m = None": ("None is not part of the kernel language", "None"),
    "m = 1j": ("complex numbers are not part", "1j"),
    "m = 'a'": ("'m' is Mutable[Scalar] and cannot hold str 'a'", "m"),
    "m = f'{x}'": ("a string is not part", "f'{x}'"),
    "m = (lambda a: a)(x)": ("a lambda is not part of the kernel language. Define the helper with def", "lambda a: a"),
    "m = (y := x)": ("Assign on a line of its own", "y := x"),
    "m = sum([a for a in v])": ("a comprehension is not part", "[a for a in v]"),
    "m = {1: x}[1]": ("a dict is not part", "{1: x}"),
    "y, *z = v": ("unpacking with * is not part", "*z"),
    "y, z = v": ("2 names for 3 values", "y, z"),
    "y, z = x": ("a Scalar cannot be unpacked", "y, z"),
    "m.y = x": ("this cannot be assigned", "m.y"),
    "y: float = x": ("an annotation of a variable", "float"),
    "x + 1": ("this has no effect", "x + 1"),
    "math.sin(x)": ("the result of this call is thrown away", "math.sin(x)"),
    "print(x)": ("print cannot be called in a kernel. Write the value to a Mutable plane", "print"),
    "m = sorted(v)": ("sorted cannot be called", "sorted"),
    "m = math.sin(x, x)": ("math.sin takes 1 argument here, not 2", "math.sin(x, x)"),
    "m = math.sin(v=x)": ("takes no keyword arguments here", "x"),
    "m = max(x)": ("max takes two or more numbers, or a vector", "max(x)"),
    "m = x(1)": ("a Scalar cannot be called. Multiplication is written a * b", "x"),
    "m = range(3)": ("range is not for here", "range"),
    "for a in v:\n    pass": ("a loop runs over range(...). Write for i in range(len(v))", "v"),
    "for a, b in range(3):\n    pass": ("the variable of a loop is one name", "a, b"),
    "for i in range(x):\n    pass": ("range takes whole numbers, not a Scalar", "x"),
    "for i in range(0, 3, 0):\n    pass": ("the step of a range is not zero", "range(0, 3, 0)"),
    "for i in range(3):\n    pass\nelse:\n    m = 1": ("else after a loop", "m = 1"),
    "assert x > 0": ("assert is not part of the kernel language", "assert x > 0"),
    "raise ValueError": ("raise is not part of the kernel language. Set a Mutable[Bool]", "raise ValueError"),
    "import math": ("import is not part of the kernel language. Import at the top", "import math"),
    "del m": ("del is not part", "del m"),
    "global g": ("global is not part", "global g"),
    "def f():\n    pass": ("a function inside a kernel is not part", "def f():"),
    "if x > 0:\n    y = x\nelse:\n    y = v\nm = 1": ("'y' is a Scalar on one path and a Vector[3]", "if x > 0:"),
    "y = 1.0\nfor i in range(n):\n    y = v": ("'y' is a Scalar on one path and a Vector[3]", "for i in range(n):"),
    "return math": ("a kernel returns numbers and vectors", "return math"),
    "return [x, v]": ("neither a vector of numbers nor a matrix", "[x, v]"),
    "m = 2 ** 64 * x": ("this constant does not fit in 64 bits. Write it as a float", "2 ** 64"),
    "m = np.zeros(n)": ("the shape is one or two whole constants", "np.zeros(n)"),
    "y = recursive(x)\nm = y": ("recursive calls itself. Write a loop", "recursive(x - 1)"),
    "y = starred(x)\nm = y": ("starred takes *args or **kwargs", "starred(x)"),
    "y = helper(x)\nm = y": ("helper is missing the argument 'b'", "helper(x)"),
    "y = helper(x, b=1, c=2)\nm = y": ("helper has no argument 'c'", "2"),
    "y = helper(x, 1, 2)\nm = y": ("helper takes 2 arguments, not 3", "helper(x, 1, 2)"),
    "y = helper(x, 1, a=2)\nm = y": ("helper is given 'a' twice", "2"),
    "y = inner(x)\nm = y": ("the caller would not see the change. Return it", "w[0]"),
    "y = decorated(x)\nm = y": ("decorated() has a decorator", "decorated(x)"),
    "y = sometimes(x)\nm = y": ("returns a value on one path and ends without one on another", "def sometimes(x):"),
    "y = nothing(x)\nm = y + 1": ("a number is needed here, not a tuple of 0", "y + 1"),
    "other(x + 1)": ("'a' is written in place. Pass a variable", "x + 1"),
    "other(x)": ("'x' is read only", "x"),
    "m = BIG[0]": ("an array of shape (1000,) cannot be a constant", "BIG"),
    "m = WORDS[0]": ("an array of <U1 cannot be a constant", "WORDS"),
    "m = SETTINGS": ("a dict is not part of the kernel language", "SETTINGS"),
}
HELPERS = """
BIG, WORDS, SETTINGS = np.zeros(1000), np.array(["a"]), {}

def helper(a, b):
    return a + b

def recursive(x):
    return recursive(x - 1)

def starred(*x):
    return x

def inner(x):
    w = [x, x]
    return changed(w)

def changed(w):
    w[0] = 1.0
    return w[0]

def sometimes(x):
    if x > 0:
        return x

def nothing(x):
    pass

def wraps(f):
    return f

@wraps
def decorated(x):
    return x

@hawk.kernel
def other(a: Mutable[Scalar]):
    a += 1
"""


@pytest.mark.parametrize("body", BODIES)
def test_a_body_outside_the_language(body: str, define: Callable[..., Any]) -> None:
    message, place = BODIES[body]
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    module = define(f"{HELPERS}\n@hawk.kernel\ndef kernel({ARGUMENTS}):\n{lines}")
    with pytest.raises(hawk.KernelError) as caught:
        module.kernel.__eagle_kernel__()
    error = caught.value
    assert message in error.msg
    assert error.filename == module.__file__
    assert error.text is not None
    assert error.offset is not None
    assert error.end_offset is not None
    assert error.text[error.offset - 1 : error.end_offset - 1].strip() == place
    with open(module.__file__) as file:  # noqa: PTH123
        assert file.readlines()[(error.lineno or 0) - 1] == error.text


HEADS: dict[str, tuple[str, str]] = {
    "def kernel(x):\n    return x": ("the argument 'x' has no annotation. Say what it is: x: Scalar", "x"),
    "def kernel(x: float):\n    return x": ("float is no annotation of hawk. Write Scalar", "float"),
    "def kernel(x: int):\n    return x": ("int is no annotation of hawk. Write Int32", "int"),
    "def kernel(x: Vector):\n    return x": ("Vector is no annotation of hawk. Say of what: Vector[3]", "Vector"),
    "def kernel(x: Scalar = 1.0):\n    return x": ("a kernel's argument has no default", "1.0"),
    "def kernel(*x: Scalar):\n    return x": ("*x cannot be an argument of a kernel", "x: Scalar"),
    "def kernel(**x: Scalar):\n    return x": ("**x cannot be an argument of a kernel", "x: Scalar"),
    "async def kernel(x: Scalar):\n    return x": ("async is not part of the kernel", "async def kernel(x: Scalar):"),
    "@wraps\ndef kernel(x: Scalar):\n    return x": ("another decorator beside @hawk.kernel", "wraps"),
    "def kernel(a: Terminated, b: Terminated):\n    pass": ("two masks: 'a' and 'b'", "def kernel(a: Terminated,"),
    "def kernel(x: 'Vector[q]'):\n    return x": ("NameError: name 'q' is not defined", "'Vector[q]'"),
    "def kernel(x: 'Vector[0]'):\n    return x": ("Vector takes its size in positive whole numbers", "'Vector[0]'"),
    "def kernel(x: 'Mutable[Param]'):\n    x = 1": ("Mutable[...] holds a plane such as Scalar", "'Mutable[Param]'"),
    "def kernel(x: 'Table[Vector[3]]'):\n    x = 1": ("Table[...] holds numbers", "'Table[Vector[3]]'"),
    "def kernel(x: 'Table[Scalar, 0]'):\n    x = 1": ("an axis of Table[...]", "'Table[Scalar, 0]'"),
    "def kernel(x: 'Matrix[100, 100]'):\n    x = 1": ("at most 256 elements", "'Matrix[100, 100]'"),
    "def kernel(x: Scalar):\n    y = x": ("this kernel writes nothing. Return a value", "def kernel(x: Scalar):"),
    "def kernel(out: Scalar):\n    return out": (
        "the output 'out' has the name of an argument",
        "def kernel(out: Scala",
    ),
    "def kernel(x: Scalar):\n    y = x\n    return x, y": ("the output 'x' has the name", "def kernel(x: Scalar):"),
    "def kernel(x: Scalar):\n    if x > 0:\n        return x": ("returns a value on one path", "def kernel(x: Sc"),
    "def kernel(x: Scalar):\n    if x > 0:\n        return x\n    return": ("another does not. Return a", "if x > 0:"),
    "def kernel(x: Scalar):\n    if x > 0:\n        return x\n    return x, x": ("the returned value is", "if x > 0:"),
}


@pytest.mark.parametrize("source", HEADS)
def test_a_function_that_is_no_kernel(source: str, define: Callable[..., Any]) -> None:
    message, place = HEADS[source]
    with pytest.raises(hawk.KernelError) as caught:
        define(f"def wraps(f):\n    return f\n\n@hawk.kernel\n{source}\n").kernel.__eagle_kernel__()
    error = caught.value
    assert message in error.msg
    assert error.text is not None
    assert error.offset is not None
    assert error.text[error.offset - 1 :].startswith(place)


def test_python_prints_file_line_and_caret(define: Callable[..., Any]) -> None:
    module = define("""
        @hawk.kernel
        def kernel(x: Scalar):
            return x + é_nope(x)

        def é_nope(x):
            return  x[0]
    """)
    with pytest.raises(hawk.KernelError) as caught:
        module.kernel.__eagle_kernel__()
    expected = [f'  File "{module.__file__}", line 11', "    return  x[0]", "            ^^^^"]
    assert "".join(traceback.format_exception(caught.value)).splitlines()[-4:-1] == expected
    assert str(caught.value).splitlines() == ["a Scalar cannot be indexed", *expected]
    assert isinstance(caught.value, (EagleError, SyntaxError))


def test_lambdas_and_classes_are_refused() -> None:
    with pytest.raises(hawk.KernelError, match="a lambda is not part of the kernel language"):
        hawk.kernel(lambda x: x)
    with pytest.raises(TypeError, match="takes a function, not type"):
        hawk.kernel(int)


def test_an_unknown_float_type_is_refused(define: Callable[..., Any]) -> None:
    module = define("@hawk.kernel\ndef kernel(x: Scalar):\n    return x\n")
    with pytest.raises(hawk.KernelUseError, match="'float64' or 'float32', not 'float16'"):
        module.kernel.__eagle_kernel__("float16")
    with pytest.raises(hawk.KernelUseError, match="kernel is a kernel already"):
        hawk.kernel(module.kernel)


def test_deep_nesting_is_an_error_of_ours(define: Callable[..., Any]) -> None:
    text = "- " * 700 + "x"
    with pytest.raises(hawk.KernelError, match=r"nested too deeply"):
        define(f"@hawk.kernel\ndef kernel(x: Scalar):\n    return {text}\n").kernel.__eagle_kernel__()


def test_a_long_sum_is_not_deep(define: Callable[..., Any], run: Callable[..., Any]) -> None:
    module = define(f"@hawk.kernel\ndef kernel(x: Scalar):\n    return {' + '.join(['x'] * 1500)}\n")
    assert run(module.kernel, x=[1.0])["out"].tolist() == [1500.0]


def test_printing_a_kernel_that_does_not_compile_says_why(define: Callable[..., Any]) -> None:
    module = define("@hawk.kernel\ndef kernel(x: Scalar):\n    return nope\n")
    assert repr(module.kernel) == "<kernel kernel, which does not compile: the name 'nope' is not defined>"
