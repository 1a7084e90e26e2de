"""The scene of one page, from a crawl that is looked at.

Touches: a store.
"""

from __future__ import annotations

from math import inf, nan
from typing import TYPE_CHECKING

import numpy as np

from recrawl.frontier.agenda import KnownPages
from recrawl.parse.robots import Permission
from recrawl.settings.pools import NOTHING, terms
from recrawl.simulate.scenario import HostScenario, PoolScenario, RecentVisits, Scenario, thinned
from recrawl.units import SECONDS_A_DAY, epoch_days
from recrawl.visits.status import Audit, PageStatus, VisitOutcome

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Floats, Ints
    from recrawl.entries.records import Host
    from recrawl.entries.store import ReadStore
    from recrawl.settings.settings import Settings
    from recrawl.state.snapshot import Snapshot

# Pages that take part. With two thousand a page's place among them is off by a few per cent, and
# a rehearsal takes less than a second.
MOST_PAGES = 2_000


def build_scenario(
    sight: Snapshot, reader: ReadStore, page: int, *, most: int = MOST_PAGES
) -> Scenario:
    """The scene of a page, counted from 0, of a crawl as it was looked at.

    Args:
        sight: The crawl.
        reader: Its store.
        page: The page.
        most: How many pages take part at most.
    """
    every = tuple(terms(sight.settings))
    pool_of = np.array([each.pool for each in every])[sight.rule]
    pages, share = _cast(pool_of, page, most)
    place = np.full(len(pool_of), -1)
    place[pages] = np.arange(len(pages))
    hosts, host = _hosts(sight, reader, pages)
    lately = _Lately(sight, reader, place, pool_of)
    asked = lately.asked(host, len(hosts))
    return Scenario(
        policy=sight.policy,
        now=sight.now,
        page=int(place[page]),
        share=share,
        terms=every,
        known=_known(sight, pages, host),
        last=sight.last[pages],
        asked_at=_asked_at(reader, page),
        pools=_pools(sight, place, share, lately),
        hosts=tuple(
            _host_scene(sight.settings, each, last, sight.now, share)
            for each, last in zip(hosts, asked.tolist(), strict=True)
        ),
        together=sight.settings.together,
    )


def _cast(pool_of: Ints, page: int, most: int) -> tuple[Ints, float]:
    """Pages that take part, rising, and how large a part of all of them they are."""
    if len(pool_of) <= most:
        return np.arange(len(pool_of)), 1.0
    # Other budgets have pages that may wait for the same hosts; they are left out.
    ours = np.flatnonzero(pool_of == pool_of[page])
    if len(ours) <= most:
        return ours, 1.0
    # The same lot for the same crawl: who looks twice sees what has moved, not his luck.
    random = np.random.default_rng(len(ours))
    drawn = random.choice(ours[ours != page], most - 1, replace=False)
    return np.sort(np.append(drawn, page)), most / len(ours)


def _pools(sight: Snapshot, place: Ints, share: float, lately: _Lately) -> tuple[PoolScenario, ...]:
    """Pools, each with the pages that take part, and the one that pays for nothing."""
    pools = []
    for number, pool in enumerate(sight.pools):
        rows = np.flatnonzero(place[pool.pages] >= 0)
        budget, pages = thinned(pool.budget, share), place[pool.pages[rows]]
        pools.append(PoolScenario(budget, pool.state, pages, rows, lately.spent(number)))
    none, never = np.empty(0, np.int64), RecentVisits(np.empty(0), np.empty(0, np.bool_))
    return (*pools, PoolScenario(NOTHING, None, none, none, never))


def _known(sight: Snapshot, pages: Ints, host: Ints) -> KnownPages:
    """What is known of pages, as the crawl itself takes it up."""
    columns, rules = sight.columns, len(sight.settings.rules)
    rule, status, failures = sight.rule[pages], columns.status[pages], columns.failures[pages]
    set_time = epoch_days(columns.next_at[pages])
    set_time = np.where(np.isnan(set_time), inf, set_time)
    longest = np.array([each.interval or each.maximum for each in terms(sight.settings)])[rule]
    well = (status == PageStatus.COPIED) & (failures == 0)
    latest = np.fmin(set_time, sight.last[pages] + longest)  # a page never copied has none
    by_terms = np.where(np.isfinite(longest), latest, inf)
    # A page whose set time comes outside its hours is put off to when they begin.
    for number, term in enumerate(terms(sight.settings)):
        if term.hours is not None:
            ours = np.flatnonzero((rule == number) & np.isfinite(by_terms))
            by_terms[ours] = [term.opens(at) for at in by_terms[ours].tolist()]
    return KnownPages(
        host=host,
        term=rule,
        status=np.where(rule < rules, status, PageStatus.REFUSED),
        failures=failures,
        set=np.where(rule < rules, np.where(well, by_terms, set_time), inf),
    )


