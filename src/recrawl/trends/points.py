"""Changes as points in time, as far as visits date them.

Visits show *that* a page changed in a gap, sometimes *when* it last did. Both kinds are brought to
one form: one point per changed gap, in days since the page's first visit, always later than the one
before. A dated change lies at its date. Another lies somewhere in its gap, and `place` says where
to put it: in the middle, at the end, or anywhere at random.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from recrawl.arrays.ranges import expand_ranges, sums
from recrawl.arrays.uniforms import hash_uniform
from recrawl.checks import check_choice
from recrawl.errors import InvalidHistory, InvalidParameter
from recrawl.rates.ranks import over_ranks
from recrawl.units import SECONDS_A_DAY
from recrawl.visits.histories import Histories

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Instants, Ints, Words

Place = Literal["middle", "end", "random"]
PLACES: tuple[Place, ...] = ("middle", "end", "random")


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Change points of many pages, end to end.

    Args:
        times: Days from a page's origin to each of its points, rising.
        offsets: Where each page begins, and where the last one ends.
        end: Days from a page's origin to the last look at it.
        origin: Instant of each page's origin, its first visit; NaT where not known.

    Examples:
        >>> Points(np.array([1.0, 3.0, 2.0]), np.array([0, 2, 3]), np.array([4.0, 4.0])).gaps
        array([1., 2., 2.])
    """

    times: Floats
    offsets: Ints
    end: Floats
    origin: Instants | None = None

    def __post_init__(self) -> None:
        """Check that points rise from a page's origin to its end."""
        if len(self.end) != len(self.offsets) - 1:
            raise InvalidHistory(
                f"end must hold a number of days a page (got {len(self.end)} "
                f"for {len(self.offsets) - 1} pages)"
            )
        late = self.times > self.end[self.page_of_point]
        wrong = ~(self.gaps > 0) | late
        if wrong.any():
            row = int(np.argmax(wrong))
            page = int(self.page_of_point[row])
            raise InvalidHistory(
                f"page {page}: points must rise from above 0 to at most its end, "
                f"{self.end[page]} (got {self.times[row]})"
            )

    def __len__(self) -> int:
        """Return the number of pages."""
        return len(self.offsets) - 1

    def take(self, pages: Ints) -> Points:
        """The named pages, in the order named."""
        counts = self.points_of_page[pages]
        times = self.times[expand_ranges(self.offsets[:-1][pages], counts)]
        origin = None if self.origin is None else self.origin[pages]
        return Points(times, np.concatenate([[0], np.cumsum(counts)]), self.end[pages], origin)

    @property
    def points_of_page(self) -> Ints:
        """How many points each page has."""
        return np.diff(self.offsets)

    @property
    def page_of_point(self) -> Ints:
        """Which page each point belongs to."""
        return np.repeat(np.arange(len(self)), self.points_of_page)

    @property
    def gaps(self) -> Floats:
        """Days from the point before, or from the origin, to each point."""
        return gaps_between(self.times, self.offsets)


def gaps_between(times: Floats, offsets: Ints) -> Floats:
    """Days from each time to the one before in its stretch; the first ones are days from 0."""
    gaps = np.diff(times, prepend=0.0)
    firsts = offsets[:-1][np.diff(offsets) > 0]
    gaps[firsts] = times[firsts]
    return gaps


