"""Plain requests over connections that are kept, without what aiohttp makes anew for each.

A request through a session of aiohttp takes three times the CPU time of its bytes: the request, its
headers, a writer and a response are objects of their own, behind calls for what we never use. So a
session opens the first connection to an origin. From then on aiohttp's connector opens what else is
needed, guarded as all are, each connection gets a protocol of ours, and the request is written that
the session would write, byte by byte. Whatever is not plain goes through the session.

Nobody sets a timer for a request: how long its host may be silent, and how long all of it may take,
is looked at for all connections at once (`KeptConnections.expire`).

Touches: the network.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

import aiohttp
from aiohttp.http import HttpProcessingError
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from recrawl.errors import FetchFailed
from recrawl.fetch.http.connection_protocol import KeptConnection

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recrawl.fetch.fetcher import RequestLimits

_MOST_ORIGINS = 10_000
_KEPT_SECONDS = 15.0  # for which an idle connection is kept
_NO_HEADERS = CIMultiDictProxy(CIMultiDict[str]())


class Origin(NamedTuple):
    """An origin that was asked before.

    Attributes:
        key: The origin, and which certificates are trusted there.
        authority: Its host, and its port where that is not the usual one.
        opening: A request like the one that opened the first connection: how to open more.
        head: What follows the path in each request.
        idle: Connections that are kept, that which has waited for longest first.
    """

    key: tuple[str, object]
    authority: str
    opening: aiohttp.ClientRequest
    head: str
    idle: deque[KeptConnection]


class KeptConnections:
    """Connections that a session has opened, or might have.

    Args:
        connector: Opens the connections of the session.
        limits: What requests may cost, of which the length of headers counts.
        headers: What all requests send.
    """

    def __init__(
        self, connector: aiohttp.BaseConnector, limits: RequestLimits, headers: Mapping[str, str]
    ) -> None:
        self._connector = connector
        self._loop = asyncio.get_running_loop()  # asking for it is a call of the system
        self._header_bytes = limits.header_bytes
        self._sent = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self._origins: dict[tuple[str, object], Origin] = {}  # by what is trusted, too
        self._asking: set[KeptConnection] = set()
        self._sweeping: asyncio.TimerHandle | None = None

    def now(self) -> float:
        """The instant, by the loop's clock."""
        return self._loop.time()

    def learn(self, request: aiohttp.ClientRequest) -> None:
        """Note how connections are opened for an origin."""
        url = request.url
        key = f"{url.scheme}://{url.raw_authority}", request.ssl  # as addresses write it
        if request.proxy is not None or key in self._origins:
            return
        if len(self._origins) >= _MOST_ORIGINS:
            self.close()
        head = f" HTTP/1.1\r\nHost: {url.host_port_subcomponent}\r\n{self._sent}"
        # One that is never sent: it holds neither credentials, nor a body, nor a response.
        opening = aiohttp.ClientRequest("GET", url, loop=self._loop, ssl=request.ssl)
        self._origins[key] = Origin(key, url.authority, opening, head, deque())

    def origin_of(self, address: str, tls: object) -> Origin | None:
        """The origin of an address, if it was asked before and the address is plain.

        Args:
            address: What to ask for.
            tls: Which certificates to trust, as aiohttp is told.
        """
        ends = address.find("/", 8)
        if ends < 0 or not (address.isascii() and address.isprintable()):
            return None
        if " " in address or "#" in address or address.endswith("?"):
            return None
        return self._origins.get((address[:ends], tls))

    def idle(self, origin: Origin, now: float) -> KeptConnection | None:
        """A connection to an origin that waits for a request; None where none does.

        Args:
            origin: The origin.
            now: The instant, by the loop's clock.
        """
        oldest = now - _KEPT_SECONDS
        while origin.idle:
            connection = origin.idle.popleft()
            if connection.idle_since >= oldest and connection.is_usable():
                connection.is_new = False
                return connection
            connection.close()
        return None

    async def open(self, origin: Origin, timeouts: aiohttp.ClientTimeout) -> KeptConnection:
        """A connection to an origin that no request holds: one that the session keeps, or new."""
        made = await self._connector.connect(origin.opening, [], timeouts)
        return KeptConnection(made, self._header_bytes)

    async def ask(
        self,
        connection: KeptConnection,
        origin: Origin,
        address: str,
        conditions: Mapping[str, str],
        idle_seconds: float,
        ends: float,
    ) -> KeptResponse:
        """The response over a connection: whole, or so much of it that it must be read.

        Args:
            connection: One of `idle` or `open`.
            origin: Where it leads.
            address: What to ask for.
            conditions: Headers of this request; printable.
            idle_seconds: For which the host may be silent.
            ends: When it must be whole, by the loop's clock.

        Raises:
            FetchFailed: The host hung up before a response.
        """
        own = ""
        for name, value in conditions.items():
            own += f"{name}: {value}\r\n"
        target = address[address.index("/", 8) :]
        self._asking.add(connection)
        try:
            await connection.ask(f"GET {target}{origin.head}{own}\r\n".encode(), idle_seconds, ends)
            return KeptResponse(self, origin, connection)
        except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
            failed = FetchFailed("dropped", "connection closed before a response")
            failed.stale = not connection.is_new
            self.forget(connection)
            raise failed from error
        except HttpProcessingError as error:
            self.forget(connection)
            url = URL(address, encoded=True)
            about = aiohttp.RequestInfo(url, "GET", _NO_HEADERS, url)
            raise aiohttp.ClientResponseError(
                about, (), status=error.code, message=error.message
            ) from error
        except BaseException:
            self.forget(connection)
            raise

    def expire(self, now: float) -> None:
        """End requests whose hosts have been silent for too long, or that have taken too long."""
        for connection in list(self._asking):
            connection.expire(now)

    def keep(self, connection: KeptConnection, origin: Origin) -> None:
        """Keep a connection for another request, if its response has ended well."""
        if connection.rest() and self._origins.get(origin.key) is origin:
            self._asking.discard(connection)
            origin.idle.append(connection)
            if self._sweeping is None:
                self._sweeping = self._loop.call_later(_KEPT_SECONDS, self._sweep)
        else:
            self.forget(connection)

    def forget(self, connection: KeptConnection) -> None:
        """Close a connection. Idempotent."""
        self._asking.discard(connection)
        connection.close()

    def close(self) -> None:
        """Close the connections that wait for a request."""
        for origin in self._origins.values():
            while origin.idle:
                origin.idle.popleft().close()
        self._origins.clear()
        if self._sweeping is not None:
            self._sweeping.cancel()
            self._sweeping = None

    def _sweep(self) -> None:
        """Close connections that have waited for long."""
        self._sweeping, oldest = None, self.now() - _KEPT_SECONDS
        for origin in self._origins.values():
            while origin.idle and not (
                origin.idle[0].idle_since > oldest and origin.idle[0].is_usable()
            ):
                origin.idle.popleft().close()
        if any(origin.idle for origin in self._origins.values()):
            self._sweeping = self._loop.call_later(_KEPT_SECONDS, self._sweep)


