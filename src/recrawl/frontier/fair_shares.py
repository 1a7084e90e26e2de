"""Fair shares of what all owners use together: turns, and who must wait for the others' sake.

Work of several owners waits in a line each, and lines are served in turn (`RoundRobin`): whoever
has a hundred pieces waiting delays the others by one. What each owner used lately is added up
(`FairShares`); where that is more than there is to share, those above their share wait until it has
faded, and those below it never do.

Pure.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from math import exp, inf, log
from typing import Generic, TypeVar

Item = TypeVar("Item")

_NEXT_SCALE = exp(-1)
_NOTHING = 1e-4  # use of an owner that is forgotten
_SHARED_SECONDS = 1.0  # for which a share holds: to work it out takes all owners


class RoundRobin(Generic[Item]):
    """Items in lines by owner, taken from each line in turn.

    Examples:
        >>> waiting = RoundRobin[int]()
        >>> for owner, item in [("a", 1), ("a", 2), ("a", 3), ("b", 4)]:
        ...     waiting.put(owner, item)
        >>> [waiting.take() for _ in range(4)]
        [1, 4, 2, 3]
    """

    def __init__(self) -> None:
        self._lines: OrderedDict[str, deque[Item]] = OrderedDict()

    def __bool__(self) -> bool:
        """Whether anything waits."""
        return bool(self._lines)

    def put(self, owner: str, item: Item) -> None:
        """Let an item wait at the end of its owner's line."""
        self._lines.setdefault(owner, deque()).append(item)

    def peek(self) -> Item:
        """The item that is taken next."""
        return next(iter(self._lines.values()))[0]

    def take(self) -> Item:
        """Take the first item of the line whose turn it is."""
        owner, line = next(iter(self._lines.items()))
        item = line.popleft()
        if line:
            self._lines.move_to_end(owner)
        else:
            del self._lines[owner]
        return item


class FairShares:
    r"""Recent use by owner, and who has used more than a fair share.

    Use fades: of what was used a time $t$ ago, $e^{-t/w}$ counts, so that an owner who uses $r$ a
    second for long stands at $r w$. With $u_i$ what owner $i$ stands at, and $C$ the capacity, the
    fair share $s$ is that of max-min fairness,

    $$ \sum_i \min(u_i, s) = C , $$

    or infinite where all together stand below $C$. Who is alone shares with nobody and never waits.

    Args:
        capacity: What all may use together in a window.
        window: Seconds $w$ in which use fades.

    Examples:
        Three of a capacity of 10 have used 1, 6 and 6, so the share is 4.5, and 6 fades to 4.5 in
        60 ln(6 / 4.5) seconds:

        >>> shares = FairShares(10.0, 60.0)
        >>> for owner, used in [("a", 1.0), ("b", 6.0), ("c", 6.0)]:
        ...     shares.charge(owner, used, now=0.0)
        >>> [round(shares.wait(owner, 0.0), 1) for owner in "abc"]
        [0.0, 17.3, 17.3]
    """

    def __init__(self, capacity: float, window: float) -> None:
        self._capacity = capacity
        self._window = window
        # Instead of letting all that was used fade, what is used later counts for more; once in a
        # while all is brought back to scale.
        self._used: dict[str, float] = {}
        self._total = 0.0
        self._scaled_at = 0.0
        self._share, self._shared_at = inf, -inf

    def charge(self, owner: str, amount: float, now: float) -> None:
        """Count what an owner has used."""
        grown = amount / self._faded(now)
        self._used[owner] = self._used.get(owner, 0.0) + grown
        self._total += grown

    def used(self, owner: str, now: float) -> float:
        """What an owner has used of late."""
        faded = self._faded(now)  # which may bring all to scale
        return faded * self._used.get(owner, 0.0)

    def wait(self, owner: str, now: float) -> float:
        """Seconds for which an owner must wait; 0 where it need not."""
        if self._total <= self._capacity:  # as nearly always; what has faded since is less
            return 0.0
        used = self.used(owner, now)
        if not used or self._faded(now) * self._total <= self._capacity:
            return 0.0
        if not 0 <= now - self._shared_at < _SHARED_SECONDS:
            self._share, self._shared_at = self._fair_share(now), now
        return self._window * log(used / self._share) if used > self._share else 0.0

    def _fair_share(self, now: float) -> float:
        """Share of each: who uses less than the others leaves them the rest."""
        left, count, faded = self._capacity, len(self._used), self._faded(now)
        if count == 1:
            return inf
        for used in sorted(self._used.values()):
            if used * faded * count >= left:
                return left / count
            left -= used * faded
            count -= 1
        return inf

    def _faded(self, now: float) -> float:
        """What is left of one that was used when all was last brought to scale."""
        faded = exp((self._scaled_at - now) / self._window)
        if faded >= _NEXT_SCALE:
            return faded
        kept = {owner: used * faded for owner, used in self._used.items()}
        self._used = {owner: used for owner, used in kept.items() if used > _NOTHING}
        self._total = sum(self._used.values())
        self._scaled_at = now
        return 1.0
