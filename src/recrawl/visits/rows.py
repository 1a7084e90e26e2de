"""Visits as columns, grouped by page.

Instants are stored as whole microseconds since 1970,
`changed` as 1, 0 or -1 (not known), answers as the numbers of `AnswerKind`. Columns without
values are None, so that a plain log costs nothing extra.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.arrays.blocks import gathered
from recrawl.arrays.texts import Texts
from recrawl.units import microseconds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recrawl.arrays.types import Answers, Bools, Changes, Ints, Words
    from recrawl.visits.visit import Visit

UNKNOWN_TIME = np.iinfo(np.int64).min  # what numpy calls NaT; smaller than every real instant
UNKNOWN_CHANGE = -1
NO_DIGEST = 0
SIZE_DIGEST = "size:"  # how a digest begins that is no more than the size of an answer
_SIZE_LETTERS = np.frombuffer(SIZE_DIGEST.encode(), np.uint8)


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """One row per visit, the visits of a page next to each other.

    Args:
        offsets: Where each page's rows begin; one more than there are pages.
        at: Microseconds since 1970.
        changed: 1, 0, or -1 where not known.
        last_modified: Microseconds since 1970, `UNKNOWN_TIME` where not known.
        answer: Numbers of `AnswerKind`; None where every visit was answered.
        digest: Hash of the digest of the content, `NO_DIGEST` without one; None without any.
    """

    offsets: Ints
    at: Ints
    changed: Changes
    last_modified: Ints | None = None
    answer: Answers | None = None
    digest: Words | None = None

    @property
    def is_first(self) -> Bools:
        """Which rows are the first of their page."""
        first = np.zeros(len(self.at), np.bool_)
        first[self.offsets[:-1][np.diff(self.offsets) > 0]] = True
        return first

    def of_page(self, ufunc: np.ufunc, values: Any, empty: int) -> Any:  # noqa: ANN401 - as given
        """Reduce `values`, one per row, over each page; `empty` where a page has no rows."""
        some = np.diff(self.offsets) > 0
        reduced = np.full(len(self.offsets) - 1, empty, values.dtype)
        if some.any():
            reduced[some] = ufunc.reduceat(values, self.offsets[:-1][some])
        return reduced

    def pages(self, wanted: slice) -> Rows:
        """Only the pages of a slice, without copying."""
        edges = self.offsets[wanted.start : wanted.stop + 1]
        rows = slice(int(edges[0]), int(edges[-1]))
        return Rows(
            offsets=edges - edges[0],
            at=self.at[rows],
            changed=self.changed[rows],
            last_modified=None if self.last_modified is None else self.last_modified[rows],
            answer=None if self.answer is None else self.answer[rows],
            digest=None if self.digest is None else self.digest[rows],
        )

    def keep(self, wanted: Bools) -> Rows:
        """Only the wanted rows."""
        if wanted.all():
            return self
        before = np.concatenate([[0], np.cumsum(wanted)])
        return Rows(
            offsets=before[self.offsets],
            at=self.at[wanted],
            changed=self.changed[wanted],
            last_modified=None if self.last_modified is None else self.last_modified[wanted],
            answer=None if self.answer is None else self.answer[wanted],
            digest=None if self.digest is None else self.digest[wanted],
        )

    def take(self, order: Ints) -> Rows:
        """Rows in another order, each within its page."""
        return Rows(
            offsets=self.offsets,
            at=gathered(self.at, order),
            changed=gathered(self.changed, order),
            last_modified=(
                None if self.last_modified is None else gathered(self.last_modified, order)
            ),
            answer=None if self.answer is None else gathered(self.answer, order),
            digest=None if self.digest is None else gathered(self.digest, order),
        )


def digest_hashes(digests: Texts) -> Words | None:
    """One number per digest, `NO_DIGEST` where it is empty; None where all are.

    It is odd for a size, such as `size:5120`, and even for all others. Equal digests have equal
    numbers in every log. The seed need not be secret: whoever prepares two digests that share a
    number hides a change of a page that is theirs.

    >>> first, same, other, none = digest_hashes(Texts.of(["3f2a", "3f2a", "9be1", ""]))
    >>> first == same, first == other, none == NO_DIGEST
    (np.True_, np.False_, np.True_)
    """
    some = np.diff(digests.offsets) > 0
    if not some.any():
        return None
    hashed = np.maximum(digests.hashes(seed=0)[0], 2) & ~np.uint64(1)
    hashed[_sizes_among(digests)] |= np.uint64(1)
    return np.where(some, hashed, NO_DIGEST)


def _sizes_among(digests: Texts) -> Ints:
    """Rows whose digest is a size."""
    rows: Ints = np.flatnonzero(np.diff(digests.offsets) > len(_SIZE_LETTERS))
    for place, letter in enumerate(_SIZE_LETTERS):
        rows = rows[digests.data[digests.offsets[rows] + place] == letter]
    return rows


def is_size(digest: Words) -> Bools:
    """Which of the numbers that `digest_hashes` made are those of sizes."""
    return (digest & np.uint64(1)) > 0


def rows_of(visits: Iterable[Visit]) -> tuple[list[str], Rows]:
    """Page names in order of first appearance, and their visits as rows."""
    by_page: dict[str, list[Visit]] = {}
    for visit in visits:
        by_page.setdefault(visit.page, []).append(visit)
    together = [visit for page in by_page.values() for visit in page]
    return list(by_page), Rows(
        offsets=np.cumsum([0, *(len(page) for page in by_page.values())]),
        at=np.array([microseconds(visit.at) for visit in together], np.int64),
        changed=np.array(
            [UNKNOWN_CHANGE if visit.changed is None else visit.changed for visit in together],
            np.int8,
        ),
        last_modified=np.array(
            [
                UNKNOWN_TIME if visit.last_modified is None else microseconds(visit.last_modified)
                for visit in together
            ],
            np.int64,
        ),
        answer=np.array([visit.answer for visit in together], np.uint8),
        digest=digest_hashes(Texts.of([visit.digest for visit in together])),
    )
