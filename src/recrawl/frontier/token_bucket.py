"""The token bucket of a budget: no more visits in any day than it allows, revisits evenly over it.

Tokens are visits: time fills the bucket, visits empty it. A budget is so many visits a day. In any
*window* of a day (longer where the budget is less than one visit a day) no more visits are made
than it allows. Within that, first copies of new pages may come at once, while revisits save up what
these leave: a visit's worth of time must have passed for each, though time in which none could be
made, because a crawl stood still or a site was closed, is not lost before the window is over.
Revisits at set times need not wait for that, but those that come after them do.

What was spent at once would leave the window at once, and would be spent at once again every day.
So while a window is full a little less is saved than time passes: such bursts fade within days,
and next to nothing is lost where there are some hours of the day in which to make up for it.

Pure.
"""

from __future__ import annotations

from itertools import takewhile
from math import ceil, floor, inf
from typing import TYPE_CHECKING

import numpy as np

from recrawl.plan.budget import window_of

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Floats

_BINS = 1440  # of a window: a minute of a day, so that a thousandth of the budget is lost
_NEARLY_ONE = 1 - 1e-9  # a visit that was saved up but for rounding
_SAVED_WHILE_FULL = 0.9  # of what is beyond the next visit; a decision, not tuned on data


class TokenBucket:
    """What a crawl has spent and may spend.

    Args:
        visits_a_day: The budget.
        now: Day after 1970 on which spending begins.

    Examples:
        Of 24 visits a day twelve go to new pages at once. That leaves twelve revisits for the day,
        two hours apart; when it is over there is one every hour again:

        >>> bucket = TokenBucket(24.0, now=0.0)
        >>> for _ in range(12):
        ...     bucket.spend(0.0, first=True)
        >>> for hour in range(2, 26, 2):
        ...     assert round(bucket.ready((hour - 2) / 24, first=False) * 24, 6) == hour
        ...     bucket.spend(hour / 24, first=False)
        >>> bucket.spent(1.0), round((bucket.ready(1.01, first=False) - 1) * 24)
        (24, 1)
    """

    def __init__(self, visits_a_day: float, *, now: float) -> None:
        self._rate = 0.0
        self._window = 1.0
        self._width = 1.0 / _BINS
        self._most = 0
        self._cap: tuple[int, float] | None = None
        self._saved = 0.0
        self._at = now
        # Visits by bin, and how many of them were first copies, in the order of time.
        self._spent: dict[int, tuple[int, int]] = {}
        self._total, self._firsts = 0, 0
        self._leaves = inf  # when the oldest bin leaves the window
        self._left = 0.0  # visits a day that first copies leave to revisits
        self.set_rate(visits_a_day)

    @property
    def visits_a_day(self) -> float:
        """The budget."""
        return self._rate

    @property
    def window(self) -> float:
        """Days in which no more visits are made than the budget allows for them."""
        return self._window

    def cap(self, visits: int, window: float | None = None) -> None:
        """Bound visits otherwise than by the budget, which others share.

        Args:
            visits: Most visits of a window, with those that were made.
            window: Its days, which are those of the whole budget; None for as many as now.
        """
        self._cap = visits, self._window if window is None else window
        self.set_rate(self._rate)

    def set_rate(self, visits_a_day: float) -> None:
        """Go on with another budget."""
        self._rate = visits_a_day
        window = window_of(visits_a_day)
        most, window = self._cap or (visits_a_day * window, window)
        self._most = floor(most + 1e-9)
        if window == self._window:
            self._share()
            return
        spent, width = self._spent, self._width
        self._window, self._width, self._spent = window, window / _BINS, {}
        for number, counts in spent.items():
            # The bin that ends no sooner: a visit is rather counted too long than not long enough.
            self._count(ceil((number + 1) * width / self._width) - 1, *counts)
        self._find_oldest()
        self._share()

    def ready(self, now: float, *, first: bool) -> float:
        """Instant from which one more visit is allowed; infinite where none ever is.

        Where it is not yet, it may turn out not to be then either; but never before.

        Args:
            now: The instant.
            first: Whether it is the first copy of a page, or has its own set time.
        """
        if self._most < 1:
            return inf
        self._pass(now)
        at = now if self._total < self._most else self._leaves
        if first:
            return at
        missing = _NEARLY_ONE - self._saved
        if missing <= 0:
            return at
        wait = missing / self._left if self._left > 0 else inf
        # When the oldest leave the window, it may be sooner than it looks now.
        return max(at, min(now + wait, self._leaves))

    def spend(self, now: float, *, first: bool) -> None:
        """Note a visit.

        Args:
            now: The instant.
            first: Whether it was the first copy of a page: revisits need not make up for it.
        """
        self._pass(now)
        self._count(floor(now / self._width), 1, int(first))
        self._total += 1
        if first:
            self._firsts += 1
            self._share()
        if self._total == 1:
            self._find_oldest()
        if not first:
            self._saved = max(self._saved - 1, -self._rate * self._window)

    def spent(self, now: float) -> int:
        """Visits made in the window that ends now; asking changes nothing."""
        over = takewhile(lambda number: self._end_of(number) <= now, self._spent)
        return self._total - sum(self._spent[number][0] for number in over)

    def resume(self, at: Floats, first: Bools, now: float) -> None:
        """Count visits that were made before, and save up in between as if it had been there.

        Args:
            at: When each was made.
            first: Which of them were first copies of pages.
            now: The instant.
        """
        if not len(at):
            return
        before = np.minimum(at, now)
        inside = np.flatnonzero(before > now - self._window)
        inside = inside[np.argsort(before[inside], kind="stable")]
        numbers = np.floor(before[inside] / self._width).astype(np.int64)
        bins, starts = np.unique(numbers, return_index=True)
        # Nobody knows what was saved up before: the first of them, and no more.
        self._at = float(before[inside[0]]) if len(inside) else float(before.max())
        self._saved = float(np.count_nonzero(~first[inside[numbers == numbers[:1]]]))
        if not len(inside):  # np.split makes one part of nothing
            return
        for number, some in zip(bins.tolist(), np.split(inside, starts[1:]), strict=True):
            self._pass(float(before[some[-1]]))
            firsts = int(np.count_nonzero(first[some]))
            self._count(number, len(some), firsts)
            self._total += len(some)
            self._firsts += firsts
            self._saved = max(self._saved - (len(some) - firsts), -self._rate * self._window)
            self._find_oldest()
            self._share()

    def _pass(self, now: float) -> None:
        """Let time pass: save up, and drop bins that have left the window whole."""
        if now <= self._at:
            return
        saved = self._saved + self._left * (now - self._at)
        if saved > 1 and self._total >= self._most:
            base = max(self._saved, 1.0)
            saved = base + _SAVED_WHILE_FULL * (saved - base)
        self._saved = min(saved, max(self._rate * self._window, 1.0))
        self._at = now
        while self._leaves <= now:
            visits, firsts = self._spent.pop(next(iter(self._spent)))
            self._total -= visits
            self._firsts -= firsts
            self._find_oldest()
            self._share()

    def _share(self) -> None:
        """Find out what first copies leave to revisits."""
        self._left = max(self._rate - self._firsts / self._window, 0.0)

    def _count(self, number: int, visits: int, firsts: int) -> None:
        before = self._spent.get(number, (0, 0))
        self._spent[number] = before[0] + visits, before[1] + firsts

    def _find_oldest(self) -> None:
        oldest = next(iter(self._spent), None)
        self._leaves = inf if oldest is None else self._end_of(oldest)

    def _end_of(self, number: int) -> float:
        """Instant at which a bin leaves the window."""
        return (number + 1) * self._width + self._window
