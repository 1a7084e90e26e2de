"""Table of batches of visits that other crawlers have reported.

Touches: a database, through what it is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recrawl.entries.reports import AnsweredReport
from recrawl.store.rows.columns import milliseconds
from recrawl.store.rows.values import exactly

if TYPE_CHECKING:
    from recrawl.store.rows.database import Database

KEPT_SECONDS = 86_400.0  # that a sender may take to send a batch again


def put(connection: Database, report: AnsweredReport, at_seconds: float) -> None:
    """Write a batch down, and forget those that nobody sends again."""
    oldest = milliseconds(at_seconds - KEPT_SECONDS)
    connection.execute("delete from reports where at < ?", (oldest,))
    row = (report.key, milliseconds(at_seconds), report.digest, report.answer)
    connection.execute("insert into reports values (?, ?, ?, ?)", row)


def report_of(connection: Database, key: str) -> AnsweredReport | None:
    """A batch by its key; None where none is known."""
    row = connection.execute("select digest, answer from reports where key = ?", (key,)).get
    if row is None:
        return None
    digest, answer = row
    return AnsweredReport(key, exactly(bytes, digest), exactly(str, answer))
