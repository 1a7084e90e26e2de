r"""A list compared with its copy: what is new, changed or gone, and whether to accept it.

A layout that has changed looks like an empty list, or like one of which everything is new. So a
list is doubted

- that is empty and was not, unless it had so few objects that this was to be expected;
- of which no key is known;
- that has grown more than tenfold, and by thousands;
- of which far more is gone than was to be expected: more than a fifth of it and ten objects beyond
  the forecast, and below the forecast's band.

What is doubted is accepted when a sync an hour later finds much the same, or a day later where more
than half is gone. A list that is empty, or ends after its first page and had several, must stay so
for a week: a layout that has changed stays as it is. For few objects that are gone a day will do.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import xxhash

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from recrawl.entries.listings import ForecastInterval

_MANY = 10
_SEVERAL = 3  # pages
_TIMES, _THOUSANDS = 10, 2_000
_SHARE = 0.2
_HOUR, _DAY, _WEEK = 1 / 24, 1.0, 7.0
_SAME = 0.5  # share of keys that two syncs must have in common
_SKETCHED = 64
_HASH_BYTES = 8
_ROUNDING = 1e-6


@dataclass(frozen=True, slots=True)
class ListingDifference:
    """A list compared with its copy.

    Args:
        known: Objects of the copy.
        found: Objects of the list.
        inserted: Attributes of those that are not in the copy, by key.
        updated: Attributes of those that are other ones now, by key.
        deleted: Keys of those that are in the copy only.

    Examples:
        >>> copy = {"a": {"city": "Bern"}, "b": {"city": "Basel"}}
        >>> now = {"b": {"city": "Zug"}, "c": {"city": "Bern"}, "d": {}}
        >>> differs = ListingDifference.of(copy, now)
        >>> list(differs.inserted), list(differs.updated), differs.deleted
        (['c', 'd'], ['b'], ['a'])
        >>> differs.precision, round(differs.recall, 3)
        (0.5, 0.333)
    """

    known: int
    found: int
    inserted: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    updated: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    deleted: Sequence[str] = ()

    @classmethod
    def of(
        cls, copy: Mapping[str, Mapping[str, str]], found: Mapping[str, Mapping[str, str]]
    ) -> ListingDifference:
        """Compare objects by their keys."""
        return cls(
            len(copy),
            len(found),
            {key: each for key, each in found.items() if key not in copy},
            {key: each for key, each in found.items() if key in copy and each != copy[key]},
            [key for key in copy if key not in found],
        )

    @property
    def kept(self) -> int:
        """Objects of the copy that are still listed."""
        return self.known - len(self.deleted)

    @property
    def precision(self) -> float:
        """Share of the copy that is still listed; 1 for an empty one."""
        return self.kept / self.known if self.known else 1.0

    @property
    def recall(self) -> float:
        """Share of what is listed that is in the copy; 1 where nothing is."""
        return self.kept / self.found if self.found else 1.0


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why a list is not accepted at once.

    Args:
        why: What is wrong, as a clause.
        days: For how long later syncs must find much the same.
    """

    why: str
    days: float


def doubt_of(
    differs: ListingDifference, precision: ForecastInterval | None, pages: tuple[int, int] = (1, 1)
) -> Doubt | None:
    """Return why a list is not to be accepted; None where it is.

    Args:
        differs: The list compared with its copy.
        precision: What the share of the copy that is still listed was forecast to be.
        pages: Pages that the list had, and has now.

    Examples:
        >>> from recrawl.entries.listings import ForecastInterval
        >>> fallen = ListingDifference(100, 60, deleted=["..."] * 40)
        >>> doubt_of(fallen, ForecastInterval(0.85, 0.9, 0.95)).why
        'list lost 40 of 100 objects, expected about 10'
        >>> doubt_of(fallen, ForecastInterval(0.5, 0.7, 0.9)) is None
        True
    """
    known, new = differs.known, len(differs.inserted)
    few = known < _MANY and precision is not None and precision.low <= 0
    if not known or few:
        return None
    if not differs.found:
        days = _DAY if known < _MANY else _WEEK
        return Doubt(f"list is empty, expected about {known:,} objects", days)
    if not differs.kept and known >= _MANY:
        return Doubt(f"all {differs.found:,} keys are new, expected known ones", _HOUR)
    if new > max(_TIMES * known, _THOUSANDS):
        return Doubt(f"list grew from {known:,} objects by {new:,}", _HOUR)
    return _fall(differs, precision, pages)


def _fall(
    differs: ListingDifference, precision: ForecastInterval | None, pages: tuple[int, int]
) -> Doubt | None:
    """Return why a list that lost objects is not to be accepted; None where it is."""
    known, lost = differs.known, len(differs.deleted)
    expected = known * (1 - precision.expected) if precision else 0.0
    inside = precision is not None and differs.precision >= precision.low
    if inside or lost - expected <= max(_MANY, _SHARE * known):
        return None
    if pages[0] >= _SEVERAL and pages[1] == 1:
        return Doubt(f"list ends after its first page, expected about {pages[0]:,} pages", _WEEK)
    about = f"about {expected:,.0f}" if precision else "few"
    days = _DAY if lost > known / 2 else _HOUR
    return Doubt(f"list lost {lost:,} of {known:,} objects, expected {about}", days)


def sketch_of(keys: Iterable[str]) -> bytes:
    """Some of the keys, as hashes, by which two syncs are compared: the 64 smallest.

    >>> len(sketch_of("abc")), sketch_of("abc") == sketch_of("cba")
    (24, True)
    """
    hashes = sorted({xxhash.xxh3_64_digest(key.encode()) for key in keys})
    return b"".join(hashes[:_SKETCHED])


def alike(one: bytes, other: bytes) -> bool:
    """Whether two syncs found much the same, by their sketches.

    >>> alike(sketch_of("abcdef"), sketch_of("abcdex")), alike(sketch_of("ab"), sketch_of("cd"))
    (True, False)
    >>> alike(b"", b"")
    True
    """
    first, second = _hashes(one), _hashes(other)
    smallest = sorted(first | second)[:_SKETCHED]
    shared = sum(each in first and each in second for each in smallest)
    return shared >= _SAME * len(smallest)


def _hashes(sketch: bytes) -> set[bytes]:
    return {sketch[at : at + _HASH_BYTES] for at in range(0, len(sketch), _HASH_BYTES)}


def is_confirmed(
    doubt: Doubt, sketch: bytes, now: float, before: Iterable[tuple[float, bytes]]
) -> bool:
    """Whether earlier syncs that were doubted found much the same for long enough.

    Args:
        doubt: Why this sync is doubted.
        sketch: What it found.
        now: When, in days.
        before: Instant and sketch of each doubted sync since the last that was accepted.
    """
    return any(now - at >= doubt.days - _ROUNDING and alike(sketch, found) for at, found in before)
