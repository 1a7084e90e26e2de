"""Visit logs in files: tables with one row per visit, or a store.

Touches: files.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.adapters.tables.columns import listed
from recrawl.adapters.tables.formats import read_columns
from recrawl.parse import cells
from recrawl.parse.times import time_rule
from recrawl.store import is_store
from recrawl.visits.batch import Batch
from recrawl.visits.rows import UNKNOWN_CHANGE
from recrawl.visits.status import VisitOutcome
from recrawl.visits.visit import AnswerKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recrawl.adapters.tables.columns import Cells, ColumnBatch, TableInput
    from recrawl.arrays.types import Answers, Bools, Changes

NEEDED = ("page", "visited_at", "changed")
OPTIONAL = ("last_modified", "status", "digest")
CHANGE_TIME = "changed_at"  # instead of visits, where all changes are known

# Usual names of columns, taken where a file has no column of our name and nobody names one.
ALIASES: dict[str, tuple[str, ...]] = {
    "page": ("url", "uri", "address"),
    "visited_at": ("time", "timestamp", "ts", "at", "date", "fetched_at", "crawled_at"),
    "changed": (),
    "last_modified": (),
    "status": ("code", "http_status", "status_code"),
    "digest": ("hash", "checksum", "etag", "md5", "sha1", "sha256"),
}

_OUTCOME = "outcome"  # what `recrawl crawl --visit-log` writes of a visit
_TIMES = ("visited_at", "last_modified")
_RULES = {
    "page": cells.PAGE_RULE,
    "visited_at": "",  # depends on the cell
    "changed": cells.CHANGED_RULE,
    "last_modified": "",
    "status": cells.STATUS_RULE,
    _OUTCOME: "must be an outcome as recrawl crawl --visit-log writes it",
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
        named = (*NEEDED[:2], *(("site",) if "site" in table.columns else ()))
        optional: tuple[str, ...] = () if self.complete else (NEEDED[2], *OPTIONAL)
        if _OUTCOME in header and not {"changed", "digest"} & {*header, *table.columns}:
            optional = (_OUTCOME, OPTIONAL[0])
        compared = "changed" in header or "changed" in table.columns
        aliases = {**ALIASES, "digest": ()} if compared else ALIASES
        found = self.present = table.match(header, named, optional, aliases)
        if not self.complete and not found.keys() & {"changed", "digest", _OUTCOME}:
            if "last_modified" not in found:
                must = "column 'changed' or 'digest' must be present"
                table.refuse(f"{must} (got {listed(header)})")
            table.remarks["Changes are told by last_modified alone."] = None
        return list(dict.fromkeys(found.values()))


def read_batches(reading: VisitReading) -> Iterator[Batch]:
    """Rows of a log in the order of its files, a batch at a time."""
    table, position = reading.table, 0
    for part in table.parts():
        one = reading if part is table else replace(reading, table=part, complete=False)
        for batch, rows in _read_file(one, position):
            if position and one.complete != reading.complete:
                part.refuse("must hold visits, or changes, as the files before it do")
            reading.complete, reading.present = one.complete, one.present
            if part is not table:
                table.skipped += part.skipped
                part.skipped = 0
            yield batch
            position += rows


def _read_file(reading: VisitReading, position: int) -> Iterator[tuple[Batch, int]]:
    """Batches of one file, each with the number of rows that it is made of."""
    if reading.table.reader is None and is_store(reading.table.path):
        from recrawl.adapters.stores import visits as store_visits

        for batch in store_visits.read(reading):
            yield replace(batch, position=batch.position + position), len(batch.at)
        return
    for columns in read_columns(reading.table, reading.choose):
        yield _batch(reading, columns, position), len(columns)
        position += len(columns)


def _batch(reading: VisitReading, rows: ColumnBatch, position: int) -> Batch:
    columns = {ours: rows.columns[theirs] for ours, theirs in reading.present.items()}
    names, starts, unnamed = columns["page"].runs()
    single = len(names) == len(rows)
    values: dict[str, Any] = {}
    wrong = {"page": unnamed}
    for ours in _TIMES:
        if ours in columns:
            optional, zone = ours != "visited_at", reading.table.zone
            values[ours], wrong[ours] = columns[ours].times(optional=optional, zone=zone)
    reading.table.note_zone()
    if "changed" in columns:
        values["changed"], wrong["changed"] = columns["changed"].changes()
    if "status" in columns:
        values["status"], wrong["status"] = columns["status"].answers()
    if _OUTCOME in columns:
        values["changed"], values["status"], wrong[_OUTCOME] = _outcomes(columns[_OUTCOME])
    keep = _kept(reading, rows, wrong)
    if _OUTCOME in columns:
        keep = _answered(values["status"], keep)
    answer = values.get("status")
    # In a file of changes each row is one.
    unsaid = 1 if reading.complete else UNKNOWN_CHANGE
    batch = Batch(
        names=names,
        at=values["visited_at"],
        changed=values.get("changed", np.full(len(rows), unsaid, np.int8)),
        lengths=None if single else np.diff(starts, append=len(rows)),
        position=position,
        last_modified=values.get("last_modified"),
        answer=None if answer is None or (answer == AnswerKind.OK).all() else answer,
        site=columns["site"].names(None if single else starts) if "site" in columns else None,
        digest=columns["digest"].digests() if "digest" in columns else None,
    )
    return batch if keep is None else batch.rows(keep)


def _outcomes(column: Cells) -> tuple[Changes, Answers, Bools]:
    """What outcomes of visits say of changes and answers, and which cells are none."""
    from recrawl.adapters.stores.visits import ANSWER, CHANGED

    coded = column.coded()
    numbers = {outcome.label: int(outcome) for outcome in VisitOutcome}
    found = np.array([numbers.get(word.strip(), -1) for word in coded.words], np.int64)[coded.codes]
    return CHANGED[found], ANSWER[found], found < 0


def _answered(answer: Answers, keep: Bools | None) -> Bools | None:
    """Rows to keep: as of a store, none of visits that tell nothing of their page."""
    from recrawl.adapters.stores.visits import LEFT_OUT

    told: Bools = answer != LEFT_OUT
    if keep is not None:
        told &= keep
    return None if told.all() else told


def _kept(reading: VisitReading, rows: ColumnBatch, wrong: dict[str, Bools]) -> Bools | None:
    """Rows to keep, None for all; raise for the first wrong cell unless they are skipped."""
    bad: Bools = np.logical_or.reduce(list(wrong.values()))
    if not bad.any():
        return None
    table = reading.table
    if not table.skip_bad_rows:
        row = int(np.argmax(bad))
        ours = next(ours for ours in _RULES if ours in wrong and wrong[ours][row])
        theirs = reading.present[ours]
        rule = time_rule(rows.columns[theirs].text(row)) if ours in _TIMES else _RULES[ours]
        table.refuse_cell(rows, row, theirs, rule)
    table.skipped += int(bad.sum())
    return ~bad
