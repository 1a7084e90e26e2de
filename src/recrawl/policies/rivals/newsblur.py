"""NewsBlur's polling by stories a day, with pages in the place of feeds.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.uniforms import hash_uniform
from recrawl.checks import check_at_least
from recrawl.policies.rivals.recent import Recent
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints
    from recrawl.policies.rivals.interval import VisitRows

_MINUTE = 60 / SECONDS_A_DAY
_MONTH = 30.0
_PLACES = 30  # one a day for a month: more make no difference
_MANY = 10  # subscribers
_HURRY = 5  # minutes: jitter may double shorter intervals


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
        memory = NewsBlurMemory(Recent.none(found, _PLACES), np.zeros(len(found), np.int64))
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
