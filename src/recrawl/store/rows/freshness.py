"""Table of the freshness that was expected, hour by hour.

Touches: a database, through what it is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recrawl.entries.freshness import FreshnessNoted
from recrawl.store.rows.columns import milliseconds
from recrawl.store.rows.database import upsert
from recrawl.store.rows.values import figure, instant, number

if TYPE_CHECKING:
    from recrawl.store.rows.database import Database

_PUT = upsert("freshness", "at, copies, fresh, low, high", "at")
_MOST_ROWS = 20_000  # read at once: two years


def put(connection: Database, noted: FreshnessNoted) -> None:
    """Write a row."""
    row = (milliseconds(noted.at_seconds), noted.copies, noted.fresh, noted.low, noted.high)
    connection.execute(_PUT, row)


def freshness_noted(connection: Database, since_seconds: float = 0.0) -> list[FreshnessNoted]:
    """Rows since an instant, oldest first; only the newest where there are very many."""
    query = (
        "select at, copies, fresh, low, high from freshness where at >= ? order by at desc limit ?"
    )
    rows = connection.execute(query, (milliseconds(since_seconds), _MOST_ROWS)).fetchall()
    return [
        FreshnessNoted(
            instant(at),
            number(copies),
            *(figure(each, 0.0) for each in (fresh, low, high)),
        )
        for at, copies, fresh, low, high in reversed(rows)
    ]
