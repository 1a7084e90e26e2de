"""What hosts allow: their robots.txt files, each valid for a day.

The files are kept in the store, so that a restart asks for none again. A host whose robots.txt
cannot be had is left alone for an hour.

Touches: the clock and a store, through what it is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recrawl.entries.entries import RobotsRead
from recrawl.parse.robots import Permission
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.clock import Clock
    from recrawl.frontier.host_table import HostTable
    from recrawl.parse.messages import Response


class RobotsCache:
    """Permissions of hosts, as their robots.txt gave them.

    Args:
        hosts: Hosts by name; their delays follow what robots.txt asks for.
        clock: Source of the current time.
        agent: Name by which robots.txt may address us.
        write: Writes down what was read.
    """

    def __init__(
        self,
        hosts: HostTable,
        clock: Clock,
        agent: str,
        write: Callable[[RobotsRead], object],
    ) -> None:
        self._hosts = hosts
        self._clock = clock
        self._agent = agent
        self._write = write
        self._known: dict[int, Permission] = {}

    def resume(self, host: int, read: RobotsRead) -> None:
        """Take in what was read of a host before."""
        self._remember(host, Permission.of(read.http, read.body, read.at_seconds / SECONDS_A_DAY))
        self._hosts.restart_delay(host)

    def known(self, host: int) -> Permission | None:
        """What a host allows, if that was asked within a day."""
        permission = self._known.get(host)
        if permission is None or permission.until <= self._clock.now():
            return None
        return permission

    def allows(self, permission: Permission, address: str) -> bool:
        """Whether we may ask for an address."""
        return permission.robots.allows(address, self._agent)

    def read(self, host: int, response: Response, *, stranger: bool) -> Permission:
        """What the response to a request for robots.txt allows.

        Args:
            host: Whose robots.txt it is.
            response: What came, after all redirects.
            stranger: Whether another host has led us there: that we may not go to a private
                address for its sake is no trouble of this host, and is not remembered.
        """
        now = self._clock.now()
        status, body = (response.status, response.body) if response.ok else (None, None)
        permission = Permission.of(status, body, now, response.detail)
        private = response.problem == "private"
        if not (stranger and private):
            self._remember(host, permission)
        if not private:  # other settings may allow what these do not
            kept = permission.robots.body if body else body
            name = self._hosts.names[host]
            self._write(RobotsRead(name, now * SECONDS_A_DAY, status, kept))
        return permission

    def _remember(self, host: int, permission: Permission) -> None:
        self._known[host] = permission
        if permission.trouble:
            self._hosts.block(host, permission.until)
        delay = permission.robots.delay(self._agent)
        if delay is not None:
            self._hosts.set_delay(host, delay)
