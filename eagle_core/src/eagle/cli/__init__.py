"""The command line: ``eagle plugins``, ``eagle doctor``, ``eagle demo``."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence

from eagle.errors import PluginWarning

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        Instead of those of the process.

    Returns
    -------
    int
        The exit status: 0, 1 when something is wrong, 2 for a wrong call.
    """
    parser = argparse.ArgumentParser(prog="eagle", description="Graphs of nodes over your own arrays.")
    commands = parser.add_subparsers(dest="command", required=True)
    listing = commands.add_parser("plugins", help="list the plugins found, whatever state they are in")
    listing.add_argument("--json", action="store_true", help="as JSON")
    commands.add_parser("doctor", help="say what is installed, what can run here, and what to install")
    commands.add_parser("demo", help="build a first graph, print it, run it")
    chosen = parser.parse_args(arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PluginWarning)  # what is wrong with plugins is what these commands print
        if chosen.command == "plugins":
            from eagle.cli.plugins import list_plugins

            return list_plugins(as_json=chosen.json)
        if chosen.command == "doctor":
            from eagle.cli.doctor import examine

            return examine()
        from eagle.cli.demo import demonstrate

        return demonstrate()
