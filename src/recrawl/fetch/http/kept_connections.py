"""Plain requests over connections that are kept, without what aiohttp makes anew for each.

A request through a session of aiohttp takes three times the CPU time of its bytes: the request, its
headers, a writer and a response are objects of their own, behind calls for what we never use. Here
a connection is taken from where the session keeps it, the request is written to it as the session
would write it, byte by byte, and aiohttp's own parser reads the response. Whatever is not plain, or
needs a connection to be opened, goes through the session.

That is how aiohttp works inside, which a release may change: other releases than those that this
was tested with are asked through their session for everything.

Touches: the network.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import aiohttp
from aiohttp.helpers import TimerNoop
from aiohttp.http import HttpProcessingError
from multidict import CIMultiDict, CIMultiDictProxy

from recrawl.errors import FetchFailed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aiohttp.client_reqrep import ConnectionKey
    from aiohttp.connector import Connection
    from aiohttp.http import RawResponseMessage
    from yarl import URL

    from recrawl.fetch.fetcher import RequestLimits

_TESTED = "3.14."  # releases of aiohttp
_MOST_KEYS = 10_000
_NO_TIMER = TimerNoop()
_NO_HEADERS = CIMultiDictProxy(CIMultiDict[str]())
_ON_THE_WAY = frozenset({100, *range(102, 200)})  # remarks, after which the response comes


class KeptResponse:
    """A response over a kept connection, as far as an exchange reads one.

    Attributes:
        status: Its status.
        raw_headers: Its headers.
        content: Its body, which may still come.
        connection: The connection, until the body has ended.
    """

    __slots__ = ("_message", "connection", "content", "raw_headers", "status")

    def __init__(
        self, connection: Connection, message: RawResponseMessage, content: aiohttp.StreamReader
    ) -> None:
        self.status = message.code
        self.raw_headers = message.raw_headers
        self.content = content
        self.connection: Connection | None = connection
        self._message = message
        content.on_eof(self.release)

    @property
    def content_length(self) -> int | None:
        """Bytes of the body, where the response says so."""
        length = self._message.headers.get("Content-Length")
        return None if length is None else int(length)

    def release(self) -> None:
        """Keep the connection for another request, if the body has ended. Idempotent."""
        if self.connection is not None:
            self.connection.release()
            self.connection = None

    def close(self) -> None:
        """Close the connection. Idempotent."""
        if self.connection is not None:
            self.connection.close()
            self.connection = None


class KeptConnections:
    """Asks over the connections that a session keeps.

    Args:
        connector: Keeps the connections of the session.
        limits: What its requests may cost, of which the length of headers counts.
        headers: What all requests send.
    """

    def __init__(
        self, connector: aiohttp.TCPConnector, limits: RequestLimits, headers: Mapping[str, str]
    ) -> None:
        self._connector = connector
        self._header_bytes = limits.header_bytes
        self._sent = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        # By origin and what is trusted: under which connections are kept.
        self._keys: dict[tuple[str, object], ConnectionKey] = {}

    def learn(self, request: aiohttp.ClientRequest) -> None:
        """Note under what the connection of a request will be kept."""
        if not aiohttp.__version__.startswith(_TESTED) or request.proxy is not None:
            return
        if len(self._keys) >= _MOST_KEYS:
            self._keys.clear()
        self._keys[_origin(request.url), request.ssl] = request.connection_key

    async def ask(
        self, url: URL, tls: object, conditions: Mapping[str, str], limits: RequestLimits
    ) -> KeptResponse | None:
        """Response to a plain request; None where no connection is kept for it.

        Args:
            url: What to ask for.
            tls: Which certificates to trust, as aiohttp is told.
            conditions: Headers of this request; printable.
            limits: What it may cost.

        Raises:
            FetchFailed: The host hung up before a response.
        """
        key = self._keys.get((_origin(url), tls))
        if key is None:
            return None
        connection = await self._connector._get(key, [])  # noqa: SLF001 - see above
        if connection is None:
            return None
        try:
            return await self._ask(connection, url, conditions, limits)
        except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
            connection.close()
            failed = FetchFailed("dropped", "connection closed before a response")
            failed.stale = True
            raise failed from error
        except HttpProcessingError as error:
            connection.close()
            about = aiohttp.RequestInfo(url, "GET", _NO_HEADERS, url)
            raise aiohttp.ClientResponseError(
                about, (), status=error.code, message=error.message
            ) from error
        except BaseException:
            connection.close()
            raise

    async def _ask(
        self, connection: Connection, url: URL, conditions: Mapping[str, str], limits: RequestLimits
    ) -> KeptResponse:
        protocol = connection.protocol
        transport = connection.transport
        if protocol is None or transport is None:
            raise aiohttp.ServerDisconnectedError
        protocol.set_response_params(
            timer=_NO_TIMER,
            read_until_eof=True,
            auto_decompress=False,
            read_timeout=limits.idle_seconds,
            max_line_size=self._header_bytes,
            max_field_size=self._header_bytes,
        )
        own = "".join(f"{name}: {value}\r\n" for name, value in conditions.items())
        host = f"Host: {url.host_port_subcomponent}\r\n"
        protocol.start_timeout()
        transport.write(f"GET {url.raw_path_qs} HTTP/1.1\r\n{host}{self._sent}{own}\r\n".encode())
        while True:
            message, content = await protocol.read()
            if message.code not in _ON_THE_WAY:
                return KeptResponse(connection, message, content)


def _origin(url: URL) -> str:
    return f"{url.scheme}://{url.authority}"
