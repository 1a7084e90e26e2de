"""Where the pages of a store stand, counted by the database: nobody reads a million rows for that.

Touches: files.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.store.sqlite.connections import connect_to_read, in_plain_words
from recrawl.visits.status import PageStatus

if TYPE_CHECKING:
    from pathlib import Path

    from recrawl.arrays.types import Ints

_WITHOUT_PAGE = tuple(map(int, (PageStatus.GONE, PageStatus.REFUSED, PageStatus.MOVED)))
_COUNT = """
    select rule, status, count(*), coalesce(sum(next_at < ?), 0), min(next_at)
    from pages group by rule, status
"""


@dataclass(frozen=True, slots=True)
class Standing:
    """Pages of one rule that stand at one place in their lives.

    Args:
        rule: Number of the rule.
        status: Where they stand.
        pages: How many there are.
        overdue: How many should have been visited by now.
        next_at_seconds: First of their set times; None where they have none.
    """

    rule: int
    status: PageStatus
    pages: int
    overdue: int
    next_at_seconds: float | None


def standing(path: Path, now_seconds: float) -> list[Standing]:
    """How many pages of each rule stand where; may run beside other readers."""
    connection = connect_to_read(path)
    try:
        with in_plain_words(path):
            rows: list[Any] = connection.execute(_COUNT, (now_seconds * 1000,)).fetchall()
    finally:
        connection.close()
    return [
        Standing(rule, PageStatus(status), pages, overdue, None if at is None else at / 1000)
        for rule, status, pages, overdue, at in rows
    ]


def without_page(path: Path) -> Ints:
    """Numbers of pages that are gone, refused or elsewhere, rising: no copy of them is fresh."""
    query = f"select id as number from pages where status in {_WITHOUT_PAGE} order by id"  # noqa: S608 - our own numbers
    return _whole_numbers(path, query)


def appointed(path: Path) -> Ints:
    """Numbers of pages that have a set time, rising."""
    query = "select id as number from pages where next_at is not null order by id"
    return _whole_numbers(path, query)


def rules_of_pages(path: Path) -> Ints:
    """Number of each page's rule, in the order of the pages."""
    return _whole_numbers(path, "select rule as number from pages order by id")


def _whole_numbers(path: Path, query: str) -> Ints:
    """The one column of a query; never text from outside."""
    connection = connect_to_read(path)
    try:
        with in_plain_words(path):
            joined = f"select group_concat(number) from ({query})"  # noqa: S608 - our own words
            text: Any = connection.execute(joined).get
    finally:
        connection.close()
    return np.fromstring(text or "", np.int64, sep=",")
