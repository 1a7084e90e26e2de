"""The figures of what decides on a page's next visit, with units in their names.

Those that end in `_at` are instants, in days after 1970.

Pure.
"""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING

import numpy as np

from recrawl.inspect.why.binding import Binding
from recrawl.units import SECONDS_A_DAY
from recrawl.visits.status import PageStatus

if TYPE_CHECKING:
    from recrawl.inspect.why.values import Worth
    from recrawl.simulate.next_visit import NextVisit
    from recrawl.simulate.scenario import Scenario

    Figures = dict[str, float | str]

_TWICE_AT_ONCE = (PageStatus.MOVED, PageStatus.DUPLICATE)


def figures(kind: Binding, scenario: Scenario, base: NextVisit, worth: Worth | None) -> Figures:
    """Figures of what decides on the page of a scenario.

    Args:
        kind: What decides.
        scenario: The crawl.
        base: When the page is visited next.
        worth: What a visit to it is worth.
    """
    match kind:
        case Binding.NO_RULE | Binding.FILTERED:
            return {}
        case Binding.HOST:
            return _of_host(scenario, base)
        case Binding.NEW:
            return _of_budget(scenario) | _of_new(scenario, base)
        case Binding.PACE | Binding.BUDGET:
            return _of_budget(scenario) | _of_worth(worth)
    last = {
        "last_visit_at": scenario.asked_at,
        "last_compared_at": float(scenario.last[scenario.page]),
    }
    return _of_terms(kind, scenario, base) | last


def in_a_row(status: int, failures: int) -> int:
    """Visits in a row without a page, of which so many are counted.

    One that finds a page moved, or a copy of another, for the first time counts twice, so that it
    is looked at less often.

    >>> in_a_row(PageStatus.MOVED, 2), in_a_row(PageStatus.GONE, 2)
    (1, 2)
    """
    return failures - 1 if status in _TWICE_AT_ONCE and failures > 1 else failures


def _of_terms(kind: Binding, scenario: Scenario, base: NextVisit) -> Figures:
    """Figures of a bound that the settings or the page's life set."""
    terms, page, known = scenario.own_terms, scenario.page, scenario.known
    set_at = {"set_at": float(known.set[page])}
    found: Figures
    match kind:
        case Binding.INTERVAL:
            found = {"interval_days": terms.interval, **set_at}
        case Binding.MAXIMUM:
            found = {"maximum_days": terms.maximum, **set_at}
        case Binding.MINIMUM:
            ends = float(scenario.last[page]) + terms.minimum
            found = {"minimum_days": terms.minimum, "ends_at": ends}
        case Binding.HOURS:
            first, end = terms.hours or (0, 24)
            found = {"first_hour": first, "end_hour": end, "opens_at": terms.opens(base.at)}
        case _:
            times = in_a_row(int(known.status[page]), int(known.failures[page]))
            found = {"times_in_a_row": times, **set_at}
    return found


def _of_budget(scenario: Scenario) -> Figures:
    per_day = scenario.visits_a_day / scenario.share
    return {
        "budget_per_day": per_day,
        "between_visits_days": 1 / per_day if per_day > 0 else nan,
        "pages": round(scenario.pool_size / scenario.share),
    }


def _of_worth(worth: Worth | None) -> Figures:
    if worth is None:
        return {}
    share = worth.value / worth.price if worth.price > 0 else nan
    return {
        "value": worth.value,
        "price": worth.price,
        "share_of_price": share,
        "reaches_price_at": worth.reaches,
    }


def _of_new(scenario: Scenario, base: NextVisit) -> Figures:
    new = np.count_nonzero(scenario.known.status == PageStatus.NEW)
    return {
        "new_pages": round(int(new) / scenario.share),
        "visits_before": round(base.before / scenario.share),
    }


def _of_host(scenario: Scenario, base: NextVisit) -> Figures:
    host, number = scenario.host, scenario.known.host[scenario.page]
    pages = int(np.count_nonzero(scenario.known.host == number))
    return {
        "delay_seconds": host.delay * scenario.share * SECONDS_A_DAY,
        "answer_seconds": host.wait * scenario.share * SECONDS_A_DAY,
        "left_alone_until_at": host.after,
        "pages_of_host": round(pages / scenario.share),
        "visits_before": round(base.at_host / scenario.share),
    }
