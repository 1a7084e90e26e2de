"""What is said to decide on a next visit does: without it the visit moves as is said."""

import numpy as np
import pytest

from recrawl.demo.world import draw_world
from recrawl.entries.entries import HostSeen, PagesFound
from recrawl.inspect.why.binding import Binding
from recrawl.inspect.why.changes import budget_times, free_host
from recrawl.simulate.next_visit import simulate_next_visits
from recrawl.store import open_for_writing
from recrawl.visits.status import VisitOutcome
from tests.inspect.why.frozen import Frozen
from tests.simulate.virtual import DAY, ORIGIN, settings_of

WORLD = draw_world(60, start=20_000.0, days=60.0, seed=4)
NOW = WORLD.start + 15.3
BUDGET = 40
HOUR = 1 / 24
# Where a day is full of visits, one at a set time waits until the oldest of them is a day old.
TURN = 1 / BUDGET
# What a policy decides comes once a tick, a 64th of the mean gap, and by the even pace of visits.
TICK = 60 / BUDGET / 64 + TURN
NEWS, DOCS = 3, 40


def block(page, lines):
    return f'[[page]]\naddress = "{ORIGIN}{WORLD.path[page]}"\n{lines}\n'


@pytest.fixture
def path(tmp_path):
    return tmp_path / "recrawl.db"


def frozen(path, more="", *, budget=BUDGET, now=NOW, top="", **rest):
    return Frozen.at(path, WORLD, settings_of(budget, more=more, top=top), now, **rest)


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """A crawl without rules for any page, at which tests only look."""
    return frozen(tmp_path_factory.mktemp("plain") / "recrawl.db")


@pytest.fixture
def crawl(plain, path):
    """The same, to write to."""
    return plain.copied(path)


def test_the_minimum_binds_a_page_that_changes_often(path):
    crawl = frozen(path, block(NEWS, 'minimum = "3d"'))
    said = crawl.said(NEWS)
    half = said.what_ifs["minimum 1.5d"]

    assert said.kind is Binding.MINIMUM
    assert said.at == pytest.approx(said.scenario.last[NEWS] + 3, abs=TICK)
    assert crawl.really([NEWS])[0] == pytest.approx(said.at, abs=TICK)
    shorter = settings_of(BUDGET, more=block(NEWS, 'minimum = "1.5d"'))
    assert half.moves
    assert crawl.really([NEWS], shorter)[0] == pytest.approx(half.at, abs=TICK)
    more = settings_of(2 * BUDGET, more=block(NEWS, 'minimum = "3d"'))
    assert not said.what_ifs["budget 80/1d"].moves
    assert crawl.really([NEWS], more)[0] == pytest.approx(said.at, abs=TICK)


def test_the_maximum_binds_a_page_that_hardly_changes(path):
    crawl = frozen(path, block(DOCS, 'maximum = "12h"'))
    said = crawl.said(DOCS)
    without = said.what_ifs["maximum none"]
    (later,) = crawl.really([DOCS], settings_of(BUDGET, more=block(DOCS, "")))

    assert said.kind is Binding.MAXIMUM
    assert said.at <= said.scenario.last[DOCS] + 0.5 + TURN  # the day's budget is spent
    assert crawl.really([DOCS])[0] == pytest.approx(said.at, abs=TURN)
    assert without.moves
    assert without.at > said.at + HOUR
    assert later > said.at + HOUR
    more = settings_of(2 * BUDGET, more=block(DOCS, 'maximum = "12h"'))
    assert not said.what_ifs["budget 80/1d"].moves
    assert crawl.really([DOCS], more)[0] == pytest.approx(said.at, abs=TURN)


