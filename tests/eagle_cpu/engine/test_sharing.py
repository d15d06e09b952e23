"""Threads and forked processes compile and run kernels together."""

from __future__ import annotations

import os
import signal
import threading

import numpy as np
import pytest
from engine_running import call
from small_kernels import countdown, scale

from eagle_cpu.engine import build, compiler, program, program_for


def test_two_hundred_threads_compile_one_kernel_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = []
    monkeypatch.setattr(build, "fetch", lambda key: None)
    monkeypatch.setattr(build, "keep", lambda key, binary: None)

    def counted(text: str, *, simple: bool) -> bytes:
        compiled.append(text)
        return compiler.to_object(text, simple=simple)

    monkeypatch.setattr(build, "to_object", counted)
    kernel, found, start = scale(41.5), [], threading.Barrier(200)

    def ask() -> None:
        start.wait()
        found.append(program_for(kernel).launch_entry)

    threads = [threading.Thread(target=ask) for _ in range(200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(compiled) == 1
    assert len(set(found)) == 1
    assert len(found) == 200


def test_disjoint_ranges_on_several_threads_share_one_block_of_arguments() -> None:
    samples = 20_000
    left = np.arange(samples, dtype=float)[::-1] % 97 + 1
    wanted = left.astype(np.int64)
    seen, done, steps = np.zeros(samples, np.int64), np.zeros(samples, bool), np.zeros(samples, np.int64)
    made = program_for(countdown())
    assert made.loop_entry is not None
    arguments = made.arguments({"left": left, "seen": seen, "done": done}, {}, samples)
    arguments.set_loop(max_steps=10**6, steps=steps)
    ranges = [(first, min(first + 64 * 10, samples)) for first in range(0, samples, 64 * 10)]
    threads = [
        threading.Thread(target=call, args=(made.loop_entry, arguments.address, ranges[part::4])) for part in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert done.all()
    assert np.array_equal(seen, wanted)
    assert np.array_equal(steps, wanted)
    assert arguments.longest == 97


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_forked_while_another_thread_compiles_compiles_too() -> None:
    program_for(scale(1.0))
    halt = threading.Event()

    def compile_on() -> None:
        factor = 1000.0
        while not halt.is_set():
            program_for(scale(factor := factor + 1.0))

    thread = threading.Thread(target=compile_on)
    thread.start()
    try:
        for number in range(5):
            child = os.fork()
            if child == 0:
                code = 1
                signal.alarm(30)  # a child that hangs fails
                try:
                    made = program_for(scale(-2.5 - number))
                    x, y = np.ones(10), np.zeros(10)
                    call(made.launch_entry, made.arguments({"x": x, "y": y}, {}, 10).address, [(0, 10)])
                    code = int(not np.array_equal(y, x * (-2.5 - number)))
                finally:
                    os._exit(code)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        halt.set()
        thread.join()


def test_locks_of_programs_are_fresh_in_a_child() -> None:
    slot = program._slots.setdefault(("held",), program._Slot())
    slot.lock.acquire()
    program._after_fork()
    assert slot.lock.acquire(blocking=False)
    program._slots.pop(("held",))
