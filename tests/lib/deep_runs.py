"""Properties run again and again with new cases, each for its share of the time, and a table of how many that were."""

from __future__ import annotations

import functools
import random
import time
import unittest
from collections.abc import Callable
from typing import Any

import hypothesis
import pytest
from hypothesis.errors import FlakyStrategyDefinition

MINUTES = 0.4
ENOUGH = 5000  # cases of a property that names no minutes of its own
LEAST = 20  # cases, however busy the machine


class DeepRuns:
    """The pytest plugin behind ``make deep``.

    A property is run in rounds of a profile's number of examples, each from a new seed, until its minutes are over: the
    marker ``property(minutes=10)`` says how many. Without them it is `MINUTES`, or `ENOUGH` cases if those come first.

    Parameters
    ----------
    patience : float
        What to multiply all minutes with.
    """

    def __init__(self, patience: float) -> None:
        self.patience = patience

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Longest first, so that all processes end at about the same time."""
        items.sort(key=lambda item: -minutes_of(item)[0])

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool | None:
        if not hypothesis.is_hypothesis_test(pyfuncitem.obj):
            return None
        minutes, enough = minutes_of(pyfuncitem)
        rounds = Rounds(pyfuncitem, time.monotonic() + 60 * minutes * self.patience, enough)
        try:
            rounds.run()
        finally:
            pyfuncitem.user_properties.append(("cases", rounds.cases))
        return True

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """The table; where the tests ran in other processes, their reports have brought what it needs."""
        rows = []
        for outcome in ("passed", "failed"):
            for report in terminalreporter.stats.get(outcome, []):
                cases = dict(report.user_properties).get("cases")
                if cases is not None and report.when == "call":
                    rows.append((report.nodeid, cases, report.duration, "" if outcome == "passed" else "FAILED"))
        terminalreporter.section("properties")
        for name, cases, seconds, mark in sorted(rows):
            terminalreporter.write_line(f"{cases:>8} cases {seconds:>7.1f} s  {name} {mark}".rstrip())
        total, seconds = sum(row[1] for row in rows), sum(row[2] for row in rows)
        terminalreporter.write_line(f"{total:>8} cases {seconds:>7.1f} s  of {len(rows)} properties")


class Over(unittest.SkipTest):
    """The time is over. Hypothesis ends a run at once for whatever skips a test."""


class Rounds:
    """One property, until its time is over."""

    def __init__(self, item: pytest.Function, end: float, enough: int | None) -> None:
        self.test: Any = item.obj
        self.arguments = {name: item.funcargs[name] for name in item._fixtureinfo.argnames}
        self.end = end
        self.enough = enough
        self.cases = 0
        self.failed = self.ended = False

    def run(self) -> None:
        handle = getattr(self.test, "hypothesis")  # noqa: B009 - hypothesis puts it there
        inner = handle.inner_test
        handle.inner_test = self.counted(inner)
        try:
            while not self.over():
                hypothesis.seed(random.getrandbits(64))(self.test)
                self.test(**self.arguments)
        except (Over, FlakyStrategyDefinition):  # the latter where a property draws more inside, which it now did not
            if not self.ended:
                raise
        finally:
            handle.inner_test = inner

    def over(self) -> bool:
        if self.cases < LEAST:
            return False
        return time.monotonic() > self.end or (self.enough is not None and self.cases >= self.enough)

    def counted(self, inner: Callable[..., Any]) -> Callable[..., Any]:
        """The property itself, until the time is over. A failure is shrunk however long it takes."""

        @functools.wraps(inner)
        def case(*arguments: Any, **named: Any) -> None:
            if self.over() and not self.failed:
                self.ended = True
                raise Over("the time is over")
            self.cases += 1
            try:
                inner(*arguments, **named)
            except Exception:
                self.failed = True
                raise

        return case


def minutes_of(item: pytest.Item) -> tuple[float, int | None]:
    """How long a property runs, and how many cases are enough."""
    marker = item.get_closest_marker("property")
    if marker is None or "minutes" not in marker.kwargs:
        return MINUTES, ENOUGH
    return float(marker.kwargs["minutes"]), None
