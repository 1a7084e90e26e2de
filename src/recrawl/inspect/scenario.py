"""The scenario of one page, from a snapshot.

Touches: a store.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from math import inf, nan
from typing import TYPE_CHECKING

import numpy as np

from recrawl.parse.addresses import host_of
from recrawl.parse.robots import Permission
from recrawl.settings.pools import NOTHING, terms
from recrawl.simulate.scenario import HostScenario, PoolScenario, Scenario, thinned
from recrawl.state.pages import known_pages, paying_pools, recent_visits
from recrawl.units import SECONDS_A_DAY, epoch_days

if TYPE_CHECKING:
    from recrawl.arrays.types import Ints
    from recrawl.entries.entries import RobotsRead
    from recrawl.entries.records import Host
    from recrawl.entries.store import ReadStore
    from recrawl.settings.settings import Settings
    from recrawl.state.pages import RecentVisits
    from recrawl.state.snapshot import Snapshot

# Pages that take part. With two thousand a page's place among them is off by a few per cent, and
# a virtual crawl takes less than a second.
MOST_PAGES = 2_000


def build_scenario(
    snapshot: Snapshot, reader: ReadStore, page: int, *, most: int = MOST_PAGES
) -> Scenario:
    """A crawl as plain values, from which the next visit of a page can be worked out.

    Args:
        snapshot: The crawl.
        reader: Its store.
        page: The page, counted from 0.
        most: How many pages take part at most.
    """
    every, pool_of = tuple(terms(snapshot.settings)), snapshot.pool_of
    pages, share = _take_part(pool_of, page, most)
    place = np.full(len(pool_of), -1)
    place[pages] = np.arange(len(pages))
    hosts, host = _hosts(snapshot, reader, pages)
    read = _robots_by_host(reader)
    visits = recent_visits(snapshot, reader)
    visits = visits.take(place[visits.page] >= 0)
    asked = np.full(len(hosts), -inf)
    np.maximum.at(asked, host[place[visits.page]], visits.at)
    return Scenario(
        policy=snapshot.policy,
        now=snapshot.now,
        page=int(place[page]),
        share=share,
        terms=every,
        known=replace(known_pages(snapshot, pages), host=host),
        last=snapshot.last[pages],
        asked_at=_asked_at(reader, page),
        pools=_pools(snapshot, place, share, visits),
        hosts=tuple(
            _host_scenario(snapshot.settings, each, read[each.name], last, snapshot.now, share)
            for each, last in zip(hosts, asked.tolist(), strict=True)
        ),
        together=snapshot.settings.together,
    )


def _take_part(pool_of: Ints, page: int, most: int) -> tuple[Ints, float]:
    """Pages that take part, rising, and how large a part of all of them they are."""
    if len(pool_of) <= most:
        return np.arange(len(pool_of)), 1.0
    # Other budgets have pages that may wait for the same hosts; they are left out.
    ours = np.flatnonzero(pool_of == pool_of[page])
    if len(ours) <= most:
        return ours, 1.0
    # The same draw for the same crawl: who looks twice sees what has moved, not chance.
    random = np.random.default_rng(len(ours))
    drawn = random.choice(ours[ours != page], most - 1, replace=False)
    return np.sort(np.append(drawn, page)), most / len(ours)


def _pools(
    snapshot: Snapshot, place: Ints, share: float, visits: RecentVisits
) -> tuple[PoolScenario, ...]:
    """Pools, each with the pages that take part, and the one that pays for nothing."""
    pools, paid_by = [], paying_pools(snapshot)[visits.page]
    for number, pool in enumerate(snapshot.pools):
        rows = np.flatnonzero(place[pool.pages] >= 0)
        budget, pages = thinned(pool.budget, share), place[pool.pages[rows]]
        spent = visits.take(paid_by == number)
        pools.append(PoolScenario(budget, pool.learned, pages, rows, spent))
    none, never = np.empty(0, np.int64), visits.take(np.empty(0, np.int64))
    return (*pools, PoolScenario(NOTHING, None, none, none, never))


def _asked_at(reader: ReadStore, page: int) -> float:
    """When a page was last visited, whatever came of it; nan if never."""
    at = reader.history(page, most=1).at
    return float(epoch_days(at)[-1]) if len(at) else nan


def _hosts(snapshot: Snapshot, reader: ReadStore, pages: Ints) -> tuple[list[Host], Ints]:
    """Hosts of pages, and the place of each page's among them."""
    numbers, place = np.unique(snapshot.columns.host[pages], return_inverse=True)
    wanted = set(numbers.tolist())
    found = {each.number: each for each in reader.hosts() if each.number in wanted}
    return [found[number] for number in numbers.tolist()], place


def _robots_by_host(reader: ReadStore) -> defaultdict[str, list[RobotsRead]]:
    """What was read of each host: one robots.txt per origin."""
    found: defaultdict[str, list[RobotsRead]] = defaultdict(list)
    for read in reader.robots_read():
        found[host_of(read.origin + "/")].append(read)
    return found


def _host_scenario(
    settings: Settings,
    host: Host,
    robots: list[RobotsRead],
    last: float,
    now: float,
    share: float,
) -> HostScenario:
    """When a host may be asked, by what it has said and by when it was last asked."""
    delay, after = host.delay or 0.0, (host.blocked_until_seconds or 0.0) / SECONDS_A_DAY
    delay = max((read.delay for read in robots if read.delay is not None), default=delay)
    for read in robots:
        at = read.at_seconds / SECONDS_A_DAY
        permission = Permission.of(read.http, None, at, settings.robots_agent)
        if permission.trouble and permission.holds(now):
            after = max(after, permission.until)
    delay = max(delay, settings.delays.get(host.name, settings.delay))
    after = max(after, last + delay, now)
    wait = (host.latency_seconds or 0.0) / SECONDS_A_DAY
    return HostScenario(delay / share, after, wait / share)
