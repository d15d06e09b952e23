"""The loader: what is found, what is left out and why, and that one bad plugin harms no other."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from fake_plugins import GOOD, Site

import eagle
from eagle.cli import main
from eagle.graph import Node, opaque
from eagle.plugin import NodeKind, PluginStatus, hookimpl, kinds, plugins, refresh
from eagle.testing import registered


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    yield Site(tmp_path, monkeypatch)
    monkeypatch.undo()
    refresh()


def status(name: str = "extra") -> PluginStatus:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", eagle.PluginWarning)
        return next(one for one in plugins() if one.name == name)


def hook(name: str, returned: str) -> str:
    """A hooks module with one hook."""
    return (
        "from eagle.plugin import *\nfrom eagle.plugin import Framework, hookimpl\nEAGLE_CONTRACT = (1, 0)\n"
        f"@hookimpl\ndef register_{name}():\n    return {returned}\n"
    )


def launches() -> None:
    """Show that eagle itself still works."""
    x = np.zeros(1)
    eagle.Graph().add_node(opaque(lambda: x.fill(1), writes=x)).build().launch()
    assert x[0] == 1


# what is found --------------------------------------------------------------------------------------------------------


def test_a_good_plugin_is_ready_and_its_kind_is_there(site: Site) -> None:
    module = site.install()
    found = status()
    assert (found.state, found.distribution, found.version, found.contract) == ("ready", "extra-plugin", "1.2", (1, 0))
    assert found.hooks == ("register_node_kind",)
    assert found.file is not None
    assert found.file.endswith(f"{module}.py")
    assert f"{module}.thing" in {kind.name for kind in kinds()}


def test_plugins_are_sorted_by_name_and_distribution(site: Site) -> None:
    site.install(name="zebra", distribution="a-dist")
    site.install(name="ant", distribution="z-dist")
    assert [one.name for one in plugins() if one.name not in {"cuda", "jax", "torch", "warp"}] == [
        "ant",
        "cpu",
        "zebra",
    ]


def test_an_entry_point_listed_twice_by_one_distribution_is_loaded_once(site: Site) -> None:
    module = site.install(
        GOOD + "\nimport builtins\nloads = builtins.loads = getattr(builtins, 'loads', 0) + 1\n", lines=2
    )
    assert [one.state for one in plugins() if one.name == "extra"] == ["ready"]
    assert sys.modules[module].loads == 1


def test_refresh_finds_what_was_installed_meanwhile(site: Site) -> None:
    assert "extra" not in {one.name for one in plugins()}
    site.install()
    refresh()
    assert "extra" in {one.name for one in plugins()}


def test_nothing_is_looked_for_at_import() -> None:
    code = (
        "import eagle, sys; from eagle.plugin.registry import registry; assert registry._found is None;"
        "assert 'eagle_cpu' not in sys.modules and 'eagle.plugin.loader' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_many_threads_discover_once(site: Site) -> None:
    module = site.install(GOOD + "\nimport time\ntime.sleep(0.05)\n")
    seen: list[bool] = []
    threads = [
        threading.Thread(target=lambda: seen.append(f"{module}.thing" in {kind.name for kind in kinds()}))
        for _ in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [True] * 16


def test_a_plugin_may_use_eagle_while_it_is_imported(site: Site) -> None:
    site.install(GOOD + "\nimport eagle.plugin\neagle.plugin.kinds()\n")
    assert status().state == "ready"


# what is left out -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("raise ImportError('no module named turbo')", "ImportError: no module named turbo"),
        ("import sys\nsys.exit(3)", "SystemExit: 3"),
        ("def (", "SyntaxError"),
        (GOOD.replace("EAGLE_CONTRACT", "CONTRACT_EAGLE"), r"Add the line EAGLE_CONTRACT = \(1, 0\)"),
        (GOOD.replace("(1, 0)", "'1.0'"), "EAGLE_CONTRACT = '1.0', which is not two integers"),
        (GOOD.replace("(1, 0)", "(1, True)"), "not two integers"),
        (GOOD.replace("register_node_kind", "register_node_kinds"), "Did you mean 'register_node_kind'"),
        (GOOD.replace("@hookimpl\n", ""), "Put @eagle.plugin.hookimpl above"),
        ("EAGLE_CONTRACT = (1, 0)", "has no hooks"),
        (GOOD.replace("register_node_kind()", "register_node_kind(config)"), "takes arguments"),
        (GOOD.replace("return NodeKind", "return 3 or NodeKind"), "register_node_kind returned 3"),
        (GOOD.replace("return NodeKind", "return NodeKind or NodeKind"), "Return a NodeKind"),
        (GOOD.replace('f"{__name__}.thing"', '"thing"'), "bare names belong to the core"),
        (GOOD.replace("return NodeKind", "1 / 0; return NodeKind"), "ZeroDivisionError"),
        (GOOD.replace("access=lambda node: ()", "access=3"), "the access of NodeKind .* is 3. It has to be a callable"),
        (hook("lowering", "Lowering(kind=['a'], backend='cpu', lower=print)"), "the kind of Lowering .* is .'a'."),
        (hook("lowering", "Lowering(kind='a', backend='cpu', lower='no colon')"), "package.module:attribute"),
        (hook("backend", "type('B', (Backend,), {'compile': print})()"), "the name of B .* is None"),
        (hook("backend", "type('B', (Backend,), {'compile': print, 'name': 'b'})()"), "the devices of B 'b' is None"),
        (hook("framework", "Framework(name='f', needs=[1])"), "the needs of Framework 'f' is .1."),
        (hook("framework", "Framework(name='f', needs='numpy', arrays=3)"), "the arrays of Framework 'f' is 3"),
        (hook("framework", "Framework(name='f', needs='numpy', streams=3)"), "the streams of Framework 'f' is 3"),
    ],
)
def test_a_broken_plugin_is_warned_about_once_and_harms_nothing(site: Site, source: str, says: str) -> None:
    module = site.install(name="good", distribution="good-plugin")
    site.install(source)
    with pytest.warns(eagle.PluginWarning, match=says) as caught:
        launches()
    (warning,) = caught
    for part in ("'extra'", "extra-plugin 1.2", "pip uninstall extra-plugin", "EAGLE_DISABLE_PLUGINS=extra"):
        assert part in str(warning.message)
    launches()
    assert status().state == "broken"
    assert isinstance(status().exception, BaseException)
    assert f"{module}.thing" in {kind.name for kind in kinds()}


@pytest.mark.parametrize(
    ("contract", "says"), [("(1, 7)", "contract 1.7 .* offers 1.0; update eagle-core"), ("(0, 3)", "update the plugin")]
)
def test_another_contract_version_is_refused_with_both_numbers(site: Site, contract: str, says: str) -> None:
    site.install(GOOD.replace("(1, 0)", contract))
    with pytest.warns(eagle.PluginWarning, match=says):
        plugins()
    assert status().state == "incompatible"


def test_another_major_group_is_listed_without_importing_it(site: Site) -> None:
    module = site.install("raise AssertionError('imported')", group="eagle.v2")
    with pytest.warns(eagle.PluginWarning, match="contract 2 "):
        plugins()
    assert status().state == "incompatible"
    assert module not in sys.modules


def test_a_plugin_name_of_two_distributions_loads_neither(site: Site) -> None:
    modules = [site.install(distribution=f"plugin-{letter}") for letter in "ab"]
    with pytest.warns(eagle.PluginWarning, match="plugin-a, plugin-b"):
        plugins()
    assert [one.state for one in plugins() if one.name == "extra"] == ["clash", "clash"]
    assert not set(modules) & set(sys.modules)


def test_a_lowering_defined_twice_raises_when_it_is_used_naming_both(site: Site) -> None:
    kind = "from eagle.plugin import *\nfrom eagle.plugin import hookimpl\nEAGLE_CONTRACT = (1, 0)\n"
    body = "@hookimpl\ndef register_lowering():\n"
    body += '    return Lowering(kind="opaque", backend="cpu", lower=lambda p, c: {})\n'
    site.install(kind + body.format(1), name="one", distribution="dist-one")
    site.install(kind + body.format(2), name="two", distribution="dist-two")
    g = eagle.Graph().add_node(opaque(lambda: None))
    with pytest.warns(eagle.PluginWarning, match="defined differently"):
        plugins()
    assert (status("one").state, status("two").state) == ("clash", "clash")
    with pytest.raises(eagle.PluginError, match=r"'one' \(dist-one 1.2\) and plugin 'two' \(dist-two 1.2\)"):
        g.build()


def test_a_kind_defined_twice_raises_when_it_is_used_and_other_kinds_work(site: Site) -> None:
    source = GOOD.replace('f"{__name__}.thing"', '"shared.thing"')
    site.install(source, module="shared.one", name="one", distribution="dist-one")
    site.install(source, module="shared.two", name="two", distribution="dist-two")
    with pytest.warns(eagle.PluginWarning, match="NodeKind 'shared.thing' is defined differently"):
        launches()
    with pytest.raises(eagle.PluginError, match=r"node kind 'shared.thing' .*'one'.*'two'.*Uninstall one"):
        eagle.Graph().add_node(Node("shared.thing", None))


def test_a_plugin_that_redefines_a_lowering_of_the_core_is_marked_and_the_core_keeps_working(site: Site) -> None:
    source = GOOD + (
        "\n@hookimpl\ndef register_lowering():\n"
        "    return Lowering(kind='opaque', backend='*', lower=lambda p, c: 1 / 0)\n"
    )
    site.install(source)
    with pytest.warns(eagle.PluginWarning, match="eagle-core"):
        launches()
    assert status().state == "clash"


def test_two_backends_of_one_name_clash(site: Site) -> None:
    source = """
