"""The real clock: one pace, whatever the system's clock is set to."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.cli.watching import say_steps
from recrawl.clock import RealClock
from recrawl.frontier.host_table import HostTable
from recrawl.units import SECONDS_A_DAY

START = 1.7e9


class System:
    """Clocks of a machine: one that is set, and one that is not."""

    def __init__(self) -> None:
        self.passed, self.set_by = 0.0, 0.0

    def clock(self) -> RealClock:
        return RealClock(lambda: START + self.passed + self.set_by, lambda: self.passed)


def test_a_step_is_told_once_with_its_size():
    system = System()
    clock = system.clock()
    assert clock.stepped() == 0.0

    system.passed, system.set_by = 10.0, 3600.0
    assert [clock.stepped(), clock.stepped()] == [3600.0, 0.0]
    system.set_by = -60.0
    assert [clock.stepped(), clock.stepped()] == [-3660.0, 0.0]


def test_time_goes_on_as_before_whatever_the_step():
    system = System()
    clock = system.clock()
    began = clock.now()

    system.passed, system.set_by = 10.0, -86_400.0 * 3650
    assert (clock.now() - began) * SECONDS_A_DAY == pytest.approx(10.0, abs=1e-3)


def test_leap_seconds_and_slow_corrections_are_no_steps():
    system = System()
    clock = system.clock()
    for second in range(3):
        system.set_by = 0.5 * second
        assert clock.stepped() == 0.0


def test_steps_that_add_up_slowly_are_told_when_they_are_large():
    system = System()
    clock = system.clock()
    told = []
    for second in range(1, 8):
        system.set_by = 0.5 * second
        told.append(clock.stepped())

    assert [step for step in told if step] == [2.0]


events = st.lists(
    st.tuples(st.sampled_from(["pass", "set", "ask"]), st.floats(-1e6, 1e6)), max_size=60
)


@given(events)
def test_no_steps_of_the_clock_let_a_host_be_asked_early(events):
    """Real seconds between two requests are never fewer than the delay."""
    system = System()
    clock, delay = system.clock(), 5.0
    hosts = HostTable(delay=delay / SECONDS_A_DAY)
    host, asked = hosts.row("a.org"), []
    for what, amount in events:
        if what == "pass":
            system.passed += abs(amount) % 7.0
        elif what == "set":
            system.set_by = amount
        elif hosts.free(host, clock.now()):
            hosts.begin(host, clock.now())
            hosts.end(host, clock.now())
            asked.append(system.passed)

    gaps = [after - before for before, after in pairwise(asked)]
    assert all(gap >= delay - 1e-4 for gap in gaps)


def test_a_step_is_told_in_one_line(capsys):
    system = System()

    async def crawl():
        task = asyncio.create_task(say_steps(system.clock(), 0.001))
        system.set_by = 3600.0
        said = ""
        while "\n" not in said:
            await asyncio.sleep(0.01)
            said += capsys.readouterr().err
        await asyncio.sleep(0.02)
        task.cancel()
        return said + capsys.readouterr().err

    assert asyncio.run(crawl()) == (
        "The system's clock was set ahead by 1.0h. This crawl keeps its own time; restart it "
        "to use the new time.\n"
    )
