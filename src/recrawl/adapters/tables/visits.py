"""Visit logs in files: tables with one row per visit, or a store.

Touches: files.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.adapters.tables.formats import filled_parts, read_columns
from recrawl.errors import InvalidTable
from recrawl.parse import cells
from recrawl.parse.time_zones import RepeatedHours
from recrawl.parse.times import time_rule, times
from recrawl.store import is_store
from recrawl.visits.batch import Batch
from recrawl.visits.outcomes import ANSWER_OF_OUTCOME, CHANGED_BY_OUTCOME
from recrawl.visits.rows import UNKNOWN_CHANGE
from recrawl.visits.status import VisitOutcome
from recrawl.visits.visit import AnswerKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from recrawl.adapters.tables.columns import Cells, ColumnBatch, TableInput
    from recrawl.arrays.texts import Texts
    from recrawl.arrays.types import Answers, Bools, Changes, Ints
    from recrawl.parse.time_zones import Zone

NEEDED = ("page", "visited_at", "changed")
OPTIONAL = ("last_modified", "status", "digest")
CHANGE_TIME = "changed_at"  # instead of visits, where all changes are known

# Usual names of columns, taken where a file has no column of our name and nobody names one.
ALIASES: dict[str, tuple[str, ...]] = {
    "page": ("url", "uri", "address", "page_url"),
    "visited_at": (
        *("time", "timestamp", "ts", "at", "date", "datetime", "fetched_at", "crawled_at"),
        *("visit_time", "fetch_time", "crawl_time"),
    ),
    "changed": ("is_changed", "has_changed"),
    "last_modified": (),
    "status": ("code", "http_status", "status_code"),
    "digest": (
        *("hash", "checksum", "etag", "md5", "sha1", "sha256", "fingerprint"),
        *("content_hash", "content_digest", "body_hash"),
    ),
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
        kept: Rows so far that are not malformed.
    """

    table: TableInput
    change_times: bool = False
    complete: bool = False
    present: dict[str, str] = field(default_factory=dict)
    kept: int = 0

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
        aliases = log_aliases(table, header)
        found = self.present = table.match(header, named, optional, aliases)
        if not self.complete and not found.keys() & {"changed", "digest", _OUTCOME}:
            if "last_modified" not in found:
                table.refuse_missing(header, "changed", aliases, "'changed' or 'digest'")
            table.remarks["Changes are inferred from last_modified alone."] = None
        return list(dict.fromkeys(found.values()))


