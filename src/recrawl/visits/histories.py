"""Many pages' visit histories as flat arrays, the shape every estimator reads.

A page visited n + 1 times has n *gaps*: the days between one visit and the next, each with
a flag saying whether the page had changed in between. Pages differ in n, so the gaps of all
pages lie end to end and `offsets` says where each page begins, as in Arrow's list arrays:

    gaps     1.0  1.0  7.0 | 0.5  0.5      page 0 has three gaps, page 1 has two
    changed    F    T    T |   F    F
    age      nan  0.2  nan | nan  nan      days from the last change to the end of the gap
    count     -1   -1   -1 |  -1   -1      changes in the gap, where the source tells
    offsets  0             3          5

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.arrays.blocks import over_blocks
from recrawl.arrays.ranges import expand_ranges, sums
from recrawl.errors import InvalidHistory
from recrawl.units import MICROSECONDS_A_DAY
from recrawl.visits.visit import GapOutcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recrawl.arrays.types import Bools, FlagBits, Floats, Instants, Ints

NO_COUNT = -1


@dataclass(frozen=True, slots=True, eq=False)
class Histories:
    """Gaps and outcomes of many pages, page after page.

    Only `gaps`, `changed` and `offsets` are needed; what is left out is unknown for every page
    and takes no memory.

    Args:
        gaps: Days between neighbouring visits; positive and finite.
        changed: Whether the page changed in the gap.
        offsets: Where each page begins; one more than there are pages.
        age: Days from the last change to the visit that ends the gap; nan where unknown.
        count: Changes in the gap where the source tells, else -1.
        first_visit: Instant of each page's first visit; NaT where only gaps are known.
        first_age: Days from the last change to the first visit; nan where unknown.
        flags: What the vetting found; bits of `Flag`.
        reverted: Whether the change in the gap went back to an earlier version of the page.

    Examples:
        >>> daily = Histories.from_lists([([1, 1, 7], [False, True, True]), ([0.5], [False])])
        >>> len(daily)
        2
        >>> daily.visits
        array([4, 2])
        >>> daily.changes
        array([2, 0])
    """

    gaps: Floats
    changed: Bools
    offsets: Ints
    age: Floats = None  # type: ignore[assignment] # __post_init__ fills in "unknown"
    count: Ints = None  # type: ignore[assignment]
    first_visit: Instants = None  # type: ignore[assignment]
    first_age: Floats = None  # type: ignore[assignment]
    flags: FlagBits = None  # type: ignore[assignment]
    reverted: Bools = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        """Convert the columns, fill in unknown ones, and check shapes and values."""
        for field, kind in _TYPES.items():
            _set(self, field, np.ascontiguousarray(getattr(self, field), kind))
        pages = max(len(self.offsets) - 1, 0)
        for field, (dtype, unknown, rows) in _UNKNOWN.items():
            given = getattr(self, field)
            length = len(self.gaps) if rows == "gaps" else pages
            # A zero-stride view: an unknown column costs nothing.
            column: Any = np.broadcast_to(np.array(unknown, dtype), length)
            _set(self, field, column if given is None else np.asarray(given, dtype))
        _check_shape(self)
        _check_values(self)

    def __reduce__(self) -> tuple[type[Histories], tuple[Any, ...]]:
        """Pickle what is known, so that a pickle is as small as the memory.

        Not `__getstate__`: early releases of Python 3.11 replace it in frozen classes with slots.
        """
        return Histories, tuple(_known(self, field.name) for field in fields(self))

    @classmethod
    def from_lists(cls, pages: Iterable[tuple[Sequence[float], Sequence[bool]]]) -> Histories:
        """Build from one `(gaps, changed)` pair a page."""
        pairs = [(list(gaps), list(changed)) for gaps, changed in pages]
        for page, (gaps, changed) in enumerate(pairs):
            if len(gaps) != len(changed):
                raise InvalidHistory(
                    f"page {page}: gaps and changed must be equally long "
                    f"(got {len(gaps)} and {len(changed)})"
                )
        return cls(
            gaps=np.array([gap for gaps, _ in pairs for gap in gaps], np.float64),
            changed=np.array([flag for _, changed in pairs for flag in changed], np.bool_),
            offsets=np.cumsum([0, *(len(gaps) for gaps, _ in pairs)]),
        )

    @classmethod
    def joined(cls, parts: Sequence[Histories]) -> Histories:
        """Lay the pages of several histories end to end."""
        if not parts:
            return cls.from_lists([])
        if len(parts) == 1:
            return parts[0]
        lengths = np.concatenate([np.empty(0, np.int64), *(part.gaps_of_page for part in parts)])
        columns: dict[str, Any] = {"offsets": np.concatenate([[0], np.cumsum(lengths)])}
        for name in ("gaps", "changed", *_UNKNOWN):
            known = any(_known(part, name) is not None for part in parts)
            column = [getattr(part, name) for part in parts]
            columns[name] = np.concatenate(column) if known else None
        return cls(**columns)

    def __len__(self) -> int:
        """Return the number of pages."""
        return len(self.offsets) - 1

    @property
    def gaps_of_page(self) -> Ints:
        """How many gaps each page has."""
        return np.diff(self.offsets)

    @property
    def page_of_gap(self) -> Ints:
        """Which page each gap belongs to."""
        return np.repeat(np.arange(len(self)), self.gaps_of_page)

    @property
    def visits(self) -> Ints:
        """Visits of each page: one more than its gaps; 0 where nothing was ever seen."""
        gaps = self.gaps_of_page
        return np.where((gaps > 0) | ~np.isnat(self.first_visit), gaps + 1, 0)

    @property
    def changes(self) -> Ints:
        """Gaps of each page that showed a change."""
        changes: Ints = self.total(self.changed)
        return changes

    @property
    def reverts(self) -> Ints:
        """Gaps of each page whose change went back to an earlier version."""
        reverts: Ints = self.total(self.reverted)
        return reverts

    @property
    def last_visit(self) -> Instants:
        """Instant of each page's last visit; NaT where only gaps are known."""
        span = np.rint(self.total(self.gaps) * MICROSECONDS_A_DAY).astype("timedelta64[us]")
        last: Instants = self.first_visit + span
        return last

    @property
    def knows_age(self) -> bool:
        """Whether any gap's age may be known."""
        return _known(self, "age") is not None

    @property
    def knows_count(self) -> bool:
        """Whether any gap's count may be known."""
        return _known(self, "count") is not None

    def outcome(self, gap: int) -> GapOutcome:
        """What one gap showed, by its number among all.

        >>> Histories.from_lists([([1.0, 2.0], [False, True])]).outcome(1).name
        'CHANGED'
        """
        if self.count[gap] != NO_COUNT:
            return GapOutcome.COUNTED
        if not self.changed[gap]:
            return GapOutcome.UNCHANGED
        return GapOutcome.CHANGED if np.isnan(self.age[gap]) else GapOutcome.CHANGED_AT

    def block(self, pages: slice) -> tuple[slice, Ints]:
        """Rows of the gaps of a block of pages, and where each page begins among them."""
        edges = self.offsets[pages.start : pages.stop + 1]
        return slice(int(edges[0]), int(edges[-1])), edges - edges[0]

    def total(self, values: Any) -> Any:  # noqa: ANN401 - floats in, floats out
        """Sum of `values`, one per gap, over each page."""
        dtype = np.int64 if values.dtype.kind in "bi" else np.float64
        totals = np.empty(len(self), dtype)

        def work(pages: slice) -> None:
            rows, offsets = self.block(pages)
            totals[pages] = sums(values[rows], offsets, dtype)

        over_blocks(work, len(self))
        return totals

    def take(self, pages: Ints) -> Histories:
        """Only the named pages, in the order named."""
        if len(pages) == len(self) and (pages == np.arange(len(self))).all():
            return self
        starts, counts = self.offsets[:-1][pages], self.gaps_of_page[pages]
        offsets = np.concatenate([[0], np.cumsum(counts)])
        columns: dict[str, Any] = {"gaps": self.gaps, "changed": self.changed}
        of_pages: dict[str, Any] = {}
        for name, (_, _, rows) in _UNKNOWN.items():
            column = _known(self, name)
            if column is not None and rows == "gaps":
                columns[name] = column
            elif column is not None:
                of_pages[name] = column[pages]
        of_gaps = {name: np.empty(offsets[-1], column.dtype) for name, column in columns.items()}

        def work(some: slice) -> None:
            rows = expand_ranges(starts[some], counts[some])
            into = slice(offsets[some.start], offsets[some.stop])
            for name, column in columns.items():
                # Not the default mode: it checks every row first, in a copy.
                column.take(rows, out=of_gaps[name][into], mode="clip")

        over_blocks(work, len(counts))
        return Histories(offsets=offsets, **of_gaps, **of_pages)


