"""Rules of feed readers, with pages in the place of feeds: poll by the changes found lately.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.checks import check_at_least, check_order, check_positive
from recrawl.policies.rivals.uniforms import hash_uniform
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints
    from recrawl.policies.rivals.interval import VisitRows

_MINUTE = 60 / SECONDS_A_DAY
_WEEK, _MONTH = 7.0, 30.0

# Miniflux: the last changes that are remembered, and the fewest that have a frequency.
_WEEK_PLACES = 64
_FEWEST = 2

# NewsBlur: one change per day for a month makes all the difference there is.
_MONTH_PLACES = 30
_MANY = 10  # subscribers
_HURRY = 5  # minutes: jitter may double shorter intervals


@dataclass(slots=True)
class Recent:
    """When each page's last changes were found, in days after 1970: one ring per page.

    Args:
        times: Instants in no order; -inf where a place is free.
        count: Changes found so far.
        last: The latest, or when the page was found.
    """

    times: Floats
    count: Ints
    last: Floats

    @classmethod
    def none(cls, found: Floats, places: int) -> Recent:
        """Pages without changes so far."""
        times = np.full((len(found), places), -np.inf)
        return cls(times, np.zeros(len(found), np.int64), found.copy())

    def add(self, rows: Ints, visits: VisitRows) -> None:
        """Remember the changes that visits found."""
        changed = np.flatnonzero(visits.changed)
        some = rows[changed]
        self.times[some, self.count[some] % self.times.shape[1]] = visits.now[changed]
        self.count[some] += 1
        self.last[some] = visits.now[changed]

    def since(self, rows: Ints, begin: Floats) -> tuple[Ints, Floats]:
        """How many changes were found after `begin`, and when the first of them was."""
        times = self.times[rows]
        late = times > begin[:, np.newaxis]
        return late.sum(axis=1), np.where(late, times, np.inf).min(axis=1)


@dataclass(frozen=True, slots=True)
class Miniflux:
    r"""Poll as often as a page changed in the last week.

    With $n$ changes found in the last seven days, the first and the last of them $d$ days apart,

    $$ w = \lceil 7 (n - 1) / d \rceil , \qquad
       I = \text{clip}(7 / (w \cdot \text{factor}), \text{shortest}, \text{longest}) , $$

    and the longest where $n < 2$. A feed tells when each entry was published; a page shows at
    most one change a visit, so that a page visited too rarely looks quiet.

    Args:
        factor: Polls an entry.
        shortest: Fewest days to wait.
        longest: Most days to wait.

    References:
        Miniflux 2.x, polling scheduler "entry_frequency".

    Examples:
        Changes found two days apart are 4 a week, when there is room for as long an interval:

        >>> from recrawl.policies.rivals.interval import VisitRows
        >>> rule, row, yes = Miniflux(longest=28.0), np.array([0]), np.array([True])
        >>> _, memory = rule.begin(np.array([0.0]))
        >>> for day in (2.0, 4.0):
        ...     now = np.array([day])
        ...     wait = rule.after(memory, row, VisitRows(now, now, now, yes, now, gap=7.0))
        >>> wait
        array([1.75])
    """

    factor: float = 1.0
    shortest: float = 300 / SECONDS_A_DAY
    longest: float = 1.0

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_positive(factor=self.factor)
        check_order(shortest=self.shortest, longest=self.longest)

    def begin(self, found: Floats) -> tuple[Floats, Recent]:
        """The longest interval, and no changes."""
        return np.full(len(found), self.longest), Recent.none(found, _WEEK_PLACES)

    def after(self, memory: Recent, rows: Ints, visits: VisitRows) -> Floats:
        """Days to wait after visits."""
        memory.add(rows, visits)
        count, first = memory.since(rows, visits.now - _WEEK)
        some = np.flatnonzero((count >= _FEWEST) & (memory.last[rows] > first))
        apart = memory.last[rows[some]] - first[some]
        weekly = np.ceil(_WEEK * (count[some] - 1) / apart)
        interval = np.full(len(rows), self.longest)
        interval[some] = np.clip(_WEEK / (weekly * self.factor), self.shortest, self.longest)
        return interval


@dataclass(slots=True)
class NewsBlurMemory:
    """Changes of the last month, and visits so far."""

    recent: Recent
    visits: Ints


@dataclass(frozen=True, slots=True)
class NewsBlur:
    r"""Poll by stories a day and subscribers.

    With $s$ changes a day found in the last 30 days, minutes to wait for a page with

    | changes a day | 10 subscribers or more | more than one | one | none |
    |---|---|---|---|---|
    | $s \ge 1$ | 6 | 15 | 45 | 45 |
    | $0 < s < 1$ | $60 (1 - s)$ | $60 (1 - s)$ | $360 (1 - s)$ | $360 (1 - s)$ |
    | 0 | $360 m$ | $360 m$ | $720 m$ | $1440 m$ |

    where $m$ is the months since the last change, at least 1. At most 240 minutes, 2880 without
    subscribers. A random jitter of up to a quarter is added, in whole minutes; of up to all of an
    interval of at most 5 minutes. Push, notifications, paid accounts and errors are left out.

    Args:
        subscribers: How many people read each page.
        seed: Seed of the jitter.

    References:
        NewsBlur, class Feed, methods get_next_scheduled_update and set_next_scheduled_update.

    Examples:
        A page that nobody reads and that was quiet for two months waits two days and a bit:

        >>> from recrawl.policies.rivals.interval import VisitRows
        >>> rule, row, no = NewsBlur(subscribers=0), np.array([0]), np.array([False])
        >>> _, memory = rule.begin(np.array([0.0]))
        >>> now = np.array([60.0])
        >>> wait = rule.after(memory, row, VisitRows(now, now, now, no, now, gap=7.0))
        >>> bool(2.0 <= wait[0] <= 2.5)
        True
    """

    subscribers: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_at_least(0, subscribers=self.subscribers)

    def begin(self, found: Floats) -> tuple[Floats, NewsBlurMemory]:
        """The wait of a page without changes, before jitter."""
        quiet = self._minutes(np.zeros(len(found)), np.ones(len(found)))
        memory = NewsBlurMemory(Recent.none(found, _MONTH_PLACES), np.zeros(len(found), np.int64))
        return quiet * _MINUTE, memory

    def after(self, memory: NewsBlurMemory, rows: Ints, visits: VisitRows) -> Floats:
        """Days to wait after visits."""
        memory.recent.add(rows, visits)
        count, _ = memory.recent.since(rows, visits.now - _MONTH)
        months = np.maximum((visits.now - memory.recent.last[rows]) / _MONTH, 1.0)
        minutes = self._minutes(count / _MONTH, months)
        memory.visits[rows] += 1
        uniform = hash_uniform(self.seed, rows, memory.visits[rows])
        extra = np.minimum(np.floor(uniform * (np.floor(minutes) + 1)), np.floor(minutes))
        wait: Floats = (minutes + np.where(minutes <= _HURRY, extra, extra / 4)) * _MINUTE
        return wait

    def _minutes(self, daily: Floats, months: Floats) -> Floats:
        """Minutes to wait, before jitter."""
        readers = self.subscribers
        busy = 6 if readers >= _MANY else 15 if readers > 1 else 45
        slow = 60 if readers > 1 else 360
        quiet = 360 if readers > 1 else 720 if readers == 1 else 1440
        minutes = np.where(daily > 0, slow * (1 - daily), quiet * months)
        minutes = np.where(daily >= 1, busy, minutes)
        return np.minimum(minutes, 240 if readers >= 1 else 2880)
