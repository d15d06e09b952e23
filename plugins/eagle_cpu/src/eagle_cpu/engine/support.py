"""The small functions every module has: looking whether to stop, and recording a fault."""

from __future__ import annotations

from eagle_cpu.engine import layout
from eagle_cpu.engine.code import Code

__all__ = ["more_of", "streaming", "support", "tick"]

TICKS = 256
"""Between two looks at the stop flag, each as much work as 256 instructions on a vector: some tens of microseconds."""

_MORE = 24  # offset of `more` in an eagle_run, which those of before do not have

_CTTZ = "declare i64 @llvm.cttz.i64(i64, i1)"

_TEXTS = {
    "eagle_poll": """
define internal i1 @eagle_poll(ptr %run) #1 {
entry:
  %alone = icmp eq ptr %run, null
  br i1 %alone, label %go, label %ask
ask:
  %place = getelementptr i8, ptr %run, i64 16
  %poll = load ptr, ptr %place, align 8
  %silent = icmp eq ptr %poll, null
  br i1 %silent, label %look, label %call
call:
  call void %poll(ptr %run)
  br label %look
look:
  %flag = getelementptr i8, ptr %run, i64 8
  %stop = load ptr, ptr %flag, align 8
  %endless = icmp eq ptr %stop, null
  br i1 %endless, label %go, label %read
read:
  %value = load volatile i32, ptr %stop, align 4
  %stopped = icmp ne i32 %value, 0
  ret i1 %stopped
go:
  ret i1 false
}
""",
    "eagle_record": f"""
define internal void @eagle_record(ptr %args, i64 %bits, ptr %samples, ptr %indices, i64 %place) #1 {{
entry:
  %best = getelementptr i64, ptr %args, i64 {layout.FAULT_SAMPLE}
  %where = getelementptr i64, ptr %args, i64 {layout.FAULT_PLACE}
  %which = getelementptr i64, ptr %args, i64 {layout.FAULT_INDEX}
  %lock = getelementptr i64, ptr %args, i64 {layout.LOCK}
  br label %next
next:
  %left = phi i64 [ %bits, %entry ], [ %rest, %release ]
  %lane = call i64 @llvm.cttz.i64(i64 %left, i1 true)
  %one = getelementptr i64, ptr %samples, i64 %lane
  %sample = load i64, ptr %one, align 8
  %other = getelementptr i64, ptr %indices, i64 %lane
  %index = load i64, ptr %other, align 8
  br label %spin
spin:
  %held = atomicrmw xchg ptr %lock, i64 1 acquire, align 8
  %busy = icmp ne i64 %held, 0
  br i1 %busy, label %spin, label %compare
compare:
  %lowest = load i64, ptr %best, align 8
  %lower = icmp slt i64 %sample, %lowest
  br i1 %lower, label %write, label %release
write:
  store i64 %sample, ptr %best, align 8
  store i64 %place, ptr %where, align 8
  store i64 %index, ptr %which, align 8
  br label %release
release:
  store atomic i64 0, ptr %lock release, align 8
  %less = sub i64 %left, 1
  %rest = and i64 %left, %less
  %more = icmp ne i64 %rest, 0
  br i1 %more, label %next, label %done
done:
  ret void
}}
""",
}


def support(code: Code, name: str, arguments: str) -> str:
    """Call one of the small functions, which the module then has.

    Parameters
    ----------
    code : Code
    name : str
        ``eagle_poll``: whether a stop is wanted, by an ``eagle_run``. ``eagle_record``: keep the fault of the lowest
        sample.
    arguments : str
        As LLVM writes them.

    Returns
    -------
    str
        The name of the result; "" when there is none.
    """
    code.declared[name] = _TEXTS[name]
    if name != "eagle_poll":
        code.declared["llvm.cttz.i64"] = _CTTZ
        code.emit(f"call void @{name}({arguments})")
        return ""
    return code.let(f"call i1 @{name}({arguments})")


def more_of(code: Code, run: str) -> str:
    """Return the function by which an ``eagle_run`` gives another range of samples, or null."""
    return code.let(f"load ptr, ptr {code.let(f'getelementptr i8, ptr {run}, i64 {_MORE}')}, align 8")


def streaming(code: Code) -> str:
    """Return the ``eagle_run`` of this call if it gives more ranges of samples, else null."""
    run = code.variable("ptr")
    code.store("ptr", "null", run)
    there, newer, able, on = (code.label() for _ in range(4))
    code.branch(code.let("icmp eq ptr %run, null"), on, there)
    code.open(there)
    size = code.let("load i32, ptr %run, align 8")
    code.branch(code.let(f"icmp ugt i32 {size}, {_MORE}"), newer, on)
    code.open(newer)
    code.branch(code.let(f"icmp eq ptr {more_of(code, '%run')}, null"), on, able)
    code.open(able)
    code.store("ptr", "%run", run)
    code.jump(on)
    code.open(on)
    return code.load("ptr", run)


def tick(code: Code, ticks: str, work: int, stopped: str) -> None:
    """Count an iteration in the variable `ticks`, and every so many go to `stopped` if a stop is wanted.

    Parameters
    ----------
    code : Code
    ticks : str
    work : int
        Roughly how many instructions the iteration took (`cost`): a long one counts for several.
    stopped : str
    """
    amount = max(1, work // TICKS)
    counted = code.let(f"add i32 {code.load('i32', ticks)}, {amount}")
    code.store("i32", counted, ticks)
    due = code.let(f"icmp uge i32 {counted}, {TICKS}")
    look, on = code.label(), code.label()
    code.branch(due, look, on, unlikely=True)
    code.open(look)
    code.store("i32", "0", ticks)
    wanted = support(code, "eagle_poll", "ptr %run")
    code.branch(wanted, stopped, on, unlikely=True)
    code.open(on)
