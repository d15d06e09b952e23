"""Modules of eagle that a plugin fills: ``eagle.loaded``, by what a backend says in ``modules``."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from fake_plugins import Site

import eagle
from eagle.errors import FrameworkNotFound
from eagle.plugin.doors import door

HOOKS = """
from eagle.plugin import Backend, hookimpl
EAGLE_CONTRACT = (1, 0)

class Press(Backend):
    name, devices, modules = "press", frozenset({{"press"}}), {modules}

    def compile(self, blueprint, options):
        raise NotImplementedError

@hookimpl
def register_backend():
    return Press()
"""


@pytest.fixture
def site(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    site = Site(tmp_path, monkeypatch)
    (tmp_path / "press_printed.py").write_text("ink = 'black'\n")
    site.install(HOOKS.format(modules="{'eagle.printed': 'press_printed'}"), name="press", distribution="eagle-press")
    yield site
    sys.modules.pop("press_printed", None)
    monkeypatch.undo()
    eagle.plugin.refresh()


def test_a_name_of_the_module_is_the_plugins_imported_on_first_use(site: Site) -> None:
    look_up = door("eagle.printed", "eagle-press")
    assert "press_printed" not in sys.modules
    assert look_up("ink") == "black"


def test_a_name_that_the_plugin_lacks_is_no_attribute(site: Site) -> None:
    with pytest.raises(AttributeError, match="paper"):
        door("eagle.printed", "eagle-press")("paper")


def test_what_tools_look_for_imports_nothing(site: Site) -> None:
    with pytest.raises(AttributeError, match=r"'eagle\.printed' has no attribute '__wrapped__'"):
        door("eagle.printed", "eagle-press")("__wrapped__")
    assert "press_printed" not in sys.modules


def test_without_a_plugin_that_brings_it_the_error_says_what_to_install(site: Site) -> None:
    with pytest.raises(FrameworkNotFound, match=r"brings eagle\.painted\. pip install eagle-paint\.") as caught:
        door("eagle.painted", "eagle-paint")("colour")
    assert caught.value.name == "eagle.painted"


def test_loaded_kernels_need_the_plugin_that_loads_them(without_cuda: None) -> None:
    with pytest.raises(ModuleNotFoundError, match=r"brings eagle\.loaded\. pip install eagle-cuda\. .*is blocked"):
        from eagle.loaded import LoadedVector  # noqa: F401
    assert importlib.import_module("eagle.loaded") is eagle.loaded


def test_modules_that_are_no_names_are_refused_by_field(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    site = Site(tmp_path, monkeypatch)
    site.install(HOOKS.format(modules="['eagle.printed']"), name="press", distribution="eagle-press")
    try:
        with pytest.warns(eagle.PluginWarning, match="the modules of Press 'press' is"):
            eagle.plugin.backends()
    finally:
        monkeypatch.undo()
        eagle.plugin.refresh()
