"""Check of a whole store: its file, its checksums, and that its rows fit each other.

Everything is read from one snapshot, so a crawl may go on meanwhile.

Touches: a database, through what it is given.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.entries.records import Checked
from recrawl.store.damage import UNREADABLE, printable
from recrawl.store.rows import body_lines, checkpoints, manifests, meta, versions
from recrawl.store.rows.columns import largest_id, read_columns
from recrawl.store.rows.latest_visits import saved_latest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recrawl.store.rows.database import Database

_SHOWN = 10  # problems of one kind
_ROWS = 1 << 17
_VISITS = ("id", "page", "before", "outcome")

_UNUSED = """
    visit not in (select manifest from pages where manifest is not null)
    and visit not in (select manifest from changes where manifest is not null)
    and visit not in (select manifest_before from changes where manifest_before is not null)
"""
_NO_DESTINATION = "destination not in (select id from destinations)"
# What every row of a table must find in another.
_ORPHANS = (
    ("pages", "pages", "host not in (select id from hosts)", "has no host"),
    ("copies", "copies", "page not in (select id from pages)", "belongs to no page"),
    ("copies", "duplicates", "page not in (select id from pages)", "belongs to no page"),
    ("copies", "duplicates", "original not in (select id from pages)", "is a copy of no page"),
    ("copies", "masks", "page not in (select id from pages)", "belongs to no page"),
    ("versions", "versions", "page not in (select id from pages)", "belongs to no page"),
    ("versions", "versions", "body not in (select id from bodies)", "has no body"),
    ("versions", "bodies", "id not in (select body from versions)", "belongs to no version"),
    ("versions", "body_lines", "body not in (select id from bodies)", "belongs to no body"),
    ("hosts", "robots", "host not in (select id from hosts)", "belongs to no host"),
    ("hosts", "host_masks", "host not in (select id from hosts)", "belongs to no host"),
    ("hosts", "address_shapes", "host not in (select id from hosts)", "belongs to no host"),
    ("hosts", "refused_addresses", "host not in (select id from hosts)", "belongs to no host"),
    ("hosts", "signal_records", "host not in (select id from hosts)", "belongs to no host"),
    ("changes", "changes", "page not in (select id from pages)", "belongs to no page"),
    ("changes", "changes", "visit not in (select id from visits)", "belongs to no visit"),
    ("changes", "manifests", "page not in (select id from pages)", "belongs to no page"),
    ("changes", "manifests", "visit not in (select id from visits)", "belongs to no visit"),
    ("changes", "manifests", _UNUSED, "belongs to no event and no copy"),
    ("changes", "destinations", "cursor not between 0 and {newest}", "is ahead of the feed"),
    ("changes", "undelivered", _NO_DESTINATION, "belongs to no destination"),
    ("listings", "objects", "listing not in (select id from listings)", "belongs to no listing"),
    ("listings", "syncs", "listing not in (select id from listings)", "belongs to no listing"),
    (
        "listings",
        "objects",
        "page not in (select id from pages)",
        "has a detail page that does not exist",
    ),
    (
        "listings",
        "events",
        "page not in (select id from pages)",
        "has a detail page that does not exist",
    ),
    ("listings", "events", "sync not in (select id from syncs)", "belongs to no sync"),
    ("listings", "events", "object not in (select id from objects)", "belongs to no object"),
    (
        "listings",
        "handed_details",
        "listing not in (select id from listings)",
        "belongs to no listing",
    ),
    (
        "listings",
        "handed_details",
        "object not in (select id from objects)",
        "belongs to no object",
    ),
)
_DENSE = ("pages", "hosts", "visits")


def check(connection: Database, *, quick: bool) -> Iterator[Checked]:
    """Check one part after the other; inside of a read transaction.

    Args:
        connection: To the store.
        quick: Whether to leave out what reads every byte: indexes, bodies and manifests.
    """
    parts = [
        ("file", connection.check_file(quick=quick)),
        ("checkpoint", _checkpoint(connection)),
        ("visits", _visits(connection)),
        *((what, _orphans(connection, what)) for what in dict.fromkeys(row[0] for row in _ORPHANS)),
    ]
    if not quick:
        parts += [
            ("bodies", _bodies(connection)),
            ("lines", _lines(connection)),
            ("manifests", _manifests(connection)),
        ]
    unreadable = (*connection.unreadable, *UNREADABLE)
    for what, problems in parts:
        yield _checked(what, problems, unreadable)


def _checked(
    what: str, problems: Iterator[str | int], unreadable: tuple[type[Exception], ...]
) -> Checked:
    """Rows and problems of one part; what cannot be read at all is a problem, too."""
    rows, found = 0, 0
    shown: list[str] = []
    try:
        for each in problems:
            if isinstance(each, int):
                rows += each
            else:
                found += 1
                if len(shown) < _SHOWN:
                    shown.append(printable(each))
    except unreadable as error:
        found += 1
        shown.append(printable(str(error)))
    return Checked(what, rows, found, tuple(shown))


def _checkpoint(connection: Database) -> Iterator[str | int]:
    saved = checkpoints.load(connection)
    yield 0 if saved is None else len(saved.parts)


def _visits(connection: Database) -> Iterator[str | int]:
    """Numbers without a gap, each page's chain of visits, the visits counted by outcome."""
    pages, last = largest_id(connection, "pages"), largest_id(connection, "visits")
    saved, saved_visit = saved_latest(connection), meta.get(connection, "latest_visits_saved")
    newest = np.zeros(pages + 1, np.int64)
    outcomes: Counter[int] = Counter()
    yield from _gaps(connection)
    cuts = sorted({*range(0, last, _ROWS), min(saved_visit, last), last})
    for start, stop in pairwise(cuts):
        query = "select * from visits where id > ? and id <= ? order by id"
        columns = read_columns(connection, _VISITS, query, (start, stop))
        visit, page, before, outcome = columns
        yield len(visit)
        if len(page) and not (page.min() >= 1 and page.max() <= pages):
            yield f"visits {start + 1} to {stop}: some are to no page"
            return
        yield from _broken(newest, visit, page, before)
        outcomes.update(outcome.tolist())
        if stop == saved_visit and not np.array_equal(newest[1 : len(saved) + 1], saved):
            yield f"latest visits: they are not those up to visit {saved_visit}"
    days = "select outcome, cast(sum(visits) as bigint) from days group by outcome"
    if dict(connection.execute(days)) != outcomes:
        yield "days: the numbers of visits by outcome do not match"


