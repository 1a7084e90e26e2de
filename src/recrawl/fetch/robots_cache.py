"""What origins allow: their robots.txt files, each valid for a day.

A robots.txt speaks for its origin alone: scheme, host and port. Files of the hosts that we crawl
are kept in the store, so that a restart asks for none again; there they are only looked up when
needed. Of the files in memory the least recently used go first, where they would take more than
their share. An origin whose robots.txt cannot be had is left alone for an hour.

Touches: the clock, threads and a store, through what it is given.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from recrawl.entries.entries import RobotsRead
from recrawl.parse.addresses import host_of, site_of
from recrawl.parse.robots import NOTHING_ALLOWED, Permission
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable
    from typing import Protocol

    from recrawl.clock import Clock
    from recrawl.frontier.host_table import HostTable
    from recrawl.parse.messages import Response

    Made = TypeVar("Made")

    class RunInThread(Protocol):
        """Does work in a thread."""

        def __call__(self, work: Callable[[], Made], size: int, owner: str, /) -> Awaitable[Made]:
            """Return what work on so many bytes makes; owners take turns."""
            ...


MOST_BYTES = 64 << 20  # of all files in memory
# Rules take up to forty times the bytes of their text, and a file without rules half a kilobyte.
_BYTES_PER_BYTE = 40
_BYTES_PER_FILE = 1000
_LARGE = 1 << 14  # bytes of a file above which it is parsed in a thread


class RobotsCache:
    """Permissions of origins, as their robots.txt gave them.

    Args:
        hosts: Hosts by name; their delays follow what robots.txt asks for.
        clock: Source of the current time.
        agent: Name by which robots.txt may address us.
        load: Looks up in the store what was read of an origin.
        write: Writes down what was read.
        is_ours: Whether an address is of a host that we crawl: only their files are written down.
        run: Does work in a thread.
    """

    def __init__(  # noqa: PLR0913 - what it works with, and whom it calls back
        self,
        hosts: HostTable,
        clock: Clock,
        agent: str,
        *,
        load: Callable[[str], RobotsRead | None],
        write: Callable[[RobotsRead], object],
        is_ours: Callable[[str], bool],
        run: RunInThread,
    ) -> None:
        self._hosts = hosts
        self._clock = clock
        self._agent = agent
        self._load = load
        self._write = write
        self._is_ours = is_ours
        self._run = run
        self._known: OrderedDict[str, Permission] = OrderedDict()  # least recently used first
        self._bytes = 0
        self._delays: defaultdict[int, dict[str, float]] = defaultdict(dict)  # by host and origin

    def resume(self, read: Iterable[RobotsRead]) -> None:
        """Take in the delays that were asked for, and which hosts are left alone."""
        for each in read:
            host = self._hosts.row(host_of(each.origin + "/"))
            self._keep_delay(host, each.origin, each.delay)
            at = each.at_seconds / SECONDS_A_DAY
            permission = Permission.of(each.http, None, at, self._agent)  # trouble needs no body
            if permission.trouble and permission.holds(self._clock.now()):
                self._hosts.block(host, permission.until)
            self._hosts.restart_delay(host)

    def at_hand(self, origin: str) -> Permission | None:
        """What an origin allows, if that is in memory and was asked within a day."""
        permission = self._known.get(origin)
        if permission is None or not permission.holds(self._clock.now()):
            return None
        self._known.move_to_end(origin)
        return permission

    async def known(self, origin: str) -> Permission | None:
        """What an origin allows, if that was asked within a day."""
        if origin in self._known:
            permission = self.at_hand(origin)
            if permission is None:
                self._forget(origin)
            return permission
        read, now = self._load(origin), self._clock.now()
        if read is None:
            return None
        at = read.at_seconds / SECONDS_A_DAY
        permission = await self._parsed(origin, read.http, read.body, at)
        if not permission.holds(now):
            return None
        self._remember(origin, permission)
        return permission

    async def read(self, origin: str, response: Response, *, stranger: bool) -> Permission:
        """What the response to a request for robots.txt allows.

        Args:
            origin: Whose robots.txt it is.
            response: What came, after all redirects.
            stranger: Whether another host has led us there: that we may not go to a private
                address for its sake is no trouble of this host, and is not remembered.
        """
        now = self._clock.now()
        status, body = (response.status, response.body) if response.ok else (None, None)
        permission = await self._parsed(origin, status, body, now, response.detail)
        private = response.problem == "private"
        if not (stranger and private):
            self._remember(origin, permission)
        if not private and self._is_ours(origin + "/"):  # other settings may allow what is private
            kept = permission.robots.body if body else body
            host = self._hosts.row(host_of(origin + "/"))
            delay = permission.robots.delay
            if permission.trouble:
                delay = self._delays.get(host, {}).get(origin)
            self._write(RobotsRead(origin, now * SECONDS_A_DAY, status, kept, delay))
        return permission

    async def _parsed(
        self, origin: str, status: int | None, body: bytes | None, at: float, detail: str = ""
    ) -> Permission:
        """What a response means; a large file is read in a thread."""
        if body is None or len(body) <= _LARGE:
            return Permission.of(status, body, at, self._agent, detail)
        parse = partial(Permission.of, status, body, at, self._agent, detail)
        try:
            return await self._run(parse, len(body), site_of(origin + "/"))
        except TimeoutError:  # no file that people write takes that long
            return Permission(NOTHING_ALLOWED, at, at + 1.0)

    def _remember(self, origin: str, permission: Permission) -> None:
        self._forget(origin)
        self._known[origin] = permission
        self._bytes += _cost(permission)
        while self._bytes > MOST_BYTES and len(self._known) > 1:
            self._forget(next(iter(self._known)))
        host = self._hosts.row(host_of(origin + "/"))
        if permission.trouble:  # the delay that was asked for before stays
            self._hosts.block(host, permission.until)
        else:
            self._keep_delay(host, origin, permission.robots.delay)

    def _forget(self, origin: str) -> None:
        permission = self._known.pop(origin, None)
        if permission is not None:
            self._bytes -= _cost(permission)

    def _keep_delay(self, host: int, origin: str, delay: float | None) -> None:
        """The longest delay that an origin of a host asks for is that of the host."""
        if delay is not None:
            self._delays[host][origin] = delay
            self._hosts.set_delay(host, max(self._delays[host].values()))
        elif self._delays.get(host, {}).pop(origin, None) is not None:
            self._hosts.set_delay(host, max(self._delays[host].values(), default=0.0))


def _cost(permission: Permission) -> int:
    """Bytes in memory, or more."""
    return _BYTES_PER_FILE + _BYTES_PER_BYTE * len(permission.robots.body)