def log_aliases(table: TableInput, header: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Usual names of columns in a log: none of a digest where it says what changed."""
    changed = table.theirs("changed") in header or table.alias(header, "changed", ALIASES)
    return {**ALIASES, "digest": ()} if changed or "changed" in table.columns else ALIASES


def read_batches(reading: VisitReading) -> Iterator[Batch]:
    """Rows of a log in the order of its files, a batch at a time."""
    table, position, kept = reading.table, 0, 0
    table.zone.begin()
    for part in filled_parts(table):
        one = reading if part is table else replace(reading, table=part, complete=False)
        for batch, rows in _read_file(one, position):
            if position and one.complete != reading.complete:
                part.refuse(
                    "must hold the same kind of rows (visits, or changes) as the files before it"
                )
            reading.complete, reading.present = one.complete, one.present
            table.take_skipped(part)
            yield batch
            position += rows
        table.take_skipped(part)
        kept += one.kept
        one.kept = 0
    if table.skipped and not kept:
        table.refuse(f"all rows are malformed, the first in {table.first_skipped}")


def _read_file(reading: VisitReading, position: int) -> Iterator[tuple[Batch, int]]:
    """Batches of one file, each with the number of rows that it is made of."""
    if reading.table.reader is None and is_store(reading.table.path):
        from recrawl.adapters.stores import visits as store_visits

        for batch in store_visits.read(reading):
            reading.kept += len(batch.at)
            yield replace(batch, position=batch.position + position), len(batch.at)
        return
    hours, begun = RepeatedHours(reading.table.zone), False
    try:
        for columns in read_columns(reading.table, reading.choose):
            yield _batch(reading, columns, position, hours), len(columns)
            position += len(columns)
            begun = True
    except InvalidTable:
        if not begun and reading.table.reader is None:
            _refuse_foreign(reading.table)
        raise


def _refuse_foreign(table: TableInput) -> None:
    """Say who reads a file that is no table, if somebody does."""
    from recrawl.adapters.imports.sources import FOREIGN_KINDS, kind_of

    try:
        kind = FOREIGN_KINDS.get(kind_of(table.path), "")
    except (InvalidTable, OSError):  # what is wrong with it is said by the caller
        return
    if kind:
        table.refuse(
            f"looks like {kind}; `recrawl import` with -o visits.csv makes a visit log of it"
        )


def _batch(reading: VisitReading, rows: ColumnBatch, position: int, hours: RepeatedHours) -> Batch:
    columns = {ours: rows.columns[theirs] for ours, theirs in reading.present.items()}
    names, starts, unnamed = columns["page"].runs()
    single = len(names) == len(rows)
    values: dict[str, Any] = {}
    wrong = {"page": unnamed}
    for ours in _TIMES:
        if ours in columns:
            values[ours], wrong[ours] = column_times(reading.table, columns[ours], ours)
    values["visited_at"] = settled_times(
        values["visited_at"], columns["visited_at"], hours, (names, starts)
    )
    if "changed" in columns:
        values["changed"], wrong["changed"] = columns["changed"].changes(reading.table.change_words)
    if "status" in columns:
        values["status"], wrong["status"] = columns["status"].answers()
    if _OUTCOME in columns:
        values["changed"], values["status"], wrong[_OUTCOME] = _outcomes(columns[_OUTCOME])
    keep = kept_rows(reading.table, reading.present, rows, wrong)
    reading.kept += len(rows) if keep is None else int(np.count_nonzero(keep))
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


def column_times(table: TableInput, column: Cells, ours: str) -> tuple[Ints, Bools]:
    """Instants of a column of times, and which cells are none."""
    optional, zone = ours != "visited_at", table.zone
    found = column.times(optional=optional, zone=zone)
    table.note_zone()
    if optional and zone.form is not None and found[1].any():
        # A host's own date need not be written as the times of the log are.
        found = column.times(optional=optional, zone=zone.in_any_form())
    return found


def settled_times(at: Ints, column: Cells, hours: RepeatedHours, pages: tuple[Texts, Ints]) -> Ints:
    """The same instants, hours that clocks showed twice told apart.

    Args:
        at: The instants.
        column: The cells that they were read from.
        hours: Tells the hours of a file apart.
        pages: Page of each run of rows, and where the run begins.
    """
    names, starts = pages

    def again(rows: Ints, zone: Zone) -> Ints:
        return times([column.text(row) for row in rows.tolist()], optional=True, zone=zone)[0]

    def page_of(rows: Ints) -> list[str]:
        return names.take(np.searchsorted(starts, rows, side="right") - 1).tolist()

    return hours.settle(at, again, page_of)


def _outcomes(column: Cells) -> tuple[Changes, Answers, Bools]:
    """What outcomes of visits say of changes and answers, and which cells are none."""
    coded = column.coded()
    numbers = {outcome.label: int(outcome) for outcome in VisitOutcome}
    found = np.array([numbers.get(word.strip(), -1) for word in coded.words], np.int64)[coded.codes]
    return CHANGED_BY_OUTCOME[found], ANSWER_OF_OUTCOME[found], found < 0


def _answered(answer: Answers, keep: Bools | None) -> Bools | None:
    """Rows to keep: as of a store, none of visits that tell nothing of their page."""
    told: Bools = answer != AnswerKind.FAILED
    if keep is not None:
        told &= keep
    return None if told.all() else told


def kept_rows(
    table: TableInput, present: Mapping[str, str], rows: ColumnBatch, wrong: Mapping[str, Bools]
) -> Bools | None:
    """Rows to keep, None for all; raise for the first wrong cell unless they are skipped.

    Args:
        table: Whose rows they are.
        present: Our columns that it has, with their names.
        rows: The rows.
        wrong: Which cells of our columns are wrong.
    """
    bad: Bools = np.logical_or.reduce(list(wrong.values()))
    if not bad.any():
        return None
    row = int(np.argmax(bad))
    ours = next(ours for ours in _RULES if ours in wrong and wrong[ours][row])
    theirs = present[ours]
    text = rows.columns[theirs].text(row)
    rule = time_rule(text, table.zone) if ours in _TIMES else _RULES[ours]
    fault = table.fault(rows, row, theirs, rule)
    if not table.skip_bad_rows:
        skip = "" if text.strip() else "; --skip-bad-rows skips rows without one"
        raise InvalidTable(fault + skip)
    table.skip(int(bad.sum()), fault)
    return ~bad
