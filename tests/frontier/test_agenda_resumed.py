"""Live crawls that are taken up again."""

from __future__ import annotations

from copy import deepcopy
from math import inf
from typing import Any

import numpy as np
import pytest

from recrawl.frontier.agenda import Agenda, KnownPages
from recrawl.frontier.frontier import PolicyCheckpoint
from recrawl.frontier.host_table import HostTable
from recrawl.plan.budget import Budget
from recrawl.policies.pages import Outcomes, Pages
from recrawl.policies.recrawl.checkpoint import dump, load
from recrawl.policies.recrawl.policy import Recrawl
from recrawl.settings.terms import VisitTerms
from recrawl.units import instant_after_epoch
from recrawl.visits.status import PageStatus
from tests.frontier.crawls import START, Told, crawl, found, visit

MIXED = (
    VisitTerms(),
    VisitTerms(interval=0.4),
    VisitTerms(minimum=0.3),
    VisitTerms(maximum=0.9, weight=2.0),
)
ALL_ENDS = ("told",) * 12 + ("failed", "gone", "refused", "moved", "given_back")


def address(page):
    return f"https://h{page % 4}.org/s{page % 3}/{page}"


def lived(agenda, random, *, days, visits):
    """A crawl in which anything happens; what it showed is added to `visits`."""
    now = START
    while now < START + days:
        leases = agenda.take(now, 5)
        for lease in leases:
            agenda.answered(lease, now)
            end, page = random.choice(ALL_ENDS), lease.page
            if end == "given_back":
                agenda.release_lease(page, now + 0.2)
            elif end != "told":
                getattr(agenda, end)(page, now)
            elif lease.first:
                agenda.copied(page, address(page), now)
                visits.append((page, now, None))
            else:
                changed = bool(random.random() < 0.3)
                agenda.seen(page, now, changed=changed)
                visits.append((page, now, changed))
        if not leases:
            now = agenda.ready(now)
    return now


def known_of(agenda):
    table = agenda._table
    return KnownPages(
        table.host.copy(),
        table.term.copy(),
        table.status.copy(),
        table.failures.copy(),
        table.set.copy(),
    )


def taken_up(known, pages, state, budget, now, visits=()):
    """Another agenda that goes on from what was written down, and from visits since then."""
    random = np.random.default_rng(5)
    agenda = Agenda(HostTable(delay=0.0), MIXED, random)
    for _ in range(4):
        agenda.hosts.add()
    parts = dump(state)
    policy = Recrawl()
    state = load(policy, parts, lambda: [address(page) for page in pages.tolist()])
    learned = PolicyCheckpoint(state, len(pages), state.gap)
    frontier = Told.resumed(policy, budget, random, learned)
    rows = pages.tolist()
    for page, at, changed in visits:
        instant = np.array([instant_after_epoch(at)])
        if changed is None:
            frontier.add(Pages.of([address(page)], instant), instant[0])
            rows.append(page)
        else:
            outcomes = Outcomes.existence(np.array([changed]))
            frontier.seen(np.array([rows.index(page)]), instant, outcomes)
            assert frontier.state is not None  # it has learned: a page is seen once at a time
    agenda.add_pool(frontier, budget, now)
    state = frontier.state
    agenda.resume(known, [np.array(rows)], [state.last.copy()])
    return agenda


def assert_alike(agenda, again, now):
    """The same set times, and then pages that are worth the same."""
    frontier = agenda.frontier(0)
    state: Any = frontier.state
    pages = agenda.pages(0).tolist()
    first, second = ([lease.page for lease in each.take(now, 40)] for each in (agenda, again))
    instant = np.datetime64(round(now * 86_400e6), "us")
    everything = Recrawl().value(state, np.arange(len(pages)), instant)
    value = dict(zip(pages, everything.tolist(), strict=True))

    assert len(first) == len(second) > 0
    for one, other in zip(first, second, strict=True):
        # What is learned together, a tick's visits, is not the same in both.
        assert one == other or value[one] == pytest.approx(value[other], rel=1e-3)


@pytest.mark.parametrize("seed", range(4))
def test_a_crawl_that_was_taken_up_again_goes_on_as_if_it_had_never_stopped(seed):
    random = np.random.default_rng(seed)
    agenda = crawl(*MIXED, policy=Recrawl(), budget="300/1d", hosts=4, seed=seed)
    found(agenda, *[(page % 4, int(random.integers(4))) for page in range(60)])
    visits: list[tuple[int, float, bool | None]] = []
    now = lived(agenda, random, days=3 + seed / 3, visits=visits)
    budget = Budget.read("300/1d")
    frontier = agenda.frontier(0)
    again = taken_up(known_of(agenda), agenda.pages(0), frontier.state, budget, now)
    later = now + 0.31
    for each in (agenda, again):
        each._pools[0]._ranking.renew()
        each._pools[0]._kind = 0
        each.budget_pool(0).bucket._saved = 100.0

    assert_alike(agenda, again, later)


@pytest.mark.parametrize("seed", range(2))
def test_visits_since_the_crawl_was_saved_are_learnt_again(seed):
    """Saved after the second day; the pages table is up to date."""
    random = np.random.default_rng(seed)
    agenda = crawl(*MIXED, policy=Recrawl(), budget="300/1d", hosts=4, seed=seed)
    found(agenda, *[(page % 4, int(random.integers(4))) for page in range(40)])
    visits: list[tuple[int, float, bool | None]] = []
    lived(agenda, random, days=2, visits=visits)
    frontier = agenda.frontier(0)
    saved, pages, told = deepcopy(frontier.state), agenda.pages(0), len(visits)
    found(agenda, *[(page % 4, 0) for page in range(40, 60)])
    now = START + 2.0
    for _ in range(200):
        now += 0.01
        for lease in agenda.take(now, 3):
            visit(agenda, lease, now, changed=lease.page % 2 == 0)
            visits.append((lease.page, now, None if lease.first else lease.page % 2 == 0))
    budget = Budget.read("300/1d")
    again = taken_up(known_of(agenda), pages, saved, budget, now, visits[told:])
    least = [page for page in range(60) if agenda._table.term[page] == 2]
    for each in (agenda, again):
        each._pools[0]._ranking.renew()
        each._pools[0]._kind = 0
        each.budget_pool(0).bucket._saved = 100.0
    rows = again.frontier(0), again.pages(0).tolist()
    assert sorted(rows[1]) == sorted(agenda.pages(0).tolist())
    ends = {page: at for page, at, _ in visits}
    for page in least:
        earliest = rows[0]._earliest[rows[1].index(page)]
        if page in ends and again.failures(page) == 0 and again.set_time(page) == inf:
            assert earliest == pytest.approx(ends[page] + 0.3, abs=1e-9)

    assert_alike(agenda, again, now + 0.31)


def test_a_page_of_which_nobody_decides_is_visited_at_once():
    """Lent when the crawl was killed, or copied and never learned of."""
    agenda = crawl(VisitTerms(interval=1.0), VisitTerms(), hosts=4)
    status = [PageStatus.COPIED, PageStatus.GONE, PageStatus.REFUSED, PageStatus.NEW]
    known = KnownPages(
        np.arange(4),
        np.array([0, 1, 1, 1]),
        np.array(status),
        np.array([0, 2, 1, 0]),
        np.full(4, inf),
    )
    agenda.resume(known, [np.empty(0, np.int64)], [np.empty(0)])

    assert sorted(lease.page for lease in agenda.take(START, 9)) == [0, 1, 3]
