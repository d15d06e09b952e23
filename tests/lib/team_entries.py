"""Compiled jobs for tests of the thread team, and ways to run them."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import sysconfig
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

HEADERS = Path(__file__).parents[2] / "plugins" / "eagle_cpu" / "src" / "native"
DEAR = 1e6  # nanoseconds a sample: worth waking everybody, however few samples there are

ENTRIES = r"""
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include "eagle/exec/abi.h"

#define SIGNATURE (void *args, int64_t begin, int64_t end, const eagle_run *run)

int32_t add_one SIGNATURE {
    int64_t *numbers = args;
    (void)run;
    for (int64_t i = begin; i < end; ++i) ++numbers[i];
    return 0;
}

/* args: where to note, for each sample, where its range began. */
int32_t note_begin SIGNATURE {
    int64_t *begins = args;
    (void)run;
    for (int64_t i = begin; i < end; ++i) begins[i] = begin;
    return 0;
}

/* args: an array of codes, one for each sample; the largest is returned. Every sample is then set to -1. */
int32_t fail_as_told SIGNATURE {
    int64_t *codes = args, largest = 0;
    (void)run;
    for (int64_t i = begin; i < end; ++i) {
        if (codes[i] > largest) largest = codes[i];
        codes[i] = -1;
    }
    return (int32_t)largest;
}

int32_t endless SIGNATURE {
    (void)args; (void)begin; (void)end;
    while (!*run->stop) run->poll(run);
    return -1;
}

/* Only other threads work on: the caller has nothing to do but wait. */
int32_t endless_elsewhere SIGNATURE {
    return run->worker == 0 ? 0 : endless(args, begin, end, run);
}

int32_t stops_by_itself SIGNATURE {
    (void)args; (void)begin; (void)end; (void)run;
    return -1;
}

/* Takes a while without polling, then looks. */
int32_t doze SIGNATURE {
    const struct timespec while_ = {0, 1000000};
    (void)args; (void)begin; (void)end;
    nanosleep(&while_, 0);
    run->poll(run);
    return *run->stop ? -1 : 0;
}

/* args: for each sample 1 where the rounding mode is the default one. Then leaves another. */
int32_t rounding SIGNATURE {
    int64_t *right = args;
    (void)run;
    for (int64_t i = begin; i < end; ++i) right[i] = fegetround() == FE_TONEAREST;
    fesetround(FE_DOWNWARD);
    return 0;
}

int32_t set_rounding_upward(void) { return fesetround(FE_UPWARD); }
int32_t rounds_upward(void) { return fegetround() == FE_UPWARD; }
int32_t set_rounding_to_nearest(void) { return fesetround(FE_TONEAREST); }

/* args: for each sample 1 where the thread is the caller or blocks SIGINT and lets SIGSEGV through. */
int32_t signals SIGNATURE {
    int64_t *right = args;
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, 0, &mask);
    const int fine = sigismember(&mask, SIGINT) == 1 && sigismember(&mask, SIGSEGV) == 0;
    for (int64_t i = begin; i < end; ++i) right[i] = run->worker == 0 || fine;
    return 0;
}

/* args: for each sample the worker that ran it, after a millisecond. */
int32_t who SIGNATURE {
    int64_t *workers = args;
    for (int64_t i = begin; i < end; ++i) {
        doze(0, i, i + 1, run);
        workers[i] = run->worker;
    }
    return 0;
}
"""


class Entries:
    """The compiled code of `ENTRIES`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.library = ctypes.CDLL(str(path))

    def __getitem__(self, name: str) -> int:
        address = ctypes.cast(getattr(self.library, name), ctypes.c_void_p).value
        assert address is not None
        return address


def compiled(folder: Path) -> Entries:
    """Compile the code, in an empty folder."""
    source, library = folder / "entries.c", folder / "entries.so"
    source.write_text(ENTRIES)
    compiler = (sysconfig.get_config_var("CC") or "cc").split()[0]
    compiler = compiler if shutil.which(compiler) else "cc"
    command = [compiler, "-O1", "-frounding-math", "-shared", "-fPIC", "-pthread"]
    subprocess.run([*command, "-I", HEADERS, source, "-o", library, "-lm"], check=True)
    return Entries(library)


def numbers(samples: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.zeros(samples, np.int64)


def address(array: np.ndarray[Any, Any]) -> int:
    return int(array.ctypes.data)


def plane(array: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], int, tuple[int, ...], tuple[int, ...]]:
    return array, address(array), array.shape, array.strides


def in_threads(count: int, work: Callable[[], None]) -> None:
    failures: list[BaseException] = []

    def guarded() -> None:
        try:
            work()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert not failures


def python(code: str, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if name != "EAGLE_NUM_THREADS"} | environment
    command = [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)]
    return subprocess.run(command, env=clean, capture_output=True, text=True, timeout=60, check=False)


LOAD = """
import ctypes, os, signal, sys, threading, time
import numpy as np
from eagle_cpu import team

signal.signal(signal.SIGINT, signal.default_int_handler)     # a shell may have started the tests with SIGINT ignored
library = ctypes.CDLL(sys.argv[1])
def entry(name):
    return ctypes.cast(getattr(library, name), ctypes.c_void_p).value
def add_one():
    x = np.zeros(1000, np.int64)
    team.run(entry("add_one"), x.ctypes.data, 1000, cost_ns=1e6)
    assert (x == 1).all()
team.set_team_size(4)
"""


def script(text: str, entries: Entries) -> subprocess.CompletedProcess[str]:
    return python(LOAD + textwrap.dedent(text), entries.path)
