"""The latest visit of each page, where the linked list of its visits begins.

Each visit refers to the one before it of the same page, so the visits of a page are found without
an index. The writer keeps the latest visits in memory, 8 bytes per page, and saves them now and
then; the few visits since are read again when a store is opened.

Touches: a database, through what it is given.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Protocol

import numpy as np
import xxhash

from recrawl.entries.columns import SampledVisits
from recrawl.store.rows import meta
from recrawl.store.rows.columns import looked_up, read_columns
from recrawl.store.rows.database import upsert
from recrawl.store.rows.values import exactly
from recrawl.visits.status import VisitOutcome

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recrawl.arrays.types import Floats, Ints
    from recrawl.store.rows.database import Database

_COMPARED = np.array([outcome.compared for outcome in VisitOutcome])
# How far to follow the chain of a page's visits back: enough for any run of failures.
_FURTHEST_BACK = 1000
_PAGES_A_BLOCK = 1 << 17
_VISITS_AT_A_TIME = 1 << 17
_BYTES = 8
_BLOCK = upsert("latest_visits", "block, data", "block")
SAVED = "latest_visits_saved"  # the last visit that was known then
_CHECKSUM = "latest_visits_checksum"

# Visits between two savings. A reader looks through at most so many for those of one page,
# which takes some 10 ms; a saving writes 8 bytes a page.
SAVED_EVERY = 100_000


class NewestVisits(Protocol):
    """The newest visit of each page that a writer writes visits of.

    Attributes:
        saved_visit: The last visit that was known when they were last saved.
    """

    saved_visit: int

    def of(self, page: int) -> int:
        """Number of the page's newest visit; 0 where it has none or is new itself."""

    def move(self, pages: int, newest: Mapping[int, int]) -> None:
        """Take over what a committed transaction brought."""

    def save(self, connection: Database, visit: int) -> None:
        """Write them all down, as they stand after `visit`."""


