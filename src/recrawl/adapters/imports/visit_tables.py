"""Visits in tables: visit logs, our own log of a crawl, the columnar index of Common Crawl, stores.

    kind          page      visited_at   status         digest           and
    visit log     page      visited_at   status         digest           changed, last_modified
    --visit-log         address   at           status         -                outcome
    cc-index      url       fetch_time   fetch_status   content_digest   -

Touches: files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.adapters.imports.foreign_visits import (
    FAILED_STATUS,
    GONE_STATUS,
    NOT_MODIFIED,
    UNKNOWN_STATUS,
    ForeignVisits,
    of_page,
    plain_digest,
)
from recrawl.adapters.tables.columns import TableInput
from recrawl.adapters.tables.formats import read_columns
from recrawl.adapters.tables.inputs import table_of
from recrawl.adapters.tables.table_options import TableOptions
from recrawl.adapters.tables.visits import (
    VisitReading,
    column_times,
    kept_rows,
    log_aliases,
    read_batches,
    settled_times,
)
from recrawl.arrays.texts import Texts
from recrawl.parse.time_zones import RepeatedHours
from recrawl.visits.outcomes import ANSWER_OF_OUTCOME, CHANGED_BY_OUTCOME
from recrawl.visits.rows import UNKNOWN_CHANGE, UNKNOWN_TIME
from recrawl.visits.status import VisitOutcome
from recrawl.visits.visit import AnswerKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from recrawl.adapters.imports.foreign_visits import ImportReading
    from recrawl.adapters.tables.columns import Cells, ColumnBatch, TableFile
    from recrawl.arrays.types import Bools, Changes, Ints

OPTIONAL = ("status", "changed", "digest", "last_modified", "outcome")
COMMON_CRAWL = {
    "page": "url",
    "visited_at": "fetch_time",
    "status": "fetch_status",
    "digest": "content_digest",
}
COMMON_CRAWL_KEY = "url_surtkey"
OUR_LOG = {"page": "address", "visited_at": "at", "status": "status", "outcome": "outcome"}

_LEAST_STATUS, _MOST_STATUS = 100, 599
_WORDS = {"": UNKNOWN_STATUS, "ok": UNKNOWN_STATUS, "failed": FAILED_STATUS, "gone": GONE_STATUS}
_WRONG = -1
_OUTCOMES = {outcome.label: outcome for outcome in VisitOutcome}
_ANSWERS = {
    AnswerKind.OK: UNKNOWN_STATUS,
    AnswerKind.NOT_MODIFIED: NOT_MODIFIED,
    AnswerKind.GONE: GONE_STATUS,
    AnswerKind.FAILED: FAILED_STATUS,
}


def read_table(
    file: TableFile, reading: ImportReading, columns: Mapping[str, str] | None = None
) -> Iterator[ForeignVisits]:
    """Visits of a table.

    Args:
        file: Where it lies.
        reading: How it is read. A malformed row is refused, unless it says that such are skipped.
        columns: Names of our columns in what a program has written; malformed rows are skipped.
    """
    options = reading.table if columns is None else TableOptions(columns, skip_bad_rows=True)
    present: dict[str, str] = {}
    table = table_of([file], options, reading.progress)

    def choose(header: Sequence[str]) -> list[str]:
        usual = None if columns is not None else log_aliases(table, header)
        present.update(table.match(header, ("page", "visited_at"), OPTIONAL, usual))
        return list(dict.fromkeys(present.values()))

    hours, any_name = RepeatedHours(table.zone), columns is None and reading.any_name
    for batch in read_columns(table, choose):
        visits = _visits(table, batch, present, hours)
        reading.note_table(table)
        yield reading.vetted(visits, any_name=any_name or reading.by_key)
    reading.note_table(table)


def read_store(file: TableFile, reading: ImportReading) -> Iterator[ForeignVisits]:
    """Visits of a store."""
    table = TableInput(file.path, progress=reading.progress, label=file.label)
    for batch in read_batches(VisitReading(table)):
        rows = np.repeat(np.arange(len(batch.names)), batch.run_lengths())
        count = len(batch.at)
        answers = np.zeros(count, np.uint8) if batch.answer is None else batch.answer
        modified = batch.last_modified
        visits = ForeignVisits(
            batch.names.take(rows),
            batch.at,
            np.array([_ANSWERS[AnswerKind(kind)] for kind in answers.tolist()], np.int64),
            batch.changed,
            Texts.of([""] * count),
            np.full(count, UNKNOWN_TIME) if modified is None else modified,
        )
        yield reading.vetted(visits)


def _visits(
    table: TableInput, batch: ColumnBatch, present: Mapping[str, str], hours: RepeatedHours
) -> ForeignVisits:
    columns = {ours: batch.columns[theirs] for ours, theirs in present.items()}
    count = len(batch)
    runs, starts, unnamed = columns["page"].runs()
    page = runs.take(np.repeat(np.arange(len(runs)), np.diff(starts, append=count)))
    wrong = {"page": unnamed}
    at, wrong["visited_at"] = column_times(table, columns["visited_at"], "visited_at")
    at = settled_times(at, columns["visited_at"], hours, (runs, starts))
    status, changed = np.full(count, UNKNOWN_STATUS), np.full(count, UNKNOWN_CHANGE, np.int8)
    modified = np.full(count, UNKNOWN_TIME)
    if "status" in columns:
        status = _statuses(columns["status"])
        wrong["status"] = status == _WRONG
    if "outcome" in columns:
        status, changed = _by_outcome(columns["outcome"], status)
    elif "changed" in columns:
        changed, wrong["changed"] = columns["changed"].changes(table.change_words)
    if "last_modified" in columns:
        modified, wrong["last_modified"] = column_times(
            table, columns["last_modified"], "last_modified"
        )
    changed = np.where((status == NOT_MODIFIED) & (changed < 0), 0, changed).astype(np.int8)
    digest = _digests(columns.get("digest"), of_page(status))
    visits = ForeignVisits(page, at, status, changed, digest, modified)
    keep = kept_rows(table, present, batch, wrong)
    return visits if keep is None else visits.take(np.flatnonzero(keep))


def _statuses(cells: Cells) -> Ints:
    """HTTP codes, or what words mean; `_WRONG` for what means nothing."""
    coded = cells.coded()
    return np.array([_status(word) for word in coded.words], np.int64)[coded.codes]


def _status(word: str) -> int:
    text = word.strip().lower()
    if text in _WORDS:
        return _WORDS[text]
    code = int(text) if len(text) == 3 and text.isascii() and text.isdigit() else 0  # noqa: PLR2004
    return code if _LEAST_STATUS <= code <= _MOST_STATUS else _WRONG


def _by_outcome(cells: Cells, status: Ints) -> tuple[Ints, Changes]:
    """What the outcomes of our own visits mean; they know more than status codes."""
    coded = cells.coded()
    known = np.array([_OUTCOMES.get(word, _WRONG) for word in coded.words], np.int64)[coded.codes]
    changed = np.where(known == _WRONG, UNKNOWN_CHANGE, CHANGED_BY_OUTCOME[known])
    answer = np.where(known == _WRONG, AnswerKind.OK, ANSWER_OF_OUTCOME[known])
    status = np.where(answer == AnswerKind.GONE, GONE_STATUS, status)
    status = np.where(answer == AnswerKind.FAILED, FAILED_STATUS, status)
    return status, changed.astype(np.int8)


def _digests(cells: Cells | None, wanted: Bools) -> Texts:
    """Digests of visits that were shown the page; none where there is none."""
    if cells is None:
        return Texts.of([""] * len(wanted))
    texts = cells.names().tolist()
    return Texts.of(
        [plain_digest(text.strip()) if has else "" for text, has in zip(texts, wanted, strict=True)]
    )
