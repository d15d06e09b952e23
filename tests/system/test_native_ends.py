"""Graphs of compiled nodes among threads, forks, interrupts and the end of the process."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path

import kernels
import numpy as np
import pytest

import eagle
from eagle.graph import opaque
from eagle_cpu import team

LIB = Path(__file__).parents[1] / "lib"
bump, look_up = eagle.deploy(kernels.bump), eagle.deploy(kernels.look_up)


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    """Four threads, whatever the machine has; the old number afterwards."""
    before = team.team_size()
    team.set_team_size(4)
    yield
    team.set_team_size(before)


def bumped(samples: int = 10, count: int = 1) -> tuple[np.ndarray, list[eagle.BoundPlan]]:
    x = np.zeros(samples)
    return x, [bump.bind(x=x) for _ in range(count)]


def test_many_graphs_run_from_many_threads() -> None:
    failures: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(20):
                branches = [bumped(500, 2) for _ in range(3)]
                g = eagle.Graph().add_group([plans for _, plans in branches]).add(branches[0][1][0]).build()
                for _ in range(20):
                    g.launch(5)
                assert [x[0] for x, _ in branches] == [300, 200, 200]
        except BaseException as error:
            failures.append(error)

    workers = [threading.Thread(target=work) for _ in range(6)]
    for worker in workers:
        worker.start()
    for i in range(50):
        team.set_team_size(i % 4 + 1)
    for worker in workers:
        worker.join(60)
    assert not failures


def python(code: str) -> subprocess.CompletedProcess[str]:
    start = "import os, signal, threading\nimport numpy as np\nimport eagle, kernels\nfrom eagle_cpu import team\n"
    command = [sys.executable, "-c", start + textwrap.dedent(code)]
    return subprocess.run(
        command, env=os.environ | {"PYTHONPATH": str(LIB)}, capture_output=True, text=True, timeout=120, check=False
    )


def test_a_forked_child_launches_while_the_team_was_busy() -> None:
    ran = python(
        """
        import warnings
        warnings.simplefilter("ignore")     # newer Pythons warn of a fork with threads: it is what is tried here
        team.set_team_size(4)
        bump = eagle.deploy(kernels.bump)
        def graph():
            return eagle.Graph().add_group([[bump.bind(x=np.zeros(4000)) for _ in range(3)] for _ in range(4)]).build()
        mine, over = graph(), threading.Event()
        def work():
            busy = graph()
            while not over.is_set():
                busy.launch(100)
        worker = threading.Thread(target=work)
        worker.start()
        mine.launch(100)
        for _ in range(5):
            child = os.fork()
            if child == 0:
                mine.launch(100)
                os._exit(17)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 17
        over.set()
        worker.join()
        mine.launch(100)
        """
    )
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("shape", ["chain", "fork", "between Python nodes"])
def test_ctrl_c_stops_a_long_launch_and_says_how_far_it_got(shape: str) -> None:
    ran = python(
        f"""
        from eagle.graph import opaque
        team.set_team_size(2)
        bump, g = eagle.deploy(kernels.bump), eagle.Graph()
        arrays = [np.zeros(1000) for _ in range(4)]
        plans = [[bump.bind(x=x) for _ in range(3)] for x in arrays]
        if {shape!r} == "fork":
            g.add_group(plans)
        else:
            for plan in sum(plans, []):
                g.add(plan)
        if {shape!r} == "between Python nodes":
            g.add_node(opaque(lambda: None))
        g.build()
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            g.launch(10**12)
        except KeyboardInterrupt as error:
            notes = "; ".join(error.__notes__)
            assert "stage 0 of the graph, repetition " in notes or {shape!r} != "fork", notes
            assert "repetition " in notes, notes
            assert "samples may stand at different nodes" in notes or "Python" in {shape!r}, notes
            steps = [x[0] for x in arrays]
            g.launch()
            assert [x[0] for x in arrays] == [one + 3 for one in steps]
            print("stopped")
        """
    )
    assert (ran.stdout, ran.stderr) == ("stopped\n", "")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("error", [SystemExit, LookupError])
def test_a_thread_that_dies_in_the_middle_of_a_launch_holds_up_nobody(error: type[BaseException]) -> None:
    def die() -> None:
        if threading.current_thread() is worker:
            raise error

    (x, one), (y, two) = bumped(100_000), bumped(100_000)
    g = eagle.Graph().add(one[0]).add_node(opaque(die)).add(two[0]).build()
    worker = threading.Thread(target=g.launch, args=(5,))
    worker.start()
    worker.join(60)
    assert not worker.is_alive()
    assert (x[0], y[0]) == (1, 0)
    g.launch()
    assert (x == 2).all()
    assert (y == 1).all()


def test_a_graph_launched_as_the_interpreter_ends_runs() -> None:
    ran = python(
        """
        class Last:
            def __init__(self):
                self.x, self.write = np.zeros(10), os.write
                self.g = eagle.Graph().add(eagle.deploy(kernels.bump).bind(x=self.x)).build().launch()
            def __del__(self):
                self.g.launch()
                self.write(1, b"%d" % self.x[0])
        import sys
        sys.modules["last"] = Last()    # deleted with the modules, after the interpreter has begun to end
        """
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "2", "")


@pytest.mark.parametrize(("first", "then"), [("profile", "launch"), ("launch", "profile")])
def test_a_reduction_that_was_interrupted_leaves_nothing_behind_for_other_ways_to_run(first: str, then: str) -> None:
    ran = python(
        f"""
        many, out = 400_000_000, np.zeros(1)
        x = np.broadcast_to(np.ones(1), (many,))
        g = eagle.Graph().add_node(eagle.reduce(x, out)).build()
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            g.{first}(1000)
        except KeyboardInterrupt:
            out[:] = 0
            g.{then}()
            print(out[0] == many)
        """
    )
    assert (ran.stdout, ran.stderr) == ("True\n", "")


def test_a_fault_is_told_of_its_own_run_however_the_run_before_was_made() -> None:
    i, table, out = np.zeros(10, np.int64), np.zeros(3), np.zeros(10)
    g = eagle.Graph().add(look_up.bind(i=i, table=table, out=out)).build()
    for run, sample in ((g.profile, 4), (g.launch, 8), (g.check, 9)):
        i[:] = 0
        i[sample] = 3
        with pytest.raises(IndexError, match=f"sample {sample}\\b"):
            run()
