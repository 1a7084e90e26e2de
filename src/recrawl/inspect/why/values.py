"""Why a page's next visit is when it is, as values.

Instants are days after 1970, infinite where there is none; what is not known is nan.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import nan
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


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
        failure: What the last visit met in place of the page, in a word; empty where it met it.
        first_age: Days from the page's Last-Modified at the first visit to that visit; nan if the
            response had none.
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
    failure: str = ""
    first_age: float = nan


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
        correction: How often pages of as many visits, as long since a change and about as fast were
            found changed, over how often that was expected of them; the other figures have it.
    """

    rate: float
    low: float
    high: float
    relatives: float
    own: float
    fresh: float
    correction: float


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
        reaches: When it is worth that, if nothing is learned until then.
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
        simulated: How many of them took part in working this out.
        policy: What decides on visits, by name and parameters.
        valued: Whether that is ours, which says what is believed and what visits are worth.
        robots_tags: What the page asks of crawlers, by name.
        listing: Name of the listing whose block holds for it; empty for none.
        weight: How much a fresh copy of it matters; nan where no block holds for it.
        weights: Name of the file of weights that says so, too; empty for none.
        moved_to: Where the page has moved to; empty where it has not, or that is unknown.
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
    simulated: int = 0
    policy: str = "recrawl"
    valued: bool = True
    robots_tags: str = ""
    listing: str = ""
    weight: float = nan
    weights: str = ""
    moved_to: str = ""
