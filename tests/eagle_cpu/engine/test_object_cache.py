"""The cache of machine code: used when it is sound and safe, rebuilt or left alone otherwise."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from engine_running import call
from small_kernels import scale

from eagle.plugin import BuildError, PluginWarning, cache_dir
from eagle.plugin import cache as cache_folder
from eagle_cpu.engine import build, compiler, object_cache, program, symbols


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own, and a process that has compiled nothing yet."""
    monkeypatch.setenv("EAGLE_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(program, "_slots", {})
    monkeypatch.setattr(cache_folder, "_told", set())
    return tmp_path / "eagle" / "eagle-cpu"


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that were compiled."""
    texts: list[str] = []

    def counted(text: str, *, simple: bool) -> bytes:
        texts.append(text)
        return compiler.to_object(text, simple=simple)

    monkeypatch.setattr(build, "to_object", counted)
    return texts


def run() -> None:
    """Compile or load a kernel, forgetting that this process knew it, and see that it works."""
    program._slots.clear()
    made = program.program_for(scale(3.0))
    x, y = np.arange(50.0), np.zeros(50)
    call(made.launch_entry, made.arguments({"x": x, "y": y}, {}, 50).address, [(0, 50)])
    assert np.array_equal(y, x * 3.0)


def test_the_second_time_nothing_is_compiled(folder: Path, compilations: list[str]) -> None:
    run()
    run()
    assert len(compilations) == 1
    assert [path.stat().st_mode & 0o777 for path in (folder, folder.parent)] == [0o700, 0o700]


@pytest.mark.parametrize("content", [b"", b"short", bytes(4000)])
def test_a_damaged_file_is_rebuilt(folder: Path, compilations: list[str], content: bytes) -> None:
    run()
    (path,) = folder.iterdir()
    whole = path.read_bytes()
    path.write_bytes(content)
    run()
    run()
    assert len(compilations) == 2
    assert len(path.read_bytes()) == len(whole)


def test_one_changed_bit_is_noticed(folder: Path, compilations: list[str]) -> None:
    run()
    (path,) = folder.iterdir()
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    run()
    assert len(compilations) == 2


def test_a_file_under_another_key_is_not_believed(folder: Path, compilations: list[str]) -> None:
    run()
    (path,) = folder.iterdir()
    (folder / "another.eagle-object").write_bytes(path.read_bytes())
    assert object_cache.fetch("another") is None


def test_a_folder_open_to_others_is_not_used_and_said_once(folder: Path, compilations: list[str]) -> None:
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    with pytest.warns(PluginWarning, match="other users have access"):
        run()
    run()
    assert len(compilations) == 2
    assert not list(folder.iterdir())


def test_a_folder_of_another_user_is_not_used(
    folder: Path, compilations: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.mkdir(parents=True, mode=0o700)
    monkeypatch.setattr(os, "getuid", lambda: folder.stat().st_uid + 1)
    with pytest.warns(PluginWarning, match="belongs to another user"):
        run()
    assert not list(folder.iterdir())


def test_a_place_that_cannot_be_written_only_warns(
    folder: Path, compilations: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("EAGLE_CACHE_DIR", str(tmp_path / "file"))
    with pytest.warns(PluginWarning, match="keeps nothing on disk"):
        run()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run()
    assert len(compilations) == 2


def test_the_least_recently_used_files_go_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(object_cache, "LIMIT", 3000)
    for number, key in enumerate("abc"):
        object_cache.keep(key, bytes(900))
        os.utime(folder / f"{key}.eagle-object", (number, number))
    assert object_cache.fetch("a") is not None  # now the most recent
    object_cache.keep("d", bytes(900))
    assert sorted(path.name[0] for path in folder.iterdir()) == ["a", "c", "d"]


def test_the_folder_is_found_by_the_usual_variables(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("EAGLE_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_dir("eagle-x") == tmp_path / "xdg" / "eagle" / "eagle-x"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_dir("eagle-x") == tmp_path / "home" / ".cache" / "eagle" / "eagle-x"


def test_machine_code_that_calls_a_stranger_is_refused() -> None:
    text = "declare void @system(ptr)\ndefine void @f(ptr %a) {\n call void @system(ptr %a)\n ret void\n}\n"
    binary = compiler.to_object(text)
    assert symbols.undefined(binary) == ["system"]
    with pytest.raises(BuildError, match="refers to system"):
        compiler.link(binary, ["f"], "kernel 'bad'")


def test_another_process_loads_what_this_one_kept(folder: Path, tmp_path: Path) -> None:
    run()
    script = (
        "from small_kernels import scale\nfrom eagle_cpu.engine import build, program_for\n"
        "def no(text, simple): raise SystemExit('compiled')\nbuild.to_object = no\n"
        "program_for(scale(3.0)).launch_entry\n"
    )
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    subprocess.run([sys.executable, "-c", script], check=True, env={**os.environ, "PYTHONPATH": path})
