"""Conversion between the rows of a database and columns of arrays.

In a store, instants are whole milliseconds, shares ten-thousandths, and ids of pages and hosts
count from 1.

Touches: a database, through what it is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.entries.columns import OutcomeColumns, PageColumns, VisitColumns
from recrawl.store.rows.values import FIRST_INSTANT, LAST_INSTANT, MOST, number
from recrawl.visits.status import Audit, PageStatus, VisitOutcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.arrays.types import Bools, Instants, Ints
    from recrawl.store.rows.database import Database

_NAT = np.iinfo(np.int64).min

# Stand-in for null in each nullable column: a number that it never holds, and a short one, since it
# is written and parsed as text.
_NULL = {
    "next_at": -1,
    "http": 0,
    "age_seconds": -(10**11),
    "size": -1,
    "took_milliseconds": -1,
    "share": -1,
    "audit": 0,
}


def read_columns(
    connection: Database, names: Sequence[str], source: str, binding: tuple[Any, ...] = ()
) -> list[Ints]:
    """Integer columns of a query, in its order.

    Args:
        connection: To the store.
        names: Columns of the query.
        source: The query. Never untrusted text.
        binding: Values for its question marks.
    """
    columns = [f"coalesce({name}, {_NULL[name]})" if name in _NULL else name for name in names]
    return [*connection.numbers(columns, source, binding).T.copy()]


_PAGES = ("host", "rule", "found_at", "status", "failures", "next_at", "listed")
_OUTCOMES = ("id", "page", "at", "outcome", "age_seconds", "audit")
_VISITS = (*_OUTCOMES, "http", "size", "took_milliseconds", "share")
_FEW_ROWS = 10_000
_LEAST_ROW_BYTES = 8
SHARES = 10_000  # a whole, as the store counts shares of words


# What the numbers of a column may be. A damaged one must not be taken for a row of an array.
_RANGES = {
    "found_at": (FIRST_INSTANT, LAST_INSTANT),
    "status": (0, max(PageStatus)),
    "failures": (0, MOST),
    "next_at": (FIRST_INSTANT, LAST_INSTANT),
    "at": (FIRST_INSTANT, LAST_INSTANT),
    "outcome": (0, max(VisitOutcome)),
    "audit": (0, max(Audit)),
    "age_seconds": (3 * _NULL["age_seconds"], -3 * _NULL["age_seconds"]),
    "http": (0, MOST),
    "size": (_NULL["size"], MOST),
    "took_milliseconds": (-MOST, MOST),
    "share": (_NULL["share"], SHARES),
}


def _checked(names: Sequence[str], columns: Sequence[Ints], **counts: int) -> list[Ints]:
    """Columns whose numbers are all within their ranges.

    Args:
        names: Their names.
        columns: The columns.
        counts: How many pages or hosts there are, whose numbers count from 1.
    """
    ranges = _RANGES | {name: (1, most) for name, most in counts.items()}
    for name, column in zip(names, columns, strict=True):
        least, most = ranges.get(name, (-MOST, MOST))
        if len(column) and not (least <= column.min() and column.max() <= most):
            raise ValueError(f"{name} is not between {least} and {most} everywhere")
    return list(columns)


def page_columns(connection: Database, first: int, count: int) -> PageColumns:
    """Columns of at most `count` pages from number `first` on."""
    query = "select * from pages where id > ? and id <= ? order by id"
    found = found_pages(connection, query, (first, first + count))
    if len(found.host) != min(largest_id(connection, "pages") - first, count):
        raise ValueError("some pages are missing")
    return found


def found_pages(connection: Database, query: str, binding: tuple[Any, ...]) -> PageColumns:
    """Columns of the pages that a query of `pages` names."""
    columns = read_columns(connection, _PAGES, query, binding)
    hosts = largest_id(connection, "hosts")
    columns = _checked(_PAGES, columns, host=hosts)
    host, rule, found_at, status, failures, next_at, listed = columns
    return PageColumns(
        host=host - 1,
        rule=rule,
        found_at=_instants(found_at),
        status=status.astype(np.uint8),
        failures=failures,
        next_at=_instants(next_at, next_at == _NULL["next_at"]),
        listed=listed == 1,
    )


def outcome_columns(connection: Database, after: int, count: int) -> OutcomeColumns:
    """Columns of at most `count` visits with numbers above `after`."""
    query = "select * from visits where id > ? and id <= ? order by id"
    found = found_outcomes(connection, query, (after, after + count))
    _check_dense(found.visit, after)
    return found


def found_outcomes(connection: Database, query: str, binding: tuple[Any, ...]) -> OutcomeColumns:
    """Columns of the visits that a query of `visits` names."""
    columns = read_columns(connection, _OUTCOMES, query, binding)
    columns = _checked(_OUTCOMES, columns, page=largest_id(connection, "pages"))
    visit, page, at, outcome, age_seconds, audit = columns
    return OutcomeColumns(
        visit=visit,
        page=page - 1,
        at=_instants(at),
        outcome=outcome.astype(np.uint8),
        modified_at=_modified_at(at, age_seconds),
        audit=audit.astype(np.uint8),
    )


def visits_after(connection: Database, after: int, count: int) -> VisitColumns:
    """All columns of at most `count` visits with numbers above `after`."""
    query = "select * from visits where id > ? and id <= ? order by id"
    found = visit_columns(connection, query, (after, after + count))
    _check_dense(found.visit, after)
    return found


def _check_dense(visit: Ints, after: int) -> None:
    if not np.array_equal(visit, np.arange(after + 1, after + 1 + max(len(visit), 1))):
        raise ValueError("some visits are missing")


def visit_columns(connection: Database, query: str, binding: tuple[Any, ...]) -> VisitColumns:
    """Columns of the visits that a query of `visits` names."""
    columns = read_columns(connection, _VISITS, query, binding)
    columns = _checked(_VISITS, columns, page=largest_id(connection, "pages"))
    visit, page, at, outcome, age_seconds, audit, http, size, took, share = columns
    return VisitColumns(
        visit=visit,
        page=page - 1,
        at=_instants(at),
        outcome=outcome.astype(np.uint8),
        http=http,
        modified_at=_modified_at(at, age_seconds),
        size=size,
        took_seconds=np.where(took < 0, np.nan, took / 1000),
        share=np.where(share < 0, np.nan, share / SHARES),
        audit=audit.astype(np.uint8),
    )


def largest_id(connection: Database, table: str) -> int:
    """Largest id in a table whose ids are dense, which is how many rows it has.

    Args:
        connection: To the store.
        table: One of ours; never untrusted text.
    """
    found = number(connection.execute(f"select coalesce(max(id), 0) from {table}").get)  # noqa: S608
    # A row with a number of its own making must not have us count to it, or make room for it.
    if found > _FEW_ROWS and found * _LEAST_ROW_BYTES > connection.stored_bytes():
        raise ValueError(f"{table}: number {found} is more than the file has room for")
    return found


def joined(parts: Sequence[PageColumns]) -> PageColumns:
    """Several ranges of pages as one."""
    if len(parts) == 1:
        return parts[0]
    return PageColumns(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in PageColumns.__slots__)
    )


def whole_numbers(connection: Database, query: str, binding: tuple[Any, ...] = ()) -> Ints:
    """The column `number` of a query. Never untrusted text."""
    (column,) = read_columns(connection, ("number",), query, binding)
    return column


def looked_up(connection: Database, table: str, columns: Sequence[str], ids: Ints) -> list[Ints]:
    """Columns of whole numbers of the row that a table has for each id."""
    return [*connection.look_up(table, columns, ids).T.copy()]


def milliseconds(seconds: float) -> int:
    """Epoch seconds as a store keeps them: in milliseconds.

    >>> milliseconds(1.2346)
    1235
    """
    return round(seconds * 1000)


def maybe_milliseconds(seconds: float | None) -> int | None:
    """The same; None stays None."""
    return None if seconds is None else round(seconds * 1000)


def _modified_at(at: Ints, age_seconds: Ints) -> Instants:
    """Instants of the last change, in whole seconds as hosts report them."""
    return _instants((at // 1000 - age_seconds) * 1000, age_seconds == _NULL["age_seconds"])


def _instants(milliseconds: Ints, unknown: Bools | None = None) -> Instants:
    whole = milliseconds * 1000
    if unknown is not None:
        whole[unknown] = _NAT
    return whole.view("datetime64[us]")