def _broken(newest: Any, visit: Any, page: Any, before: Any) -> Iterator[str]:  # noqa: ANN401
    """Visits that do not lead to the visit before them to the same page; `newest` is moved on."""
    order = np.lexsort((visit, page))
    page, visit, before = page[order], visit[order], before[order]
    first = np.append(True, page[1:] != page[:-1]) if len(page) else np.empty(0, np.bool_)
    expected = np.where(first, newest[page], np.append(0, visit[:-1]) if len(visit) else visit)
    for number in visit[before != expected].tolist():
        yield f"visit {number}: does not lead to the one before it"
    newest[page] = visit  # of several to a page the last is the newest


def _gaps(connection: Database) -> Iterator[str]:
    for table in _DENSE:
        last = largest_id(connection, table)
        count = connection.execute(f"select count(*) from {table}").get  # noqa: S608 - ours
        if count != last:
            yield f"{table}: {count} rows, but the last has the number {last}"


def _orphans(connection: Database, what: str) -> Iterator[str | int]:
    newest = connection.newest("changes")
    tables = {table: None for part, table, _, _ in _ORPHANS if part == what}
    for table in tables:
        yield int(connection.execute(f"select count(*) from {table}").get)  # noqa: S608 - ours
    for part, table, orphaned, problem in _ORPHANS:
        if part == what:
            query = f"select count(*) from {table} where {orphaned}"  # noqa: S608 - ours
            count = connection.execute(query.format(newest=newest)).get
            if count:
                yield f"{table}: {count} rows, each of which {problem}"


def _bodies(connection: Database) -> Iterator[str | int]:
    """Every body, decompressed and compared with its digest."""
    for number, *body in connection.stream("select id, data, size, digest from bodies order by id"):
        yield 1
        try:
            versions.body_in(*body)
        except UNREADABLE as error:
            yield f"body {number}: {error}"


def _lines(connection: Database) -> Iterator[str | int]:
    """Lines of every body that has some, decompressed."""
    for number, *lines in connection.stream(body_lines.ALL):
        yield 1
        try:
            body_lines.lines_in(*lines)
        except UNREADABLE as error:
            yield f"lines of body {number}: {error}"


def _manifests(connection: Database) -> Iterator[str | int]:
    """Every manifest, decompressed and read."""
    query = "select visit, splitter, chunks, data from manifests order by visit"
    for number, *manifest in connection.stream(query):
        yield 1
        try:
            manifests.manifest_in(*manifest)
        except UNREADABLE as error:
            yield f"manifest of visit {number}: {error}"
