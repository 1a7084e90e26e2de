"""Visit logs in files: tables with one row per visit, or a store.

Touches: files.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.adapters.tables.formats import read_columns
from recrawl.parse import cells
from recrawl.store import is_store
from recrawl.visits.batch import Batch
from recrawl.visits.rows import UNKNOWN_CHANGE
from recrawl.visits.visit import AnswerKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recrawl.adapters.tables.columns import ColumnBatch, TableInput
    from recrawl.arrays.types import Bools

NEEDED = ("page", "visited_at", "changed")
OPTIONAL = ("last_modified", "status", "digest")
CHANGE_TIME = "changed_at"  # instead of visits, where all changes are known

_RULES = {
    "page": cells.PAGE_RULE,
    "visited_at": cells.TIME_RULE,
    "changed": cells.CHANGED_RULE,
    "last_modified": cells.TIME_RULE,
    "status": cells.STATUS_RULE,
}


@dataclass(slots=True)
class VisitReading:
    """How to read a visit log, and what it turned out to be.

    Args:
        table: The file. Its column `site` names a page's site if it is given a name.
        change_times: Take a file of all changes (`changed_at`), too, as visits just after each.
        complete: Whether the file turned out to be one of all changes.
        present: Our columns that the file has, with their names, once it is read.
    """

    table: TableInput
    change_times: bool = False
    complete: bool = False
    present: dict[str, str] = field(default_factory=dict)

    def choose(self, header: Sequence[str]) -> list[str]:
        """Their columns that are read; refuse the file if one is missing. Idempotent."""
        table = self.table
        theirs = table.theirs(CHANGE_TIME)
        if self.change_times and table.theirs("visited_at") not in header and theirs in header:
            self.complete = True
            kept = {ours: name for ours, name in table.columns.items() if ours != CHANGE_TIME}
            table.columns = {**kept, "visited_at": theirs}
        needed: tuple[str, ...] = NEEDED[:2] if self.complete else NEEDED
        optional: tuple[str, ...] = () if self.complete else OPTIONAL
        if table.theirs("digest") in header and "changed" not in table.columns:
            needed, optional = NEEDED[:2], (NEEDED[2], *OPTIONAL)  # digests tell of changes, too
        sites = ("site",) if "site" in table.columns else ()
        self.present = table.match(header, (*needed, *sites), optional)
        return list(dict.fromkeys(self.present.values()))


def read_batches(reading: VisitReading) -> Iterator[Batch]:
    """Rows of a log in the order of the file, a batch at a time."""
    if reading.table.reader is None and is_store(reading.table.path):
        from recrawl.adapters.stores import visits as store_visits

        yield from store_visits.read(reading)
        return
    position = 0
    for columns in read_columns(reading.table, reading.choose):
        yield _batch(reading, columns, position)
        position += len(columns)


def _batch(reading: VisitReading, rows: ColumnBatch, position: int) -> Batch:
    columns = {ours: rows.columns[theirs] for ours, theirs in reading.present.items()}
    names, starts, unnamed = columns["page"].runs()
    single = len(names) == len(rows)
    values: dict[str, Any] = {}
    wrong = {"page": unnamed}
    for ours in ("visited_at", "last_modified"):
        if ours in columns:
            values[ours], wrong[ours] = columns[ours].times(optional=ours != "visited_at")
    if "changed" in columns:
        values["changed"], wrong["changed"] = columns["changed"].changes()
    if "status" in columns:
        values["status"], wrong["status"] = columns["status"].answers()
    keep = _kept(reading, rows, wrong)
    answer = values.get("status")
    batch = Batch(
        names=names,
        at=values["visited_at"],
        # In a file of changes each row is one.
        changed=values.get(
            "changed", np.full(len(rows), 1 if reading.complete else UNKNOWN_CHANGE, np.int8)
        ),
        lengths=None if single else np.diff(starts, append=len(rows)),
        position=position,
        last_modified=values.get("last_modified"),
        answer=None if answer is None or (answer == AnswerKind.OK).all() else answer,
        digest=columns["digest"].digests() if "digest" in columns else None,
        site=columns["site"].names(None if single else starts) if "site" in columns else None,
    )
    return batch if keep is None else batch.rows(keep)


def _kept(reading: VisitReading, rows: ColumnBatch, wrong: dict[str, Bools]) -> Bools | None:
    """Rows to keep, None for all; raise for the first wrong cell unless they are skipped."""
    bad: Bools = np.logical_or.reduce(list(wrong.values()))
    if not bad.any():
        return None
    table = reading.table
    if not table.skip_bad_rows:
        row = int(np.argmax(bad))
        ours = next(ours for ours in _RULES if ours in wrong and wrong[ours][row])
        table.refuse_cell(rows, row, reading.present[ours], _RULES[ours])
    table.skipped += int(bad.sum())
    return ~bad
