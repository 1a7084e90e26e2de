"""What was visited of late, looked up visit by visit: nobody reads a week of visits for that.

A visit knows the one before it to the same page, so a few thousand of them and all that went
before each are found without an index.

Touches: files.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.store.sqlite.connections import as_it_was_written, connect_to_read, one_view
from recrawl.store.sqlite.latest_visits import newest_visits
from recrawl.visits.status import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import apsw

    from recrawl.arrays.types import Bools, Floats, Ints

_COMPARED = np.array([outcome.compared for outcome in Outcome])
# Visits of a page that are gone back to: who failed so often in a row is not looked at further.
_FURTHEST_BACK = 1000


@dataclass(frozen=True, slots=True, eq=False)
class DrawnVisits:
    """Some visits, and what had happened to their pages before.

    Args:
        outcome: Numbers of `Outcome`.
        audited: Whether a second request was made to check the first.
        copied: Whether there was a copy before.
        compared: Visits before that compared page and copy, counted as far as was asked for.
    """

    outcome: Ints
    audited: Bools
    copied: Bools
    compared: Ints

    def __len__(self) -> int:
        """Count the visits."""
        return len(self.outcome)


def drawn_visits(path: Path, numbers: Ints, enough: int) -> DrawnVisits:
    """Visits by number, and how many before each compared its page, up to `enough`."""
    with _reading(path) as connection:
        query = "select before, outcome, audit is not null from visits where id = ?"
        before, outcome, audited = _looked_up(connection, query, numbers, 3)
        copied, compared = np.zeros(len(numbers), np.bool_), np.zeros(len(numbers), np.int64)
        open_ = np.flatnonzero(before > 0)
        query = "select before, outcome, 0 from visits where id = ?"
        for _ in range(_FURTHEST_BACK):
            if not len(open_):
                break
            older, found, _ = _looked_up(connection, query, before[open_], 3)
            compared[open_] += _COMPARED[found]
            copied[open_] |= (found == Outcome.FIRST) | _COMPARED[found]
            # So that damage makes no ring of the chain.
            before[open_] = np.where(older < before[open_], older, 0)
            open_ = open_[(before[open_] > 0) & (compared[open_] < enough)]
    return DrawnVisits(outcome, audited > 0, copied, compared)


def visits_since(path: Path, pages: Ints, seconds: float) -> Ints:
    """How many visits were made to each of some pages at or after an instant."""
    counts = np.zeros(len(pages), np.int64)
    with _reading(path) as connection:
        visit = newest_visits(connection, pages)
        open_ = np.flatnonzero(visit > 0)
        query = "select before, at from visits where id = ?"
        while len(open_):
            older, at = _looked_up(connection, query, visit[open_], 2)
            since = at >= seconds * 1000
            counts[open_] += since
            visit[open_] = np.where((older < visit[open_]) & since, older, 0)
            open_ = open_[visit[open_] > 0]
    return counts


def last_visits(path: Path, pages: Ints) -> Floats:
    """When each of some different pages was last visited, in epoch seconds; nan if never."""
    with _reading(path) as connection:
        visit = newest_visits(connection, pages)
        some = np.flatnonzero(visit > 0)
        (at,) = _looked_up(connection, "select at from visits where id = ?", visit[some], 1)
    found = np.full(len(pages), np.nan)
    found[some] = at / 1000
    return found


def rules_and_hosts(path: Path, pages: Ints) -> tuple[Ints, Ints]:
    """Number of the rule and of the host of each of some pages."""
    with _reading(path) as connection:
        rule, host = _looked_up(connection, "select rule, host from pages where id = ?", pages, 2)
    return rule, host


def copies_of_rules(path: Path, rules: Ints) -> tuple[Ints, Ints]:
    """Numbers of the pages of some rules that have a copy, and the rule of each."""
    with _reading(path) as connection:
        among = ",".join(map(str, rules.tolist()))
        query = f"select id, rule from pages where rule in ({among}) and status in (1, 2)"  # noqa: S608 - whole numbers
        joined: Any = connection.execute(
            f"select group_concat(id || ',' || rule) from ({query} order by id)"  # noqa: S608 - the same
        ).get
    flat = np.fromstring(joined or "", np.int64, sep=",").reshape(-1, 2)
    return flat[:, 0], flat[:, 1]


def paces_of_hosts(path: Path, hosts: Ints) -> tuple[Floats, Floats]:
    """Days that each of some hosts asks for between requests, and seconds until it answers."""
    query = """
        select coalesce(delay_days, 0.0), coalesce(latency_seconds, 0.0) from hosts where id = ?
    """
    with _reading(path) as connection:
        rows = connection.executemany(query, ((int(host),) for host in hosts)).fetchall()
    delay, latency = np.array(rows, np.float64).reshape(-1, 2).T
    return delay, latency


@contextmanager
def _reading(path: Path) -> Iterator[apsw.Connection]:
    """A connection of its own, so that it may be used beside other readers."""
    connection = connect_to_read(path)
    try:
        with as_it_was_written(path), one_view(connection):
            yield connection
    finally:
        connection.close()


def _looked_up(connection: apsw.Connection, query: str, keys: Ints, columns: int) -> list[Ints]:
    """Columns of whole numbers of the one row that a query has for each key."""
    rows = connection.executemany(query, ((key,) for key in keys.tolist())).fetchall()
    return list(np.array(rows, np.int64).reshape(len(keys), columns).T.copy())
