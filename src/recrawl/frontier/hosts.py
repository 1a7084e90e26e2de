"""Politeness: when each host may be asked next.

A host is asked only so many times at once, and not again until its *delay* has passed. Where one
request at a time is allowed the delay runs from the end of the answer, so that two requests never
arrive closer together than that, however long either was on its way. A host that answers slowly is
asked more slowly, and one that said when to come back is left alone until then.

Hosts are rows, instants are days after 1970. Nothing here knows a clock.

Pure.
"""

from __future__ import annotations

from math import inf

# A host that takes a second to answer is given so many seconds between requests.
_DELAY_PER_WAIT = 2.0
# How fast the usual wait follows the newest.
_FOLLOW = 0.25
# A host that is overloaded is never given more than this many delays because of its waits.
_MOST_DELAYS = 60.0
_NO_LIMIT = 1 << 40


class Hosts:
    """Hosts of a crawl and when each may be asked.

    Args:
        delay: Least days between two requests to a host.
        together: How many requests to a host may be under way at once.

    Examples:
        A host that may be asked once a second is free again a second after its answer:

        >>> second = 1 / 86_400
        >>> hosts = Hosts(delay=second)
        >>> host = hosts.add()
        >>> hosts.ask(host, 0.0)
        >>> hosts.free(host, 5 * second)
        False
        >>> hosts.answered(host, 5 * second)
        >>> hosts.free(host, 5.9 * second), hosts.free(host, 6 * second)
        (False, True)
    """

    def __init__(self, *, delay: float, together: int = 1) -> None:
        self._least = delay
        self._together = together
        self._delay: list[float] = []
        self._wait: list[float] = []
        self._asked: list[int] = []
        self._last: list[float] = []  # from when the delay runs
        self._next: list[float] = []

    def __len__(self) -> int:
        """Count the hosts."""
        return len(self._delay)

    def add(self, *, delay: float = 0.0, after: float = -inf, wait: float = 0.0) -> int:
        """One more host; returns its row.

        Args:
            delay: Days that it asks for itself between requests; never less than the crawl's own.
            after: Instant before which it must not be asked.
            wait: Days that it usually takes to answer.
        """
        self._delay.append(max(delay, self._least))
        self._wait.append(wait)
        self._asked.append(0)
        self._last.append(-inf)
        self._next.append(after)
        return len(self._delay) - 1

    def slow_down(self, host: int, delay: float) -> None:
        """Keep the delay that a host asks for, where it is longer than the crawl's own."""
        self._delay[host] = max(delay, self._least)
        self._put_off(host)

    def delay(self, host: int) -> float:
        """Days between requests to a host: as asked for, or more where it is slow to answer."""
        asked_for = self._delay[host]
        slow = min(_DELAY_PER_WAIT * self._wait[host], _MOST_DELAYS * max(asked_for, self._least))
        return max(asked_for, slow)

    def ready(self, host: int) -> float:
        """Instant from which a host may be asked; infinite while enough requests are under way."""
        return inf if self._asked[host] >= self._together else self._next[host]

    def free(self, host: int, now: float) -> bool:
        """Whether a host may be asked now."""
        return self.ready(host) <= now

    def room(self, host: int, now: float, days: float) -> int:
        """How many times at most a host may be asked in the days from now on.

        However soon it answers: what is added to its delay for that may be taken back.
        """
        delay = self._delay[host]
        left = days - max(self._next[host] - now, 0.0)
        if left < 0:
            return 0
        return 1 + int(left / delay) if delay > 0 else _NO_LIMIT

    def ask(self, host: int, now: float) -> None:
        """Note that a request to a host begins."""
        self._asked[host] += 1
        self.begun(host, now)

    def answered(self, host: int, now: float, wait: float | None = None) -> None:
        """Note that a request to a host has ended, and how long its answer took to begin."""
        self._asked[host] -= 1
        if wait is not None:
            self._wait[host] += _FOLLOW * (wait - self._wait[host])
        if self._together == 1:
            self._last[host] = max(self._last[host], now)
        self._put_off(host)

    def again(self, host: int, now: float, wait: float | None = None) -> float:
        """Note that a request has ended that another to the same host follows at once.

        Nobody else is let in between: the request counts as under way until `answered`.

        Returns:
            Instant from which the next one may begin; `begun` must be told when it does.
        """
        self.answered(host, now, wait)
        self._asked[host] += 1
        ready = max(self._next[host], now)
        self._last[host] = ready  # taken: others at this host come a delay after it
        self._put_off(host)
        return ready

    def begun(self, host: int, now: float) -> None:
        """Note that the request announced by `again` begins."""
        self._last[host] = max(self._last[host], now)
        self._put_off(host)

    def leave_alone(self, host: int, until: float) -> None:
        """Ask a host no sooner than it said."""
        self._next[host] = max(self._next[host], until)

    def wait(self, host: int) -> float:
        """Days that a host usually takes to answer."""
        return self._wait[host]

    def _put_off(self, host: int) -> None:
        """Let the delay pass; never brings forward what others were told."""
        self._next[host] = max(self._next[host], self._last[host] + self.delay(host))
