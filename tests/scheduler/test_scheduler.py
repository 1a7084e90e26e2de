"""A crawl without a network: due pages out, what visits found in, all of it on disk."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl.errors import InvalidParameter, InvalidTable
from recrawl.inspect.next_visits import next_visit_of_any
from recrawl.policies.recrawl.beliefs import Beliefs
from recrawl.scheduler import Scheduler
from recrawl.settings.settings import read_settings
from recrawl.state.snapshot import load_snapshot
from recrawl.store import open_store
from recrawl.visits.status import PageStatus, VisitOutcome

SETTINGS = read_settings("""agent = "bot (me@example.org)"
budget = "48/1d"
[[site]]
address = "https://a.org/"
[[site]]
address = "https://b.org/"
[politeness]
delay = "1m"
""")
PAGES = [f"https://{host}.org/s{number % 3}/{number}" for host in "ab" for number in range(6)]
MINUTE = 1 / 1440


class HandClock:
    """A clock that goes on when a test says so."""

    def __init__(self, now=20_000.0):
        self.at = now

    def now(self):
        return self.at

    def seconds(self, days):
        return days * 86_400

    async def sleep(self, days):
        self.at += days


@pytest.fixture
def store(tmp_path):
    return tmp_path / "pages.db"


def visit_for(scheduler, clock, days, changed=lambda page, visits: False):
    """Visit whatever is due for some days; returns when each page was visited."""
    end, visits = clock.at + days, []
    while clock.at < end:
        due = scheduler.due(5)
        for page in due:
            visits.append((page.address, clock.at))
            scheduler.seen(page, changed=None if page.first else changed(page, visits))
        if not due:
            clock.at = max(scheduler.status().next_visit, clock.at + 1e-6)
    return visits


def test_all_pages_are_visited_politely_within_the_budget(store):
    clock = HandClock()
    with Scheduler.open(store, settings=SETTINGS, clock=clock) as scheduler:
        assert scheduler.add(PAGES) == 12
        visits = visit_for(scheduler, clock, days=3)

    assert {address for address, _ in visits} == set(PAGES)
    assert 130 <= len(visits) <= 3 * 48 + 1
    for host in ("a.org", "b.org"):
        at = [when for address, when in visits if host in address]
        assert (np.diff(at) >= MINUTE * (1 - 1e-6)).all()


def test_pages_that_change_are_visited_more_often(store):
    clock = HandClock()
    with Scheduler.open(store, settings=SETTINGS, clock=clock) as scheduler:
        scheduler.add(PAGES)
        visits = visit_for(
            scheduler, clock, days=6, changed=lambda page, _: page.address.endswith("/0")
        )

    last = [address for address, when in visits if when > clock.at - 3]
    often = sum(address.endswith("/0") for address in last) / 2
    assert often > 2 * len(last) / 12


def test_what_was_learned_is_on_disk(store):
    clock = HandClock()
    with Scheduler.open(store, settings=SETTINGS, clock=clock) as scheduler:
        scheduler.add(PAGES)
        visits = visit_for(
            scheduler, clock, days=2, changed=lambda page, _: "a.org" in page.address
        )
        before = scheduler.status()
    with Scheduler.open(store, settings=SETTINGS, clock=clock) as scheduler:
        after = scheduler.status()
    with open_store(store) as reader:
        assert reader.last_visit() == len(visits)
        snapshot = load_snapshot(SETTINGS, reader, clock.at)
        named = next_visit_of_any(snapshot, reader)

    assert (after.copies, after.new) == (before.copies, before.new) == (12, 0)
    assert after.fresh == pytest.approx(before.fresh, abs=0.01)
    # A host is asked no sooner than its delay after the crawl was opened.
    assert after.next_visit == pytest.approx(max(named, clock.at + MINUTE), abs=2 * MINUTE)
    state = snapshot.pools[0].state
    assert state is not None
    assert len(Beliefs.of(state, np.arange(12), clock.at).rate) == 12


def test_pages_that_are_gone_or_fail_are_put_off(store):
    clock = HandClock()
    with Scheduler.open(store, settings=SETTINGS, clock=clock) as scheduler:
        scheduler.add(PAGES[:2] + PAGES[6:8])
        clock.at += 2 * MINUTE
        one, other = scheduler.due(2)
        scheduler.seen(one, outcome=VisitOutcome.GONE, status=404)
        scheduler.seen(other, outcome=VisitOutcome.FAILED)
        clock.at += 2 * MINUTE

        assert {page.address for page in scheduler.due(4)}.isdisjoint({one.address, other.address})
        agenda = scheduler._schedule.crawl.agenda
        assert agenda.status(one.lease.page) is PageStatus.GONE
        assert agenda.failures(other.lease.page) == 1
    with open_store(store) as reader:
        assert reader.pages().next_at[[one.lease.page, other.lease.page]].tolist() != [None, None]


def test_a_page_that_was_not_visited_is_due_again(store):
    clock = HandClock()
    with Scheduler.open(store, settings=SETTINGS, clock=clock) as scheduler:
        scheduler.add(PAGES[:1])
        clock.at += 2 * MINUTE
        (page,) = scheduler.due(3)
        assert scheduler.due(3) == []
        scheduler.release(page)
        clock.at += 2 * MINUTE

        assert [again.address for again in scheduler.due(3)] == [page.address]


def test_pages_are_added_once_and_without_a_rule_never_visited(store):
    clock = HandClock()
    with Scheduler.open(store, settings=SETTINGS, clock=clock) as scheduler:
        assert scheduler.add([PAGES[0], PAGES[0], "https://c.org/"]) == 2
        assert scheduler.add(PAGES[:2]) == 1
        visits = visit_for(scheduler, clock, days=0.5)

    assert {address for address, _ in visits} == set(PAGES[:2])


def test_what_cannot_be_is_said_in_a_sentence(store):
    clock = HandClock()
    with Scheduler.open(store, settings=SETTINGS, clock=clock) as scheduler:
        with pytest.raises(
            InvalidParameter,
            match=r"'a page' is not an address; write it like https://example\.org/news$",
        ):
            scheduler.add([PAGES[0], "a page"])
        assert scheduler.status().new == 0
        scheduler.add(PAGES[:1])
        clock.at += 2 * MINUTE
        (page,) = scheduler.due()
        scheduler.seen(page)
        clock.at += 1
        (page,) = scheduler.due()
        with pytest.raises(InvalidParameter, match="say whether it has changed, or a status"):
            scheduler.seen(page)


def test_a_file_of_weights_sends_visits_where_they_matter(tmp_path):
    """A tenth of the pages have a hundred times the weight; all change alike."""
    pages = [f"https://a.org/{number}" for number in range(20)]
    (tmp_path / "recrawl.toml").write_text(
        'agent = "bot (me@example.org)"\nbudget = "40/1d"\nweights = "views.csv"\n'
        '[[site]]\naddress = "https://a.org/"\n'
    )
    rows = "".join(f"{page},{100 if number < 2 else 1}\n" for number, page in enumerate(pages))
    (tmp_path / "views.csv").write_text(f"page,views\n{rows}")
    clock = HandClock()
    with Scheduler.open(settings=tmp_path / "recrawl.toml", clock=clock) as scheduler:
        scheduler.add(reversed(pages))
        visits = [page for page, _ in visit_for(scheduler, clock, 6, lambda *_: True)]

    assert set(visits[:2]) == set(pages[:2])  # first copies, too
    heavy, light = (
        np.mean([visits.count(page) for page in some]) for some in (pages[:2], pages[2:])
    )
    assert heavy > 3 * light > 0


def test_weights_that_cannot_be_read_leave_the_store_alone(tmp_path):
    settings = tmp_path / "recrawl.toml"
    settings.write_text('agent = "bot (me@example.org)"\nweights = "views.csv"\n')

    with pytest.raises(InvalidTable, match=r"views\.csv: cannot be read"):
        Scheduler.open(settings=settings)
    assert [path.name for path in tmp_path.iterdir()] == ["recrawl.toml"]
