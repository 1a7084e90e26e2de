"""Pages in the order in which to ask for them, past hosts that must wait.

The page with the lowest *rank* among all pages whose hosts are free comes first, the lowest number
among equals; pages of one host wait in its own line, so that a host that must wait holds up nobody
else. A page costs the logarithm of the pages of its host and of the hosts, however many must wait.

Pure.
"""

from __future__ import annotations

from heapq import heappop, heappush
from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recrawl.frontier.host_table import HostTable


class Queue:
    """Pages by rank and host.

    Args:
        hosts: When each host may be asked.

    Attributes:
        lines: The pages of each host that wait, with their ranks, the lowest first.

    Examples:
        The second page is of a host that was just asked, so the third goes before it:

        >>> from recrawl.frontier.host_table import HostTable
        >>> hosts = HostTable(delay=1.0)
        >>> slow, other = hosts.add(), hosts.add()
        >>> queue = Queue(hosts)
        >>> for rank, page, host in [(1, 10, slow), (2, 11, slow), (3, 12, other)]:
        ...     queue.put(rank, page, host)
        >>> queue.take(now=0.0)
        10
        >>> hosts.begin(slow, 0.0)
        >>> queue.take(now=0.0), queue.take(now=0.0)
        (12, None)
        >>> hosts.end(slow, 0.5)
        >>> queue.freed(slow)
        >>> queue.ready(), queue.take(now=1.5)
        (1.5, 11)
    """

    def __init__(self, hosts: HostTable) -> None:
        self._hosts = hosts
        self.lines: dict[int, list[tuple[float, int]]] = {}
        # Hosts by their first page, and hosts by when they are free again. An entry may be out of
        # date: it is checked when it comes up.
        self._first: list[tuple[float, int, int]] = []
        self._later: list[tuple[float, int]] = []
        self._free_at: dict[int, float] = {}  # the soonest entry of each host among the latter
        self._count = 0

    def __len__(self) -> int:
        """Count the pages."""
        return self._count

    def put(self, rank: float, page: int, host: int) -> None:
        """Let a page wait in its host's line."""
        line = self.lines.get(host)
        if line is None:
            line = self.lines[host] = []
        heappush(line, (rank, page))
        self._count += 1
        if line[0][1] == page:
            heappush(self._first, (rank, page, host))

    def take(self, now: float) -> int | None:
        """The page of lowest rank whose host is free; None where there is none."""
        if not self._count:
            return None
        while self._later and self._later[0][0] <= now:
            self._enter(*heappop(self._later))
        while self._first:
            rank, page, host = heappop(self._first)
            line = self.lines.get(host)
            if line is None or line[0] != (rank, page):
                continue
            ready = self._hosts.ready(host)
            if ready > now:
                self._postpone(host, ready)
                continue
            heappop(line)
            self._count -= 1
            if line:
                heappush(self._first, (*line[0], host))
            else:
                del self.lines[host]
            return page
        return None

    def freed(self, host: int) -> None:
        """Look again at a host of which a request has ended."""
        if host in self.lines:
            self._postpone(host, self._hosts.ready(host))

    def ready(self) -> float:
        """Instant at which a page may be taken, as far as is known; infinite where none may.

        Right after `take` has found none.
        """
        if not self._count:
            return inf
        if self._first:
            return -inf
        return self._later[0][0] if self._later else inf

    def clear(self) -> None:
        """Take all pages out."""
        self.lines.clear()
        self._first.clear()
        self._later.clear()
        self._free_at.clear()
        self._count = 0

    def _enter(self, at: float, host: int) -> None:
        if self._free_at.get(host) != at:
            return  # there was a sooner one
        del self._free_at[host]
        line = self.lines.get(host)
        if line:
            heappush(self._first, (*line[0], host))

    def _postpone(self, host: int, ready: float) -> None:
        # Where it is infinite, `freed` will tell; an entry that comes up too soon is put off then.
        if ready < self._free_at.get(host, inf):
            self._free_at[host] = ready
            heappush(self._later, (ready, host))