def _asked_at(reader: ReadStore, page: int) -> float:
    """When a page was last visited, whatever came of it; nan if never."""
    at = reader.history(page, most=1).at
    return float(epoch_days(at)[-1]) if len(at) else nan


def _hosts(sight: Snapshot, reader: ReadStore, pages: Ints) -> tuple[list[Host], Ints]:
    """Hosts of pages, and the place of each page's among them."""
    numbers, place = np.unique(sight.columns.host[pages], return_inverse=True)
    wanted = set(numbers.tolist())
    found = {each.number: each for each in reader.hosts() if each.number in wanted}
    return [found[number] for number in numbers.tolist()], place


def _host_scene(
    settings: Settings, host: Host, last: float, now: float, share: float
) -> HostScenario:
    """When a host may be asked, by what it has said and by when it was last asked."""
    delay, after = host.delay or 0.0, (host.blocked_until_seconds or 0.0) / SECONDS_A_DAY
    if host.robots_at_seconds is not None:
        read = host.robots_at_seconds / SECONDS_A_DAY
        permission = Permission.of(host.robots_http, host.robots, read)
        delay = permission.robots.delay(agent_of(settings)) or delay
        if permission.trouble:
            after = max(after, permission.until)
    delay = max(delay, settings.delay)
    after = max(after, last + delay, now)
    wait = (host.latency_seconds or 0.0) / SECONDS_A_DAY
    return HostScenario(delay / share, after, wait / share)


def agent_of(settings: Settings) -> str:
    """Name of the crawler in robots.txt."""
    return settings.agent.split()[0].partition("/")[0]


class _Lately:
    """Visits in the time for which budgets hold, to the pages that take part.

    Args:
        sight: The crawl.
        reader: Its store.
        place: Place of each page of the crawl among them, -1 where it has none.
        pool_of: Pool of each page of the crawl.
    """

    def __init__(self, sight: Snapshot, reader: ReadStore, place: Ints, pool_of: Ints) -> None:
        self._now = sight.now
        self._pool_of = pool_of[place >= 0]
        counts = np.bincount(pool_of, minlength=len(sight.pools))
        per_day = [pool.budget.visits_a_day(int(counts[n])) for n, pool in enumerate(sight.pools)]
        self._window = [max(1.0, 1 / each) if each > 0 else 1.0 for each in per_day]
        copied = np.zeros(len(pool_of), np.bool_)
        for pool in sight.pools:
            copied[pool.pages] = True
        since = (sight.now - max(self._window)) * SECONDS_A_DAY
        page, at, first = [np.empty(0, np.int64)], [np.empty(0)], [np.empty(0, np.bool_)]
        for visits in reader.visits(after=reader.first_visit_since(since) - 1):
            known = visits.page < len(place)
            ours = np.flatnonzero(known & (place[np.where(known, visits.page, 0)] >= 0))
            # A second request is paid for like another visit.
            ours = np.repeat(ours, 1 + (visits.audit[ours] != Audit.NONE))
            which = visits.page[ours]
            page.append(place[which])
            at.append(epoch_days(visits.at[ours]))
            first.append((visits.outcome[ours] == VisitOutcome.FIRST) | ~copied[which])
        self._page: Ints = np.concatenate(page)
        # Written in the order of time, but for a moment or two.
        self._at: Floats = np.maximum.accumulate(np.concatenate(at))
        self._first: Bools = np.concatenate(first)

    def spent(self, pool: int) -> RecentVisits:
        """Visits that a budget has paid for."""
        ours = self._pool_of[self._page] == pool
        ours &= self._at > self._now - self._window[pool]
        return RecentVisits(np.minimum(self._at[ours], self._now), self._first[ours])

    def asked(self, host: Ints, hosts: int) -> Floats:
        """When each host was last asked for one of the pages; long ago where it was not."""
        last = np.full(hosts, -inf)
        np.maximum.at(last, host[self._page], self._at)
        return last
