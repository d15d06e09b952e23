"""Whether what a hook returned has the fields its type promises, before it gets into a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from eagle.errors import PluginError
from eagle.plugin.arrays import ArrayAdapter
from eagle.plugin.backend import Backend
from eagle.plugin.lowering import Lowering
from eagle.plugin.nodes import NodeKind
from eagle.plugin.stream import Streams

__all__ = ["check_item"]


def check_item(item: Any) -> None:
    """Raise `PluginError`, naming the item and the field, unless `item` can be used as what it is."""
    for field, holds, needed in _rules(item):
        value = getattr(item, field, None)
        if not holds(value):
            raise PluginError(
                f"the {field} of {type(item).__name__} {_name(item)} is {value!r}", fix=f"It has to be {needed}."
            )


Rule = tuple[str, Callable[[Any], bool], str]
_TEXT = "a string, not empty"


def _rules(item: Any) -> tuple[Rule, ...]:
    if isinstance(item, NodeKind):
        return (
            ("name", _is_name, _TEXT),
            ("access", callable, "a callable that takes the node"),
            ("bodies", lambda value: value is None or callable(value), "None, or a callable that takes the node"),
        )
    if isinstance(item, Lowering):
        return (
            ("kind", _is_name, _TEXT),
            ("backend", _is_name, _TEXT),
            ("lower", _is_callable_or_reference, 'a callable, or "package.module:attribute"'),
        )
    if isinstance(item, Backend):
        return (
            ("name", _is_name, _TEXT),
            ("devices", _is_devices, 'a frozenset of kinds of device, such as {"cpu"}'),
            ("modules", _is_modules, 'modules of yours by those of eagle, such as {"eagle.loaded": "package.module"}'),
        )
    return (  # a framework
        ("name", _is_name, _TEXT),
        ("needs", _is_name, "the name of a module"),
        ("arrays", _is_part(ArrayAdapter), 'None, an ArrayAdapter, or "package.module:attribute"'),
        ("streams", _is_part(Streams), 'None, a Streams, or "package.module:attribute"'),
        ("adopt", lambda value: value is None or _is_callable_or_reference(value), "None, a callable, or a reference"),
        *((field, lambda v: v is None or _is_name(v), "None, or a name") for field in ("api", "distribution")),
    )


def _name(item: Any) -> str:
    return repr(getattr(item, "name", getattr(item, "kind", "")))


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _is_reference(value: Any) -> bool:
    return isinstance(value, str) and all(value.partition(":"))


def _is_callable_or_reference(value: Any) -> bool:
    return callable(value) or _is_reference(value)


def _is_part(kind: type) -> Callable[[Any], bool]:
    return lambda value: value is None or isinstance(value, (kind, type)) or _is_reference(value)


def _is_modules(value: Any) -> bool:
    return isinstance(value, Mapping) and all(map(_is_name, (*value, *value.values())))


def _is_devices(value: Any) -> bool:
    return isinstance(value, (set, frozenset)) and bool(value) and all(_is_name(device) for device in value)
