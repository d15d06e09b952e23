"""``eagle.frameworks``: the public modules of plugins, by the name of their framework."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from fake_plugins import Site

import eagle
from eagle.errors import FrameworkNotFound
from eagle.plugin import Framework, hookimpl
from eagle.testing import registered

HOOKS = """
from eagle.plugin import Framework, hookimpl
EAGLE_CONTRACT = (1, 0)

@hookimpl
def register_framework():
    return Framework({fields})
"""
FIELDS = "name='lattice', needs='lattice_library', api='lattice_nodes', distribution='lattice-python'"


def forget() -> None:
    for name in [name for name in sys.modules if name.startswith(("eagle.frameworks.", "lattice"))]:
        del sys.modules[name]
    for name in ("lattice", "torch", "warp", "jax"):
        vars(importlib.import_module("eagle.frameworks")).pop(name, None)


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """No framework stays imported under its name in ``eagle.frameworks``."""
    forget()
    yield
    forget()


@pytest.fixture
def site(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    site = Site(tmp_path, monkeypatch)
    (tmp_path / "lattice_nodes.py").write_text("here = 1\n")
    (tmp_path / "lattice_library.py").write_text("")
    site.install(HOOKS.format(fields=FIELDS), name="lattice", distribution="eagle-lattice")
    yield site
    monkeypatch.undo()
    eagle.plugin.refresh()


def test_a_framework_is_imported_by_either_spelling(site: Site) -> None:
    assert "lattice_nodes" not in sys.modules
    from eagle.frameworks import lattice

    imported = importlib.import_module("eagle.frameworks.lattice")
    assert lattice is imported is sys.modules["lattice_nodes"]
    assert lattice.here == 1
    assert vars(lattice)["__spec__"].name == lattice.__name__ == "lattice_nodes"


def test_a_framework_is_an_attribute_without_an_import(site: Site) -> None:
    assert eagle.frameworks.lattice.here == 1
    assert "frameworks" in dir(eagle)


def test_looking_for_a_framework_finds_its_module(site: Site) -> None:
    spec = importlib.util.find_spec("eagle.frameworks.lattice")
    assert spec is not None
    assert spec.name == "eagle.frameworks.lattice"


@pytest.mark.parametrize("name", ["torch", "warp", "jax"])
def test_a_framework_of_ours_without_its_plugin_says_what_to_install(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EAGLE_PLUGINS", "cpu")
    eagle.plugin.refresh()
    try:
        with pytest.raises(ModuleNotFoundError, match=rf"no installed plugin brings .*\. pip install eagle-{name}\."):
            importlib.import_module(f"eagle.frameworks.{name}")
        with pytest.raises(FrameworkNotFound, match=f"eagle-{name}") as caught:
            getattr(eagle.frameworks, name)
        assert caught.value.name == f"eagle.frameworks.{name}"
    finally:
        monkeypatch.undo()
        eagle.plugin.refresh()


def test_an_unknown_framework_is_compared_with_the_known_ones(site: Site) -> None:
    with pytest.raises(FrameworkNotFound, match="Did you mean 'lattice'"):
        importlib.import_module("eagle.frameworks.latice")
    with pytest.raises(FrameworkNotFound, match="eagle plugins lists what is installed"):
        importlib.import_module("eagle.frameworks.something")


def test_a_plugin_whose_library_is_absent_says_what_to_install(site: Site) -> None:
    (site.folder / "lattice_library.py").unlink()
    with pytest.raises(FrameworkNotFound, match=r"needs lattice_library.*pip install lattice-python\.") as caught:
        importlib.import_module("eagle.frameworks.lattice")
    assert caught.value.name == "lattice_library"


def test_another_module_that_a_plugin_misses_is_named_as_it_is(site: Site) -> None:
    (site.folder / "lattice_nodes.py").write_text("import another_library\n")
    with pytest.raises(ModuleNotFoundError, match="another_library") as caught:
        importlib.import_module("eagle.frameworks.lattice")
    assert not isinstance(caught.value, FrameworkNotFound)


def test_a_framework_without_nodes_has_no_module(site: Site) -> None:
    site.install(HOOKS.format(fields="name='plain', needs='numpy'"), name="plain", distribution="plain-plugin")
    with pytest.raises(FrameworkNotFound, match=r"eagle\.frameworks\.plain"):
        importlib.import_module("eagle.frameworks.plain")


def test_a_framework_defined_twice_is_refused() -> None:
    def hooks(api: str) -> Any:
        @hookimpl
        def register_framework() -> Framework:
            return Framework(name="lattice", needs="numpy", api=api)

        return SimpleNamespace(__name__=f"{api}.hooks", EAGLE_CONTRACT=(1, 0), register_framework=register_framework)

    with (
        registered(hooks("one")),
        registered(hooks("two")),
        pytest.warns(eagle.PluginWarning),
        pytest.raises(FrameworkNotFound, match="is clash"),
    ):
        importlib.import_module("eagle.frameworks.lattice")


def test_names_that_tools_look_for_are_plain_attributes() -> None:
    assert not hasattr(eagle.frameworks, "__wrapped__")
    with pytest.raises(AttributeError):
        _ = eagle.frameworks._nothing
