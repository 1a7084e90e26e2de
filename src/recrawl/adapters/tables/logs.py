"""Visit logs of any size, as histories a piece at a time.

A log that fits in the memory allowed is one piece. A larger one that is grouped by page is read
through twice, in pieces of whole pages. A larger one in any other order is first split, by a
hash of the page, into temporary files that fit.

Touches: files.
"""

from __future__ import annotations

import os
import sys
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import IO, TYPE_CHECKING, Any, Self

import numpy as np

from recrawl.adapters.tables.inputs import open_table
from recrawl.adapters.tables.table_options import TableOptions
from recrawl.adapters.tables.visits import VisitReading, read_batches
from recrawl.arrays.texts import Texts
from recrawl.errors import CannotWrite, reason
from recrawl.parse.sites import numbered, sites_of
from recrawl.rates.priors import PriorSample, fit_prior
from recrawl.store.scratch import scratch_folder
from recrawl.visits.batch import Batch
from recrawl.visits.grouping import group
from recrawl.visits.vetting import Vetting, vet_log

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from recrawl.arrays.types import Ints, Words
    from recrawl.rates.priors import PriorFit, Priors
    from recrawl.visits.grouping import Grouped
    from recrawl.visits.histories import Histories

_READ_AHEAD = 2  # batches


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Some pages of a log.

    Args:
        names: Name of each page.
        position: Where in the log each page first stands.
        histories: Their histories.
        site: Number of each page's site.
        merged: Visits that were of the same page and second as another one.
        silent: Visits left out because nothing says whether the page had changed.
    """

    names: Texts
    position: Ints
    histories: Histories
    site: Ints
    merged: int = 0
    silent: int = 0

    @property
    def lots(self) -> Words:
        """One number per page that depends on its name alone."""
        return self.names.hashes(seed=0)[0]


@dataclass(slots=True)
class Log(AbstractContextManager["Log"]):
    """A visit log, as pieces that each fit in memory. Closing it removes temporary files.

    Args:
        reading: How to read the file.
        memory: Bytes that a piece may take.
        scratch: Folder for temporary files.
        vetting: How far to trust clocks.
    """

    reading: VisitReading
    memory: int
    scratch: Path
    vetting: Vetting = field(default_factory=Vetting)
    reverts: int = 0  # changes back to an earlier version, in the pieces gone through last
    pages: int = 0  # in the same pieces
    in_order: bool = True  # whether the pieces, one after the other, are in the order of the log
    _pieces: Callable[[], Iterator[Piece]] | None = None
    _sites: dict[str, int] = field(default_factory=dict)
    _seed: int = field(default_factory=lambda: int.from_bytes(os.urandom(7)))
    _open: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> Self:
        """Read the log once and decide how to go through it."""
        try:
            self._pieces = self._decide()
        except BaseException:
            self._open.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Remove temporary files."""
        self._open.close()

    def fit_prior(self, false_changes: float = 0.0, fit: PriorFit = fit_prior) -> Priors:
        """Prior of each site of the log."""
        return self.sample().fit(false_changes=false_changes, fit=fit)

    def sample(self) -> PriorSample:
        """Pages that make the priors of the log's sites."""
        parts = ((piece.histories, piece.site, piece.lots) for piece in self.pieces())
        return PriorSample.of(parts)

    @property
    def sites(self) -> list[str]:
        """Names of the sites met so far, by their numbers."""
        return list(self._sites)

    def pieces(self) -> Iterator[Piece]:
        """Go through the log; may be called again."""
        assert self._pieces is not None, "a log is read inside its with-block"  # noqa: S101
        table = self.reading.table
        self.reverts = self.pages = table.merged = table.silent = 0
        for piece in self._pieces():
            self.pages += len(piece.names)
            self.reverts += int(np.count_nonzero(piece.histories.reverted))
            table.merged += piece.merged
            table.silent += piece.silent
            yield piece

    def _decide(self) -> Callable[[], Iterator[Piece]]:
        try:
            whole = self._piece(group(_within(self._batches(), self.memory)))
        except _TooLargeError:
            grouped = self._stays_grouped()
        else:
            return lambda: iter([whole])
        return self._grouped_pieces if grouped else self._split()

    def _batches(self) -> Iterator[Batch]:
        self.reading.table.skipped = 0
        return _ahead(batch.hashed(self._seed) for batch in _ahead(read_batches(self.reading)))

    def _piece(self, grouped: Grouped) -> Piece:
        if grouped.sites is None:
            number, names = sites_of(grouped.names)
        else:
            number, names = numbered(grouped.sites)
        known = [self._sites.setdefault(name, len(self._sites)) for name in names]
        site = np.array(known, np.int64)[number] if known else number
        histories, merged, silent = vet_log(grouped.rows, self.vetting)
        return Piece(grouped.names, grouped.position, histories, site, merged, silent)

    def _stays_grouped(self) -> bool:
        """Read through the whole log: is every page one run?"""
        seen: list[Words] = []
        last: Words | None = None
        for batch in self._batches():
            both = batch.identity()
            goes_on = last is not None and len(both) > 0 and both[0] == last[0]
            seen.append(both[1:] if goes_on else both)
            last = both[-1:] if len(both) else last
            if len(both) > len(batch.at) / 2:
                return False  # runs of one row: no use in reading on
        every = np.sort(np.concatenate([np.empty(0, np.uint64), *seen]))
        return not (every[1:] == every[:-1]).any()

    def _grouped_pieces(self) -> Iterator[Piece]:
        taken: list[Batch] = []
        size = 0
        for batch in self._batches():
            taken.append(batch)
            size += batch.size
            if size > self.memory / 2 and len(batch.names) > 1:
                # The last page may go on in the next batch: keep it back.
                runs = np.arange(len(batch.names))
                taken[-1] = batch.take(runs[:-1])
                yield self._piece(group(taken))
                taken = [batch.take(runs[-1:])]
                size = taken[0].size
        if taken:
            yield self._piece(group(taken))

    def _split(self) -> Callable[[], Iterator[Piece]]:
        self.in_order = False
        count = _parts(self.reading.table.size, self.memory)
        split = split_by_page(self._batches(), count, self.scratch)
        paths = self._open.enter_context(split)
        return lambda: (self._piece(group(load_batches(path))) for path in paths)


