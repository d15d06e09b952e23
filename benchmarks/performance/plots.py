"""The plots of the page, from the results."""

from __future__ import annotations

import io
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

__all__ = ["plots"]

Results = dict[str, Any]
COLOURS = {"eagle": "C0", "raptor": "C1", "numba": "C2", "jax": "C3", "numpy": "C4"}
NAMES = {"raptor": "raptor-eagle", "numpy": "NumPy", "jax": "JAX"}


def plots(results: Results) -> dict[str, str]:
    """Return SVG texts by file name, of those parts there are. The same results give the same text."""
    makers = {"loops": loops, "kernels": kernels, "graphs": graphs, "reductions": reductions}
    return {f"{name}.svg": svg(make(results[name]["data"])) for name, make in makers.items() if name in results}


def svg(figure: Figure) -> str:
    out = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": "eagle", "svg.fonttype": "none", "font.size": 9}):
        figure.savefig(out, format="svg", bbox_inches="tight", metadata={"Date": None})
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def loops(rows: list[Any]) -> Figure:
    """Steps a second over the number of samples, one frame per distribution; dashed is one thread."""
    figure = Figure(figsize=(9, 3.6))
    most = max(row["threads"] for row in rows)
    for axes, dist in zip(figure.subplots(1, 2, sharey=True), ("spread", "uniform"), strict=True):
        for threads in sorted({row["threads"] for row in rows}):
            these = [row for row in rows if row["case"] == dist and row["threads"] == threads]
            for name in COLOURS:
                line(axes, these, name, "-" if threads == most else "--", label=threads == most)
            points = [(row["n"], row["steps"] / row["limit"]["seconds"]) for row in these]
            axes.plot(
                *zip(*points, strict=True), color="gray", linestyle=":", label="limit" if threads == most else None
            )
        axes.set(xscale="log", yscale="log", xlabel="samples", title=f"RK4, {dist}")
    figure.axes[0].set_ylabel("steps a second")
    figure.axes[0].legend(fontsize=7)
    return figure


def line(axes: Axes, rows: list[Any], name: str, style: str, *, label: bool) -> None:
    points = [(row["n"], row["steps"] / row["arms"][name]["seconds"]) for row in rows if has(row, name)]
    if points:
        axes.plot(
            *zip(*points, strict=True),
            color=COLOURS[name],
            linestyle=style,
            marker=".",
            label=NAMES.get(name, name) if label else None,
        )


def has(row: Any, name: str) -> bool:
    return "seconds" in row["arms"].get(name, {})


def kernels(data: Any) -> Figure:
    """The time over the limit, a bar per arm, for each kernel."""
    figure = Figure(figsize=(9, 3.6))
    rows = data["rows"]
    frames = [(case, largest(rows, case)) for case in ("plain", "each")]
    for axes, (case, n) in zip(figure.subplots(1, 2, sharey=True), frames, strict=True):
        these = [row for row in rows if row["case"] == case and row["n"] == n]
        for place, name in enumerate(COLOURS):
            bars = [(i, row) for i, row in enumerate(these) if has(row, name)]
            if bars:
                axes.bar(
                    [i + 0.2 * (place - 1.5) for i, _ in bars],
                    [row["arms"][name]["seconds"] / row["limit"]["seconds"] for _, row in bars],
                    0.2,
                    color=COLOURS[name],
                    label=NAMES.get(name, name),
                )
        axes.axhline(1.0, color="gray", linestyle=":")
        axes.set_xticks(range(len(these)), [row["kernel"] for row in these])
        words = "launched" if case == "plain" else "each sample to its end"
        axes.set(yscale="log", title=f"{n:,} samples, {words}")
    figure.axes[0].set_ylabel("time over the limit")
    figure.axes[0].legend(fontsize=7)
    return figure


def largest(rows: list[Any], case: str) -> int:
    return max(int(row["n"]) for row in rows if row["case"] == case)


def graphs(rows: list[Any]) -> Figure:
    """Times a launch, by case."""
    figure = Figure(figsize=(9, 0.32 * len(rows) + 0.8))
    axes = figure.subplots()
    for shift, key, name in ((-0.2, "seconds", "eagle"), (0.2, "raptor", "raptor")):
        bars = [(i, row[key]) for i, row in enumerate(rows) if key in row]
        if bars:
            axes.barh(
                [i + shift for i, _ in bars],
                [1e6 * seconds for _, seconds in bars],
                0.4,
                color=COLOURS[name],
                label=NAMES.get(name, name),
            )
    limits = [(1e6 * row["limit"]["seconds"], i) for i, row in enumerate(rows) if "limit" in row]
    if limits:
        axes.plot(*zip(*limits, strict=True), "|", color="black", markersize=12, label="limit")
    axes.set_yticks(range(len(rows)), [row["case"] for row in rows])
    axes.set(xscale="log", xlabel="µs a launch")
    axes.invert_yaxis()
    axes.legend(fontsize=7)
    return figure


def reductions(rows: list[Any]) -> Figure:
    """Bytes a second of the largest reductions."""
    n = max(row["n"] for row in rows)
    these = [row for row in rows if row["n"] == n]
    figure = Figure(figsize=(11, 3.2))
    axes = figure.subplots()
    names = [f"{row['op']}\n{row['dtype']}\n{row['special']}" for row in these]
    for shift, key in ((-0.2, "eagle"), (0.2, "numpy")):
        speeds = [row["bytes"] / row[key] / 1e9 for row in these]
        places = [i + shift for i in range(len(these))]
        axes.bar(places, speeds, 0.4, color=COLOURS[key], label=NAMES.get(key, key))
    reading = [row["bytes"] / row["reading"] / 1e9 for row in these]
    axes.plot(range(len(these)), reading, "_", color="black", markersize=20, label="reading")
    axes.set_xticks(range(len(these)), names, fontsize=7)
    axes.set(ylabel="GB/s", title=f"{n:,} elements")
    axes.legend(fontsize=7)
    return figure
