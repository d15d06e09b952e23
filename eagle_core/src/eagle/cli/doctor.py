"""``eagle doctor``."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from importlib import metadata

import numpy as np

from eagle.graph.backend_choice import DISTRIBUTIONS
from eagle.plugin import PluginError, backends, kinds, lowerings, plugins
from eagle.plugin.lookup import described, why_not
from eagle.plugin.registry import OWN, registry

__all__ = ["examine"]


def examine() -> int:
    """Print what is installed, what can run here and why not, and what to install.

    Returns
    -------
    int
        1 when the name ``eagle`` belongs to another distribution, a plugin is left out against the user's wish, a
        definition clashes, or no backend can run; else 0.
    """
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, {platform.machine()}, {platform.system()}")
    problems = [*_names(), *_plugins()]
    try:
        problems += _backends()
        print()
        _print_table()
    except PluginError as error:
        problems.append(str(error))
    for problem in problems:
        print(f"\nProblem: {problem}")
    return 1 if problems else 0


def _names() -> Iterator[str]:
    owners = set(metadata.packages_distributions().get("eagle", [])) - {OWN}
    if owners:
        yield (
            f"the import name eagle is also installed by {', '.join(sorted(owners))}, so that what is imported is a "
            f"matter of luck. Uninstall it, or use an environment of its own for it."
        )


def _plugins() -> Iterator[str]:
    print("\nPlugins")
    for status in plugins():
        why = f": {status.why}" if status.why else ""
        print(f"  {status.name} ({status.distribution} {status.version}) is {status.state}{why}")
        if status.state in ("broken", "clash", "incompatible"):
            yield f"{status} is left out. Remove it with 'pip uninstall {status.distribution}', or update it."
    if not plugins():
        print("  none")


def _backends() -> Iterator[str]:
    print("\nBackends")
    installed = backends()
    reasons = {backend.name: why_not(backend) for backend in installed}
    for backend in installed:
        reason = reasons[backend.name]
        what = described(backend) if reason is None else reason
        says = f"{'can' if reason is None else 'cannot'} run here{': ' if what else ''}{what}"
        print(f"  {backend.name}, for {', '.join(sorted(backend.devices))} memory, {says}")
    for name, known in DISTRIBUTIONS.items():
        if name not in reasons:
            print(f"  {name} is not installed: install the distribution {known.distribution}")
    if None not in reasons.values():
        yield f"no backend can run here. Install the distribution {DISTRIBUTIONS['cpu'].distribution}."


def _print_table() -> None:
    """Print which kinds run on which backends, from the tables alone."""
    names = [backend.name for backend in backends()]
    having = {(one.kind, one.backend) for one in lowerings()}
    width = max([len("Kinds of node"), *(len(kind.name) + 2 for kind in kinds())])
    print("Kinds of node".ljust(width) + "".join(f"{name:>12}" for name in names))
    for kind in kinds():
        marks = ["yes" if (kind.name, name) in having or (kind.name, "*") in having else "-" for name in names]
        print(f"  {kind.name}".ljust(width) + "".join(f"{mark:>12}" for mark in marks))
    for tables in registry.both():
        for table in (tables.kinds, tables.lowerings, tables.backends, tables.frameworks):
            for key in table.clashes:
                print(f"  {table.what} {key!r} is defined twice, and refused")
