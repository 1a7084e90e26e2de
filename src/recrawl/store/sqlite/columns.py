"""Rows of a store as arrays.

SQLite joins whole columns into one text, and numpy reads the text: several times faster than
making a Python object of every number.

Touches: files.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.units import days_between

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from recrawl.arrays.types import Bools, Floats, Instants, Ints, Statuses

_NAT = np.iinfo(np.int64).min

# What each column that may be null has in place of null: a number that it never holds, and a
# short one, since it is written and read as text.
_NULL = {
    "next_at": -1,
    "http": 0,
    "age_seconds": -(10**11),
    "size": -1,
    "took_milliseconds": -1,
    "share": -1,
    "audit": 0,
}


@dataclass(frozen=True, slots=True, eq=False)
class PageColumns:
    """Pages in the order of their numbers: row = number - 1.

    Args:
        host: Number of the host.
        rule: Number of the entry of the configuration.
        found_at: When it was found.
        status: Numbers of `PageStatus`.
        failures: Visits that failed since one last succeeded.
        next_at: An appointment, NaT where there is none.
    """

    host: Ints
    rule: Ints
    found_at: Instants
    status: Statuses
    failures: Ints
    next_at: Instants


@dataclass(frozen=True, slots=True, eq=False)
class OutcomeColumns:
    """What visits found, in the order in which they were written: all that is learnt from.

    Args:
        visit: Number of the visit.
        page: Number of the page.
        at: When.
        outcome: Numbers of `Outcome`.
        modified_at: When the page last changed, NaT where nobody told.
        audit: Numbers of `Audit`.
    """

    visit: Ints
    page: Ints
    at: Instants
    outcome: Statuses
    modified_at: Instants
    audit: Statuses

    @property
    def age(self) -> Floats:
        """Days from the page's last change to the visit; nan where nobody told."""
        return days_between(self.modified_at, self.at)


@dataclass(frozen=True, slots=True, eq=False)
class VisitColumns:
    """All that is known of visits, in the order in which they were written.

    Args:
        visit: Number of the visit.
        page: Number of the page.
        at: When.
        outcome: Numbers of `Outcome`.
        http: Status code, 0 without an answer.
        modified_at: When the page last changed, NaT where nobody told.
        size: Bytes of the body, -1 where there was none.
        took_seconds: How long it took, nan where not known.
        share: Share of the words that differ, nan where nothing was compared.
        audit: Numbers of `Audit`.
    """

    visit: Ints
    page: Ints
    at: Instants
    outcome: Statuses
    http: Ints
    modified_at: Instants
    size: Ints
    took_seconds: Floats
    share: Floats
    audit: Statuses

    @property
    def age(self) -> Floats:
        """Days from the page's last change to the visit; nan where nobody told."""
        return days_between(self.modified_at, self.at)


def read_columns(
    connection: apsw.Connection, names: Sequence[str], source: str, binding: tuple[Any, ...] = ()
) -> list[Ints]:
    """Columns of whole numbers of a query, which the caller has put in order.

    Args:
        connection: To the store.
        names: Columns of the query.
        source: The query. Never text from outside.
        binding: Values for its question marks.
    """
    row = " || ',' || ".join(
        f"coalesce({name}, {_NULL[name]})" if name in _NULL else name for name in names
    )
    text = connection.execute(f"select group_concat({row}) from ({source})", binding).get  # noqa: S608 - our own names
    if text is None:
        return [np.empty(0, np.int64) for _ in names]
    flat: Ints = np.fromstring(str(text), np.int64, sep=",")
    return [np.ascontiguousarray(column) for column in flat.reshape(-1, len(names)).T]


_PAGES = ("host", "rule", "found_at", "status", "failures", "next_at")
_OUTCOMES = ("id", "page", "at", "outcome", "age_seconds", "audit")
_VISITS = (*_OUTCOMES, "http", "size", "took_milliseconds", "share")
SHARES = 10_000  # a whole, as the store counts shares of words


def page_columns(connection: apsw.Connection, after: int, count: int) -> PageColumns:
    """Columns of at most `count` pages with numbers above `after`."""
    query = "select * from pages where id > ? and id <= ? order by id"
    columns = read_columns(connection, _PAGES, query, (after, after + count))
    host, rule, found_at, status, failures, next_at = columns
    return PageColumns(
        host=host,
        rule=rule,
        found_at=_instants(found_at),
        status=status.astype(np.uint8),
        failures=failures,
        next_at=_instants(next_at, next_at == _NULL["next_at"]),
    )


def outcome_columns(connection: apsw.Connection, after: int, count: int) -> OutcomeColumns:
    """Columns of at most `count` visits with numbers above `after`."""
    query = "select * from visits where id > ? and id <= ? order by id"
    columns = read_columns(connection, _OUTCOMES, query, (after, after + count))
    visit, page, at, outcome, age_seconds, audit = columns
    return OutcomeColumns(
        visit=visit,
        page=page,
        at=_instants(at),
        outcome=outcome.astype(np.uint8),
        modified_at=_modified_at(at, age_seconds),
        audit=audit.astype(np.uint8),
    )


def visit_columns(
    connection: apsw.Connection, query: str, binding: tuple[Any, ...]
) -> VisitColumns:
    """Columns of the visits that a query of `visits` names."""
    columns = read_columns(connection, _VISITS, query, binding)
    visit, page, at, outcome, age_seconds, audit, http, size, took, share = columns
    return VisitColumns(
        visit=visit,
        page=page,
        at=_instants(at),
        outcome=outcome.astype(np.uint8),
        http=http,
        modified_at=_modified_at(at, age_seconds),
        size=size,
        took_seconds=np.where(took < 0, np.nan, took / 1000),
        share=np.where(share < 0, np.nan, share / SHARES),
        audit=audit.astype(np.uint8),
    )


def joined(parts: Sequence[PageColumns]) -> PageColumns:
    """Several stretches of pages as one."""
    if len(parts) == 1:
        return parts[0]
    return PageColumns(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in PageColumns.__slots__)
    )


def _modified_at(at: Ints, age_seconds: Ints) -> Instants:
    """When pages last changed: whole seconds, as hosts tell it."""
    return _instants((at // 1000 - age_seconds) * 1000, age_seconds == _NULL["age_seconds"])


def _instants(milliseconds: Ints, unknown: Bools | None = None) -> Instants:
    whole = milliseconds * 1000
    if unknown is not None:
        whole[unknown] = _NAT
    return whole.view("datetime64[us]")