class LatestVisits:
    """The newest visit of each page; 0 where there is none.

    What was saved only spares us to read all visits: where it is damaged, they are read.
    """

    def __init__(self, connection: Database, pages: int, visits: int) -> None:
        """Load what was saved, and follow the visits since."""
        saved, self.saved_visit = load_saved(connection, pages, visits)
        newest = np.zeros(pages, np.int64)
        newest[: len(saved)] = saved
        since = "select page, id from visits where id > ? and id <= ? order by id"
        for start in range(self.saved_visit, visits, _VISITS_AT_A_TIME):
            between = start, start + _VISITS_AT_A_TIME
            page, visit = read_columns(connection, ("page", "id"), since, between)
            if len(page) and not (page.min() >= 1 and page.max() <= pages):
                raise ValueError(f"page is not between 1 and {pages} everywhere")
            newest[page - 1] = visit
        self._newest = array("q", newest.tobytes())

    def of(self, page: int) -> int:
        """Number of the page's newest visit; 0 where it has none or is new itself."""
        return self._newest[page] if page < len(self._newest) else 0

    def move(self, pages: int, newest: Mapping[int, int]) -> None:
        """Take over what a committed transaction brought."""
        self._newest.frombytes(bytes(_BYTES * (pages - len(self._newest))))
        for page, visit in newest.items():
            self._newest[page] = visit

    def save(self, connection: Database, visit: int) -> None:
        """Write them all down, as they stand after `visit`."""
        newest = np.frombuffer(self._newest, np.int64).astype("<i8")
        blocks = (
            (start // _PAGES_A_BLOCK, newest[start : start + _PAGES_A_BLOCK].tobytes())
            for start in range(0, len(newest), _PAGES_A_BLOCK)
        )
        connection.executemany(_BLOCK, blocks)
        meta.put(connection, SAVED, visit)
        meta.put(connection, _CHECKSUM, _checksum(newest))


def load_saved(connection: Database, pages: int, visits: int) -> tuple[Ints, int]:
    """What was saved, and up to which visit; nothing, up to none, where it is damaged."""
    saved_visit = meta.get(connection, SAVED)
    saved = saved_latest(connection)
    is_whole = len(saved) <= pages and 0 <= saved_visit <= visits
    if is_whole and len(saved):
        is_whole = saved.min() >= 0 and saved.max() <= saved_visit
    if not is_whole or meta.get(connection, _CHECKSUM) not in (0, _checksum(saved)):
        return np.empty(0, np.int64), 0
    return saved.astype(np.int64), saved_visit


def saved_latest(connection: Database) -> Ints:
    """The newest visit of each page, as they were last saved."""
    blocks = connection.execute("select data from latest_visits order by block")
    whole = b"".join(exactly(bytes, data) for (data,) in blocks)
    return np.frombuffer(whole[: len(whole) // _BYTES * _BYTES], "<i8")


def _checksum(newest: Ints) -> int:
    """A positive number that differs for what differs; 0 is that of a store without one."""
    return xxhash.xxh3_64_intdigest(newest.tobytes()) >> 2 | 1


def latest_visit(connection: Database, page: int) -> int:
    """Number of a page's newest visit as a reader finds it; 0 where there is none."""
    saved_visit = meta.get(connection, SAVED)
    since = "select max(id) from visits where id > ? and page = ?"
    newest = connection.execute(since, (saved_visit, page + 1)).get
    if newest is None:
        block, place = divmod(page, _PAGES_A_BLOCK)
        cut = """
            select substr(data, cast(? as integer), cast(? as integer))
            from latest_visits where block = ?
        """
        found = connection.execute(cut, (place * _BYTES + 1, _BYTES, block)).get
        newest = int.from_bytes(found or b"", "little")
    return int(newest)


def latest_visits(connection: Database, pages: Ints) -> Ints:
    """The same for many different pages, with one scan of the visits since the last saving."""
    newest = np.zeros(len(pages), np.int64)
    if not len(pages):
        return newest
    block, place = np.divmod(pages, _PAGES_A_BLOCK)
    for which in np.unique(block).tolist():
        data = connection.execute("select data from latest_visits where block = ?", (which,)).get
        saved = np.frombuffer(data or b"", "<i8")
        ours = np.flatnonzero((block == which) & (place < len(saved)))
        newest[ours] = saved[place[ours]]
    since = "select page - 1 as page, id from visits where id > ?"
    saved_visit = meta.get(connection, SAVED)
    page, visit = read_columns(connection, ("page", "id"), since, (saved_visit,))
    order = np.argsort(pages)
    at = order[np.minimum(np.searchsorted(pages, page, sorter=order), len(pages) - 1)]
    ours = np.flatnonzero(pages[at] == page)
    np.maximum.at(newest, at[ours], visit[ours])
    return newest


def sampled_visits(connection: Database, visits: Ints, enough: int) -> SampledVisits:
    """Visits by number, and how many before each compared its page, up to `enough`."""
    columns = ("before", "outcome", "case when audit is null then 0 else 1 end")
    before, outcome, audited = looked_up(connection, "visits", columns, visits)
    copied, compared = np.zeros(len(visits), np.bool_), np.zeros(len(visits), np.int64)
    open_ = np.flatnonzero(before > 0)
    for _ in range(_FURTHEST_BACK):
        if not len(open_):
            break
        older, found = looked_up(connection, "visits", ("before", "outcome"), before[open_])
        compared[open_] += _COMPARED[found]
        copied[open_] |= (found == VisitOutcome.FIRST) | _COMPARED[found]
        # So that a damaged chain cannot loop.
        before[open_] = np.where(older < before[open_], older, 0)
        open_ = open_[(before[open_] > 0) & (compared[open_] < enough)]
    return SampledVisits(outcome, audited > 0, copied, compared)


def visit_counts(connection: Database, pages: Ints, since_seconds: float) -> Ints:
    """How many visits were made to each of some different pages at or after an instant."""
    counts = np.zeros(len(pages), np.int64)
    visit = latest_visits(connection, pages)
    open_ = np.flatnonzero(visit > 0)
    while len(open_):
        older, at = looked_up(connection, "visits", ("before", "at"), visit[open_])
        since = at >= since_seconds * 1000
        counts[open_] += since
        visit[open_] = np.where((older < visit[open_]) & since, older, 0)
        open_ = open_[visit[open_] > 0]
    return counts


def latest_visit_times(connection: Database, pages: Ints) -> Floats:
    """When each of some different pages was last visited, in epoch seconds; nan if never."""
    visit = latest_visits(connection, pages)
    some = np.flatnonzero(visit > 0)
    at, page = looked_up(connection, "visits", ("at", "page - 1"), visit[some])
    if (page != pages[some]).any():
        raise ValueError("the last visit of a page is one to another")
    found = np.full(len(pages), np.nan)
    found[some] = at / 1000
    return found


def latest_responses(connection: Database, pages: Ints) -> tuple[Ints, Ints, Floats]:
    """Outcome, status code and epoch seconds of the last visit to each of some different pages.

    Of a page that was never visited -1, 0 and nan; a visit without a response has the code 0.
    """
    visit = latest_visits(connection, pages)
    some = np.flatnonzero(visit > 0)
    columns = ("outcome", "coalesce(http, 0)", "at", "page - 1")
    found, code, at, page = looked_up(connection, "visits", columns, visit[some])
    if (page != pages[some]).any():
        raise ValueError("the last visit of a page is one to another")
    if len(found) and not (found.min() >= 0 and found.max() <= max(VisitOutcome)):
        raise ValueError("a visit has an outcome that there is not")
    outcome, http = np.full(len(pages), -1), np.zeros(len(pages), np.int64)
    seconds = np.full(len(pages), np.nan)
    outcome[some], http[some], seconds[some] = found, code, at / 1000
    return outcome, http, seconds
