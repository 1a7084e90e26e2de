"""Rows of a log in any order, grouped by page.

Runs are gathered by a hash of the page's name, never by sorting text. One sort of whole numbers
does it: each holds a run's hash in its upper bits and the run's number in its lower ones, so
that the runs of a page come out together and in the order of the file. Too few bits are left
for the hash to be unique; a second, independent hash distinguishes pages that share it.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.arrays.blocks import gathered
from recrawl.arrays.ranges import expand_ranges
from recrawl.arrays.texts import Texts
from recrawl.visits.rows import NO_DIGEST, UNKNOWN_TIME, Rows
from recrawl.visits.visit import AnswerKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recrawl.arrays.types import Answers, Bools, Changes, Checks, Ints, Words
    from recrawl.visits.batch import Batch

# Slots of a cache of the names stored already; a name that loses its slot is stored twice, which
# costs memory and nothing else.
_SLOTS = 2**22


@dataclass(frozen=True, slots=True, eq=False)
class Grouped:
    """Pages in arbitrary order, and their visits.

    Args:
        names: Name of each page.
        position: Where in the log each page first occurs.
        rows: The visits, page after page.
        sites: Site of each page as the log names it; None where it does not.
    """

    names: Texts
    position: Ints
    rows: Rows
    sites: Texts | None = None

    def __len__(self) -> int:
        """Return the number of pages."""
        return len(self.names)


def group(batches: Iterable[Batch]) -> Grouped:
    """Group the rows of batches by page; all batches are hashed with the same seed."""
    seen = _Runs.of(batches)
    order, starts = _by_page(seen.key, seen.check)
    # A page is named by its first run, whose name is always stored: the sort is stable, and a name
    # not seen before misses the cache. Assigned backwards, so that the first of two stored wins.
    first = starts if order is None else order[starts]
    place = np.empty(len(seen.key), np.int64)
    place[seen.stored[::-1]] = np.arange(len(seen.stored))[::-1]
    stored = place[first]
    edges = np.append(starts, len(seen.key))
    if seen.lengths is not None:
        # So far in runs; from here on in rows. A run's rows lie together and move as one range.
        starts = np.cumsum(seen.lengths) - seen.lengths
        lengths = seen.lengths if order is None else seen.lengths[order]
        edges = np.concatenate([[0], np.cumsum(lengths)])[edges]
        order = None if order is None else expand_ranges(starts[order], lengths)
    rows = Rows(edges, seen.at, seen.changed, seen.last_modified, seen.answer, seen.digest)
    return Grouped(
        names=seen.names.take(stored),
        position=seen.position[stored],
        rows=rows if order is None else rows.take(order),
        sites=None if seen.sites is None else seen.sites.take(stored),
    )


def _by_page(key: Words, check: Checks) -> tuple[Ints | None, Ints]:
    """Order that groups the runs by page, and where each page then begins.

    A page's runs stay in their order. The order is None where no page has two runs.
    """
    runs = len(key)
    bits = np.uint64(max(1, runs.bit_length()))
    # Hash above, number of the run below: one sort of integers groups the runs of a page and keeps
    # their order.
    packed = key >> bits
    packed <<= bits
    packed |= np.arange(runs, dtype=np.uint64)
    packed.sort()
    order = (packed & ((np.uint64(1) << bits) - np.uint64(1))).view(np.int64)
    packed >>= bits
    begins = np.ones(runs, np.bool_)
    np.not_equal(packed[1:], packed[:-1], out=begins[1:])
    if not begins.all():
        sure = gathered(check, order)
        odd = np.flatnonzero(~begins[1:] & (sure[1:] != sure[:-1])) + 1
        if len(odd):
            _split_collisions(order, sure, begins, odd)
    if begins.all():
        return None, np.arange(runs)
    return order, np.flatnonzero(begins)


def _split_collisions(order: Ints, sure: Checks, begins: Bools, odd: Ints) -> None:
    """Split, in place, groups in which different pages share the bits of the first hash."""
    starts = np.flatnonzero(begins)
    group = np.unique(np.searchsorted(starts, odd, side="right") - 1)
    ends = np.append(starts[1:], len(order))
    rows = expand_ranges(starts[group], ends[group] - starts[group])
    number = np.repeat(group, ends[group] - starts[group])
    apart = rows[np.lexsort((order[rows], sure[rows], number))]
    order[rows], sure[rows] = order[apart], sure[apart]
    begins[1:] |= sure[1:] != sure[:-1]


@dataclass(frozen=True, slots=True, eq=False)
class _Runs:
    """All runs of a log: hashes and columns end to end, and each name at least once.

    `stored` numbers the runs whose names, sites and positions are stored. Names take most of a
    log's memory, so a page that comes back is, as a rule, not stored again.
    """

    key: Words
    check: Checks
    lengths: Ints | None
    at: Ints
    changed: Changes
    last_modified: Ints | None
    answer: Answers | None
    digest: Words | None
    stored: Ints
    names: Texts
    sites: Texts | None
    position: Ints

    @classmethod
    def of(cls, batches: Iterable[Batch]) -> _Runs:
        """Collect the runs, and store each name at least where it first occurs."""
        slots = np.zeros(_SLOTS, np.uint64)
        columns: dict[str, list[Any]] = {name: [] for name in cls.__dataclass_fields__}
        runs = 0
        for batch in batches:
            key, check = batch.key, batch.check
            assert key is not None  # noqa: S101 - the caller hashed the batches
            assert check is not None  # noqa: S101
            new = _unseen(batch.identity(), slots)
            columns["key"].append(key)
            columns["check"].append(check)
            for name in ("lengths", "at", "changed", "last_modified", "answer", "digest"):
                columns[name].append(getattr(batch, name))
            columns["stored"].append(new + runs)
            columns["names"].append(batch.names.take(new))
            columns["sites"].append(None if batch.site is None else batch.site.take(new))
            columns["position"].append(batch.positions_of(new))
            runs += len(key)
        rows = [len(at) for at in columns["at"]]
        runs_of = [len(key) for key in columns["key"]]
        seen = cls(
            key=_joined(columns.pop("key"), np.uint64),
            check=_joined(columns.pop("check"), np.uint32),
            lengths=_filled(columns.pop("lengths"), runs_of, 1, np.int64),
            at=_joined(columns.pop("at"), np.int64),
            changed=_joined(columns.pop("changed"), np.int8),
            last_modified=_filled(columns.pop("last_modified"), rows, UNKNOWN_TIME, np.int64),
            answer=_filled(columns.pop("answer"), rows, AnswerKind.OK, np.uint8),
            digest=_filled(columns.pop("digest"), rows, NO_DIGEST, np.uint64),
            stored=_joined(columns.pop("stored"), np.int64),
            names=Texts.joined(columns.pop("names")),
            sites=_sites(columns.pop("sites")),
            position=_joined(columns.pop("position"), np.int64),
        )
        return seen if seen.lengths is None else seen.merged(seen.lengths)

    def merged(self, lengths: Ints) -> _Runs:
        """Merge neighbouring runs of one page, which the edges of batches have cut."""
        begins = np.ones(len(self.key), np.bool_)
        begins[1:] = (self.key[1:] != self.key[:-1]) | (self.check[1:] != self.check[:-1])
        if begins.all():
            return self
        return replace(
            self,
            key=self.key[begins],
            check=self.check[begins],
            lengths=np.add.reduceat(lengths, np.flatnonzero(begins)),
            stored=np.cumsum(begins)[self.stored] - 1,
        )


def _unseen(pages: Words, slots: Words) -> Ints:
    """Runs whose page is in neither of its two cache slots, and put it into one of them."""
    slot = (pages & np.uint64(_SLOTS - 1)).view(np.int64)
    some: Ints = np.flatnonzero(slots[slot] != pages)
    pages, slot = pages[some], slot[some]
    other = slot ^ 1
    still = slots[other] != pages
    some, pages, slot, other = some[still], pages[still], slot[still], other[still]
    taken = slots[slot] != 0
    slots[np.where(taken, other, slot)] = pages
    return some


def _joined(parts: list[Any], dtype: type) -> Any:  # noqa: ANN401 - a column of that type
    return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, dtype), *parts])


def _sites(parts: Sequence[Texts | None]) -> Texts | None:
    named = [part for part in parts if part is not None]
    return Texts.joined(named) if named else None


def _filled(parts: Sequence[Any], rows: Sequence[int], empty: int, dtype: type) -> Any:  # noqa: ANN401
    """Join a column that some batches lack; None where all do."""
    if all(part is None for part in parts):
        return None
    return np.concatenate(
        [
            np.full(length, empty, dtype) if part is None else part
            for part, length in zip(parts, rows, strict=True)
        ]
    )
