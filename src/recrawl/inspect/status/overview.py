"""How a crawl stands, found out within a second however large it is.

Of a large crawl only some copies are looked at closely, drawn by lot; the rest is counted by the
database, at the same time.

Touches: a store, threads.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from math import floor, inf, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.detect.reliability import MODIFIED, NOT_MODIFIED, Word, dates_changes, denies
from recrawl.inspect.status.listings import listing_standings
from recrawl.inspect.status.values import WEEK, Counted, HostThatLies, Spent, Status, Tenth
from recrawl.settings.pools import budgets, fingerprint, terms
from recrawl.store.sqlite.page_counts import rules_of_pages, standing
from recrawl.store.sqlite.reader import Reader
from recrawl.units import SECONDS_A_DAY, epoch_days
from recrawl.visits.status import Outcome, PageStatus

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from recrawl.inspect.status.copies import Copies
    from recrawl.inspect.status.values import Learning, Outlook, Target
    from recrawl.policies.recrawl.calibration import Calibration
    from recrawl.settings.settings import Settings
    from recrawl.store.sqlite.page_counts import Standing

# Copies looked at closely. Twenty thousand leave a share unsure by 0.6 points in nine cases of
# ten at worst, and take a tenth of a second.
_MOST = 20_000


def overview(settings: Settings, path: Path, now: float) -> Status:
    """How the crawl of a store stands at an instant, in days after 1970."""
    with Reader(path) as reader, ThreadPoolExecutor(2) as threads:
        counted = threads.submit(standing, path, now * SECONDS_A_DAY)
        copies = _copies(settings, reader, threads.submit(_saved, settings, path), now)
        where = counted.result()
        days, outcomes = _outcomes(reader, now)
        spent = _spent(settings, reader, where, now)
        last = _last_visit(reader)
        outlooks, targets = _planned(settings, reader, copies, where, spent, now)
        learning = _learning(reader, now)
        hosts_that_lie = _hosts_that_lie(reader)
        listings = listing_standings(settings, path, now) if settings.listings else []
    stands = {each: sum(row.pages for row in where if row.status is each) for each in PageStatus}
    fresh = copies.freshness
    overdue = sum(row.overdue for row in where) + copies.late
    return Status(
        at=now,
        standing=stands,
        copies=fresh.copies,
        fresh=(fresh.fresh / fresh.copies, *fresh.band()) if fresh.copies else (nan, nan, nan),
        age=fresh.age / fresh.copies if fresh.copies else nan,
        looked_at=copies.looked_at,
        overdue=overdue,
        next_visit=_next_visit(where, spent, last, now) if not overdue else now,
        days=days,
        outcomes=outcomes,
        spent=spent,
        outlooks=outlooks,
        tenths=_tenths(copies.calibration),
        learning=learning,
        targets=targets,
        hosts_that_lie=hosts_that_lie,
        listings=listings,
    )


# Copies.


def _saved(settings: Settings, path: Path) -> tuple[dict[str, Any], int] | None:
    """What the crawl had saved, if it still fits the settings."""
    with Reader(path) as reader:
        learnt = reader.learnt()
    if learnt is None or learnt[0].get("rules") != fingerprint(settings):
        return None
    return learnt


def _copies(settings: Settings, reader: Reader, saved: Any, now: float) -> Copies:  # noqa: ANN401 - a future
    """Look at all copies of a small crawl, and at some of a large one."""
    # Here, so that the policies are loaded while the store is read.
    from recrawl.inspect.status.copies import all_copies, some_copies

    if reader.page_count() > _MOST and (learnt := saved.result()) is not None:
        return some_copies(settings, reader, learnt, now, _MOST)
    return all_copies(settings, reader, now)


def _tenths(calibration: Calibration) -> list[Tenth]:
    """What was foretold of visits against what they found, where there were any."""
    rows = zip(
        *(calibration.visits.tolist(), calibration.foretold.tolist()),
        *(calibration.found.tolist(), calibration.deviation.tolist()),
        strict=True,
    )
    return [
        Tenth(row / len(calibration.sums), visits, *(part / visits for part in parts))
        for row, (visits, *parts) in enumerate(rows)
        if visits > 0
    ]


# Plans.


def _planned(
    settings: Settings,
    reader: Reader,
    copies: Copies,
    where: Sequence[Standing],
    spent: Sequence[Spent],
    now: float,
) -> tuple[list[Outlook], list[Target]]:
    """What to expect of budgets, and how targets stand."""
    from recrawl.inspect.status.copies import HERE
    from recrawl.inspect.status.plans import Planner
    from recrawl.inspect.status.targets import targets

    planner = Planner(settings, reader, copies, now)
    pages = copies.here
    if pages is None:
        pages = _pages_by_pool(settings, [row for row in where if row.status in HERE])
    outlooks = planner.outlooks([each.budget for each in spent], pages)
    days = _days_before(reader, now)
    return outlooks, targets(settings, reader, copies.of_rules, planner, now, days)


def _learning(reader: Reader, now: float) -> Learning:
    from recrawl.inspect.status.learning import learning

    since = reader.first_visit_since((now - WEEK) * SECONDS_A_DAY)
    return learning(reader.path, since, reader.last_visit() + 1)


# Visits.


def _outcomes(reader: Reader, now: float) -> tuple[float, dict[Outcome, int]]:
    """Visits of today and the week before by what they found, and how many days that is."""
    earliest = floor(now) - WEEK
    found: dict[Outcome, int] = {}
    for _, outcome, visits in reader.visits_a_day(earliest):
        found[Outcome(outcome)] = found.get(Outcome(outcome), 0) + visits
    return now - max(_began(reader, now), earliest), found


def _spent(
    settings: Settings, reader: Reader, where: Sequence[Standing], now: float
) -> list[Spent]:
    from recrawl.state.snapshot import pool_addresses

    pages = _pages_by_pool(settings, where)
    today, before = _visits_by_pool(settings, reader, now)
    days = _days_before(reader, now)
    return [
        Spent(
            address,
            budget.visits_a_day(pages[number]),
            today[number],
            Counted(before[number], days),
        )
        for number, (address, budget) in enumerate(
            zip(pool_addresses(settings), budgets(settings), strict=True)
        )
    ]


def _pages_by_pool(settings: Settings, where: Sequence[Standing]) -> list[int]:
    """How many pages each budget is for."""
    every = terms(settings)
    pages = [0] * (len(budgets(settings)) + 1)  # the last is for pages that nothing pays for
    for row in where:
        known = row.rule if 0 <= row.rule < len(settings.rules) else len(settings.rules)
        pages[every[known].pool] += row.pages
    return pages[:-1]


def _days_before(reader: Reader, now: float) -> float:
    """Days of the week before now in which the crawl was there."""
    return min(now - _began(reader, now), float(WEEK))


def _began(reader: Reader, now: float) -> float:
    """When the first visit was made; now where there was none."""
    for visits in reader.outcomes(rows=1):
        return min(float(epoch_days(visits.at)[0]), now)
    return now


def _visits_by_pool(settings: Settings, reader: Reader, now: float) -> tuple[list[int], list[int]]:
    """Visits that each budget has paid for since midnight, and in the week before now."""
    pools = len(budgets(settings))
    since = reader.first_visit_since((now - WEEK) * SECONDS_A_DAY)
    midnight = reader.first_visit_since(floor(now) * SECONDS_A_DAY)
    if pools == 1:  # visits are numbered one by one
        end = reader.last_visit() + 1
        return [end - midnight], [end - since]
    pool_of = np.array([each.pool for each in terms(settings)])
    rule = rules_of_pages(reader.path)
    rule = np.where((rule >= 0) & (rule < len(settings.rules)), rule, len(settings.rules))
    today, before = np.zeros(pools, np.int64), np.zeros(pools, np.int64)
    for visits in reader.outcomes(after=since - 1):
        known = visits.page <= len(rule)
        pool = pool_of[rule[visits.page[known] - 1]]
        # Beyond the last are visits to pages that have no rule any more.
        before += np.bincount(pool, minlength=pools)[:pools]
        today += np.bincount(pool[visits.visit[known] >= midnight], minlength=pools)[:pools]
    return today.tolist(), before.tolist()


def _hosts_that_lie(reader: Reader) -> list[HostThatLies]:
    """Hosts whose word on changes is not taken any more."""
    found = []
    for host, kind, counts in reader.words_of_hosts():
        word = Word(*counts)
        if (kind == NOT_MODIFIED and denies(word)) or (
            kind == MODIFIED and not dates_changes(word)
        ):
            counted = round(word.wrong), round(word.heard)
            found.append(HostThatLies(host, kind, *counted, *word.band()))
    return found


# What is next.


def _last_visit(reader: Reader) -> float:
    """When the last visit was made; long ago where there was none."""
    for visits in reader.outcomes(after=max(reader.last_visit() - 1, 0)):
        return float(epoch_days(visits.at)[-1])
    return -inf


def _next_visit(
    where: Sequence[Standing], spent: Sequence[Spent], last: float, now: float
) -> float:
    """When a visit may be made: at a set time, or as soon as the budget allows one more."""
    times = [row.next_at_seconds for row in where if row.next_at_seconds is not None]
    soonest = min(times, default=inf) / SECONDS_A_DAY
    if any(row.status is PageStatus.NEW for row in where):
        return now
    if any(row.status is PageStatus.COPIED for row in where):
        budget = sum(each.budget for each in spent)
        soonest = min(soonest, max(last + 1 / budget, now) if budget > 0 else inf)
    return soonest
