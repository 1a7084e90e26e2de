"""Reasons for a page's next visit as a JSON object.

Pure.
"""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any

from recrawl.report.plain_values import plain_figure, plain_instant

if TYPE_CHECKING:
    from recrawl.inspect.why.values import (
        Activity,
        Estimate,
        Evidence,
        Honesty,
        WhatIf,
        Why,
        Worth,
    )


# Keys of `recrawl why --json` and of its parts.
KEYS = (
    *("page", "at", "status", "block", "next_visit", "next_visit_low", "next_visit_high"),
    *("next_visit_days", "constraint", "figures", "evidence", "estimate", "section", "signals"),
    *("honesty", "worth", "what_if", "pages", "pages_simulated", "policy"),
    *("robots_tags", "weight", "moved_to"),
)
EVIDENCE_KEYS = (
    *("visits", "compared", "changes", "failures_in_a_row", "first_visit", "last_visit"),
    *("last_compared", "last_change", "outcomes", "failure", "first_age_days"),
)
ESTIMATE_KEYS = (
    *("rate_per_day", "rate_low_per_day", "rate_high_per_day", "mean_interval_days"),
    *("mean_interval_low_days", "mean_interval_high_days", "relatives_rate_per_day", "own_share"),
    *("fresh", "correction"),
)
SECTION_KEYS = ("address", "pages", "pace", "value", "value_at_pace_1")
HONESTY_KEYS = ("signal", "wrong", "checked", "wrong_share_low", "wrong_share_high")
WORTH_KEYS = ("value", "price", "share_of_price", "reaches_price_at", "values")
VALUE_KEYS = ("at", "value", "share_of_price")
WHAT_IF_KEYS = ("change", "was", "to", "next_visit", "next_visit_days", "sooner_days", "moves")


def why_object(why: Why) -> dict[str, Any]:
    """The JSON object, by `KEYS`; None for unknown values."""
    values = (
        *(why.page, plain_instant(why.at), why.status, why.block or None),
        *map(plain_instant, (why.next_visit, why.low, why.high)),
        plain_figure(why.next_visit - why.at),
        why.constraint,
        {name: _plain(name, figure) for name, figure in why.figures.items()},
        _evidence(why.evidence),
        _estimate(why.estimate) if why.estimate else None,
        _section(why.section) if why.section else None,
        {name: _plain(name, each) for name, each in why.signals.items()} if why.signals else None,
        [_honesty(each) for each in why.honesty],
        _worth(why.worth) if why.worth else None,
        [_what_if(each, why) for each in why.what_ifs],
        *(why.pages, why.simulated, why.policy, why.robots_tags or None),
        plain_figure(why.weight),
        why.moved_to or None,
    )
    return dict(zip(KEYS, values, strict=True))


def _evidence(seen: Evidence) -> dict[str, Any]:
    counts = (seen.visits, seen.compared, seen.changes, seen.failures)
    when = (seen.first_visit, seen.last_visit, seen.last_compared, seen.last_change)
    values = (
        *counts,
        *map(plain_instant, when),
        dict(seen.outcomes),
        seen.failure or None,
        plain_figure(seen.first_age),
    )
    return dict(zip(EVIDENCE_KEYS, values, strict=True))


def _estimate(believed: Estimate) -> dict[str, Any]:
    rates = (believed.rate, believed.low, believed.high)
    intervals = (1 / believed.rate, 1 / believed.high, 1 / believed.low)
    shares = (believed.own, believed.fresh, believed.correction)
    values = (*rates, *intervals, believed.relatives, *shares)
    return dict(zip(ESTIMATE_KEYS, map(plain_figure, values), strict=True))


def _section(active: Activity) -> dict[str, Any]:
    figures = map(plain_figure, (active.pace, active.value, active.even))
    return dict(zip(SECTION_KEYS, (active.address, active.pages, *figures), strict=True))


def _honesty(found: Honesty) -> dict[str, Any]:
    values = (
        found.word,
        found.wrong,
        found.heard,
        plain_figure(found.low),
        plain_figure(found.high),
    )
    return dict(zip(HONESTY_KEYS, values, strict=True))


def _worth(worth: Worth) -> dict[str, Any]:
    points = [
        dict(zip(VALUE_KEYS, (plain_instant(at), *_of_price(value, worth.price)), strict=True))
        for at, value in worth.values
    ]
    value, share = _of_price(worth.value, worth.price)
    values = (value, plain_figure(worth.price), share, plain_instant(worth.reaches), points)
    return dict(zip(WORTH_KEYS, values, strict=True))


def _of_price(value: float, price: float) -> tuple[float | None, float | None]:
    return plain_figure(value), plain_figure(value / price if price > 0 else nan)


def _what_if(each: WhatIf, why: Why) -> dict[str, Any]:
    ahead, sooner = each.at - why.at, why.next_visit - each.at
    values = (
        *(each.change, each.was or None, each.to),
        *(plain_instant(each.at), plain_figure(ahead), plain_figure(sooner), each.moves),
    )
    return dict(zip(WHAT_IF_KEYS, values, strict=True))


def _plain(name: str, figure: float | str) -> float | str | None:
    """A JSON value; figures whose names end in `_at` are instants."""
    if isinstance(figure, str):
        return figure
    if name.endswith("_at"):
        return plain_instant(figure)
    return figure if isinstance(figure, int) else plain_figure(figure)