def points_of(
    histories: Histories,
    *,
    place: Place = "middle",
    random: np.random.Generator | Words | None = None,
) -> Points:
    """Change points of all pages, at most one per gap.

    Args:
        histories: What the visits showed.
        place: Where in its gap a change without a date lies.
        random: Random generator, or the hash of each page, which makes a page's places the same
            whatever other pages there are; needed for `place="random"`.

    Examples:
        A change in the second of two daily gaps, no telling when:

        >>> from recrawl import Histories
        >>> points_of(Histories.from_lists([([1.0, 1.0], [False, True])])).times
        array([1.5])
    """
    check_choice(PLACES, place=place)
    if place == "random" and random is None:
        raise InvalidParameter("place 'random' needs a random generator (got none)")
    ends, span = ends_of_gaps(histories), np.zeros(len(histories))
    watched = np.diff(histories.offsets) > 0
    span[watched] = ends[histories.offsets[1:][watched] - 1]
    rows = np.flatnonzero(histories.changed)
    gaps = histories.gaps[rows]
    if place == "random" and random is not None:
        back = gaps * _draws(random, rows, histories)
    else:
        back = gaps * (0.5 if place == "middle" else 0.0)
    age = histories.age[rows]
    times = ends[rows] - np.where(np.isnan(age), back, age)
    return _cleaned(times, _offsets_of(rows, histories), span, histories.first_visit)


def _draws(random: np.random.Generator | Words, rows: Ints, histories: Histories) -> Floats:
    """A number from 0 to below 1 for each of some gaps."""
    if isinstance(random, np.random.Generator):
        return random.random(len(rows))
    page = histories.page_of_gap[rows]
    return 1 - hash_uniform(0, random[page], rows - histories.offsets[page])


def points_at(instants: Instants, offsets: Ints) -> Points:
    """Change points from the instants of all changes, page by page in any order.

    A page's origin is its first change, which is no point itself; its end is its last.

    >>> days = np.array(["2026-01-05", "2026-01-01", "2026-01-02"], "datetime64[us]")
    >>> points_at(days, np.array([0, 3])).times
    array([1., 4.])
    """
    page = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    instants = instants[np.lexsort((instants, page))]
    some = np.diff(offsets) > 0
    origin = np.full(len(offsets) - 1, "NaT", "datetime64[us]")
    origin[some] = instants[offsets[:-1][some]]
    times = (instants - origin[page]) / np.timedelta64(1, "D")
    end = np.zeros(len(origin))
    end[some] = times[offsets[1:][some] - 1]
    return _cleaned(times, offsets, end, origin)


def watched_all_the_time(histories: Histories) -> Histories:
    """Histories of pages visited just after every change, as if also visited just before.

    Where all changes are known, the time between them is known to be quiet, and each change is
    known to the second.

    >>> from recrawl import Histories
    >>> seen = watched_all_the_time(Histories.from_lists([([1.0, 2.0], [True, True])]))
    >>> seen.changed, seen.count
    (array([False,  True, False,  True]), array([0, 1, 0, 1]))
    """
    after = np.minimum(1 / SECONDS_A_DAY, histories.gaps / 2)
    gaps = np.stack([histories.gaps - after, after], axis=1).ravel()
    changed = np.stack([np.zeros(len(after), np.bool_), histories.changed], axis=1).ravel()
    return Histories(
        gaps=gaps,
        changed=changed,
        offsets=2 * histories.offsets,
        count=changed.astype(np.int64),
        first_visit=histories.first_visit,
        flags=histories.flags,
    )


def ends_of_gaps(histories: Histories) -> Floats:
    """Days from a page's first visit to the end of each gap."""
    ends, span = np.empty(len(histories.gaps)), np.zeros(len(histories))

    def step(_: int, pages: Ints, rows: Ints) -> None:
        span[pages] += histories.gaps[rows]
        ends[rows] = span[pages]

    over_ranks(step, histories)
    return ends


def _offsets_of(rows: Ints, histories: Histories) -> Ints:
    """Offsets of a selection of gaps."""
    return np.searchsorted(rows, histories.offsets)


def _cleaned(times: Floats, offsets: Ints, end: Floats, origin: Instants) -> Points:
    """Without points at the origin, and with one of several at the same time."""
    # Again and again: next to a point that is left out, another may not rise.
    while not (kept := gaps_between(times, offsets) > 0).all():
        counts = sums(kept.view(np.uint8), offsets, np.int64)
        times, offsets = times[kept], np.concatenate([[0], np.cumsum(counts)])
    return Points(times, offsets, end, origin)
