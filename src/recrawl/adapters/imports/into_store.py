"""Visits of other systems, vetted as a log is, into a store that has none.

What goes in is what `estimate` would believe of the same visits: failures, doubles and wrong dates
are out, digests are compared. Pages stay new, for there are no copies of them; a crawl fetches them
and goes on from the rates that their histories tell.

    sources, read once  ->  split by page  ->  vetted, a part at a time  ->  in the order of time

What is kept in memory is in proportion to pages: visits that do not fit wait in temporary files.

Touches: a store, files.
"""

from __future__ import annotations

import os
from contextlib import ExitStack, closing
from dataclasses import dataclass, fields
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from recrawl.adapters.imports.foreign_visits import FAILED_STATUS, GONE_STATUS, NOT_MODIFIED
from recrawl.adapters.tables.logs import load_batches, split_by_page
from recrawl.adapters.tables.results import ordered
from recrawl.arrays.texts import Texts
from recrawl.entries.entries import ImportedRows, PagesFound, VisitsImported
from recrawl.errors import InvalidTable, StoreError
from recrawl.parse.addresses import host_of
from recrawl.settings.rules import NO_RULE
from recrawl.store import create_store, delete_store, is_taken, open_for_writing
from recrawl.units import EARLIEST_MICROSECONDS, SECONDS_A_DAY, epoch_days
from recrawl.visits.batch import Batch
from recrawl.visits.grouping import group
from recrawl.visits.rows import digest_hashes
from recrawl.visits.status import VisitOutcome
from recrawl.visits.vetting import Vetting, vet
from recrawl.visits.visit import Flag, answer_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from recrawl.adapters.imports.foreign_visits import ForeignVisits
    from recrawl.arrays.types import Answers, Floats, Ints
    from recrawl.entries.store import WriteStore
    from recrawl.visits.grouping import Grouped
    from recrawl.visits.histories import Histories

_REDIRECT, _ERROR = 300, 400
_MEMORY = 1 << 29  # bytes for visits; more of them wait in temporary files
_PARTS = 64  # of which each must fit in memory


class ImportedVisits(NamedTuple):
    """How much was written.

    Attributes:
        pages: Pages.
        visits: Visits.
    """

    pages: int
    visits: int


def import_into(
    store: Path, batches: Iterable[ForeignVisits], *, memory: int = _MEMORY
) -> ImportedVisits:
    """Write visits to a store without any, all of them or none; a new store where there is none.

    Args:
        store: Its file; temporary files lie beside it.
        batches: The visits, in any order.
        memory: Bytes that visits may take; more of them wait in temporary files.
    """
    is_new = not is_taken(store)
    written = create_store(store) if is_new else open_for_writing(store)
    try:
        with written, ExitStack() as stack:
            _refuse_visits(written)
            entry = _entry(batches, memory, store.parent, stack)
            before = written.last_visit()
            written.write([entry])
            count = written.last_visit() - before
    except BaseException:
        if is_new:
            delete_store(store)
        raise
    return ImportedVisits(len(entry.found.addresses), count)


def _refuse_visits(store: WriteStore) -> None:
    if store.last_visit():
        raise StoreError(f"{store.name} has visits already; import into a store without any")


def _entry(
    batches: Iterable[ForeignVisits], memory: int, scratch: Path, stack: ExitStack
) -> VisitsImported:
    """All pages, and their visits in the order of time; every source has been read by then."""
    paths, whole = _divided(batches, memory, scratch, stack)
    groups = iter([whole]) if whole is not None else (group(load_batches(path)) for path in paths)
    pages = _Pages()
    pieces = ordered(pages.visits(groups), in_order=whole is not None, scratch=scratch)
    stack.enter_context(closing(pieces))
    first = next(pieces)  # all pieces have been gone through
    if not len(pages):
        raise InvalidTable("no visit returned its page; there is nothing to import")
    addresses, began = pages.addresses(), float(first.seconds.min())
    hosts = [host_of(address) for address in addresses]
    found = PagesFound(addresses, hosts, [NO_RULE] * len(addresses), began)
    return VisitsImported(found, (pages.rows(piece) for piece in chain([first], pieces)))


def _divided(
    batches: Iterable[ForeignVisits], memory: int, scratch: Path, stack: ExitStack
) -> tuple[list[Path], Grouped | None]:
    """Temporary files with the visits of some pages each, or all visits where they fit."""
    seed = int.from_bytes(os.urandom(7))
    rows = (batch.hashed(seed) for batch in _rows(batches))
    taken: list[Batch] = []
    size = 0
    for batch in rows:
        taken.append(batch)
        size += batch.size
        if size > memory:
            split = split_by_page(chain(taken, rows), _PARTS, scratch)
            return stack.enter_context(split), None
    return [], group(taken)


