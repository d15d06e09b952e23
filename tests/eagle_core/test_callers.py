"""Callers in each other's way: one gets in, the others are told at once."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

import eagle
from eagle.graph import opaque


def nothing() -> None:
    """A step that does nothing."""


def test_reentry_from_inside_a_node_is_busy_with_the_pages_words() -> None:
    g = eagle.Graph()
    seen: list[str] = []

    def reenter() -> None:
        for call in (g.launch, g.enqueue, g.synchronize, g.build, lambda: g.add_node(opaque(nothing))):
            with pytest.raises(eagle.Busy) as caught:
                call()
            seen.append(str(caught.value))
        assert g.num_nodes() == 1
        assert g.edges() == ()
        assert "eagle.Graph" in str(g)

    g.add_node(opaque(reenter)).build().launch()
    assert set(seen) == {"another call is still running on this Graph; give each thread its own Graph, or wait for it"}
    assert len(seen) == 5
    g.launch()


def test_a_second_thread_gets_busy_at_once() -> None:
    inside, done = threading.Event(), threading.Event()

    def wait() -> None:
        inside.set()
        assert done.wait(30)

    g = eagle.Graph().add_node(opaque(wait)).build()
    thread = threading.Thread(target=g.launch)
    thread.start()
    assert inside.wait(30)
    with pytest.raises(eagle.Busy):
        g.launch()
    done.set()
    thread.join()
    g.launch()


def test_distinct_graphs_run_at_the_same_time() -> None:
    meet = threading.Barrier(2, timeout=30)
    graphs = [eagle.Graph().add_node(opaque(meet.wait)).build() for _ in range(2)]
    threads = [threading.Thread(target=g.launch) for g in graphs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not meet.broken


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_guard_held_across_fork_is_free_in_the_child() -> None:
    code = """
import os, threading, eagle
from eagle.graph import opaque
inside, done = threading.Event(), threading.Event()
g = eagle.Graph().add_node(opaque(lambda: (inside.set(), done.wait(30)))).build()
thread = threading.Thread(target=g.launch)
thread.start()
inside.wait(30)
child = os.fork()
if child == 0:
    done.set()
    g.launch()
    fresh = eagle.Graph().add_node(opaque(lambda: None)).build().launch()
    print(eagle.counters()["launches"] >= 2, flush=True)
    os._exit(0)
status = os.waitpid(child, 0)[1]
done.set()
thread.join()
print(status)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert ran.stdout.split() == ["True", "0"], ran.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_node_that_forks_leaves_both_processes_with_a_working_graph() -> None:
    code = """
import os, eagle
from eagle.graph import opaque
pids = []
g = eagle.Graph().add_node(opaque(lambda: pids or pids.append(os.fork()))).build()
g.launch()
g.launch()
if pids[0] == 0:
    os._exit(0)
print(os.waitpid(pids[0], 0)[1])
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert ran.stdout.split() == ["0"], ran.stderr