@contextmanager
def split_by_page(batches: Iterable[Batch], count: int, scratch: Path) -> Iterator[list[Path]]:
    """Rows of a log in so many temporary files, all rows of a page in one of them.

    Args:
        batches: The rows, with the hashes of their pages.
        count: Number of files.
        scratch: Folder for them.
    """
    with scratch_folder(scratch, ".recrawl-") as folder:
        paths = [folder / f"{part}.rows" for part in range(count)]
        try:
            _write_split(batches, paths)
        except OSError as error:
            message = f"{scratch}: temporary files could not be written ({reason(error)})"
            raise CannotWrite(message) from None
        yield paths


def _write_split(batches: Iterable[Batch], paths: Sequence[Path]) -> None:
    """Write each run to the file of its hash."""
    count = len(paths)
    with ExitStack() as stack:
        files = [stack.enter_context(path.open("wb")) for path in paths]
        for batch in batches:
            part = ((batch.identity() >> np.uint64(32)) % np.uint64(count)).astype(np.uint16)
            order = np.argsort(part, kind="stable")
            edges = np.searchsorted(part[order], np.arange(count + 1))
            for file, (start, end) in zip(files, pairwise(edges.tolist()), strict=True):
                if end > start:
                    _save(file, batch.take(order[start:end]))


def read_histories(
    *paths: str | Path,
    columns: Mapping[str, str] | None = None,
    skip_bad_rows: bool = False,
    delimiter: str = "",
    tz: str = "",
    vetting: Vetting | None = None,
) -> tuple[list[str], Histories]:
    """Pages of a visit log in files, in the order of first appearance, and their histories.

    Args:
        paths: Files, patterns such as `logs/*.csv.gz`, folders, or `-` for the standard input: CSV,
            JSON lines, a JSON array, Parquet or Arrow, packed or not, with one row per visit, in
            any order: `page`, `visited_at`, `changed` or `digest` and, optionally, `last_modified`
            and `status`. All of them together are one log.
        columns: The files' own names of these columns, where they differ.
        skip_bad_rows: Leave malformed rows out instead of refusing the file.
        delimiter: What separates cells of CSV; what the header tells if empty.
        tz: Time zone of times without an offset, such as `Europe/Berlin`; UTC if empty.
        vetting: How far to trust clocks.
    """
    options = TableOptions.of(columns, skip_bad_rows=skip_bad_rows, delimiter=delimiter, tz=tz)
    with (
        open_table(paths, options) as table,
        Log(VisitReading(table), sys.maxsize, Path(), vetting or Vetting()) as log,
    ):
        (piece,) = log.pieces()
    order = np.argsort(piece.position)
    return piece.names.take(order).tolist(), piece.histories.take(order)


def _parts(file_size: int, memory: int) -> int:
    """Temporary files to split into. A row in memory takes up to eight times its bytes on disk."""
    return int(np.clip(8 * file_size / max(memory, 1), 2, 256))


_COLUMNS = (
    "at",
    "changed",
    "lengths",
    "position",
    "last_modified",
    "answer",
    "key",
    "check",
    "digest",
)


def _save(file: IO[bytes], batch: Batch) -> None:
    columns: list[Any] = [getattr(batch, name) for name in _COLUMNS]
    for texts in (batch.names, batch.site):
        columns += [None, None] if texts is None else [texts.data, texts.offsets]
    for column in columns:
        np.save(file, np.empty((0, 0)) if column is None else column, allow_pickle=False)


def load_batches(path: Path) -> Iterator[Batch]:
    """Rows of one of the files of `split_by_page`."""
    size = path.stat().st_size
    with path.open("rb") as file:
        while file.tell() < size:
            arrays = [np.load(file, allow_pickle=False) for _ in range(len(_COLUMNS) + 4)]
            columns: list[Any] = [None if array.ndim > 1 else array for array in arrays]
            texts = columns[len(_COLUMNS) :]
            yield Batch(
                names=Texts(*texts[:2]),
                site=None if texts[2] is None else Texts(*texts[2:]),
                **dict(zip(_COLUMNS, columns, strict=False)),
            )


class _TooLargeError(Exception):
    """A log needs more memory than it may take."""


def _within(batches: Iterator[Batch], memory: int) -> Iterator[Batch]:
    """The same batches, as long as all of them together fit."""
    size = 0
    for batch in batches:
        size += batch.size
        if size > memory:
            raise _TooLargeError
        yield batch


def _ahead(batches: Iterator[Batch]) -> Iterator[Batch]:
    """The same batches, read ahead by another thread."""
    queue: Queue[tuple[str, Any]] = Queue(_READ_AHEAD)
    stop = False

    def work() -> None:
        try:
            for batch in batches:
                queue.put(("batch", batch))
                if stop:
                    return
            queue.put(("end", None))
        except BaseException as error:  # noqa: BLE001 - raised again by the reading thread
            queue.put(("error", error))

    thread = Thread(target=work, daemon=True)
    thread.start()
    try:
        while True:
            kind, value = queue.get()
            if kind == "batch":
                yield value
            elif kind == "end":
                return
            else:
                raise value
    finally:
        stop = True
        while thread.is_alive():
            while not queue.empty():
                queue.get()
            thread.join(0.01)
