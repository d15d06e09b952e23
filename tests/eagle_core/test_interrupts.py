"""An interrupt leaves the graph free, wherever it lands."""

from __future__ import annotations

import random
import signal
import subprocess
import sys

import pytest


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs interval timers")
@pytest.mark.parametrize("call", ["launch", "enqueue", "add"])
def test_thousands_of_interrupts_never_leave_a_graph_busy(call: str) -> None:
    code = f"""
import random, signal, eagle
from eagle.graph import opaque

class Interrupt(BaseException):
    pass

def interrupt(*_):
    raise Interrupt

signal.signal(signal.SIGALRM, interrupt)
rng = random.Random({random.Random(call).randrange(1000)})
landed = 0
g = eagle.Graph().add_node(opaque(lambda: None)).build()
while landed < 2000:
    if {call == "add"}:
        g = eagle.Graph()
    try:
        signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-6, 60e-6))
        while True:
            {"g.add_node(opaque(print))" if call == "add" else f"g.{call}()"}
    except Interrupt:
        landed += 1
    {
        "labels = g.node_labels(); assert len(set(labels)) == g.num_nodes(); g.add_node(opaque(print))"
        if call == "add"
        else "g.launch()"
    }
print("free")
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert ran.stdout.strip() == "free", ran.stderr
