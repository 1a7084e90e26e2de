"""Conversion between SQLite's rows and columns of arrays.

In the file, instants are whole milliseconds, shares ten-thousandths, and ids of pages and hosts
count from 1. SQLite concatenates whole columns into one text that numpy parses, which is several
times faster than creating a Python object per number.

Touches: files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.entries.columns import OutcomeColumns, PageColumns, VisitColumns

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from recrawl.arrays.types import Bools, Instants, Ints

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
    connection: apsw.Connection, names: Sequence[str], source: str, binding: tuple[Any, ...] = ()
) -> list[Ints]:
    """Integer columns of a query, in its order.

    Args:
        connection: To the store.
        names: Columns of the query.
        source: The query. Never untrusted text.
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


def page_columns(connection: apsw.Connection, first: int, count: int) -> PageColumns:
    """Columns of at most `count` pages from number `first` on."""
    query = "select * from pages where id > ? and id <= ? order by id"
    columns = read_columns(connection, _PAGES, query, (first, first + count))
    host, rule, found_at, status, failures, next_at = columns
    return PageColumns(
        host=host - 1,
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
        page=page - 1,
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


def joined(parts: Sequence[PageColumns]) -> PageColumns:
    """Several ranges of pages as one."""
    if len(parts) == 1:
        return parts[0]
    return PageColumns(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in PageColumns.__slots__)
    )


def whole_numbers(connection: apsw.Connection, query: str, binding: tuple[Any, ...] = ()) -> Ints:
    """The column `number` of a query. Never untrusted text."""
    (column,) = read_columns(connection, ("number",), query, binding)
    return column


def looked_up(connection: apsw.Connection, query: str, keys: Ints, columns: int) -> list[Ints]:
    """Columns of whole numbers of the one row that a query has for each key."""
    rows = connection.executemany(query, ((key,) for key in keys.tolist())).fetchall()
    return list(np.array(rows, np.int64).reshape(len(keys), columns).T.copy())


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
