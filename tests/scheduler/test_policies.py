"""Any policy by name decides on a live crawl as it does in a simulation."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest

from recrawl.plan.budget import Budget
from recrawl.plan.objectives import Harmonic
from recrawl.policies.named import policy_named
from recrawl.policies.pages import Outcomes
from recrawl.scheduler import DuePage, Scheduler
from recrawl.settings.rules import Rule
from recrawl.settings.settings import Settings
from recrawl.simulate.live import LiveSimulation
from recrawl.simulate.run import WorldObserver
from recrawl.simulate.virtual_crawl import virtual_visits
from recrawl.simulate.world import World
from recrawl.state.snapshot import load_snapshot
from recrawl.store import open_store
from recrawl.units import epoch_days, instant_after_epoch

START, DAYS, PAGES = 20_000.0, 12.0, 15
MINUTE = 1 / 1440
DELAY = 5 / 86_400  # days: more than ties are broken by; all copies come before the first revisit
BUDGET = Budget(37.3)  # so that no due times are the same by the structure of a rule


class Killed(Exception):
    """What ends a crawl without a word."""


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self):
        self.at = START - DELAY  # hosts wait for a delay when a crawl opens

    def now(self):
        return self.at

    def seconds(self, days):
        return days * 86_400

    async def sleep(self, days):
        self.at += days


def world():
    """Pages without changes of their own: what visits find is scripted."""
    names = [f"https://a.org/{row}" for row in range(PAGES)]
    found, end = (np.full(PAGES, instant_after_epoch(START)), instant_after_epoch(START + DAYS))
    return World.of(names, found, (np.empty(0, np.int64), np.empty(0, "M8[us]")), end=end)


def changed(page, visit):
    """Whether a visit to a page finds a change, whenever it is made: some pages change often."""
    return (7 * page + 3 * visit + visit * visit) % 11 < page % 10


class Script:
    """What visits find, by their number; what was visited."""

    def __init__(self):
        self.visits = []

    def next(self, page, at):
        number = sum(page == each for each, _ in self.visits)
        self.visits.append((page, at))
        return changed(page, number)


def simulated(policy, monkeypatch):
    """Visits of `recrawl simulate --live`: page and day."""
    script = Script()

    def visit(_, rows, now):
        return Outcomes.existence(np.array([script.next(int(rows[0]), float(epoch_days(now)))]))

    monkeypatch.setattr(WorldObserver, "visit", visit)
    random = np.random.default_rng(0)
    run = LiveSimulation(
        world(), policy_named(policy, Harmonic()), BUDGET, random=random, delay=DELAY
    )
    for _ in run.steps():
        pass
    return script.visits


def settings(policy):
    return Settings(
        "bot (me@example.org)",
        budget=BUDGET,
        policy=policy,
        delay=DELAY,
        rules=(Rule("https://a.org/"),),
    )


def crawl(path, asked, script, clock, until):
    """Go on with a live crawl until an instant, when it is killed; what it made is on disk."""
    with suppress(Killed), Scheduler.open(path, settings=asked, clock=clock) as scheduler:
        scheduler.add(world().address)
        agenda = scheduler._schedule.crawl.agenda
        for lease in virtual_visits(agenda, max(clock.at, START), until):
            clock.at = lease.at
            scheduler._outside._out[lease.page] = lease
            due = DuePage(world().address[lease.page], lease)
            scheduler.seen(due, changed=script.next(lease.page, lease.at))
        clock.at = until
        raise Killed


POLICIES = ("nutch", "nutch:first=2d:more=1", "malcolm", "singh-ratio", "c01-changes", "uniform")


@pytest.mark.parametrize("policy", POLICIES)
def test_a_crawl_makes_the_visits_of_the_simulation(tmp_path, monkeypatch, policy):
    expected, script = simulated(policy, monkeypatch), Script()
    crawl(tmp_path / "recrawl.db", settings(policy), script, Clock(), START + DAYS)

    made = script.visits[: len(expected)]
    assert len(script.visits) == pytest.approx(len(expected), abs=1)
    assert [page for page, _ in made] == [page for page, _ in expected]
    late = [mine - theirs for (_, mine), (_, theirs) in zip(made, expected, strict=True)]
    assert max(map(abs, late)) < 1.5 * MINUTE  # a token bucket counts in minutes


def by_page(visits):
    """Days of the visits to each page."""
    return [np.array([at for each, at in visits if each == page]) for page in range(PAGES)]


@pytest.mark.parametrize("policy", POLICIES)
def test_a_crawl_that_is_killed_goes_on_as_the_simulation_does(tmp_path, monkeypatch, policy):
    """Killed twice. Visits come minutes later then: pages due at one time may change places."""
    expected, script, clock = simulated(policy, monkeypatch), Script(), Clock()
    for part in (0.3, 0.7, 1.0):
        crawl(tmp_path / "recrawl.db", settings(policy), script, clock, START + part * DAYS)

    assert len(script.visits) == pytest.approx(len(expected), abs=2)
    for mine, theirs in zip(by_page(script.visits), by_page(expected), strict=True):
        assert len(mine) == pytest.approx(len(theirs), abs=1)
        same = min(len(mine), len(theirs))
        assert np.abs(mine[:same] - theirs[:same]).max() < 3 / BUDGET.visits


def test_another_policy_in_the_settings_replays_all_visits(tmp_path):
    """A day at first, times or by 1.5 at every visit of the crawl, whoever it was made for."""
    path, script, clock = tmp_path / "recrawl.db", Script(), Clock()
    crawl(path, settings("nutch"), script, clock, START + 3)
    with Scheduler.open(path, settings=settings("nutch"), clock=clock):
        pass  # saves what it has learned
    crawl(path, settings("heritrix"), script, clock, START + 6)

    with open_store(path) as reader:
        (pool, *_) = load_snapshot(settings("heritrix"), reader, clock.at).pools
    interval = np.ones(PAGES)
    number = dict.fromkeys(range(PAGES), 0)
    for page, _ in script.visits:
        if number[page]:
            factor = 1 / 1.5 if changed(page, number[page]) else 1.5
            interval[page] = np.clip(interval[page] * factor, 1 / 24, 28)
        number[page] += 1
    np.testing.assert_allclose(pool.learned.interval, interval)
