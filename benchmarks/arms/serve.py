"""The loop of an arm that stays: it answers requests, a line of JSON each, until there are no more.

A request names a case, a number of samples, how often to run it, and how many seconds that may take. What a case needs
is made for the request and dropped afterwards, so that no arm holds another's memory; compiled code stays.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = ["Case", "serve"]


class Case(NamedTuple):
    """What is timed: `run` on what `setup` makes anew each time; `check` sums the result up."""

    setup: Callable[[], tuple[Any, ...]]
    run: Callable[..., Any]
    check: Callable[[Any], float]


def serve(make: Callable[[str, int], Case]) -> None:
    """Answer with the least time, that from the request to the first result, and the check, or with what went wrong."""
    seen: set[tuple[str, int]] = set()
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        try:
            answer = answered(make, json.loads(line), seen)
        except Exception as error:  # of any library: a case that an arm cannot do leaves the others
            answer = {"error": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps(answer), flush=True)


def answered(make: Callable[[str, int], Case], request: dict[str, Any], seen: set[tuple[str, int]]) -> dict[str, Any]:
    key, start = (request["case"], request["n"]), time.perf_counter()
    case = make(*key)
    answer: dict[str, Any] = {} if key in seen else dict(warm(case, start))
    seen.add(key)
    if request["repeat"]:
        answer |= timed(case, request["repeat"], request["seconds"])
    return answer


def warm(case: Case, asked: float) -> dict[str, float]:
    """Run the case once, as some compile for every number of samples; return how long its first result took."""
    case.run(*case.setup())
    return {"first": time.perf_counter() - asked}


def timed(case: Case, repeat: int, seconds: float) -> dict[str, float]:
    """Run the case up to `repeat` times, as long as `seconds` last, and once in any case."""
    times: list[float] = []
    deadline = time.perf_counter() + seconds
    while not times or (len(times) < repeat and time.perf_counter() < deadline):
        inputs = case.setup()
        start = time.perf_counter()
        result = case.run(*inputs)
        times.append(time.perf_counter() - start)
    return {"seconds": min(times), "check": float(case.check(result))}
