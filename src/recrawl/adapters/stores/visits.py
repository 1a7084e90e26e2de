"""The visits of a store, read as a visit log.

A visit that failed, was refused or led elsewhere says nothing of the page and is left out. The
first copy has nothing to be compared with; what differs only in looks is unchanged.

Touches: files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.ranges import begins
from recrawl.arrays.texts import Texts
from recrawl.entries.store import VISITS_AT_A_TIME
from recrawl.visits.batch import Batch
from recrawl.visits.rows import UNKNOWN_CHANGE, UNKNOWN_TIME
from recrawl.visits.status import VisitOutcome
from recrawl.visits.visit import AnswerKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recrawl.adapters.tables.visits import VisitReading
    from recrawl.entries.columns import OutcomeColumns
    from recrawl.entries.store import ReadStore

_COLUMNS = ("page", "visited_at", "changed", "last_modified", "status")
LEFT_OUT = 255
_ROWS = VISITS_AT_A_TIME

# What each outcome means in a log, by its number.
CHANGED = np.full(max(VisitOutcome) + 1, UNKNOWN_CHANGE, np.int8)
CHANGED[[VisitOutcome.SAME, VisitOutcome.NOT_MODIFIED, VisitOutcome.COSMETIC]] = 0
CHANGED[VisitOutcome.CHANGED] = 1
ANSWER = np.full(max(VisitOutcome) + 1, AnswerKind.OK, np.uint8)
ANSWER[VisitOutcome.NOT_MODIFIED] = AnswerKind.NOT_MODIFIED
ANSWER[VisitOutcome.GONE] = AnswerKind.GONE
ANSWER[[VisitOutcome.FAILED, VisitOutcome.REFUSED, VisitOutcome.MOVED, VisitOutcome.WALLED]] = (
    LEFT_OUT
)


def read(reading: VisitReading) -> Iterator[Batch]:
    """Visits of a store in the order in which they were made, a batch at a time."""
    from recrawl.store import open_store

    reading.choose(_COLUMNS)
    with open_store(reading.table.path) as reader:
        names, position, last = Texts.of([]), 0, max(reader.last_visit(), 1)
        for visits in reader.outcomes(rows=_ROWS):
            if visits.page.max() >= len(names):
                names = Texts.joined([names, *_more(reader, len(names))])
            batch = _batch(visits, names, position)
            position += len(batch.at)
            if len(batch.at):
                yield batch
            reading.table.report_progress(min(int(visits.visit[-1]), last), last)


def _more(reader: ReadStore, first: int) -> Iterator[Texts]:
    """Addresses of the pages that were added since."""
    return (Texts.of(addresses) for addresses in reader.all_addresses(first))


def _batch(visits: OutcomeColumns, names: Texts, position: int) -> Batch:
    kept = np.flatnonzero(ANSWER[visits.outcome] != LEFT_OUT)
    page, outcome = visits.page[kept], visits.outcome[kept]
    modified = visits.modified_at[kept]
    starts = np.flatnonzero(begins(page))
    return Batch(
        names=names.take(page[starts]),
        at=visits.at[kept].view(np.int64),
        changed=CHANGED[outcome],
        lengths=None if len(starts) == len(page) else np.diff(starts, append=len(page)),
        position=position,
        last_modified=np.where(np.isnat(modified), UNKNOWN_TIME, modified.view(np.int64)),
        answer=ANSWER[outcome],
    )