def test_an_interval_binds_whatever_a_page_does(path):
    crawl = frozen(path, block(DOCS, 'interval = "1d"'))
    said = crawl.said(DOCS)
    half = said.what_ifs["interval 12h"]

    assert said.kind is Binding.INTERVAL
    assert 0.95 <= said.at - said.scenario.last[DOCS] <= 1
    assert crawl.really([DOCS])[0] == pytest.approx(said.at, abs=TURN)
    shorter = settings_of(BUDGET, more=block(DOCS, 'interval = "12h"'))
    assert crawl.really([DOCS], shorter)[0] == pytest.approx(half.at, abs=TURN)
    more = settings_of(2 * BUDGET, more=block(DOCS, 'interval = "1d"'))
    assert not said.what_ifs["budget 80/1d"].moves
    assert crawl.really([DOCS], more)[0] == pytest.approx(said.at, abs=TURN)


def test_hours_bind_a_page_that_would_be_visited_sooner(path):
    """At 7:12 a page waits for 4:00 that is worth a visit before."""
    crawl = frozen(path, block(NEWS, 'hours = "4-5"'))
    said = crawl.said(NEWS)
    anytime = said.what_ifs["hours 0-24"]

    assert said.kind is Binding.HOURS
    assert said.at == pytest.approx(np.ceil(NOW) + 4 * HOUR, abs=TICK)
    assert crawl.really([NEWS])[0] == pytest.approx(said.at, abs=TICK)
    assert anytime.moves
    free = settings_of(BUDGET, more=block(NEWS, ""))
    assert crawl.really([NEWS], free)[0] - NOW == pytest.approx(anytime.at - NOW, abs=6 * HOUR)
    more = settings_of(2 * BUDGET, more=block(NEWS, 'hours = "4-5"'))
    assert not said.what_ifs["budget 80/1d"].moves
    assert crawl.really([NEWS], more)[0] == pytest.approx(said.at, abs=TICK)


def test_hours_bind_a_page_whose_interval_ends_outside_them(path):
    """At 7:12 a page with an interval of an hour waits for 4:00."""
    crawl = frozen(path, block(DOCS, 'interval = "1h"\nhours = "4-5"'))
    said = crawl.said(DOCS)

    assert said.kind is Binding.HOURS
    assert said.at == pytest.approx(np.ceil(NOW) + 4 * HOUR, abs=TURN)
    assert crawl.really([DOCS])[0] == pytest.approx(said.at, abs=TURN)


def test_hours_bind_a_new_page_with_an_interval(path):
    """Found at 7:12, and visited for the first time at 4:00."""
    address = f"{ORIGIN}/brand-new"
    crawl = frozen(path, f'[[page]]\naddress = "{address}"\ninterval = "7m"\nhours = "4-5"\n')
    host = ORIGIN.split("/")[2]
    with open_for_writing(path) as store:
        store.write([PagesFound([address], [host], [1], at_seconds=NOW * DAY)])
    said = crawl.said(60)

    assert said.kind is Binding.HOURS
    assert said.at == pytest.approx(np.ceil(NOW) + 4 * HOUR, abs=TURN)


@pytest.mark.parametrize(
    ("outcome", "kind"),
    [
        (VisitOutcome.FAILED, Binding.RETRY),
        (VisitOutcome.GONE, Binding.RECHECK),
        (VisitOutcome.REFUSED, Binding.ROBOTS),
    ],
    ids=["failed", "gone", "refused"],
)
def test_a_page_that_cannot_be_had_waits_for_its_set_time(path, outcome, kind):
    crawl = frozen(path, found={NEWS: outcome}, now=WORLD.start + 4.3)
    said = crawl.said(NEWS)

    assert said.kind is kind
    assert crawl.really([NEWS])[0] == pytest.approx(said.at, abs=TURN)
    assert not said.what_ifs["budget 80/1d"].moves
    assert crawl.really([NEWS], settings_of(2 * BUDGET))[0] == pytest.approx(said.at, abs=TURN)


def test_a_failure_keeps_a_page_back(path):
    """Had its visits not failed, it would have been visited as in the crawl in which none did."""
    fails = frozen(path, found={NEWS: VisitOutcome.FAILED}).said(NEWS)
    answer = fails.what_ifs["answer copied"]

    assert answer.moves
    assert answer.at < fails.at


