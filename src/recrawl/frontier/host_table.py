"""The host table: hosts by name, and when each may be asked next (politeness).

A host is asked only so many times at once, and not again until its *delay* has passed. Where one
request at a time is allowed the delay runs from the end of the answer, so that two requests never
arrive closer together than that, however long either was on its way. A host that answers slowly is
asked more slowly, and one that said when to come back is left alone until then.

    begin  ->  sent  ->  end        a slot is taken, its request is sent, the answer has come

Between the first two a request may wait, for its slot or for a connection, while others are sent
and the host says more. So `ready` says when the next slot is, and `may_send` when a request that
has one may really be sent: both are asked.

Hosts are rows, instants are days after 1970. Nothing here knows a clock.

Pure.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from recrawl.entries.records import Host as HostRecord

# A host that takes a second to answer is given so many seconds between requests.
_DELAY_PER_LATENCY = 2.0
# How fast the usual latency follows the newest.
_FOLLOW = 0.25
# A host that is overloaded is never given more than this many delays because of its waits.
_MOST_DELAYS = 60.0
_NO_LIMIT = 1 << 40


class HostTable:
    """Hosts of a crawl and when each may be asked.

    Args:
        delay: Least days between two requests to a host.
        together: How many requests to a host may be under way at once.
        delays: The same for some hosts, by name.
        began: Instant at which the crawl began. A crawl that was killed may have asked any host a
            moment ago and not written that down, so no host is asked before its delay has passed
            since then.

    Attributes:
        names: Name of the host in each row; empty for one without.
        together: How many requests to a host may be under way at once.

    Examples:
        A host that may be asked once a second is free again a second after its answer:

        >>> second = 1 / 86_400
        >>> hosts = HostTable(delay=second)
        >>> host = hosts.add()
        >>> hosts.begin(host, 0.0)
        >>> hosts.free(host, 5 * second)
        False
        >>> hosts.end(host, 5 * second)
        >>> hosts.free(host, 5.9 * second), hosts.free(host, 6 * second)
        (False, True)
    """

    def __init__(
        self,
        *,
        delay: float,
        together: int = 1,
        delays: Mapping[str, float] | None = None,
        began: float = -inf,
    ) -> None:
        self.names: list[str] = []
        self._row: dict[str, int] = {}
        self._began = began
        self._usual = delay
        self._delays = delays or {}
        self.together = together
        self._least: list[float] = []  # days between requests by the settings
        self._delay: list[float] = []
        self._latency: list[float] = []
        self._pause: list[float] = []  # days between requests that follow from these three
        self._asked: list[int] = []
        self._last: list[float] = []  # the last slot: the delay before the next runs from there
        self._next: list[float] = []
        self._since: list[float] = []  # from when the delay before the next request really runs
        self._blocked: list[float] = []

    def __len__(self) -> int:
        """Count the hosts."""
        return len(self._delay)

    def add(
        self, *, name: str = "", delay: float = 0.0, after: float = -inf, latency: float = 0.0
    ) -> int:
        """One more host; returns its row.

        Args:
            name: Its name; empty for none.
            delay: Days that it asks for itself between requests; never less than the crawl's own.
            after: Instant before which it must not be asked.
            latency: Days that it usually takes to answer.
        """
        self.names.append(name)
        self._least.append(self._delays.get(name, self._usual))
        self._delay.append(max(delay, self._least[-1]))
        self._latency.append(latency)
        self._pause.append(0.0)
        self._asked.append(0)
        self._last.append(-inf)
        self._next.append(after)
        self._since.append(-inf)
        self._blocked.append(after)
        self._set_pause(len(self) - 1)
        return len(self) - 1

    def resume(self, known: Iterable[HostRecord]) -> None:
        """Take in the hosts of a store; the row of each is its number."""
        for host in known:
            latency = (host.latency_seconds or 0.0) / SECONDS_A_DAY
            row = self.add(name=host.name, delay=host.delay or 0.0, latency=latency)
            self.block(row, (host.blocked_until_seconds or 0.0) / SECONDS_A_DAY)
            self._name(row)

    def row(self, name: str) -> int:
        """Row of a host, a new one where its name was never heard."""
        row = self._row.get(name)
        if row is None:
            row = self.add(name=name)
            self._name(row)
        return row

    def _name(self, row: int) -> None:
        self._row[self.names[row]] = row
        self.restart_delay(row)

    def restart_delay(self, row: int) -> None:
        """Let a host's delay, as it is now, pass from when the crawl began."""
        self.block(row, self._began + self.delay(row))

    def set_delay(self, host: int, delay: float) -> None:
        """Keep the delay that a host asks for, where it is longer than the crawl's own."""
        self._delay[host] = max(delay, self._least[host])
        self._set_pause(host)
        self._put_off(host)

    def delay(self, host: int) -> float:
        """Days between requests to a host: as asked for, or more where it is slow to answer."""
        return self._pause[host]

    def _set_pause(self, host: int) -> None:
        asked_for = self._delay[host]
        slow = min(_DELAY_PER_LATENCY * self._latency[host], _MOST_DELAYS * asked_for)
        self._pause[host] = max(asked_for, slow)

    def ready(self, host: int) -> float:
        """Instant from which a host may be asked; infinite while enough requests are under way."""
        return inf if self._asked[host] >= self.together else self._next[host]

    def free(self, host: int, now: float) -> bool:
        """Whether a host may be asked now."""
        return self.ready(host) <= now

    def is_left_alone(self, host: int, now: float) -> bool:
        """Whether a host is not asked for longer than its delay: it said so, or did not answer."""
        return self._next[host] > now + self.delay(host)

    def room(self, host: int, now: float, days: float) -> int:
        """How many times at most a host may be asked in the days from now on.

        However soon it answers: what is added to its delay for that may be taken back.
        """
        delay = self._delay[host]
        left = days - max(self._next[host] - now, 0.0)
        if left < 0:
            return 0
        return 1 + int(left / delay) if delay > 0 else _NO_LIMIT

    def begin(self, host: int, at: float) -> None:
        """Note that the slot of an instant is taken, now or ahead of time."""
        self._asked[host] += 1
        self._last[host] = max(self._last[host], at)
        self._put_off(host)

    def may_send(self, host: int) -> float:
        """Instant from which a request that has a slot may be sent."""
        return max(self._blocked[host], self._since[host] + self._pause[host])

    def sent(self, host: int, now: float) -> None:
        """Note that a request that has a slot is sent."""
        self._run_from(host, now)
        self._put_off(host)

    def end(self, host: int, now: float, latency: float | None = None) -> None:
        """Note that a request to a host has ended, and how long its answer took to begin."""
        self._asked[host] -= 1
        if latency is not None:
            self._latency[host] += _FOLLOW * (latency - self._latency[host])
            self._set_pause(host)
        if self.together == 1:
            self._run_from(host, now)
        self._put_off(host)

    def block(self, host: int, until: float) -> None:
        """Ask a host no sooner than an instant."""
        self._blocked[host] = max(self._blocked[host], until)
        self._next[host] = max(self._next[host], until)

    def latency(self, host: int) -> float:
        """Days that a host usually takes to answer."""
        return self._latency[host]

    def _run_from(self, host: int, now: float) -> None:
        """Let the delay run from an instant."""
        self._since[host] = max(self._since[host], now)
        self._last[host] = max(self._last[host], now)

    def _put_off(self, host: int) -> None:
        """Let the delay pass; never brings forward what others were told."""
        self._next[host] = max(self._next[host], self._last[host] + self._pause[host])