_TYPES = {"gaps": np.float64, "changed": np.bool_, "offsets": np.int64}
_UNKNOWN: dict[str, tuple[str, Any, str]] = {
    "age": ("float64", np.nan, "gaps"),
    "count": ("int64", NO_COUNT, "gaps"),
    "first_visit": ("datetime64[us]", "NaT", "pages"),
    "first_age": ("float64", np.nan, "pages"),
    "flags": ("uint32", 0, "pages"),
    "reverted": ("bool", False, "gaps"),
}


def _set(histories: Histories, field: str, value: Any) -> None:  # noqa: ANN401 - any column
    object.__setattr__(histories, field, value)


def _known(histories: Histories, field: str) -> Any:  # noqa: ANN401 - any column
    """A column, or None where it was not given."""
    column = getattr(histories, field)
    if field not in _UNKNOWN or column.strides != (0,):
        return column
    dtype, unknown, _ = _UNKNOWN[field]
    empty = np.array([unknown] * min(len(column), 1), dtype)
    return None if column[:1].tobytes() == empty.tobytes() else column


def _check_shape(histories: Histories) -> None:
    offsets, gaps = histories.offsets, len(histories.gaps)
    if len(offsets) < 1 or offsets[0] != 0 or offsets[-1] != gaps or (np.diff(offsets) < 0).any():
        message = f"offsets must rise from 0 to the number of gaps, {gaps} (got {offsets})"
        raise InvalidHistory(message)
    lengths = {"gaps": gaps, "pages": len(histories)}
    rows_of = {"changed": "gaps"} | {field: rows for field, (_, _, rows) in _UNKNOWN.items()}
    for field, rows in rows_of.items():
        length, shape = lengths[rows], getattr(histories, field).shape
        if shape != (length,):
            raise InvalidHistory(f"{field} must be one column of {length} rows (got shape {shape})")