from eagle.plugin import Backend, hookimpl
EAGLE_CONTRACT = (1, 0)
class Mine(Backend):
    name, devices = "cpu", frozenset({"cpu"})
    def compile(self, blueprint, options): raise AssertionError
@hookimpl
def register_backend(): return Mine()
"""
    site.install(source)
    g = eagle.Graph().add_node(opaque(lambda: None))
    with pytest.warns(eagle.PluginWarning, match="Mine 'cpu' is defined differently|CpuBackend 'cpu'"):
        plugins()
    with pytest.raises(eagle.PluginError, match="backend 'cpu' is defined differently"):
        g.build()


def test_a_clash_of_backends_is_told_to_whoever_needs_one_of_them(site: Site) -> None:
    site.install(hook("backend", "type('B', (Backend,), {'compile': print, 'name': 'cpu', 'devices': {'cpu'}})()"))
    g = eagle.Graph().add_node(opaque(lambda: None, reads=np.zeros(1)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", eagle.PluginWarning)
        with pytest.raises(eagle.PluginError, match="backend 'cpu' is defined differently"):
            g.build()


def test_a_backend_that_raises_when_asked_is_one_that_cannot_run(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    fields = "{'compile': print, 'name': 'b', 'devices': {'cpu'}, 'why_not': lambda self: 1 / 0}"
    site.install(hook("backend", f"type('B', (Backend,), {fields})()"))
    launches()
    with pytest.raises(eagle.BackendUnavailable, match="asking it raised ZeroDivisionError"):
        eagle.Graph().add_node(opaque(lambda: None)).build("b")
    main(["doctor"])
    assert "asking it raised ZeroDivisionError" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ("'describe': lambda self: 'Box 3, driver 7.'", "b, for box memory, can run here: Box 3, driver 7."),
        ("", "b, for box memory, can run here\n"),
        ("'describe': lambda self: 1 / 0", "can run here: asking it raised ZeroDivisionError"),
        (
            "'why_not': lambda self: 'the box is shut; open it.', 'describe': lambda self: 1 / 0",
            "b, for box memory, cannot run here: the box is shut; open it.\n",
        ),
    ],
)
def test_doctor_says_in_one_sentence_what_a_backend_runs_on(
    site: Site, capsys: pytest.CaptureFixture[str], fields: str, says: str
) -> None:
    body = f"{{'compile': print, 'name': 'b', 'devices': {{'box'}}, {fields}}}"
    site.install(hook("backend", f"type('B', (Backend,), {body})()"))
    assert main(["doctor"]) == 0
    assert says in capsys.readouterr().out


@pytest.mark.parametrize(
    "adapter", ["'nowhere:Adapter'", "type('A', (ArrayAdapter,), {'claims': None, 'describe': None})()"]
)
def test_a_broken_adapter_harms_no_array_of_another_library(site: Site, adapter: str) -> None:
    site.install(hook("framework", f"Framework(name='f', needs='numpy', arrays={adapter})"))
    g = eagle.Graph()
    with pytest.warns(eagle.PluginWarning, match="the array adapter of framework 'f' failed"):
        g.add_node(opaque(lambda: None, reads=np.zeros(2).view(np.recarray)))
    g.add_node(opaque(lambda: None, reads=np.zeros(2).view(np.recarray))).build()
    assert status().state == "broken"


def test_a_distribution_that_serves_two_contracts_is_ready(site: Site) -> None:
    site.install()
    site.install("raise AssertionError('imported')", group="eagle.v2")
    launches()
    assert [one.state for one in plugins() if one.name == "extra"] == ["ready"]


def test_a_disabled_plugin_of_another_major_is_not_warned_about(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.install(group="eagle.v2")
    monkeypatch.setenv("EAGLE_DISABLE_PLUGINS", "extra")
    refresh()
    launches()
    assert status().state == "blocked"


def test_every_function_that_implements_a_hook_is_called(site: Site) -> None:
    second = "\n@hookimpl(specname='register_node_kind')\ndef more():\n"
    module = site.install(GOOD + second + "    return NodeKind(name=f'{__name__}.other', access=lambda node: ())\n")
    assert {f"{module}.thing", f"{module}.other"} <= {kind.name for kind in kinds()}


def test_an_unknown_kind_says_which_plugins_were_left_out(site: Site) -> None:
    module = site.install("raise ImportError('x')")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", eagle.PluginWarning)
        plugins()
    with pytest.raises(eagle.GraphError, match=r"Left out: plugin 'extra' \(extra-plugin 1.2\) is broken"):
        eagle.Graph().add_node(Node(f"{module}.thing", None))


def test_a_reference_that_cannot_be_imported_says_whose_it_is(site: Site) -> None:
    lowering = "\n@hookimpl\ndef register_lowering():\n"
    lowering += "    return Lowering(kind=__name__ + '.thing', backend='cpu', lower='nowhere.at_all:lower')\n"
    module = site.install(GOOD + lowering)
    g = eagle.Graph().add_node(Node(f"{module}.thing", None))
    with pytest.raises(eagle.PluginError, match=r"plugin 'extra' .*'nowhere.at_all:lower'.*No module named 'nowhere'"):
        g.build()


# the switches ---------------------------------------------------------------------------------------------------------


def test_a_disabled_plugin_is_not_imported(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    module = site.install("raise AssertionError('imported')")
    monkeypatch.setenv("EAGLE_DISABLE_PLUGINS", "extra, ")
    refresh()
    launches()
    assert status().state == "blocked"
    assert "EAGLE_DISABLE_PLUGINS names 'extra'" in status().why
    assert module not in sys.modules


def test_only_allowed_plugins_are_imported(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.install("raise AssertionError('imported')")
    monkeypatch.setenv("EAGLE_PLUGINS", "cpu")
    refresh()
    launches()
    assert (status().state, status("cpu").state) == ("blocked", "ready")


def test_a_switch_that_names_no_plugin_is_warned_about(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EAGLE_DISABLE_PLUGINS", "cpus")
    refresh()
    with pytest.warns(eagle.PluginWarning, match="'cpus', which is no plugin. Did you mean 'cpu'"):
        plugins()


def test_strict_raises_at_once_and_every_time_and_the_listing_still_works(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.install("raise ImportError('x')")
    monkeypatch.setenv("EAGLE_STRICT_PLUGINS", "1")
    refresh()
    g = eagle.Graph().add_node(opaque(lambda: None))
    errors = []
    for _ in range(2):
        with pytest.raises(eagle.PluginError, match="extra-plugin") as caught:
            g.build()
        errors.append(caught.value)
    assert errors[0] is not errors[1]
    assert status().state == "broken"


# the command line -----------------------------------------------------------------------------------------------------


def test_plugins_works_with_every_plugin_broken(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    site.install("raise ImportError('x')")
    site.install("raise ImportError('y')", name="other", distribution="other-plugin")
    assert main(["plugins"]) == 0
    text = capsys.readouterr().out
    for part in ("extra", "broken", "extra-plugin 1.2", "ImportError: x", "ImportError: y"):
        assert part in text


def test_plugins_as_json_is_complete(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    site.install("raise ImportError('x')")
    assert main(["plugins", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["cpu"]["state"] == "ready"
    assert rows["cpu"]["contract"] == [1, 0]
    assert rows["extra"]["exception"] == "ImportError('x')"
    assert set(rows["extra"]) >= {"name", "distribution", "version", "file", "contract", "state", "hooks", "exception"}


def test_doctor_fails_for_a_broken_plugin_and_says_what_to_do(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    site.install("raise ImportError('x')")
    assert main(["doctor"]) == 1
    text = capsys.readouterr().out
    for part in ("pip uninstall extra-plugin", "cpu, for cpu memory, can run here", "eagle-cuda"):
        assert part in text


def test_doctor_fails_when_another_distribution_installs_eagle(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from importlib import metadata

    assert main(["doctor"]) == 0
    monkeypatch.setattr(metadata, "packages_distributions", lambda: {"eagle": ["eagle-core", "raptor-eagle"]})
    assert main(["doctor"]) == 1
    assert "also installed by raptor-eagle" in capsys.readouterr().out


def test_demo_prints_the_graph_and_the_arrays(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo"]) == 0
    text = capsys.readouterr().out
    for part in ("double", "shift", "z = [ 1.  3."):
        assert part in text


def test_demo_without_a_backend_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EAGLE_DISABLE_PLUGINS", "cpu")
    refresh()
    try:
        assert main(["demo"]) == 1
        assert main(["doctor"]) == 1
    finally:
        monkeypatch.undo()
        refresh()
    text = capsys.readouterr().out
    assert "Install the distribution eagle-cpu" in text
    assert "╎ double  ╎" in text


def test_a_wrong_call_exits_with_two(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["dance"])
    assert caught.value.code == 2
    assert "doctor" in capsys.readouterr().err


# in tests -------------------------------------------------------------------------------------------------------------


def test_registered_uses_a_module_as_an_installed_plugin() -> None:
    module: Any = ModuleType("mine.hooks")
    module.EAGLE_CONTRACT = (1, 0)

    @hookimpl
    def register_node_kind() -> NodeKind[Any]:
        return NodeKind(name="mine.kind", access=lambda node: ())

    module.register_node_kind = register_node_kind
    with registered(module):
        assert status("mine").state == "ready"
        assert "mine.kind" in {kind.name for kind in kinds()}
    assert "mine.kind" not in {kind.name for kind in kinds()}
