"""The tables of the page, from the results: each a list of lines of Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.graph_costs import time_in_words

__all__ = [
    "compiling",
    "costs",
    "eager",
    "first_answers",
    "graphs",
    "kernels",
    "left_out",
    "loops",
    "machine",
    "reductions",
]

ARMS = {"raptor": "raptor-eagle", "numba": "numba", "jax": "JAX"}
Lines = list[str]
MISSING = "-"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Lines:
    """Return a table whose columns are aligned right, but the first."""
    rules = ["---", *["---:"] * (len(head) - 1)]
    return [f"| {' | '.join(cells)} |" for cells in (head, rules, *rows)]


def machine(data: Any) -> Lines:
    versions = ", ".join(f"{name} {version}" for name, version in data["versions"].items())
    lines = [f"{data['processor']}; {data['system']}; {versions}.", ""]
    rows = []
    for limits in data["limits"]:
        rates = [f"{limits['rates'][unit] / 1e9:.2f}" for unit in ("add", "div", "sin", "exp", "gather")]
        speeds = [f"{speed / 1e9:.0f}" for speed in limits["bandwidths"].values()]
        rows.append([str(limits["threads"]), *rates, *speeds])
    sizes = [f"GB/s over {size_in_words(int(size))}" for size in data["limits"][0]["bandwidths"]]
    head = ["threads", "10⁹ operations/s", "divisions", "sines", "exponentials", "gathers", *sizes]
    return lines + table(head, rows)


def size_in_words(size: int) -> str:
    return f"{size >> 20} MiB" if size >= 2**20 else f"{size >> 10} KiB"


def arm_cells(row: Any, names: Sequence[str]) -> Lines:
    """Return eagle's time, the limit with its share, and each peer's time with the ratio to eagle's."""
    ours, limit = row["arms"]["eagle"], row["limit"]
    if "seconds" not in ours:
        return [ours["error"], time_in_words(limit["seconds"]), *[MISSING] * len(names)]
    peers = [peer_cell(row["arms"].get(name)) for name in names]
    return [time_in_words(ours["seconds"]), limit_cell(limit, ours["seconds"]), *peers]


def limit_cell(limit: Any, seconds: float) -> str:
    share = limit["seconds"] / seconds
    share_in_words = f"{share:.0%}" if share >= 0.005 else f"{share:.1%}"
    return f"{time_in_words(limit['seconds'])} ({limit['bound']}), {share_in_words}"


def peer_cell(found: Any) -> str:
    if not found or "seconds" not in found:
        return MISSING
    return f"{time_in_words(found['seconds'])}, {ratio_in_words(found['ratio'])}"


def loops(rows: list[Any]) -> Lines:
    names = present(rows)
    head = ["steps", "threads", "samples", "eagle", "limit, share of it", *[ARMS[name] for name in names]]
    cells = [[row["case"], str(row["threads"]), f"{row['n']:,}", *arm_cells(row, names)] for row in rows]
    return table(head, sorted(cells, key=lambda one: one[0]))


def kernels(data: Any) -> Lines:
    rows = data["rows"]
    names = present(rows)
    head = ["kernel", "", "samples", "eagle", "limit, share of it", *[ARMS[name] for name in names]]
    words = {"plain": "launched", "each": "each to its end"}
    return table(head, [[row["kernel"], words[row["case"]], f"{row['n']:,}", *arm_cells(row, names)] for row in rows])


def present(rows: list[Any]) -> Lines:
    return [name for name in ARMS if any(name in row["arms"] for row in rows)]


def left_out(rows: list[Any]) -> Lines:
    """Why cells are empty, once for each reason."""
    found: dict[str, Lines] = {}
    for row in rows:
        for name, its in row["arms"].items():
            if "error" in its:
                what = f"{row.get('kernel', 'RK4')} {row['case']} at {row['n']:,}"
                found.setdefault(f"{ARMS.get(name, name)}: {its['error']}", []).append(what)
    return [f"* {why} ({', '.join(dict.fromkeys(cases))})" for why, cases in found.items()]


def first_answers(data: Any) -> Lines:
    found = data["first"]
    cases = list(found["eagle"])
    names = {"eagle": "eagle", **ARMS}
    arms = [name for name in names if name in found]
    head = ["kernel", *[names[name] for name in arms]]
    return table(head, [[case, *[cell(found[name].get(case)) for name in arms]] for case in cases])


def ratio_in_words(ratio: float) -> str:
    return f"{ratio:.0f}x" if ratio >= 99.5 else f"{ratio:.2g}x"


def cell(seconds: float | None) -> str:
    return MISSING if seconds is None else time_in_words(seconds)


def eager(rows: list[Any]) -> Lines:
    head = ["samples", "a look after every step", "one graph", "ratio", "`eagle.simulate`, made anew"]
    cells = []
    for row in rows:
        loop, graph, anew = (time_in_words(row[key]) for key in ("loop", "graph", "anew"))
        cells.append([f"{row['n']:,}", loop, graph, ratio_in_words(row["ratio"]), anew])
    return table(head, cells)


def graphs(rows: list[Any]) -> Lines:
    head = ["graph", "eagle", "limit, share of it", "moved", "raptor-eagle"]
    cells = []
    for row in rows:
        share = limit_cell(row["limit"], row["seconds"]) if "limit" in row else MISSING
        moved = f"{row['bytes'] / 1e6:.3g} MB" if "bytes" in row else MISSING
        theirs = f"{time_in_words(row['raptor'])}, {ratio_in_words(row['ratio'])}" if "raptor" in row else MISSING
        cells.append([row["case"], time_in_words(row["seconds"]), share, moved, theirs])
    return table(head, cells)


def reductions(rows: list[Any]) -> Lines:
    head = ["operation", "elements", "eagle", "NumPy", "limit: reading, share of it", "eagle, GB/s"]
    cells = []
    for row in rows:
        what = f"{row['op']} of {row['dtype']}" + (f", {row['special']}" if row["special"] else "")
        theirs = f"{time_in_words(row['numpy'])}, {row['numpy'] / row['eagle']:.2g}x"
        reading = f"{time_in_words(row['reading'])}, {row['reading'] / row['eagle']:.0%}"
        speed = f"{row['bytes'] / row['eagle'] / 1e9:.1f}"
        cells.append([what, f"{row['n']:,}", time_in_words(row["eagle"]), theirs, reading, speed])
    return table(head, cells)


def costs(rows: list[Any]) -> Lines:
    cells = []
    for row in rows:
        ratio = MISSING if row["ratio"] is None else f"{row['ratio']:.2f}x"
        cells.append([row["what"], time_in_words(row["seconds"]), ratio, row["bar"]])
    return table(["", "time", "ratio", "bar"], cells)


def compiling(data: Any) -> Lines:
    deploy = data["deploy"]
    rows = [["deploy of the RK4 kernel", time_in_words(deploy["cold"]), time_in_words(deploy["warm"])]]
    rows += [
        [f"build of a graph of {row['nodes']} plans, fused", time_in_words(row["cold"]), time_in_words(row["warm"])]
        for row in data["builds"]
    ]
    return table(["", "nothing cached", "from the disk"], rows)
