"""The newest visit of each page, where the chain of its visits begins.

The writer keeps all of them in memory, 8 bytes a page, and saves them now and then; the few
visits since are read again when a store is opened. So a visit costs no index of its own.

Touches: files.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import numpy as np

from recrawl.store.sqlite import meta
from recrawl.store.sqlite.columns import read_columns

if TYPE_CHECKING:
    from collections.abc import Mapping

    import apsw

    from recrawl.arrays.types import Ints

_PAGES_A_BLOCK = 1 << 17
_BYTES = 8

# Visits between two savings. A reader looks through at most so many for those of one page,
# which takes some 10 ms; a saving writes 8 bytes a page.
SAVED_EVERY = 100_000


class LatestVisits:
    """The newest visit of each page; 0 where there is none."""

    def __init__(self, connection: apsw.Connection, pages: int) -> None:
        """Load what was saved, and follow the visits since."""
        blocks = connection.execute("select data from latest_visits order by block")
        saved = np.frombuffer(b"".join(data for (data,) in blocks), "<i8")
        self._newest = array("q", saved.astype("=i8").tobytes())
        self._newest.frombytes(bytes(_BYTES * (pages - len(self._newest))))
        self.saved_visit = meta.get(connection, "latest_visits_saved")
        since = "select page, id from visits where id > ? order by id"
        for page_id, visit in connection.execute(since, (self.saved_visit,)):
            self._newest[page_id - 1] = visit

    def of(self, page: int) -> int:
        """Number of the page's newest visit; 0 where it has none or is new itself."""
        return self._newest[page] if page < len(self._newest) else 0

    def move(self, pages: int, newest: Mapping[int, int]) -> None:
        """Take over what a committed transaction brought."""
        self._newest.frombytes(bytes(_BYTES * (pages - len(self._newest))))
        for page, visit in newest.items():
            self._newest[page] = visit

    def save(self, connection: apsw.Connection, visit: int) -> None:
        """Write them all down, as they stand after `visit`."""
        newest = np.frombuffer(self._newest, np.int64).astype("<i8")
        blocks = (
            (start // _PAGES_A_BLOCK, newest[start : start + _PAGES_A_BLOCK].tobytes())
            for start in range(0, len(newest), _PAGES_A_BLOCK)
        )
        connection.executemany("insert or replace into latest_visits values (?, ?)", blocks)
        meta.put(connection, "latest_visits_saved", visit)


def latest_visit(connection: apsw.Connection, page: int) -> int:
    """Number of a page's newest visit as a reader finds it; 0 where there is none."""
    saved_visit = meta.get(connection, "latest_visits_saved")
    since = "select max(id) from visits where id > ? and page = ?"
    newest = connection.execute(since, (saved_visit, page + 1)).get
    if newest is None:
        block, place = divmod(page, _PAGES_A_BLOCK)
        cut = "select substr(data, ?, ?) from latest_visits where block = ?"
        found = connection.execute(cut, (place * _BYTES + 1, _BYTES, block)).get
        newest = int.from_bytes(found or b"", "little")
    return int(newest)


def latest_visits(connection: apsw.Connection, pages: Ints) -> Ints:
    """The same for many different pages, with one scan of the visits since the last saving."""
    newest = np.zeros(len(pages), np.int64)
    if not len(pages):
        return newest
    block, place = np.divmod(pages, _PAGES_A_BLOCK)
    for number in np.unique(block).tolist():
        data = connection.execute("select data from latest_visits where block = ?", (number,)).get
        saved = np.frombuffer(data or b"", "<i8")
        ours = np.flatnonzero((block == number) & (place < len(saved)))
        newest[ours] = saved[place[ours]]
    since = "select page - 1 as page, id from visits where id > ?"
    saved_visit = meta.get(connection, "latest_visits_saved")
    page, visit = read_columns(connection, ("page", "id"), since, (saved_visit,))
    order = np.argsort(pages)
    at = order[np.minimum(np.searchsorted(pages, page, sorter=order), len(pages) - 1)]
    ours = np.flatnonzero(pages[at] == page)
    np.maximum.at(newest, at[ours], visit[ours])
    return newest
