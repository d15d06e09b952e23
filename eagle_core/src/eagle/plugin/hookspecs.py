"""The four hooks of a plugin. Each takes nothing and returns one item of data, or an iterable of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pluggy

from eagle.plugin.backend import Backend
from eagle.plugin.contract import PROJECT
from eagle.plugin.framework import Framework
from eagle.plugin.lowering import Lowering
from eagle.plugin.nodes import NodeKind

__all__ = ["HOOKS", "HookSpecs", "hookimpl"]

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
"""Marks a function of a hooks module as one of the hooks."""


class HookSpecs:
    """The hooks, called once each when plugins are discovered."""

    @hookspec
    def register_node_kind(self) -> NodeKind[Any] | Iterable[NodeKind[Any]]:  # type: ignore[empty-body]
        """Return the kinds of node the plugin brings, named ``"package.kind"``."""

    @hookspec
    def register_lowering(self) -> Lowering | Iterable[Lowering]:  # type: ignore[empty-body]
        """Return how kinds, its own or others', run on backends."""

    @hookspec
    def register_backend(self) -> Backend | Iterable[Backend]:  # type: ignore[empty-body]
        """Return the backends it brings, as instances that hold nothing heavy yet."""

    @hookspec
    def register_framework(self) -> Framework | Iterable[Framework]:  # type: ignore[empty-body]
        """Return the libraries of arrays it connects."""


HOOKS: dict[str, type] = {
    "register_node_kind": NodeKind,
    "register_lowering": Lowering,
    "register_backend": Backend,
    "register_framework": Framework,
}
"""Each hook with the type of what it returns."""