def test_a_host_that_asked_for_it_is_left_alone(crawl, path):
    until = NOW + 5
    with open_for_writing(path) as store:
        store.write([HostSeen("a.org", blocked_until_seconds=until * DAY)])
    said = crawl.said(NEWS)
    free = said.what_ifs["host free at any time"]

    assert said.kind is Binding.HOST
    assert said.at == pytest.approx(until, abs=HOUR)
    assert crawl.really([NEWS])[0] == pytest.approx(said.at, abs=HOUR)
    assert crawl.really([NEWS], settings_of(2 * BUDGET))[0] >= until
    with open_for_writing(path) as store:
        store.write([HostSeen("a.org", blocked_until_seconds=NOW * DAY)])
    assert crawl.really([NEWS])[0] - NOW == pytest.approx(free.at - NOW, abs=6 * HOUR)


def test_a_host_that_may_be_asked_rarely_decides_when_there_is_budget_enough(path):
    """24 requests a day, and a budget of 100 visits."""
    slow = '\n[politeness]\ndelay = "1h"\n'
    crawl = frozen(path, budget=100, top=slow, now=WORLD.start + 20.3, days=6)
    pages = range(2, 60, 2)
    scenario = crawl.scenario(pages[0])
    at, free, twice = (
        np.array([each.at for each in simulate_next_visits(changed, pages)])
        for changed in (scenario, free_host(scenario), budget_times(scenario, 2.0))
    )
    fast = crawl.really(pages, settings_of(100, top='\n[politeness]\ndelay = "1s"\n'))

    assert {crawl.said(page, otherwise=False).kind for page in pages[::5]} == {Binding.HOST}
    assert np.median(np.abs(at - np.array(crawl.went_on)[list(pages)])) < 8 * HOUR
    waits = at > scenario.now + HOUR  # the others are next in turn
    assert waits.sum() >= 25
    assert (free[waits] < at[waits] - HOUR).all()
    np.testing.assert_allclose(free, fast, atol=4 * HOUR)
    # Twice the budget moves most visits by no more than a turn or two.
    assert np.median(np.abs(twice - at)) < 2.5 * HOUR
    # Nor does it in truth: some pages change places, but all together come no sooner.
    really, before = (
        np.array(crawl.really(pages, settings_of(budget, top=slow))) for budget in (200, 100)
    )
    assert abs(np.median(really - before)) < 2 * HOUR
    assert np.median(before - fast) > 12 * HOUR


def test_a_new_page_waits_for_its_first_copy(path):
    """Twenty visits a day for sixty pages: some have no copy after a day and a half."""
    crawl = frozen(path, budget=20, now=WORLD.start + 1.3, days=5)
    new = [page for page in range(50, 60) if crawl.said(page, otherwise=False).kind is Binding.NEW]
    said = [crawl.said(page) for page in new]
    really = np.array(crawl.went_on)[new]

    assert len(new) >= 5
    np.testing.assert_allclose([each.at for each in said], really, atol=2 * HOUR)
    twice = np.array(crawl.really(new, settings_of(40)))
    assert (twice < really).all()
    forecast = [each.what_ifs["budget 40/1d"].at for each in said]
    np.testing.assert_allclose(forecast, twice, atol=2 * HOUR)


def test_a_page_without_a_rule_is_never_visited(crawl, path):
    with open_for_writing(path) as store:
        store.write([PagesFound(["https://b.org/"], ["b.org"], [-1], at_seconds=NOW * DAY)])
    said = crawl.said(60)

    assert said.kind is Binding.NO_RULE
    assert said.at == np.inf


def test_exactly_the_next_page_waits_for_the_pace_only(path):
    """Of all pages one is worth most: its turn comes with the next visit that is allowed."""
    world, budget = draw_world(25, start=WORLD.start, days=60.0, seed=4), BUDGET / 2
    crawl = Frozen.at(path, world, settings_of(budget), NOW)
    said = [crawl.said(page, otherwise=False) for page in range(25)]
    turn = [page for page, each in enumerate(said) if each.kind is Binding.PACE]

    assert len(turn) == 1
    assert crawl.really(turn)[0] == pytest.approx(said[turn[0]].at, abs=1 / budget)
    assert {each.kind for each in said} == {Binding.PACE, Binding.BUDGET}
