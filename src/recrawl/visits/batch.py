"""A batch of rows of a visit log, as columns.

Neighbouring rows of one page form a *run*, and the page is named once per run: a log in order of
time has runs of one row, a log grouped by page has one run per page.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.ranges import expand_ranges

if TYPE_CHECKING:
    from recrawl.arrays.texts import Texts
    from recrawl.arrays.types import Answers, Bools, Changes, Checks, Ints, Words


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Rows of a visit log in the order of the file.

    Args:
        names: Page of each run.
        at: Microseconds since 1970, one row per visit.
        changed: 1, 0, or -1 where not known.
        lengths: Rows of each run; None where every run is a single row.
        position: Position of each run in the whole log, rising; one number, that of the first row,
            where the rows of the log follow without a gap.
        last_modified: Microseconds since 1970, or the smallest integer; None without dates.
        answer: Numbers of `AnswerKind`; None where every visit was answered.
        site: Site of each run where the log names it, else None.
        key: First hash of each run's page, once made.
        check: Second hash of each run's page, once made.
        digest: Hash of the content's digest, 0 without one; None where no visit has one.
    """

    names: Texts
    at: Ints
    changed: Changes
    lengths: Ints | None = None
    position: Ints | int = 0
    last_modified: Ints | None = None
    answer: Answers | None = None
    site: Texts | None = None
    key: Words | None = None
    check: Checks | None = None
    digest: Words | None = None

    def hashed(self, seed: int) -> Batch:
        """The same batch with the two hashes of each run's page."""
        key, check = self.names.hashes(seed)
        return replace(self, key=key, check=check)

    def identity(self) -> Words:
        """Both hashes of each run's page in one number."""
        assert self.key is not None  # noqa: S101 - hashed() comes first
        assert self.check is not None  # noqa: S101
        return self.key ^ self.check.astype(np.uint64) * np.uint64(3)

    @property
    def size(self) -> int:
        """Approximate bytes of memory that processing this batch takes."""
        row = 32 + 24 * (self.last_modified is not None) + 2 * (self.answer is not None)
        row += 24 * (self.digest is not None)
        return row * len(self.at) + 40 * len(self.names)

    def run_lengths(self) -> Ints:
        """Rows of each run."""
        return np.ones(len(self.names), np.int64) if self.lengths is None else self.lengths

    def run_positions(self) -> Ints:
        """Where in the whole log each run stands."""
        if isinstance(self.position, np.ndarray):
            return self.position
        lengths = self.run_lengths()
        return np.cumsum(lengths) - lengths + self.position

    def positions_of(self, runs: Ints) -> Ints:
        """Where in the whole log some of the runs stand."""
        if self.lengths is None and not isinstance(self.position, np.ndarray):
            return runs + self.position
        return self.run_positions()[runs]

    def take(self, runs: Ints) -> Batch:
        """Only the named runs, in the order named."""
        lengths, rows = None, runs
        if self.lengths is not None:
            lengths = self.lengths[runs]
            rows = expand_ranges((np.cumsum(self.lengths) - self.lengths)[runs], lengths)
        return Batch(
            names=self.names.take(runs),
            at=self.at[rows],
            changed=self.changed[rows],
            lengths=lengths,
            position=self.positions_of(runs),
            last_modified=None if self.last_modified is None else self.last_modified[rows],
            answer=None if self.answer is None else self.answer[rows],
            site=None if self.site is None else self.site.take(runs),
            key=None if self.key is None else self.key[runs],
            check=None if self.check is None else self.check[runs],
            digest=None if self.digest is None else self.digest[rows],
        )

    def rows(self, wanted: Bools) -> Batch:
        """Only the wanted rows; runs that lose all of theirs are left out."""
        if self.lengths is None:
            return self.take(np.flatnonzero(wanted))
        run = np.repeat(np.arange(len(self.lengths)), self.lengths)[wanted]
        lengths = np.bincount(run, minlength=len(self.lengths))
        return replace(
            self,
            at=self.at[wanted],
            changed=self.changed[wanted],
            lengths=lengths,
            position=self.run_positions(),
            last_modified=None if self.last_modified is None else self.last_modified[wanted],
            answer=None if self.answer is None else self.answer[wanted],
            digest=None if self.digest is None else self.digest[wanted],
        ).take(np.flatnonzero(lengths))