class KeptResponse:
    """A response over a kept connection, as far as an exchange reads one.

    Attributes:
        status: Its status.
        raw_headers: Its headers.
        content: Its body, which may still come.
        connection: The connection; None once it was let go.
        answered: When its headers had come, by `perf_counter`.
    """

    __slots__ = (
        "_connections",
        "_message",
        "_origin",
        "answered",
        "connection",
        "content",
        "raw_headers",
        "status",
    )

    def __init__(
        self, connections: KeptConnections, origin: Origin, connection: KeptConnection
    ) -> None:
        message = connection.message
        assert message is not None  # noqa: S101 - its headers have come
        self._connections = connections
        self._origin = origin
        self._message = message
        self.status = message.code
        self.raw_headers = message.raw_headers
        self.content = connection.content
        self.answered = connection.answered
        self.connection: KeptConnection | None = connection

    @property
    def content_length(self) -> int | None:
        """Bytes of the body, where the response says so."""
        length = self._message.headers.get("Content-Length")
        return None if length is None else int(length)

    def release(self) -> None:
        """Keep the connection for another request, if the body has ended. Idempotent."""
        if self.connection is not None:
            self._connections.keep(self.connection, self._origin)
            self.connection = None

    def close(self) -> None:
        """Close the connection. Idempotent."""
        if self.connection is not None:
            self._connections.forget(self.connection)
            self.connection = None
