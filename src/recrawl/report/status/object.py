"""How a crawl stands as one object of plain values, for scripts and alarms.

Pure.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.report.listings.standing import listing_object
from recrawl.units import instants_after_epoch
from recrawl.visits.status import PageStatus, VisitOutcome

if TYPE_CHECKING:
    from recrawl.inspect.status.values import (
        BudgetOutlook,
        BudgetUse,
        CrawlStatus,
        HostThatLies,
        Learning,
        Target,
        Tenth,
        VisitCount,
    )

_DIGITS = 6

# What `recrawl status --json` holds, and what the objects in it do.
KEYS = (
    *("at", "pages", "copies", "fresh", "fresh_low", "fresh_high", "age_days", "looked_at"),
    *("new", "copied", "suspected", "gone", "refused", "moved", "overdue", "next_visit"),
    *("days", "visits", "changed", "unchanged", "first", "failed", "walled"),
    *("changes_per_visit", "unchanged_share", "failed_share", "walled_share", "budgets"),
    *("outlooks", "foretold", "learning", "targets", "hosts_that_lie", "listings"),
)
BUDGET_KEYS = ("address", "budget_per_day", "visits_today", "visits", "days", "visits_per_day")
OUTLOOK_KEYS = ("times", "visits_per_day", "fresh", "fresh_low", "fresh_high")
TENTH_KEYS = ("chance", "visits", "foretold_share", "found_share", "found_deviation")
LEARNING_KEYS = ("visits", "looked_at", "learning_share", "young_share", "audit_share")
TARGET_KEYS = (
    *("address", "target", "copies", "fresh", "fresh_low", "fresh_high", "met"),
    *("visits", "days", "visits_per_day", "needed_per_day", "reachable"),
)
HOST_KEYS = ("host", "word", "wrong", "heard", "wrong_share_low", "wrong_share_high")


def status_object(status: CrawlStatus) -> dict[str, Any]:
    """What `CrawlStatus` holds by the names of `KEYS`; None for what is not known."""
    fresh, low, high = status.fresh
    found = {
        each.label: status.count(each)
        for each in (
            VisitOutcome.CHANGED,
            VisitOutcome.FIRST,
            VisitOutcome.FAILED,
            VisitOutcome.WALLED,
        )
    }
    figures = {
        "at": _instant(status.at),
        "pages": status.pages,
        "copies": status.copies,
        "fresh": _figure(fresh),
        "fresh_low": _figure(low),
        "fresh_high": _figure(high),
        "age_days": _figure(status.age),
        "looked_at": status.looked_at,
        **{each.label: status.standing.get(each, 0) for each in PageStatus},
        "overdue": status.overdue,
        "next_visit": _instant(status.next_visit),
        "days": _figure(status.days),
        "visits": status.visits,
        "unchanged": status.unchanged,
        **found,
        "changes_per_visit": _figure(status.share(found["changed"])),
        "unchanged_share": _figure(status.share(status.unchanged)),
        "failed_share": _figure(status.share(found["failed"])),
        "walled_share": _figure(status.share(found["walled"])),
        "budgets": [_budget(spent) for spent in status.spent],
        "outlooks": [_outlook(each) for each in status.outlooks],
        "foretold": [_tenth(each) for each in status.tenths],
        "learning": _learning(status.learning),
        "targets": [_target(each) for each in status.targets],
        "hosts_that_lie": [_host(each) for each in status.hosts_that_lie],
        "listings": [listing_object(each) for each in status.listings],
    }
    return {key: figures[key] for key in KEYS}


def _budget(spent: BudgetUse) -> dict[str, Any]:
    figures = (spent.address or None, _figure(spent.budget), spent.today, *_counted(spent.lately))
    return dict(zip(BUDGET_KEYS, figures, strict=True))


def _counted(counted: VisitCount) -> tuple[float | None, ...]:
    return tuple(map(_figure, (counted.visits, counted.days, counted.a_day)))


def _outlook(outlook: BudgetOutlook) -> dict[str, Any]:
    figures = (outlook.times, outlook.visits, *outlook.fresh)
    return dict(zip(OUTLOOK_KEYS, map(_figure, figures), strict=True))


def _tenth(tenth: Tenth) -> dict[str, Any]:
    figures = (tenth.chance, tenth.visits, tenth.foretold, tenth.found, tenth.deviation)
    return dict(zip(TENTH_KEYS, map(_figure, figures), strict=True))


def _learning(learning: Learning) -> dict[str, Any]:
    counts = (learning.either, learning.young, learning.audits)
    shares = (_figure(learning.share(count)) for count in counts)
    return dict(zip(LEARNING_KEYS, (learning.visits, learning.looked_at, *shares), strict=True))


def _target(target: Target) -> dict[str, Any]:
    share = [_figure(part) for part in target.fresh]
    figures = (
        *(target.address, target.wanted, target.copies, *share),
        target.met if target.copies else None,
        *(*_counted(target.lately), _figure(target.needed), _figure(target.most)),
    )
    return dict(zip(TARGET_KEYS, figures, strict=True))


def _host(lies: HostThatLies) -> dict[str, Any]:
    band = _figure(lies.low), _figure(lies.high)
    figures = (lies.host, lies.word, lies.wrong, lies.heard, *band)
    return dict(zip(HOST_KEYS, figures, strict=True))


def _figure(value: float) -> float | None:
    return float(f"{value:.{_DIGITS}g}") if isfinite(value) else None


def _instant(days: float) -> str | None:
    (moment,) = instants_after_epoch(np.array([days]))
    if np.isnat(moment):
        return None
    return str(np.datetime_as_string(moment, unit="s", timezone="UTC"))
