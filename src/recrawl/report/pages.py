"""The pages of a crawl as a table: what `recrawl pages` shows and `recrawl export` writes.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.errors import InvalidParameter
from recrawl.inspect.pages import FAILED, LEFT_OUT, STATUS_LABELS
from recrawl.parse.addresses import origin_of
from recrawl.report.listings.sheets import texts
from recrawl.report.rates import Named
from recrawl.report.words import every, percent
from recrawl.visits.status import RobotsTag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.arrays.types import Floats, Instants, Ints
    from recrawl.inspect.pages import PageRows
    from recrawl.report.rates import Column

PAGE_COLUMNS = (
    "page",
    "status",
    "visits",
    "changes",
    "rate_per_day",
    "low",
    "high",
    "mean_interval_days",
    "fresh_now",
    "last_visit",
    "last_change",
    "next_visit",
    "weight",
    "robots_tags",
    "listing",
    "failure",
    "last_attempt",
    "moved_to",
    "duplicate_of",
    "left_out",
)
RATE_COLUMNS = (
    *("page", "rate_per_day", "low", "high", "mean_interval_days", "shape", "exposure_days"),
    *("changes", "visits", "last_visit", "fresh_now", "weight", "expected_per_day"),
)
HEADER = ("page", "status", "every", "between", "fresh now", "visited", "next")
SPARE = (3, 5)  # of these columns, the ones that a narrow terminal leaves out first
_TAG_SETS = 2 ** len(RobotsTag)
ORDERS = ("rate", "fresh", "next", "visited", "address")


def ordered(
    pages: PageRows, by: str, next_visit: Instants | None, addresses: Sequence[str]
) -> Ints:
    """Rows in an order that puts first what a person asks for.

    Fastest, stalest, soonest and longest unvisited come first; what is not known comes last.

    Args:
        pages: The pages.
        by: One of `ORDERS`.
        next_visit: When each is visited next, for that order.
        addresses: Address of each, for that order.
    """
    if by == "rate":
        key: Floats | Instants = -pages.rate
    elif by == "fresh":
        key = pages.fresh
    elif by == "visited":
        key = pages.last_visit
    elif by == "next" and next_visit is not None:
        key = next_visit
    elif by == "address":
        return np.array(sorted(range(len(pages)), key=addresses.__getitem__), np.int64)
    else:
        raise InvalidParameter(f"sort must be one of {', '.join(ORDERS)} (got {by!r})")
    return np.argsort(key, kind="stable")


def status_named(text: str) -> int:
    """How pages are shown that are called so, as a place of `STATUS_LABELS`.

    >>> STATUS_LABELS[status_named("gone")]
    'gone'
    """
    if text in STATUS_LABELS:
        return STATUS_LABELS.index(text)
    labels = ", ".join(STATUS_LABELS)
    raise InvalidParameter(f"status must be one of {labels} (got {text!r})")


def page_columns(pages: PageRows, next_visit: Instants) -> dict[str, Column]:
    """Columns of `PAGE_COLUMNS` but the first."""
    rates = _rates(pages)
    columns: dict[str, Column] = {
        "status": Named(pages.status, STATUS_LABELS),
        **rates,
        "last_change": pages.last_change,
        "next_visit": next_visit,
        "robots_tags": Named(pages.robots, [RobotsTag(each).label for each in range(_TAG_SETS)]),
        "listing": texts(pages.listing.tolist()),
        "failure": texts(pages.failure.tolist()),
        "last_attempt": pages.last_attempt,
        "moved_to": texts(pages.moved_to.tolist()),
        "duplicate_of": texts(pages.duplicate_of.tolist()),
        "left_out": texts(pages.left_out.tolist()),
    }
    return {name: columns[name] for name in PAGE_COLUMNS[1:]}


def rate_columns(pages: PageRows) -> dict[str, Column]:
    """Columns of `RATE_COLUMNS` but the first."""
    columns = _rates(pages)
    return {name: columns[name] for name in RATE_COLUMNS[1:]}


def _rates(pages: PageRows) -> dict[str, Column]:
    with np.errstate(divide="ignore"):
        interval = 1 / pages.rate
    return {
        "rate_per_day": pages.rate,
        "low": pages.low,
        "high": pages.high,
        "mean_interval_days": np.where(np.isfinite(interval), interval, np.nan),
        "expected_per_day": pages.shape / pages.exposure,
        "shape": pages.shape,
        "exposure_days": pages.exposure,
        "changes": pages.changes,
        "visits": pages.visits,
        "last_visit": pages.last_visit,
        "fresh_now": pages.fresh,
        "weight": pages.weight,
    }


def page_words(
    addresses: Sequence[str], pages: PageRows, next_visit: Instants, now: np.datetime64
) -> list[list[str]]:
    """Rows for people, under `HEADER`."""
    with np.errstate(divide="ignore"):
        interval, slow, fast = 1 / pages.rate, 1 / pages.low, 1 / pages.high
    return [
        [
            address,
            _status(pages, row, address),
            every(interval[row]),
            "-" if np.isnan(slow[row]) else f"{every(fast[row])} - {every(slow[row])}",
            percent(pages.fresh[row]),
            _visited(pages, row, now),
            ahead(next_visit[row], now),
        ]
        for row, address in enumerate(addresses)
    ]


def _status(pages: PageRows, row: int, address: str) -> str:
    """Status of a page; what its last visit met, where it has moved to, whether it is not kept."""
    shown = int(pages.status[row])
    if shown == LEFT_OUT:
        return f"left out: {pages.left_out[row]}"
    # Why there is no copy says more than that there is none.
    label, failure = STATUS_LABELS[shown], pages.failure[row]
    told = failure and (shown == FAILED or failure.startswith(f"{label} ("))
    said = [] if told else [label]
    if target := pages.moved_to[row]:
        origin = origin_of(address)
        near = target.removeprefix(origin) if target.startswith(f"{origin}/") else target
        said = [f"{said[0]} to {near}"]
    said += [failure] if failure else []
    if RobotsTag.NOARCHIVE in RobotsTag(int(pages.robots[row])):
        said.append(RobotsTag.NOARCHIVE.label)
    return ", ".join(said)


def _visited(pages: PageRows, row: int, now: np.datetime64) -> str:
    """When a page was last compared with its copy, and when a visit failed since."""
    failed = ago(pages.last_attempt[row], now)
    if failed == "-":
        return ago(pages.last_visit[row], now)
    if np.isnat(pages.last_visit[row]):
        return f"failed {failed}"
    return f"{ago(pages.last_visit[row], now)}, failed {failed}"


def ago(moment: np.datetime64, now: np.datetime64) -> str:
    """How long ago something was; a dash where it never was.

    >>> ago(np.datetime64("2026-01-01T00:00", "us"), np.datetime64("2026-01-01T06:00", "us"))
    '6.0h ago'
    """
    return "-" if np.isnat(moment) else f"{every(max(_days(moment, now), 0.0))} ago"


def ahead(moment: np.datetime64, now: np.datetime64) -> str:
    """How soon something is; a dash where nobody knows.

    >>> ahead(np.datetime64("2026-01-01T06:00", "us"), np.datetime64("2026-01-01T00:00", "us"))
    'in 6.0h'
    """
    if np.isnat(moment):
        return "-"
    days = _days(now, moment)
    return f"in {every(days)}" if days > 0 else "now"


def _days(earlier: np.datetime64, later: np.datetime64) -> float:
    return float((later - earlier) / np.timedelta64(1, "D"))
