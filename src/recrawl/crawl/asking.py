"""Asking a host whose turn it is, and doing as it says when it has had too much.

Touches: the network, the clock and a store, through what it is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recrawl.entries.entries import HostSeen
from recrawl.parse.headers import retry_after
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.clock import Clock
    from recrawl.fetch.fetcher import Answer, Fetcher, Request
    from recrawl.frontier.host_table import HostBook

_TOO_MANY, _UNAVAILABLE = 429, 503
_LEFT_ALONE = 10 / 1440  # days, where a host says that it is asked too often and not how long


class Asker:
    """Asks hosts.

    Args:
        fetcher: Makes requests.
        book: Hosts by name.
        clock: What time it is.
        put: Writes down which hosts want to be left alone.
    """

    def __init__(
        self,
        fetcher: Fetcher,
        book: HostBook,
        clock: Clock,
        put: Callable[[HostSeen], object],
    ) -> None:
        self._fetcher = fetcher
        self._book = book
        self._clock = clock
        self._put = put

    async def ask(self, host: int, request: Request) -> Answer:
        """Answer of a host; it is left alone afterwards if it says so."""
        answer = await self._fetcher.fetch(request)
        if answer.ok and answer.status in (_TOO_MANY, _UNAVAILABLE):
            self._leave_alone(host, answer)
        return answer

    def _leave_alone(self, host: int, answer: Answer) -> None:
        now = self._clock.now()
        days = retry_after(answer.headers.get("retry-after", ""), now * SECONDS_A_DAY)
        if days is None:
            if answer.status != _TOO_MANY:
                return
            days = _LEFT_ALONE
        hosts = self._book.hosts
        hosts.leave_alone(host, now + days)
        self._put(
            HostSeen(
                self._book.names[host],
                delay=hosts.delay(host),
                blocked_until_seconds=(now + days) * SECONDS_A_DAY,
                latency_seconds=hosts.wait(host) * SECONDS_A_DAY,
            )
        )


def wait_of(answer: Answer) -> float | None:
    """Days that a host took to begin its answer; None where it gave none."""
    return answer.waited_seconds / SECONDS_A_DAY if answer.ok else None
