"""The version of the contract, and the names plugins are found by."""

from __future__ import annotations

from typing import Final

__all__ = ["CONTRACT", "GROUP", "PROJECT"]

CONTRACT: Final = (1, 0)
"""Major and minor version. A minor one adds; a major one changes. A plugin states the one it was written against as
``EAGLE_CONTRACT`` in its hooks module."""

PROJECT: Final = "eagle"
"""The pluggy project name of the hooks."""

GROUP: Final = f"eagle.v{CONTRACT[0]}"
"""The entry-point group. Another major version is another group, seen without importing anything of it."""
