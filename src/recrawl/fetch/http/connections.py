"""Connections that a fetcher has opened, until they are closed.

aiohttp forgets a connection that it does not keep as soon as it has asked for its end. With TLS
that takes a while, for both sides say goodbye, and some servers never do: asyncio waits half a
minute for them. So a session that is closed may leave connections open.

Touches: the network.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import aiohttp

if TYPE_CHECKING:
    from asyncio.trsock import TransportSocket

    from aiohttp.client_proto import ResponseHandler

_MOST_STEPS = 100  # of the loop, for which an end is waited for; two are enough


class OpenConnections:
    """Connections of a fetcher that are open, those that nobody uses any more among them."""

    def __init__(self) -> None:
        # A transport is held by the loop, or by TLS, as long as it is open.
        self._sockets: WeakKeyDictionary[asyncio.Transport, TransportSocket] = WeakKeyDictionary()

    def add(self, transport: asyncio.Transport) -> None:
        """Note a connection that was opened."""
        self._sockets[transport] = transport.get_extra_info("socket")

    def count(self) -> int:
        """How many are open."""
        return sum(each.fileno() >= 0 for each in self._sockets.values())

    async def close(self) -> None:
        """End all of them at once, without a goodbye."""
        for transport in list(self._sockets):
            transport.abort()
        for _ in range(_MOST_STEPS):
            if not self.count():
                return
            await asyncio.sleep(0)


class WatchedConnector(aiohttp.TCPConnector):
    """Opens connections for a session, and notes each.

    Attributes:
        opened: Where they are noted.
    """

    opened: OpenConnections

    # All ways to open one lead through here: to a host, to a proxy, and through SOCKS.
    async def _wrap_create_connection(
        self,
        *args: Any,  # noqa: ANN401 - whatever aiohttp gives itself
        **named: Any,  # noqa: ANN401 - the same
    ) -> tuple[asyncio.Transport, ResponseHandler]:
        made = await super()._wrap_create_connection(*args, **named)
        self.opened.add(made[0])
        return made