class _Pages:
    """Pages that visits have shown, as they are met."""

    def __init__(self) -> None:
        self._names: list[Texts] = []
        self._positions: list[Ints] = [np.empty(0, np.int64)]
        self._order: Ints = np.empty(0, np.int64)

    def __len__(self) -> int:
        return sum(map(len, self._names))

    def visits(self, groups: Iterable[Grouped]) -> Iterator[VisitsOfPiece]:
        """Visits of all groups of pages, vetted; their pages are noted."""
        for grouped in groups:
            histories = vet(grouped.rows, Vetting())
            seen = np.flatnonzero(histories.visits > 0)
            self._names.append(grouped.names.take(seen))
            self._positions.append(grouped.position[seen])
            yield visits_of(grouped.position[seen], histories.take(seen))

    def addresses(self) -> list[str]:
        """Their addresses in the order in which they first stand in the sources; all are met."""
        positions = np.concatenate(self._positions)
        order = np.argsort(positions)
        self._order = positions[order]
        return Texts.joined(self._names).take(order).tolist()

    def rows(self, piece: VisitsOfPiece) -> ImportedRows:
        """Visits in the order of time, and of their pages where that is the same."""
        order = np.lexsort((piece.page, piece.position))
        page = np.searchsorted(self._order, piece.page[order])
        return ImportedRows(page, piece.seconds[order], piece.outcome[order], piece.age[order])


def _rows(batches: Iterable[ForeignVisits]) -> Iterator[Batch]:
    position = 0
    for visits in batches:
        # A redirect says nothing of the page.
        shown = (visits.status < _REDIRECT) | (visits.status >= _ERROR)
        some = visits.take(np.flatnonzero(shown | (visits.status == NOT_MODIFIED)))
        if len(some):
            yield Batch(
                names=some.page,
                at=some.at,
                changed=some.changed,
                position=position,
                last_modified=some.last_modified,
                answer=_answers(some.status),
                digest=digest_hashes(some.digest),
            )
        position += len(visits)


def _answers(status: Ints) -> Answers:
    """Kinds of answers, by the one rule for logs."""
    found, place = np.unique(status, return_inverse=True)
    words = {0: "", FAILED_STATUS: "failed", GONE_STATUS: "gone"}
    kinds = [answer_of(words.get(code, str(code))) for code in found.tolist()]
    return np.array(kinds, np.uint8)[place]


@dataclass(frozen=True, slots=True, eq=False)
class VisitsOfPiece:
    """Visits to some pages.

    Args:
        position: Microseconds from the earliest time of all to each visit.
        page: Position of its page in the sources.
        seconds: When it was made, in seconds since 1970.
        outcome: Numbers of `VisitOutcome`.
        age: Days from the page's last change to the visit; nan where unknown.
    """

    position: Ints
    page: Ints
    seconds: Floats
    outcome: Ints
    age: Floats

    @property
    def offsets(self) -> Ints:
        """One row per visit."""
        return np.arange(len(self.position) + 1)

    def take(self, rows: Ints) -> VisitsOfPiece:
        """Some of them."""
        return self.with_arrays({name: array[rows] for name, array in self.arrays().items()})

    @classmethod
    def joined(cls, parts: Sequence[VisitsOfPiece]) -> VisitsOfPiece:
        """All of them, one after the other."""
        columns = zip(*(part.arrays().values() for part in parts), strict=True)
        return cls(*(np.concatenate(column) for column in columns))

    def arrays(self) -> dict[str, Any]:
        """All columns."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def with_arrays(self, arrays: Mapping[str, Any]) -> VisitsOfPiece:
        """The same with other columns."""
        return VisitsOfPiece(**arrays)


def visits_of(page: Ints, histories: Histories) -> VisitsOfPiece:
    """The visits of pages, told by their histories.

    >>> from recrawl.visits.histories import Histories
    >>> seen = Histories.from_lists([([2.0, 1.0], [True, False])])
    >>> seen = Histories(seen.gaps, seen.changed, seen.offsets, first_visit=["1970-01-02"])
    >>> found = visits_of(np.array([0]), seen)
    >>> found.seconds / 86_400, [VisitOutcome(each).label for each in found.outcome]
    (array([1., 3., 4.]), ['first', 'changed', 'same'])
    """
    visits = histories.visits
    first = np.cumsum(visits) - visits
    later = np.ones(int(visits.sum()), np.bool_)
    later[first] = False
    days, age = np.empty(len(later)), np.empty(len(later))
    outcome = np.full(len(later), int(VisitOutcome.FIRST))
    days[first], age[first] = epoch_days(histories.first_visit), histories.first_age
    elapsed = np.cumsum(histories.gaps)
    before = np.concatenate([[0.0], elapsed])[histories.offsets[:-1]]
    since_first = elapsed - np.repeat(before, histories.gaps_of_page)
    days[later] = np.repeat(days[first], histories.gaps_of_page) + since_first
    age[later] = histories.age
    outcome[later] = np.where(histories.changed, VisitOutcome.CHANGED, VisitOutcome.SAME)
    gone = (histories.flags & Flag.GONE) > 0
    outcome[(first + visits - 1)[gone & (visits > 1)]] = VisitOutcome.GONE
    seconds = days * SECONDS_A_DAY
    position = np.rint(seconds * 1e6).astype(np.int64) - EARLIEST_MICROSECONDS
    return VisitsOfPiece(position, np.repeat(page, visits), seconds, outcome, age)
