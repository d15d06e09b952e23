"""The performance page: words of ours around tables of the results. No figure stands here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.performance import tables

__all__ = ["page"]

Results = dict[str, Any]
Lines = list[str]

HEAD = """# Performance

This page is written by `make performance PEERS=1` (without `PEERS`, eagle alone) from the figures in
[results.json](performance/results.json), and so are its plots. Do not edit it.

## How it is measured

* **Arms take turns.** Every program runs in a process of its own that stays; all of them answer one request, then all
  of them the next. A time is the median over rounds of the least of a few runs; a ratio the median of the ratios
  within rounds. `2x` beside a peer's time says that it takes twice eagle's. Times of different runs or machines do
  not compare.
* **The same work.** Every arm gets the same numbers and reports a sum of its results. One that gets another sum, to a
  millionth, is not listed. eagle rounds every product and every sum as the source says; the published eagle and numba
  are compiled as they are by default.
* **Threads.** One or all CPUs, by affinity and by each library's own variable.
* **The limit** is the least time any program could take, from what this machine was measured to do in the same run:
  the larger of bytes over bandwidth, each plane read once and written once where it is written; and operations over
  rate, counted in the kernel's intermediate form. What is the same for all samples is not counted, nor, in a loop,
  what is the same in all steps; of a branch the cheaper side counts. An addition, a multiplication or a comparison is
  one operation. Sines and exponentials cost what a loop of the C++ compiler over the vector library takes; a division
  and a read of a table have units of their own. Bandwidth is that of a loop that reads two arrays and writes one,
  over as many bytes, in cache or out of it. So a share near 100 % says that nothing is left; one above it, that the
  bandwidth was better in that moment.
* **Peers** are left out where once would take longer than a few seconds, or where they cannot do it: `-`.
"""

LOOPS = """A damped oscillator by the classical Runge-Kutta method, each sample for its own number of steps: spread
log-uniformly over 1 to 1000, or 1000 for all. A runner is made once and run again. See [what bounds
these rows](../benchmarks/README.md)."""

KERNELS = """Transcendental (`waves`: a sine and an exponential), branches of three arms (`branches`), a 3x3 matrix on
a vector (`turn`), a table of 4096 cells (`look`), and one bound by memory (`add`: `a * x + b`). Each
launched on the whole batch, and run for each sample's own number of steps, log-uniform in 1 to 200,
where planes are read and written once in all.

Of a launch of `branches`, `look` or `add` little can be gained over another compiler's code: memory or
the gathering of cells is the limit, and over 100,000 samples the planes are in cache and a launch takes
some 40 µs, of which handing it to a second thread takes several. There numba can be ahead, most in
`look`: it reads cells one by one without asking whether they lie in the table; eagle asks for every
index, gathers, and raises an `IndexError` for one outside."""

FIRST = """From asking for a kernel to its first result, nothing cached, 8 samples. The libraries are imported
before; what they import at a first compilation is paid by the first row."""

EAGER = """The RK4 loop above, spread, as the specification compares it: one launch per step and a look at the mask
of finished samples after each; or one launch that looks for itself. On the CPU there is no device to
wait for, so what is gained is that each sample stops at its own step, in the first cache. The graph is built
before; the last column makes and builds everything each time."""

GRAPHS = """Chains and forks of eight kernels in turn; the mixture has 20 kernels in plain stages and three groups
over four planes, and two sums. `launch()` is called from Python each time, `launch(n)` once for all
repetitions."""

REDUCTIONS = """The limit is reading the same bytes, on as many threads."""

COSTS = """What a graph costs the host, beside nothing at all:"""

COMPILING = """In fresh processes, imports apart:"""


def page(results: Results) -> str:
    """Return the page, of those parts there are."""
    sections: list[tuple[str, str, str, str, Callable[[Any], Lines]]] = [
        ("machine", "The machine", "", "", tables.machine),
        ("loops", "Loops that stop per sample", LOOPS, "loops.svg", with_reasons(tables.loops)),
        ("kernels", "Five kernels", KERNELS, "kernels.svg", with_reasons(tables.kernels)),
        ("eager", "A loop of launches, or one launch", EAGER, "", tables.eager),
        ("graphs", "Graphs", GRAPHS, "graphs.svg", tables.graphs),
        ("reductions", "Reductions", REDUCTIONS, "reductions.svg", tables.reductions),
        ("costs", "Launching and building", COSTS, "", tables.costs),
        ("compiling", "Compiling", COMPILING, "", tables.compiling),
    ]
    lines = [HEAD]
    for name, title, words, plot, make in sections:
        if name in results:
            lines += section(results[name], title, words, plot, make)
        if name == "kernels" and name in results:
            lines += [FIRST, "", *tables.first_answers(results[name]["data"]), ""]
    return "\n".join(lines).rstrip() + "\n"


def section(found: Any, title: str, words: str, plot: str, make: Callable[[Any], Lines]) -> Lines:
    lines = [f"## {title}", ""]
    if words:
        lines += [words, ""]
    if plot:
        lines += [f"![{title}](performance/{plot})", ""]
    tiny = " Few samples and rounds, to try the program: no measurement." if found["tiny"] else ""
    return [*lines, *make(found["data"]), "", f"Measured {found['at']}, in {found['took']:.0f} s.{tiny}", ""]


def with_reasons(make: Callable[[Any], Lines]) -> Callable[[Any], Lines]:
    """Add below a table why some of its cells are empty."""

    def made(data: Any) -> Lines:
        why = tables.left_out(data["rows"] if isinstance(data, dict) else data)
        return [*make(data), *(["", "Left out:", "", *why] if why else [])]

    return made
