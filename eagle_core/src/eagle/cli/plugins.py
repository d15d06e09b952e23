"""``eagle plugins``."""

from __future__ import annotations

import json
from dataclasses import fields

from eagle.plugin import plugins

__all__ = ["list_plugins"]


def list_plugins(*, as_json: bool) -> int:
    """Print every plugin found with what became of it. It works with all of them broken."""
    found = plugins()
    if as_json:
        rows = [{field.name: getattr(status, field.name) for field in fields(status)} for status in found]
        print(json.dumps(rows, indent=2, default=repr))  # what is no plain data is an exception
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
