"""Measure everything the performance page shows, and write the page: ``make performance PEERS=1``.

Results go into one JSON file, part by part, as soon as a part is done; page and plots are made of that file alone.
So parts can be measured again, or what is missing after an interruption: ``--only loops,graphs``, ``--missing``.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import traceback
from pathlib import Path

from benchmarks.performance.limits import Machine
from benchmarks.performance.page import page
from benchmarks.performance.parts import PARTS, TINY, Scale, Session
from benchmarks.performance.plots import plots

DOCS = Path(__file__).parents[2] / "docs"


def main() -> None:
    """Measure, part by part, then write the page."""
    options = arguments()
    folder: Path = options.out / "performance"
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "results.json"
    results = json.loads(file.read_text()) if file.exists() else {}
    wanted = [name for name in PARTS if name in options.only and not (options.missing and name in results)]
    if wanted:
        session = Session(TINY if options.tiny else Scale(), bool(os.environ.get("PEERS")), Machine())
    failed: list[str] = []
    for name in wanted:
        start = time.perf_counter()
        try:
            data = PARTS[name](session)
        except Exception:  # whatever it is, the other parts are worth having
            failed.append(name)
            traceback.print_exc()
            continue
        took = time.perf_counter() - start
        at = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
        results[name] = {"at": at, "took": took, "tiny": options.tiny, "data": data}
        file.write_text(json.dumps(results, indent=1) + "\n")
        print(f"{name}: {took:.1f} s", file=sys.stderr, flush=True)
    for name, svg in plots(results).items():
        (folder / name).write_text(svg)
    (options.out / "performance.md").write_text(page(results))
    if failed:
        sys.exit(f"not measured: {', '.join(failed)}")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.performance", description="Measure the performance page."
    )
    parser.add_argument("--only", type=named, default=list(PARTS), help=f"parts to measure, of {', '.join(PARTS)}")
    parser.add_argument("--missing", action="store_true", help="measure only what the results lack")
    parser.add_argument("--page", dest="only", action="store_const", const=[], help="measure nothing, write the page")
    parser.add_argument(
        "--tiny", action="store_true", help="few samples and rounds: to try the program, not to measure"
    )
    parser.add_argument("--out", type=Path, default=DOCS, help="where performance.md and performance/ go")
    return parser.parse_args()


def named(text: str) -> list[str]:
    names = text.split(",")
    unknown = sorted(set(names) - set(PARTS))
    if unknown:
        raise argparse.ArgumentTypeError(f"no parts: {', '.join(unknown)}; there are {', '.join(PARTS)}")
    return names


if __name__ == "__main__":
    main()
