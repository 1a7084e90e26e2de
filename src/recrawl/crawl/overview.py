"""How a crawl stands, found out within a second however large it is.

Of a large crawl only some copies are looked at closely, drawn by lot; the rest is counted by the
database, at the same time.

Touches: a store, threads.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import floor, inf, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.crawl.wishes import budgets, fingerprint, terms
from recrawl.report.status import Spent, Status
from recrawl.store.reader import Reader
from recrawl.store.standing import appointed, rules_of_pages, standing, without_page
from recrawl.units import SECONDS_A_DAY, epoch_days
from recrawl.visits.status import Outcome, PageStatus

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from recrawl.frontier.settings import Settings
    from recrawl.policies.beliefs import Freshness
    from recrawl.store.standing import Standing
    from recrawl.visits.arrays import Floats, Ints

_WEEK = 7
# Copies looked at closely. Twenty thousand leave a share unsure by 0.6 points in nine cases of
# ten at worst, and take a tenth of a second.
_MOST = 20_000
_WITH_A_COPY = (PageStatus.COPIED, PageStatus.SUSPECTED)


@dataclass(frozen=True, slots=True, eq=False)
class _Copies:
    """What was found out about the copies of a crawl.

    Args:
        freshness: How fresh they are.
        looked_at: How many were looked at.
        late: How many are past the longest time between visits.
    """

    freshness: Freshness
    looked_at: int
    late: int


def overview(settings: Settings, path: Path, now: float) -> Status:
    """How the crawl of a store stands at an instant, in days after 1970."""
    with Reader(path) as reader, ThreadPoolExecutor(2) as threads:
        counted = threads.submit(standing, path, now * SECONDS_A_DAY)
        copies = _copies(settings, reader, threads.submit(_saved, settings, path), now)
        where = counted.result()
        days, outcomes = _outcomes(reader, now)
        spent = _spent(settings, reader, where, now)
        last = _last_visit(reader)
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
    )


# Copies.


def _saved(settings: Settings, path: Path) -> tuple[dict[str, Any], int] | None:
    """What the crawl had saved, if it still fits the settings."""
    with Reader(path) as reader:
        learnt = reader.learnt()
    if learnt is None or learnt[0].get("rules") != fingerprint(settings):
        return None
    return learnt


def _copies(settings: Settings, reader: Reader, saved: Any, now: float) -> _Copies:  # noqa: ANN401 - a future
    """Look at all copies of a small crawl, and at some of a large one."""
    import recrawl.crawl.glancing  # noqa: F401 - loads the policies while the store is read

    if reader.page_count() > _MOST and (learnt := saved.result()) is not None:
        return _some_copies(settings, reader, learnt, now)
    return _all_copies(settings, reader, now)


def _all_copies(settings: Settings, reader: Reader, now: float) -> _Copies:
    from recrawl.crawl.looking import look
    from recrawl.policies.beliefs import Freshness, freshness

    sight = look(settings, reader, now)
    found = Freshness()
    for pool in sight.pools:
        if pool.state is not None:
            rows = np.flatnonzero(np.isin(sight.columns.status[pool.pages], _WITH_A_COPY))
            found += freshness(pool.state, now, rows=rows)
    late = _late(settings, sight.rule, sight.last, now)
    stands = np.isin(sight.columns.status, _WITH_A_COPY) & np.isnat(sight.columns.next_at)
    return _Copies(found, found.copies, int(np.count_nonzero(late & stands)))


def _some_copies(
    settings: Settings, reader: Reader, learnt: tuple[dict[str, Any], int], now: float
) -> _Copies:
    from recrawl.crawl.glancing import Glance
    from recrawl.crawl.looking import pool_parts
    from recrawl.policies.beliefs import Freshness

    parts, visit = learnt
    pools = [pool_parts(parts, number) for number in range(len(budgets(settings)))]
    rows = sum(len(pool["pages"]) for pool in pools if pool)
    share = min(_MOST / max(rows, 1), 1.0)
    without = without_page(reader.path) - 1
    drawn = (Glance.at(settings, pool, share, without) for pool in pools if pool)
    glances = [glance for glance in drawn if glance is not None]
    last = np.full(reader.page_count(), np.nan)
    for pool in pools:
        if pool:
            last[pool["pages"]] = pool["last"]
    young = _learn_since(reader, glances, visit, last)
    found = sum((glance.freshness(now) for glance in glances), Freshness())
    if glances:
        found += glances[0].freshness_of_young(last[young], now)
    late = 0
    if _bounded(settings):
        counted_already = np.concatenate([appointed(reader.path) - 1, without])
        last[counted_already[counted_already < len(last)]] = np.nan
        rule = rules_of_pages(reader.path)[: len(last)]
        late = int(np.count_nonzero(_late(settings, rule, last[: len(rule)], now)))
    return _Copies(found, sum(len(glance.pages) for glance in glances) + len(young), late)


def _learn_since(reader: Reader, glances: Sequence[Any], visit: int, last: Floats) -> Ints:
    """Learn from visits made since the crawl was saved; returns the pages copied since then."""
    young: list[Ints] = [np.empty(0, np.int64)]
    for visits in reader.outcomes(after=visit):
        known = visits.page <= len(last)
        page, outcome = visits.page[known] - 1, visits.outcome[known]
        first = page[(outcome == Outcome.FIRST) & np.isnan(last[page])]
        young.append(first)
        for glance in glances:
            glance.learn(visits)
        compared = np.isin(outcome, [each for each in Outcome if each.compared])
        told = compared | (outcome == Outcome.FIRST)
        last[page[told]] = epoch_days(visits.at[known])[told]
    return np.unique(np.concatenate(young))


def _bounded(settings: Settings) -> bool:
    return any(each.interval or each.maximum < inf for each in terms(settings))


def _late(settings: Settings, rule: Ints, last: Floats, now: float) -> np.ndarray[Any, Any]:
    """Which pages are past the longest time between visits."""
    longest = np.array([each.interval or each.maximum for each in terms(settings)])
    return np.asarray(last + longest[_ruled(settings, rule)] < now)


def _ruled(settings: Settings, rule: Ints) -> Ints:
    """Rules by number, and that of no rule where none holds."""
    return np.where((rule >= 0) & (rule < len(settings.rules)), rule, len(settings.rules))


# Visits.


def _outcomes(reader: Reader, now: float) -> tuple[float, dict[Outcome, int]]:
    """Visits of today and the week before by what they found, and how many days that is."""
    today = floor(now)
    rows = reader.visits_a_day(today - _WEEK)
    found: dict[Outcome, int] = {}
    for _, outcome, visits in rows:
        found[Outcome(outcome)] = found.get(Outcome(outcome), 0) + visits
    begun = min((day for day, _, _ in rows), default=today)
    return now - begun, found


def _spent(
    settings: Settings, reader: Reader, where: Sequence[Standing], now: float
) -> list[Spent]:
    from recrawl.crawl.looking import pool_addresses

    pool_of = [each.pool for each in terms(settings)]
    pages = [0] * len(budgets(settings))
    for row in where:
        known = row.rule if 0 <= row.rule < len(settings.rules) else len(settings.rules)
        pages[pool_of[known]] += row.pages
    today, before = _visits_by_pool(settings, reader, now)
    days = _days_before(reader, now)
    return [
        Spent(address, budget.visits_a_day(pages[number]), today[number], before[number] / days)
        for number, (address, budget) in enumerate(
            zip(pool_addresses(settings), budgets(settings), strict=True)
        )
    ]


def _days_before(reader: Reader, now: float) -> float:
    """Days of the week before now in which the crawl was there."""
    rows = reader.visits_a_day(floor(now) - _WEEK)
    if not rows:
        return float(_WEEK)
    first = next(iter(reader.outcomes(rows=1)))
    began = float(epoch_days(first.at)[0])
    return min(max(now - began, 1.0), float(_WEEK))


def _visits_by_pool(settings: Settings, reader: Reader, now: float) -> tuple[list[int], list[int]]:
    """Visits that each budget has paid for since midnight, and in the week before now."""
    pools = len(budgets(settings))
    since = reader.first_visit_since((now - _WEEK) * SECONDS_A_DAY)
    midnight = reader.first_visit_since(floor(now) * SECONDS_A_DAY)
    if pools == 1:  # visits are numbered one by one
        end = reader.last_visit() + 1
        return [end - midnight], [end - since]
    pool_of = np.array([each.pool for each in terms(settings)])
    rule = _ruled(settings, rules_of_pages(reader.path))
    today, before = np.zeros(pools, np.int64), np.zeros(pools, np.int64)
    for visits in reader.outcomes(after=since - 1):
        known = visits.page <= len(rule)
        pool = pool_of[rule[visits.page[known] - 1]]
        before += np.bincount(pool, minlength=pools)
        today += np.bincount(pool[visits.visit[known] >= midnight], minlength=pools)
    return today.tolist(), before.tolist()


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
