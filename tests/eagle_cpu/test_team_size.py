"""How many threads the team has: what is asked for, else what the environment says, else one for each CPU."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from team_entries import DEAR, Entries, address, numbers, python, script

from eagle_cpu import team


@pytest.fixture(autouse=True)
def size() -> Iterator[None]:
    """Four threads, whatever the machine has; the old number afterwards."""
    before = team.team_size()
    team.set_team_size(4)
    yield
    team.set_team_size(before)


def test_the_size_can_be_changed_between_jobs(entries: Entries) -> None:
    for threads in (1, 8, 2, 5, 1, 3):
        team.set_team_size(threads)
        x = numbers(500)
        team.run(entries["add_one"], address(x), 500, cost_ns=DEAR)
        assert (x == 1).all()
        assert team.team_size() == threads


@pytest.mark.parametrize("wrong", [0, -3, 1025])
def test_sizes_that_make_no_sense_are_refused(wrong: int) -> None:
    with pytest.raises(ValueError, match=f"a team of {wrong} threads: pass a number from 1 to 1024"):
        team.set_team_size(wrong)


def test_the_environment_says_how_many() -> None:
    ran = python("from eagle_cpu import team; print(team.team_size())", EAGLE_NUM_THREADS="7")
    assert (ran.stdout, ran.stderr) == ("7\n", "")


@pytest.mark.parametrize("useless", ["0", "-1", "many", "2.5", ""])
def test_a_useless_setting_is_said_once_and_ignored(useless: str) -> None:
    ran = python(
        "import os\nfrom eagle_cpu import team\nassert team.team_size() == len(os.sched_getaffinity(0))",
        EAGLE_NUM_THREADS=useless,
    )
    assert ran.returncode == 0
    assert ran.stderr.count("is no number from 1 on") == 1


def test_without_a_setting_the_affinity_mask_counts() -> None:
    ran = python(
        """
        import os
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        from eagle_cpu import team
        print(team.team_size())
        """
    )
    assert ran.stdout == "1\n"


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="asks Linux how much memory is taken")
def test_when_the_system_gives_no_threads_the_caller_works_alone(entries: Entries) -> None:
    ran = script(
        """
        import resource
        taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        limit = taken + (256 << 20)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        team.set_team_size(1000)        # megabytes of stack each
        add_one()
        assert team.team_size() < 1000, team.team_size()
        add_one()
        """,
        entries,
    )
    assert ran.returncode == 0, ran.stderr
