"""Where kernels may be written: files, functions, notebooks, shells; and what is said where no source can be had."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hawk

KERNEL = """\
import hawk
from hawk import Scalar

FACTOR = 2.0


def helper(x):
    return x * FACTOR


@hawk.kernel
def kernel(x: Scalar):
    return helper(x) + 1


print(kernel.signature[1].name, len(kernel.code.body.instructions))
"""


def python(*arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], input=text, capture_output=True, text=True, check=False)


def test_annotations_kept_as_text(define: Callable[..., Any], run: Callable[..., Any]) -> None:
    module = define(
        """
        import hawk as language
        W = 2

        def make():
            size = 3
            @language.kernel
            def kernel(x: language.Mutable[language.Scalar], v: language.Vector[size], w: hawk.Vector[W],
                       on: Param[Bool], t: hawk.Table[hawk.Int32, "n", 2]):
                x += v[0] + w[1] if on else t[0, 1]
            return kernel

        kernel = make()
        """,
        header="from __future__ import annotations\nimport hawk\nfrom hawk import *\n",
    )
    shapes = [one.shape for one in module.kernel.signature]
    assert shapes == [(), (3,), (2,), (), (-1, 2)]
    results = run(module.kernel, x=[1.0], v=np.ones((3, 1)), w=np.ones((2, 1)), on=True, t=[[1, 2]])
    assert results["x"].tolist() == [3.0]


def test_a_kernel_defined_in_a_function_keeps_its_lines(define: Callable[..., Any]) -> None:
    module = define("""
        def make(k):
            if True:
                @hawk.kernel
                def kernel(x: Scalar):
                    return x * k + nope
            return kernel

        kernels = [make(1), make(2)]
    """)
    with pytest.raises(hawk.KernelError, match="the name 'nope' is not defined") as caught:
        module.kernels[1].__eagle_kernel__()
    assert (caught.value.lineno, caught.value.offset) == (10, 28)
    assert module.kernels[0].source.startswith("@hawk.kernel\ndef kernel(x: Scalar):\n    return")


def test_a_notebook() -> None:
    pytest.importorskip("IPython")
    cells = textwrap.dedent("""
        from IPython.core.interactiveshell import InteractiveShell
        shell = InteractiveShell.instance(colors="NoColor", history_length=0)
        for cell in ("import hawk\\nfrom hawk import Scalar", "def helper(x):\\n    return 2 * x",
                     "%precision 3\\n@hawk.kernel\\ndef kernel(x: Scalar):\\n    return helper(x) + 1",
                     "print(len(kernel.code.body.instructions), kernel.source)",
                     "def helper(x):\\n    return nope", "kernel.__eagle_kernel__('float32').name",
                     "@hawk.kernel\\ndef second(x: Scalar):\\n    return helper(x)",
                     "second.__eagle_kernel__()"):
            shell.run_cell(cell)
    """)
    done = python("-c", cells)
    assert "@hawk.kernel\ndef kernel(x: Scalar):\n    return helper(x) + 1" in done.stdout
    assert done.stdout.count("KernelError: the name 'nope' is not defined") == 1, done.stdout + done.stderr
    assert done.stderr == ""


def test_an_interactive_shell() -> None:
    done = python("-i", "-c", "import sys; sys.ps1 = sys.ps2 = ''", text=KERNEL.replace("\n\n\n", "\n\n"))
    if sys.version_info >= (3, 13):
        assert done.stdout.startswith("out "), done.stderr
    else:
        assert "KernelError: the source of kernel cannot be read. Put it in a file or a notebook cell" in done.stderr


def test_source_given_to_exec() -> None:
    with pytest.raises(hawk.KernelError, match=r"the source of kernel cannot be read\. Put it in a file"):
        exec(compile(KERNEL, "<generated>", "exec"), {"__name__": "generated"})


def test_a_script(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text(KERNEL)
    assert python(str(path)).stdout == "out 6\n"


def test_a_file_that_changed_after_the_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "changing.py"
    helper = tmp_path / "changing_helper.py"
    helper.write_text("def helper(x):\n    return x + 1\n")
    path.write_text(
        "import hawk\nfrom hawk import Scalar\nfrom changing_helper import helper\n\n\n"
        "@hawk.kernel\ndef kernel(x: Scalar):\n    return helper(x)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    import changing  # type: ignore[import-not-found]

    path.write_text("")
    helper.write_text("def helper(x):\n    return x + 22\n")
    with pytest.raises(hawk.KernelError, match="is not what Python runs") as caught:
        changing.kernel.__eagle_kernel__()
    assert caught.value.lineno == 8
    helper.write_text("def helper(x):\n    return x + 1\n")
    assert changing.kernel.__eagle_kernel__().name == "kernel"


def test_a_file_that_is_gone_after_the_import(define: Callable[..., Any], run: Callable[..., Any]) -> None:
    module = define("""
        def helper(x):
            return x + 1

        @hawk.kernel
        def kernel(x: Scalar):
            return helper(x)
    """)
    Path(module.__file__).unlink()
    assert run(module.kernel, x=[1.0])["out"].tolist() == [2.0]
