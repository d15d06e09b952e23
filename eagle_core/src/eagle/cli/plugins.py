"""``eagle plugins``."""

from __future__ import annotations

import json

from eagle.plugin import PluginStatus, plugins

__all__ = ["list_plugins"]


def list_plugins(*, as_json: bool) -> int:
    """Print every plugin found with what became of it. It works with all of them broken."""
    found = plugins()
    if as_json:
        print(json.dumps([_plain(status) for status in found], indent=2))
        return 0
    if not found:
        print("No plugins are installed. Install eagle-cpu to run graphs over host arrays.")
    for status in found:
        print(f"{status.name:12} {status.state:12} {status.distribution} {status.version}")
        if status.hooks:
            print(f"{'':12} hooks: {', '.join(status.hooks)}")
        if status.file:
            print(f"{'':12} file: {status.file}")
        if status.why:
            print(f"{'':12} {status.why}")
    return 0


def _plain(status: PluginStatus) -> dict[str, object]:
    return {
        "name": status.name,
        "distribution": status.distribution,
        "version": status.version,
        "state": status.state,
        "why": status.why,
        "contract": status.contract,
        "hooks": status.hooks,
        "file": status.file,
        "exception": None if status.exception is None else repr(status.exception),
    }
