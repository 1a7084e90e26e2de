"""How a crawl stands, in a dozen lines or as one object.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite, isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.report.words import every
from recrawl.units import instants_after_epoch
from recrawl.visits.status import Outcome, PageStatus

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_DIGITS = 6
_UNCHANGED = (Outcome.SAME, Outcome.NOT_MODIFIED, Outcome.COSMETIC)

# What `recrawl status --json` holds, and what each of its `budgets` does.
KEYS = (
    *("at", "pages", "copies", "fresh", "fresh_low", "fresh_high", "age_days", "looked_at"),
    *("new", "copied", "suspected", "gone", "refused", "moved", "overdue", "next_visit"),
    *("days", "visits", "changed", "unchanged", "first", "failed"),
    *("changes_per_visit", "unchanged_share", "failed_share", "budgets"),
)
BUDGET_KEYS = ("address", "budget_per_day", "visits_today", "visits_per_day")


@dataclass(frozen=True, slots=True)
class Spent:
    """Visits that one budget has paid for.

    Args:
        address: Site or page whose own budget it is; empty for the common one.
        budget: Visits a day that it allows.
        today: Visits since midnight, UTC.
        a_day: Visits a day over the last week.
    """

    address: str
    budget: float
    today: int
    a_day: float


@dataclass(frozen=True, slots=True)
class Status:
    """How a crawl stands.

    Args:
        at: The instant, in days after 1970.
        standing: How many pages stand where.
        copies: How many copies there are.
        fresh: Share of them that is expected to be fresh, and its band; nan where there is none.
        age: Expected days since a copy went stale, 0 for a fresh one, on the mean over all.
        looked_at: How many copies the last two rest on.
        overdue: Pages past a set time, or past the longest time between visits.
        next_visit: When a visit may be made next, in days after 1970.
        days: Days that the outcomes are from, at most a week and today.
        outcomes: Visits in these days by what they found.
        spent: Visits by budget.
    """

    at: float
    standing: Mapping[PageStatus, int]
    copies: int
    fresh: tuple[float, float, float]
    age: float
    looked_at: int
    overdue: int
    next_visit: float
    days: float
    outcomes: Mapping[Outcome, int]
    spent: Sequence[Spent]

    @property
    def pages(self) -> int:
        """How many pages are known."""
        return sum(self.standing.values())

    @property
    def visits(self) -> int:
        """Visits of the last days."""
        return sum(self.outcomes.values())

    @property
    def unchanged(self) -> int:
        """Visits that found what was known already."""
        return sum(self.outcomes.get(each, 0) for each in _UNCHANGED)

    def count(self, outcome: Outcome) -> int:
        """Visits that found one thing."""
        return self.outcomes.get(outcome, 0)

    def share(self, count: int) -> float:
        """Share of the visits of the last days; nan where there were none."""
        return count / self.visits if self.visits else float("nan")


def status_rows(status: Status) -> list[tuple[str, str]]:
    """What to say of a crawl, a subject and a sentence a row."""
    return [
        ("fresh", _fresh(status)),
        *([("age", _age(status))] if status.copies else []),
        ("pages", _pages(status)),
        ("overdue", f"{status.overdue:,}" if status.overdue else "none"),
        *(("visits", _visits(spent, len(status.spent))) for spent in status.spent),
        *([("found", _found(status))] if status.visits else []),
        ("next", _next(status)),
    ]


def status_object(status: Status) -> dict[str, Any]:
    """The same as plain values, by the names of `KEYS`; None for what is not known."""
    fresh, low, high = status.fresh
    standing = {each.label: status.standing.get(each, 0) for each in PageStatus}
    figures = {
        "at": _instant(status.at),
        "pages": status.pages,
        "copies": status.copies,
        "fresh": _figure(fresh),
        "fresh_low": _figure(low),
        "fresh_high": _figure(high),
        "age_days": _figure(status.age),
        "looked_at": status.looked_at,
        **standing,
        "overdue": status.overdue,
        "next_visit": _instant(status.next_visit),
        "days": _figure(status.days),
        "visits": status.visits,
        "changed": status.count(Outcome.CHANGED),
        "unchanged": status.unchanged,
        "first": status.count(Outcome.FIRST),
        "failed": status.count(Outcome.FAILED),
        "changes_per_visit": _figure(status.share(status.count(Outcome.CHANGED))),
        "unchanged_share": _figure(status.share(status.unchanged)),
        "failed_share": _figure(status.share(status.count(Outcome.FAILED))),
        "budgets": [_budget(spent) for spent in status.spent],
    }
    return {key: figures[key] for key in KEYS}


def _budget(spent: Spent) -> dict[str, Any]:
    figures = (spent.address or None, _figure(spent.budget), spent.today, _figure(spent.a_day))
    return dict(zip(BUDGET_KEYS, figures, strict=True))


def _fresh(status: Status) -> str:
    if not status.copies:
        return "no copies yet"
    fresh, low, high = (100 * share for share in status.fresh)
    copies = "1 copy" if status.copies == 1 else f"{status.copies:,} copies"
    return f"{fresh:.1f} % of {copies}, expected ({low:.1f} to {high:.1f} %)"


def _age(status: Status) -> str:
    return f"{every(status.age)} since a copy went stale, on the mean; 0 for a fresh one"


def _pages(status: Status) -> str:
    others = [each for each in PageStatus if each is not PageStatus.COPIED]
    counts = [(each.label, status.standing.get(each, 0)) for each in others]
    said = [f"{count:,} {label}" for label, count in counts if count]
    return ", ".join([f"{status.pages:,} known", *said])


def _visits(spent: Spent, budgets: int) -> str:
    whose = spent.address or ("all others" if budgets > 1 else "")
    said = f"{spent.today:,} today, {_few(spent.a_day)} a day over the last week"
    return f"{said}; budget {_few(spent.budget)} a day" + (f" ({whose})" if whose else "")


def _found(status: Status) -> str:
    """Outcomes of the last week, as shares of the visits."""
    parts = [
        f"{100 * status.share(status.count(Outcome.CHANGED)):.0f} % changed",
        f"{100 * status.share(status.unchanged):.0f} % unchanged",
        f"{100 * status.share(status.count(Outcome.FIRST)):.0f} % first copies",
    ]
    failed = status.count(Outcome.FAILED)
    if failed:
        parts.append(f"{100 * status.share(failed):.1f} % failed")
    visits = "1 visit" if status.visits == 1 else f"{status.visits:,} visits"
    return f"of {visits} in the last {every(status.days)}: {', '.join(parts)}"


def _next(status: Status) -> str:
    if status.next_visit == inf:
        return "nothing to visit"
    days = status.next_visit - status.at
    return f"in {every(days)}" if days > 0 else "now"


def _few(figure: float) -> str:
    return f"{figure:,.0f}" if figure >= 10 or figure == round(figure) else f"{figure:.1f}"  # noqa: PLR2004 - two figures


def _figure(value: float) -> float | None:
    return None if isnan(value) or not isfinite(value) else float(f"{value:.{_DIGITS}g}")


def _instant(days: float) -> str | None:
    (moment,) = instants_after_epoch(np.array([days]))
    if np.isnat(moment):
        return None
    return str(np.datetime_as_string(moment, unit="s", timezone="UTC"))
