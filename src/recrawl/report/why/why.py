"""Why a page is visited next when it is: the values, and the same as one object.

Instants are days after 1970, infinite where there is none; what is not known is nan.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import nan
from typing import TYPE_CHECKING, Any

from recrawl.report.plain_values import plain_figure, plain_instant

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


# What `recrawl why --json` holds, and what its parts do.
KEYS = (
    *("page", "at", "status", "block", "next_visit", "next_visit_low", "next_visit_high"),
    *("next_visit_days", "constraint", "figures", "evidence", "estimate", "section", "signals"),
    *("honesty", "worth", "what_if", "pages", "pages_rehearsed"),
)
EVIDENCE_KEYS = (
    *("visits", "compared", "changes", "failures_in_a_row", "first_visit", "last_visit"),
    *("last_compared", "last_change", "outcomes"),
)
ESTIMATE_KEYS = (
    *("rate_per_day", "rate_low_per_day", "rate_high_per_day", "mean_interval_days"),
    *("mean_interval_low_days", "mean_interval_high_days", "relatives_rate_per_day", "own_share"),
    "fresh",
)
SECTION_KEYS = ("address", "pages", "pace", "value", "value_at_pace_1")
HONESTY_KEYS = ("word", "wrong", "heard", "wrong_share_low", "wrong_share_high")
WORTH_KEYS = ("value", "price", "share_of_price", "reaches_price_at", "values")
VALUE_KEYS = ("at", "value", "share_of_price")
WHAT_IF_KEYS = ("change", "was", "to", "next_visit", "next_visit_days", "sooner_days", "moves")


@dataclass(frozen=True, slots=True)
class Evidence:
    """What visits to a page have shown.

    Args:
        visits: How many there were.
        compared: How many compared the page with its copy.
        changes: How many of these found a change.
        failures: How many in a row have failed, or found it gone or refused.
        first_visit: When the first was.
        last_visit: When the last was.
        last_compared: When the last was that compared the page, or copied it first.
        last_change: When the last was that found a change.
        outcomes: Visits by what they found, by its name.
    """

    visits: int
    compared: int
    changes: int
    failures: int
    first_visit: float
    last_visit: float
    last_compared: float
    last_change: float
    outcomes: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Estimate:
    """What is believed of a page that has a copy.

    Args:
        rate: Changes a day.
        low: Lower end of the band that holds the rate in nine cases of ten.
        high: Upper end.
        relatives: Changes a day that would be assumed of it without visits of its own.
        own: How much of the estimate rests on visits of its own.
        fresh: Chance that the copy is still what the page is.
    """

    rate: float
    low: float
    high: float
    relatives: float
    own: float
    fresh: float


@dataclass(frozen=True, slots=True)
class Activity:
    """How active the section of a page is.

    Args:
        address: What the addresses of its pages begin with.
        pages: How many there are.
        pace: Days that pass on its clock in a day, now.
        value: What a visit to the page is worth now.
        even: What it would be worth if the clock had always gone a day a day.
    """

    address: str
    pages: int
    pace: float
    value: float
    even: float


@dataclass(frozen=True, slots=True)
class Honesty:
    """How often one kind of word of a page's host was found wrong.

    Args:
        word: The kind, one of `recrawl.detect.reliability.KINDS`.
        wrong: How often it was wrong.
        heard: How often it was checked.
        low: Lower end of the band that holds the share of wrong words in nine cases of ten.
        high: Upper end.
    """

    word: str
    wrong: int
    heard: int
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Worth:
    """What a visit is worth, and what it must be worth to be made.

    Args:
        value: What it is worth now.
        price: What visits are worth that are made.
        reaches: When it is worth that, if nothing is learnt until then.
        values: What it is worth at some instants.
    """

    value: float
    price: float
    reaches: float
    values: Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class WhatIf:
    """When the page would be visited if one thing were otherwise.

    Args:
        change: Name of the thing.
        was: What it is, as people write it; empty where it is nothing to write down.
        to: What it would be.
        at: When the page would be visited.
        moves: Whether that is another time than it is now.
    """

    change: str
    was: str
    to: str
    at: float
    moves: bool


@dataclass(frozen=True, slots=True)
class Why:
    """Why a page is visited next when it is.

    Args:
        page: Its address.
        at: When it was asked.
        status: Where the page stands in its life, by name.
        block: Address of the block of the settings that decides on it; empty where none does.
        next_visit: When it is visited next.
        low: Lower end of the band that holds the visit in seven cases of ten.
        high: Upper end.
        constraint: Name of what decides.
        figures: Its figures, with units in their names.
        evidence: What visits have shown.
        estimate: What is believed; None where there is no copy.
        section: How active its section is; None where it has none.
        signals: What else told that it may have changed; None where nothing does.
        honesty: How far its host is believed, a kind of word each.
        worth: What a visit is worth; None where that does not decide.
        what_ifs: What would change it.
        pages: How many pages the crawl has.
        rehearsed: How many of them took part in working this out.
    """

    page: str
    at: float
    status: str
    block: str
    next_visit: float
    low: float
    high: float
    constraint: str
    figures: Mapping[str, float | str]
    evidence: Evidence
    estimate: Estimate | None = None
    section: Activity | None = None
    signals: Mapping[str, float] | None = None
    honesty: Sequence[Honesty] = ()
    worth: Worth | None = None
    what_ifs: Sequence[WhatIf] = field(default_factory=tuple)
    pages: int = 0
    rehearsed: int = 0


def why_object(why: Why) -> dict[str, Any]:
    """All of it as plain values, by the names of `KEYS`; None for what is not known."""
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
        *(why.pages, why.rehearsed),
    )
    return dict(zip(KEYS, values, strict=True))


def _evidence(seen: Evidence) -> dict[str, Any]:
    counts = (seen.visits, seen.compared, seen.changes, seen.failures)
    when = (seen.first_visit, seen.last_visit, seen.last_compared, seen.last_change)
    values = (*counts, *map(plain_instant, when), dict(seen.outcomes))
    return dict(zip(EVIDENCE_KEYS, values, strict=True))


def _estimate(believed: Estimate) -> dict[str, Any]:
    rates = (believed.rate, believed.low, believed.high)
    intervals = (1 / believed.rate, 1 / believed.high, 1 / believed.low)
    values = (*rates, *intervals, believed.relatives, believed.own, believed.fresh)
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
    """A figure by its name: those that end in `_at` are instants."""
    if isinstance(figure, str):
        return figure
    if name.endswith("_at"):
        return plain_instant(figure)
    return figure if isinstance(figure, int) else plain_figure(figure)
