"""Visits of other systems, vetted as a log is, into a store that has none.

What goes in is what `estimate` would believe of the same visits: failures, doubles and wrong dates
are out, digests are compared. Pages stay new, for there are no copies of them; a crawl fetches them
and goes on from the rates that their histories tell.

Touches: a store.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from recrawl.adapters.imports.foreign_visits import FAILED_STATUS, GONE_STATUS, NOT_MODIFIED
from recrawl.entries.entries import PagesFound, VisitsImported
from recrawl.errors import InvalidTable, StoreError
from recrawl.parse.addresses import host_of
from recrawl.settings.rules import NO_RULE
from recrawl.store import create_store, delete_store, is_store, open_for_writing
from recrawl.units import SECONDS_A_DAY, epoch_days
from recrawl.visits.batch import Batch
from recrawl.visits.grouping import group
from recrawl.visits.rows import digest_hashes
from recrawl.visits.status import VisitOutcome
from recrawl.visits.vetting import Vetting, vet
from recrawl.visits.visit import Flag, answer_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from recrawl.adapters.imports.foreign_visits import ForeignVisits
    from recrawl.arrays.types import Answers, Ints
    from recrawl.entries.store import WriteStore
    from recrawl.visits.histories import Histories

_REDIRECT, _ERROR = 300, 400


class ImportedVisits(NamedTuple):
    """How much was written.

    Attributes:
        pages: Pages.
        visits: Visits.
    """

    pages: int
    visits: int


def import_into(store: Path, batches: Iterable[ForeignVisits]) -> ImportedVisits:
    """Write visits to a store without any, all of them or none; a new store where there is none.

    Args:
        store: Its file.
        batches: The visits, in any order.
    """
    is_new = not is_store(store) and not (store.exists() and store.stat().st_size)
    written = create_store(store) if is_new else open_for_writing(store)
    try:
        with written:
            _refuse_visits(written)
            entry = _entry(batches)
            written.write([entry])
    except BaseException:
        if is_new:
            delete_store(store)
        raise
    return ImportedVisits(len(entry.found.addresses), len(entry.page))


def _refuse_visits(store: WriteStore) -> None:
    if store.last_visit():
        raise StoreError(f"{store.name} has visits already; import into a store without any")


def _entry(batches: Iterable[ForeignVisits]) -> VisitsImported:
    seed = int.from_bytes(os.urandom(7))
    grouped = group(batch.hashed(seed) for batch in _rows(batches))
    histories = vet(grouped.rows, Vetting())
    seen = np.flatnonzero(histories.visits > 0)
    if not len(seen):
        raise InvalidTable("no visit has shown its page: there is nothing to import")
    seen = seen[np.argsort(grouped.position[seen])]
    return visits_of(grouped.names.take(seen).tolist(), histories.take(seen))


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


def visits_of(addresses: Sequence[str], histories: Histories) -> VisitsImported:
    """The entry of pages and their histories, visits in the order of time.

    >>> from recrawl.visits.histories import Histories
    >>> seen = Histories.from_lists([([2.0, 1.0], [True, False])])
    >>> seen = Histories(seen.gaps, seen.changed, seen.offsets, first_visit=["1970-01-02"])
    >>> entry = visits_of(["https://a.org/"], seen)
    >>> entry.at_seconds / 86_400, [VisitOutcome(each).label for each in entry.outcome]
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
    order = np.argsort(days, kind="stable")
    found = PagesFound(
        addresses,
        [host_of(address) for address in addresses],
        [NO_RULE] * len(addresses),
        float(days.min()) * SECONDS_A_DAY,
    )
    page = np.repeat(np.arange(len(addresses)), visits)
    seconds = days * SECONDS_A_DAY
    return VisitsImported(found, page[order], seconds[order], outcome[order], age[order])
