"""What became of each plugin that was found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["PluginStatus"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginStatus:
    """One plugin: where it is from and whether it is in use.

    Attributes
    ----------
    name : str
        Its entry point's name.
    distribution, version : str
        What was installed, as pip calls it.
    file : str or None
        The hooks module's file, once imported.
    contract : tuple of int or None
        The contract version it was written against.
    hooks : tuple of str
        The hooks it implements.
    state : {"ready", "broken", "blocked", "clash", "incompatible"}
    why : str
        Why it is not ready, and what to do; empty when it is.
    exception : BaseException or None
        What it raised.
    """

    name: str
    distribution: str
    version: str
    file: str | None = None
    contract: tuple[int, int] | None = None
    hooks: tuple[str, ...] = ()
    state: Literal["ready", "broken", "blocked", "clash", "incompatible"] = "ready"
    why: str = ""
    exception: BaseException | None = None

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it from every other one, and sorts it among them."""
        return self.name, self.distribution, self.version

    def __str__(self) -> str:
        return f"plugin {self.name!r} ({self.distribution} {self.version})"
