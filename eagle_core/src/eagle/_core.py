"""Numbers that the specification names here, though a plugin decides them; looked up on use."""

from importlib import import_module

_PLACES = {"BRANCH_TASKS_MAX_SAMPLES": ("eagle_cpu", "eagle-cpu")}


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, distribution = _PLACES[name]
    try:
        return getattr(import_module(module), name)
    except ModuleNotFoundError as error:
        raise AttributeError(
            f"{name} is decided by {distribution}, which is not installed: pip install {distribution}"
        ) from error