def _check_values(histories: Histories) -> None:
    gaps, changed, age, count = histories.gaps, histories.changed, histories.age, histories.count
    if len(gaps) and not (gaps.min() > 0 and gaps.max() < np.inf):
        bad = ~((gaps > 0) & (gaps < np.inf))
        _refuse(histories, bad, "must be a positive, finite number of days", gaps)
    if histories.knows_age:
        _refuse(histories, (age < 0) | (age >= gaps), "must end after its age, at least 0", age)
        _refuse(histories, ~np.isnan(age) & ~changed, "must have changed to have an age", age)
    if histories.knows_count:
        odd = (count < NO_COUNT) | ((count != NO_COUNT) & ((count > 0) != changed))
        _refuse(histories, odd, "must have a count that agrees with changed", count)
    negative = (histories.first_age < 0) | np.isinf(histories.first_age)
    if negative.any():
        page = int(np.argmax(negative))
        raise InvalidHistory(
            f"page {page}: first_age must be a finite number of days, at least 0 "
            f"(got {histories.first_age[page]})"
        )


def _refuse(histories: Histories, bad: Bools, rule: str, values: Floats | Ints) -> None:
    """Raise for the first bad gap, if there is one."""
    if not bad.any():
        return
    row = int(np.argmax(bad))
    page = int(np.searchsorted(histories.offsets, row, side="right")) - 1
    gap = row - int(histories.offsets[page])
    raise InvalidHistory(f"page {page}: gap {gap} {rule} (got {values[row]})")
