"""The hosts of a crawl by name.

Touches: nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recrawl.frontier.hosts import Hosts
    from recrawl.store.sqlite.reader import Host


class HostBook:
    """Rows of hosts by their names, and back.

    A crawl that was killed may have asked any host a moment ago and not written that down. So no
    host is asked before its delay has passed since the crawl began.

    Args:
        hosts: When each host may be asked.
        began: Instant at which the crawl began.
    """

    def __init__(self, hosts: Hosts, began: float) -> None:
        self.hosts = hosts
        self.names: list[str] = []
        self._began = began
        self._row: dict[str, int] = {}

    def __len__(self) -> int:
        """Count the hosts."""
        return len(self.names)

    def resume(self, known: Iterable[Host]) -> dict[int, int]:
        """Take in the hosts of a store; returns the row of each of the store's numbers."""
        rows = {}
        for host in known:
            row = self.hosts.add(
                delay=host.delay or 0.0, wait=(host.latency_seconds or 0.0) / SECONDS_A_DAY
            )
            self.hosts.leave_alone(row, (host.blocked_until_seconds or 0.0) / SECONDS_A_DAY)
            self.wait_again(row)
            self.names.append(host.name)
            self._row[host.name] = rows[host.number] = row
        return rows

    def row(self, name: str) -> int:
        """Row of a host, a new one where its name was never heard."""
        row = self._row.get(name)
        if row is None:
            row = self._row[name] = self.hosts.add()
            self.wait_again(row)
            self.names.append(name)
        return row

    def wait_again(self, row: int) -> None:
        """Let a host's delay, as it is now, pass from when the crawl began."""
        self.hosts.leave_alone(row, self._began + self.hosts.delay(row))
