"""How a crawl stands, found out within a second however large it is.

Of a large crawl only some copies are looked at closely, drawn at random; the rest is counted by the
database, at the same time.

Touches: a store, threads.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from math import floor, inf, nan
from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.blocks import in_parallel
from recrawl.detect.reliability import MODIFIED, NOT_MODIFIED, SignalRecord, dates_changes, denies
from recrawl.inspect.pages import FAILED, TAKEN_OUT, UNLISTED, failure_word, shown_status
from recrawl.inspect.status.destinations import destination_standings
from recrawl.inspect.status.listings import listing_standings
from recrawl.inspect.status.values import (
    WEEK,
    BudgetUse,
    CrawlStatus,
    FeedCompleteness,
    HostThatLies,
    PushStanding,
    SiteCoverage,
    Tenth,
    VisitCount,
)
from recrawl.settings.pools import budgets, terms
from recrawl.settings.rules import NO_RULE
from recrawl.state import sampled
from recrawl.state.checkpoint import fitting, fitting_sample, is_ours, without_samples
from recrawl.units import SECONDS_A_DAY, epoch_days
from recrawl.visits.status import PageStatus, RobotsTag, VisitOutcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.entries.records import PageCount
    from recrawl.entries.store import ReadStore
    from recrawl.frontier.sources import UnknownPages
    from recrawl.inspect.status.copies import CopiesFound
    from recrawl.inspect.status.values import BudgetOutlook, Learning, Target
    from recrawl.policies.recrawl.beliefs import ExpectedFreshness
    from recrawl.policies.recrawl.calibration import Calibration
    from recrawl.settings.settings import Settings

_NONE = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class PlanBasis:
    """What plans for a crawl rest on.

    Args:
        copies: Its copies.
        pages: How many pages each budget is for.
        here: How many of them are there, with or without a copy.
        now: The instant, in days after 1970.
    """

    copies: CopiesFound
    pages: list[int]
    here: list[int]
    now: float


def overview(settings: Settings, reader: ReadStore, now: float) -> CrawlStatus:
    """How the crawl of a store stands at an instant, in days after 1970."""
    counts, copies = in_parallel(
        partial(_page_counts, reader, now), partial(copies_of, settings, reader, now)
    )
    days, outcomes = _outcomes(reader, now)
    spent = _spent(settings, reader, counts, now)
    overdue = sum(row.overdue for row in counts) + copies.late
    next_visit = copies.next_visit
    if next_visit is None:
        next_visit = now if overdue else _next_visit(counts, spent, _last_visit(reader), now)
    outlooks, targets = _planned(settings, reader, copies, counts, spent, now)
    learning = _learning(reader, now)
    hosts_that_lie = _hosts_that_lie(reader)
    listings = listing_standings(settings, reader, now)
    standing, unlisted, failed = _standing(settings, reader, copies, counts)
    shells = reader.shells()
    fresh = copies.freshness
    share = (fresh.fresh / fresh.copies, *fresh.band()) if fresh.copies else (nan, nan, nan)
    unknown, sites = _coverage(settings, reader, now)
    return CrawlStatus(
        at=now,
        standing=standing,
        unlisted=unlisted,
        failed=failed,
        shells=int(np.count_nonzero(reader.rules_and_hosts(shells)[0] != NO_RULE)),
        failing=_failing(reader) if any(row.failing for row in counts) else {},
        copies=fresh.copies or copies.without_rates,
        fresh=share,
        age=fresh.age / fresh.copies if fresh.copies else nan,
        looked_at=copies.looked_at,
        overdue=overdue,
        next_visit=next_visit,
        days=days,
        outcomes=outcomes,
        spent=_together(settings, spent),
        outlooks=outlooks,
        tenths=_tenths(copies.calibration),
        learning=learning,
        targets=targets,
        hosts_that_lie=hosts_that_lie,
        listings=listings,
        policy=settings.policy,
        noarchive=int(np.count_nonzero(reader.robots_tags()[1] & RobotsTag.NOARCHIVE)),
        disk=reader.disk_usage(),
        room=settings.size,
        feed=feed_completeness(reader, fresh, now),
        destinations=destination_standings(settings, reader),
        fresh_by_weight=copies.fresh_by_weight(settings, reader, now),
        unknown=unknown,
        sites=sites,
        refused=reader.refused_addresses(),
        pushes=_pushes(settings, reader, now) if settings.push else None,
        blocks=len(settings.rules) + len(settings.listings),
    )


# Copies.


def _page_counts(reader: ReadStore, now: float) -> list[PageCount]:
    """Pages by rule and status; in a thread, with a reader of its own."""
    with reader.clone() as own:
        return own.page_counts(now * SECONDS_A_DAY)


def _standing(
    settings: Settings, reader: ReadStore, copies: CopiesFound, counts: Sequence[PageCount]
) -> tuple[dict[PageStatus, int], int, int]:
    """How many pages that are wanted stand where, have no rule, or have no copy for a failure."""
    standing = dict.fromkeys(PageStatus, 0)
    unlisted = 0
    if copies.rule is not None:  # the settings may be newer than the rules in the store
        pages = reader.pages()
        flags = copies.rule < len(settings.rules), _NONE, pages.failures > 0
        found = np.bincount(shown_status(pages.status, *flags), minlength=FAILED + 1).tolist()
        return dict(zip(PageStatus, found, strict=False)), found[UNLISTED], found[FAILED]
    failed = 0
    for row in counts:
        if row.rule == NO_RULE and row.status not in TAKEN_OUT:
            unlisted += row.pages
        else:
            tried = row.failing if row.status is PageStatus.NEW else 0
            standing[row.status] += row.pages - tried
            failed += tried
    return standing, unlisted, failed


def _failing(reader: ReadStore) -> dict[str, int]:
    """Pages whose last visit met something else, by what it met, the most frequent first."""
    outcome, http, _ = reader.latest_responses(reader.failing_pages(sampled.LOOKED_AT))
    met = map(failure_word, outcome.tolist(), http.tolist())
    return dict(Counter(each for each in met if each).most_common())


def copies_of(settings: Settings, reader: ReadStore, now: float) -> CopiesFound:
    """Look at all copies of a small crawl, and at some of a large one."""
    from recrawl.inspect.status.copies import all_copies, some_copies

    saved = None
    if reader.page_count() > sampled.LOOKED_AT:
        saved = fitting_sample(settings, reader)
        if saved is None and (whole := fitting(settings, reader)) is not None:
            # Its samples, if it has any, are not sound: others are drawn.
            saved = whole._replace(parts=without_samples(whole.parts))
    if saved is None or not is_ours(saved.parts):
        return all_copies(settings, reader, now)
    return some_copies(settings, reader, saved, now)


def _tenths(calibration: Calibration) -> list[Tenth]:
    """What was forecast of visits against what they found, where there were any."""
    rows = zip(
        *(calibration.visits.tolist(), calibration.forecast.tolist()),
        *(calibration.found.tolist(), calibration.deviation.tolist()),
        strict=True,
    )
    return [
        Tenth(row / len(calibration.sums), visits, *(part / visits for part in parts))
        for row, (visits, *parts) in enumerate(rows)
        if visits > 0
    ]


def how_complete(settings: Settings, reader: ReadStore, now: float) -> FeedCompleteness | None:
    """How complete the change feed of a crawl is at an instant; None where nothing is known."""
    return feed_completeness(reader, copies_of(settings, reader, now).freshness, now)


def feed_completeness(
    reader: ReadStore, fresh: ExpectedFreshness, now: float
) -> FeedCompleteness | None:
    """How complete the change feed is at an instant; None where no rates or events are known.

    Args:
        reader: The store.
        fresh: How fresh its copies are expected to be.
        now: The instant, in days after 1970.
    """
    seen, oldest_seconds = reader.count_changes((now - WEEK) * SECONDS_A_DAY)
    if not fresh.copies or oldest_seconds is None:
        return None
    days = min(max(now - oldest_seconds / SECONDS_A_DAY, 0.0), WEEK)
    return completeness(seen, fresh, days)


def completeness(seen: int, fresh: ExpectedFreshness, days: float) -> FeedCompleteness:
    """How complete a change feed is that has told of so many changes in some days."""
    low, high = ((1 - share) * fresh.copies for share in reversed(fresh.band()))
    return FeedCompleteness(days, seen, (fresh.copies - fresh.fresh, low, high))


def _coverage(
    settings: Settings, reader: ReadStore, now: float
) -> tuple[UnknownPages | None, list[SiteCoverage]]:
    """Pages expected to exist that are not known, of all sites and of each."""
    from recrawl.frontier.sources import SourceTable, unknown_pages
    from recrawl.state.sources import wanted_sources

    # Before a second look nobody knows how fast a source is.
    known = (each for each in wanted_sources(settings, reader) if each.exposure)
    sources = SourceTable(known)
    origins = dict.fromkeys(source.origin for source in sources)
    sites = [
        SiteCoverage(each, sources.count(each), unknown_pages(sources.of(each), now))
        for each in origins
    ]
    sites.sort(key=lambda site: -site.unknown.mean)
    return (unknown_pages(sources, now) if sites else None), sites


def _pushes(settings: Settings, reader: ReadStore, now: float) -> PushStanding:
    """What hubs push."""
    from recrawl.state.sources import wanted_sources

    known, seconds = reader.subscriptions(), now * SECONDS_A_DAY
    last = [each.pushed_at_seconds for each in known if each.pushed_at_seconds is not None]
    return PushStanding(
        sum(1 for each in wanted_sources(settings, reader) if each.push_hub),
        sum(1 for each in known if (each.until_seconds or 0.0) > seconds),
        sum(each.pushes for each in known),
        max(last) / SECONDS_A_DAY if last else nan,
    )


# Plans.


def _planned(
    settings: Settings,
    reader: ReadStore,
    copies: CopiesFound,
    counts: Sequence[PageCount],
    spent: Sequence[BudgetUse],
    now: float,
) -> tuple[list[BudgetOutlook], list[Target]]:
    """What to expect of budgets, and how targets stand."""
    from recrawl.inspect.status.plans import Planner
    from recrawl.inspect.status.targets import targets

    planner = Planner(settings, reader, copies, now)
    outlooks = planner.outlooks([each.budget for each in spent], _here(settings, copies, counts))
    days = _days_before(reader, now)
    return outlooks, targets(settings, reader, copies.of_rules, planner, now, days)


def _here(settings: Settings, copies: CopiesFound, counts: Sequence[PageCount]) -> list[int]:
    """How many pages each budget is for that are there, with or without a copy."""
    from recrawl.inspect.status.copies import HERE

    if copies.here is not None:
        return copies.here
    return _pages_by_pool(settings, [row for row in counts if row.status in HERE])


def plan_basis(settings: Settings, reader: ReadStore, now: float) -> PlanBasis:
    """What plans for a crawl rest on, whatever its budgets, weights and objective."""
    counts, copies = in_parallel(
        partial(_page_counts, reader, now), partial(copies_of, settings, reader, now)
    )
    return PlanBasis(
        copies=copies,
        pages=_pages_by_pool(settings, counts),
        here=_here(settings, copies, counts),
        now=now,
    )


def _learning(reader: ReadStore, now: float) -> Learning:
    from recrawl.inspect.status.learning import learning

    since = reader.first_visit_since((now - WEEK) * SECONDS_A_DAY)
    return learning(reader, since, reader.last_visit() + 1)


# Visits.


def _outcomes(reader: ReadStore, now: float) -> tuple[float, dict[VisitOutcome, int]]:
    """Visits of today and the week before by what they found, and how many days that is."""
    earliest = floor(now) - WEEK
    found: dict[VisitOutcome, int] = {}
    for _, outcome, visits in reader.daily_visits(earliest):
        found[VisitOutcome(outcome)] = found.get(VisitOutcome(outcome), 0) + visits
    return now - max(_began(reader, now), earliest), found


def _spent(
    settings: Settings, reader: ReadStore, counts: Sequence[PageCount], now: float
) -> list[BudgetUse]:
    from recrawl.state.snapshot import pool_addresses

    pages = _pages_by_pool(settings, counts)
    today, before = _visits_by_pool(settings, reader, now)
    days = _days_before(reader, now)
    return [
        BudgetUse(
            address,
            budget.visits_a_day(pages[number]),
            today[number],
            VisitCount(before[number], days),
            pages[number],
        )
        for number, (address, budget) in enumerate(
            zip(pool_addresses(settings), budgets(settings), strict=True)
        )
    ]


def _together(settings: Settings, spent: list[BudgetUse]) -> list[BudgetUse]:
    """What people read of budgets: the common one as a whole, however workers have divided it."""
    slots = len(settings.divided)
    if not slots:
        return spent
    parts, own = spent[:slots], spent[slots:]
    lately = [each.lately for each in parts]
    common = BudgetUse(
        "",
        sum(each.budget for each in parts),
        sum(each.today for each in parts),
        VisitCount(sum(each.visits for each in lately), lately[0].days),
        sum(each.pages for each in parts),
    )
    return [common, *own]


def _pages_by_pool(settings: Settings, counts: Sequence[PageCount]) -> list[int]:
    """How many pages each budget is for."""
    every = terms(settings)
    pages = [0] * (len(budgets(settings)) + 1)  # the last is for pages that nothing pays for
    for row in counts:
        known = row.rule if 0 <= row.rule < len(settings.rules) else len(settings.rules)
        pages[every[known].pool] += row.pages
    return pages[:-1]


def _days_before(reader: ReadStore, now: float) -> float:
    """Days of the week before now in which the crawl was there."""
    return min(now - _began(reader, now), float(WEEK))


def _began(reader: ReadStore, now: float) -> float:
    """When the first visit was made; now where there was none."""
    for visits in reader.outcomes(rows=1):
        return min(float(epoch_days(visits.at)[0]), now)
    return now


def _visits_by_pool(
    settings: Settings, reader: ReadStore, now: float
) -> tuple[list[int], list[int]]:
    """Visits that each budget has paid for since midnight, and in the week before now."""
    pools = len(budgets(settings))
    since = reader.first_visit_since((now - WEEK) * SECONDS_A_DAY)
    midnight = reader.first_visit_since(floor(now) * SECONDS_A_DAY)
    if pools == 1:  # visits are numbered one by one
        end = reader.last_visit() + 1
        return [end - midnight], [end - since]
    pool_of = np.array([each.pool for each in terms(settings)])
    rule = reader.rules()
    rule = np.where((rule >= 0) & (rule < len(settings.rules)), rule, len(settings.rules))
    today, before = np.zeros(pools, np.int64), np.zeros(pools, np.int64)
    for visits in reader.outcomes(after=since - 1):
        known = visits.page < len(rule)
        pool = pool_of[rule[visits.page[known]]]
        # Beyond the last are visits to pages that have no rule any more.
        before += np.bincount(pool, minlength=pools)[:pools]
        today += np.bincount(pool[visits.visit[known] >= midnight], minlength=pools)[:pools]
    return today.tolist(), before.tolist()


def _hosts_that_lie(reader: ReadStore) -> list[HostThatLies]:
    """Hosts whose word on changes is not taken any more."""
    found = []
    for host, kind, counts in reader.signal_records():
        word = SignalRecord(*counts)
        if (kind == NOT_MODIFIED and denies(word)) or (
            kind == MODIFIED and not dates_changes(word)
        ):
            counted = round(word.wrong), round(word.checked)
            found.append(HostThatLies(host, kind, *counted, *word.band()))
    return found


# What is next.


def _last_visit(reader: ReadStore) -> float:
    """When the last visit was made; long ago where there was none."""
    for visits in reader.outcomes(after=max(reader.last_visit() - 1, 0)):
        return float(epoch_days(visits.at)[-1])
    return -inf


def _next_visit(
    counts: Sequence[PageCount], spent: Sequence[BudgetUse], last: float, now: float
) -> float:
    """When a visit may be made: at a set time, or as soon as the budget allows one more."""
    times = [row.next_at_seconds for row in counts if row.next_at_seconds is not None]
    soonest = min(times, default=inf) / SECONDS_A_DAY
    if any(row.status is PageStatus.NEW for row in counts):
        return now
    if any(row.status is PageStatus.COPIED for row in counts):
        budget = sum(each.budget for each in spent)
        soonest = min(soonest, max(last + 1 / budget, now) if budget > 0 else inf)
    return soonest
