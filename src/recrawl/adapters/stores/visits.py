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
from recrawl.visits.outcomes import ANSWER_OF_OUTCOME, CHANGED_BY_OUTCOME
from recrawl.visits.rows import UNKNOWN_TIME
from recrawl.visits.visit import AnswerKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recrawl.adapters.tables.visits import VisitReading
    from recrawl.entries.columns import OutcomeColumns, VisitColumns
    from recrawl.entries.store import ReadStore

_COLUMNS = ("page", "visited_at", "changed", "last_modified", "status")
_ROWS = VISITS_AT_A_TIME


def read(reading: VisitReading) -> Iterator[Batch]:
    """Visits of a store in the order in which they were made, a batch at a time."""
    from recrawl.store import open_store

    reading.choose(_COLUMNS)
    with open_store(reading.table.path) as reader:
        names, position, last = Texts.of([]), 0, max(reader.last_visit(), 1)
        for visits in reader.outcomes(rows=_ROWS):
            if visits.page.max() >= len(names):
                names = Texts.joined([names, *_more(reader, len(names))])
            batch = batch_of(visits, names, position)
            position += len(batch.at)
            if len(batch.at):
                yield batch
            reading.table.report_progress(min(int(visits.visit[-1]), last), last)


def _more(reader: ReadStore, first: int) -> Iterator[Texts]:
    """Addresses of the pages that were added since."""
    return (Texts.of(addresses) for addresses in reader.all_addresses(first))


def batch_of(visits: OutcomeColumns | VisitColumns, names: Texts, position: int = 0) -> Batch:
    """Visits as rows of a log.

    Args:
        visits: The visits.
        names: Names of all pages, by number.
        position: How many rows came before.
    """
    kept = np.flatnonzero(ANSWER_OF_OUTCOME[visits.outcome] != AnswerKind.FAILED)
    page, outcome = visits.page[kept], visits.outcome[kept]
    modified = visits.modified_at[kept]
    starts = np.flatnonzero(begins(page))
    return Batch(
        names=names.take(page[starts]),
        at=visits.at[kept].view(np.int64),
        changed=CHANGED_BY_OUTCOME[outcome],
        lengths=None if len(starts) == len(page) else np.diff(starts, append=len(page)),
        position=position,
        last_modified=np.where(np.isnat(modified), UNKNOWN_TIME, modified.view(np.int64)),
        answer=ANSWER_OF_OUTCOME[outcome],
    )
