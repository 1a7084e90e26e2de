"""A fetcher that speaks HTTP/1.1 through aiohttp.

Connections are kept for the next request to the same host. There are two sets of them: public
addresses only, and, for requests that say so, private ones too; a connection opened for the second
kind of request is never used for the first. All requests share one limit of open connections,
which leaves the process enough files for everything else; beyond half of it none is kept. However
many names an address has, only so many requests to it are under way at a time. Where the system has
no file left all the same, that is no fault of the host: the request waits for a while. All of this
is waited for before a request is sent.

What settings give for an address, such as a login or a proxy, is looked up as its request is made.
Each proxy has connections of its own, and so has each set of certificates that is trusted.

Touches: the network.
"""

from __future__ import annotations

import asyncio
import errno
import resource
import socket
from contextvars import ContextVar
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import aiohttp
from yarl import URL

from recrawl.errors import FetchFailed, InvalidParameter, without_logins
from recrawl.fetch.access import NO_ACCESS
from recrawl.fetch.fetcher import RequestLimits
from recrawl.fetch.http.address_limit import AddressLimit
from recrawl.fetch.http.bodies import ACCEPTED
from recrawl.fetch.http.byte_budget import ByteBudget
from recrawl.fetch.http.connections import OpenConnections, WatchedConnector
from recrawl.fetch.http.exchange import Exchange
from recrawl.fetch.http.guard import allowed
from recrawl.fetch.http.kept_connections import KeptConnections
from recrawl.fetch.http.loop_lag import LoopLag
from recrawl.fetch.http.problems import failure_of, proxy_failure
from recrawl.fetch.http.proxies import (
    check_target,
    proxy_arguments,
    socks_connector,
    socks_errors,
    socks_failure,
)
from recrawl.fetch.http.resolver import GuardedResolver, refused
from recrawl.parse.addresses import host_of
from recrawl.parse.messages import ACCEPT, FORM_TYPE
from recrawl.parse.ports import blocked_port
from recrawl.parse.proxy_addresses import SOCKS, ProxyAddress

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Mapping

    from aiohttp import AddrInfoType
    from aiohttp.client_middlewares import ClientHandlerType

    from recrawl.fetch.access import Access, AccessTable
    from recrawl.fetch.http.connection_protocol import KeptConnection
    from recrawl.fetch.http.kept_connections import Origin
    from recrawl.parse.messages import Request, Response

    _Route = ProxyAddress | bool  # the proxy to go through, or whether private addresses are fine

_NAMES_SECONDS = 300  # for which an answer of a name server is believed
_MOST_NAMES = 10_000

# Open connections: what a process may open, less what a store, logs and lookups need; never more
# than are of use.
_MOST_CONNECTIONS, _LEAST_CONNECTIONS = 512, 8
_OTHER_FILES = 128
_NO_FILES = frozenset({errno.EMFILE, errno.ENFILE})
_WAIT_FOR_FILE_SECONDS = 0.5
_LONGEST_WAIT_FOR_FILE_SECONDS = 30.0
_FILE_FREE_SECONDS = 0.01  # for which nobody looks again once a file could be opened
PER_ADDRESS = 16  # requests under way to one IP address

# Headers that a session puts in the place of its own, or that say how a request is read.
_FRAMING = frozenset(
    {"accept", "accept-encoding", "connection", "content-length", "expect", "host", "te"}
    | {"transfer-encoding", "upgrade", "user-agent"}
)

_DENIED = frozenset({401, 403})
_PROXY_DENIED = 407

_NO_FILE = "the process may open no more files; a higher limit (`ulimit -n`) would help"

# Addresses to which connections were opened for the request that is being made.
_opened: ContextVar[list[str]] = ContextVar("_opened")


class HttpFetcher:
    """Fetches pages over HTTP and HTTPS.

    Cookies of hosts are neither kept nor sent, redirects are not followed, and proxies that the
    environment names are not used unless settings say so. More requests than there may be
    connections wait for each other.

    Args:
        agent: What to send as `User-Agent`: a name, and where to complain.
        limits: What one request may cost.
        tls: Which certificates to trust; those that the system trusts unless given.
        connections: How many may be open at a time; by what the system allows unless given.
        per_address: How many requests to one IP address may be under way at a time.
        access: How addresses are asked for; nothing is sent of what settings give unless given.
        on_remark: Called with a sentence where a host or a proxy denies us what we ask for.

    Examples:
        A port that no web server uses:

        >>> import asyncio
        >>> from recrawl.parse.messages import Request
        >>> async def ask(address: str) -> str:
        ...     fetcher = HttpFetcher("example (+https://example.org/bot)")
        ...     answer = await fetcher.fetch(Request(address, local=True))
        ...     await fetcher.close()
        ...     return answer.problem
        >>> asyncio.run(ask("http://127.0.0.1:25/"))
        'private'
    """

    def __init__(  # noqa: PLR0913 - what requests may use, and what is given for them
        self,
        agent: str,
        limits: RequestLimits | None = None,
        *,
        tls: ssl.SSLContext | None = None,
        connections: int | None = None,
        per_address: int = PER_ADDRESS,
        access: AccessTable | None = None,
        on_remark: Callable[[str], object] = bool,
    ) -> None:
        if not (agent.strip() and agent.isascii() and agent.isprintable()):
            raise InvalidParameter(f"agent must be printable ASCII text (got {agent!r})")
        self._limits = limits or RequestLimits()
        self._tls = tls
        self._headers = {"User-Agent": agent, "Accept": ACCEPT, "Accept-Encoding": ACCEPTED}
        self._access = access
        self._on_remark = on_remark
        self._sessions: dict[
            tuple[_Route, bool], tuple[aiohttp.ClientSession, KeptConnections]
        ] = {}  # by whether connections are kept, too
        self._resolvers: list[GuardedResolver] = []
        self._connections = connections or affordable_connections()
        self._free = asyncio.Semaphore(self._connections)
        self._open_sockets = _OpenSockets()
        self._opened = OpenConnections()
        self._addresses = AddressLimit(per_address)
        self._budget = ByteBudget()
        self._lag = LoopLag(self._expire)
        self._longest_wait_for_file = _LONGEST_WAIT_FOR_FILE_SECONDS
        self._file_free_until = 0.0  # by the loop's clock

    async def fetch(self, request: Request, on_send: Callable[[], object] = bool) -> Response:
        """Response to one request; raises `asyncio.CancelledError`, and what `on_send` raises."""
        access = NO_ACCESS
        if self._access is not None:
            access = self._access.of(request.address, credentials=request.credentials)
        async with self._free:
            if asyncio.get_running_loop().time() >= self._file_free_until:
                await self._wait_for_file()
            on_send()
            with self._lag:
                exchange = await self._exchange(request, access)
        if access is not NO_ACCESS:
            self._look_for_denial(request, access, exchange)
        return exchange.response()

    async def _wait_for_file(self) -> None:
        """Wait, not for ever, until the process may open a file."""
        loop = asyncio.get_running_loop()
        ends = loop.time() + self._longest_wait_for_file
        while loop.time() < ends:
            try:
                socket.socket().close()
            except OSError as error:
                if error.errno not in _NO_FILES:
                    return
            else:
                self._file_free_until = loop.time() + _FILE_FREE_SECONDS
                return
            await asyncio.sleep(_WAIT_FOR_FILE_SECONDS)

    async def _exchange(self, request: Request, access: Access) -> Exchange:
        """One request and what came of it."""
        limits = access.limits(self._limits)
        exchange = Exchange(request, limits, self._budget, self._lag, access)
        try:
            if access.problem:
                raise FetchFailed("unreachable", access.problem)  # noqa: TRY301 - as others fail
            if not await self._ask_kept(exchange, request, access):
                await self._ask_session(exchange, request, access)
        except socks_errors(access.proxy) as error:
            exchange.failure = socks_failure(error.with_traceback(None))
        except (aiohttp.ClientError, FetchFailed, OSError, ValueError) as error:
            # Without the traceback, which holds the body: both would wait for a collection.
            exchange.failure = failure_of(error.with_traceback(None), limits)
            if isinstance(error, OSError) and error.errno in _NO_FILES:
                exchange.failure = FetchFailed("overloaded", _NO_FILE)
        except BaseException:
            exchange.abandon()
            raise
        return exchange

    async def _ask_kept(self, exchange: Exchange, request: Request, access: Access) -> bool:
        """Ask over a connection of ours; False where the request is one for a session."""
        sent = _headers(request, access) or {}
        if not _is_plain(request, access, sent):
            return False
        _, kept = self._session(request.local)
        origin = kept.origin_of(request.address, access.tls or True)
        if origin is None:
            return False
        limits, now = exchange.limits, kept.now()
        ends = now + limits.total_seconds
        with self._addresses.asking(origin.authority):
            connection = kept.idle(origin, now)
            if connection is None:
                opened: list[str] = []
                _opened.set(opened)
                async with asyncio.timeout_at(ends):
                    connection = await _opening(kept, origin, limits)
                connection.is_new = bool(opened)
            response = await kept.ask(
                connection, origin, request.address, sent, limits.idle_seconds, ends
            )
            try:
                exchange.begin(response, response.answered)
                if not (response.content.is_eof() and exchange.take(response)):
                    async with asyncio.timeout_at(ends) as timer:
                        await exchange.read(response, timer)
            except BaseException:
                response.close()  # what else comes must not be taken for the next answer
                raise
            response.release()
        return True

    async def _ask_session(self, exchange: Exchange, request: Request, access: Access) -> None:
        """Ask through a session of aiohttp."""
        url, limits = _url(request.address), exchange.limits
        if access.proxy is not None:
            check_target(url.host or "", local=request.local)
        async with asyncio.timeout(limits.total_seconds) as timer:
            with self._addresses.asking(url.authority):
                session, _ = self._session(access.proxy or request.local)
                response = await session.request(
                    "GET" if request.form is None and request.body is None else "POST",
                    url,
                    data=request.form if request.body is None else request.body,
                    headers=_headers(request, access),
                    allow_redirects=False,
                    ssl=access.tls or True,
                    timeout=_timeouts(limits),
                    **proxy_arguments(access.proxy),
                )
                try:
                    exchange.begin(response)
                    await exchange.read(response, timer)
                except BaseException:
                    response.close()  # what else comes must not be taken for the next answer
                    raise
                response.release()

    def _expire(self, now: float) -> None:
        """End requests that have waited for their hosts for too long."""
        for _, kept in self._sessions.values():
            kept.expire(now)

    def _look_for_denial(self, request: Request, access: Access, exchange: Exchange) -> None:
        """Say where what settings give for an address does not do; never what it is."""
        proxy, failure = access.proxy, exchange.failure
        if proxy is not None and exchange.status == _PROXY_DENIED:
            failure = proxy_failure(f"the proxy answers {_PROXY_DENIED}")
        elif proxy is not None and failure is not None and failure.problem == "dns":
            failure = proxy_failure(f"the proxy cannot be reached ({failure})")
        exchange.failure = failure
        if proxy is not None and failure is not None and failure.by_proxy:
            self._on_remark(f"Proxy {proxy.label}: {failure}.")
        elif access.headers and exchange.status in _DENIED:
            said = f"answers {exchange.status} to the credentials in its settings; check them"
            self._on_remark(f"{host_of(request.address)} {said}.")

    def _session(self, route: _Route) -> tuple[aiohttp.ClientSession, KeptConnections]:
        """Session for a request: one that keeps its connection, unless many are open already."""
        kept = self._open_sockets.count <= self._connections // 2
        return self._sessions.get((route, kept)) or self._open(route, kept=kept)

    async def close(self) -> None:
        """Close all connections."""
        while self._sessions:
            session, kept = self._sessions.popitem()[1]
            await session.close()
            kept.close()
        await self._opened.close()
        while self._resolvers:
            await self._resolvers.pop().close()

    def _connector(self, route: _Route, *, kept: bool) -> WatchedConnector:
        """Connections of one kind of request."""
        if isinstance(route, ProxyAddress) and _is_socks(route):
            return socks_connector(route, self._tls)
        is_proxy = isinstance(route, ProxyAddress)
        local = bool(route)  # a proxy may be where its owner wants it
        resolver = GuardedResolver(local=local)
        self._resolvers.append(resolver)
        return WatchedConnector(
            resolver=resolver,
            socket_factory=partial(self._socket, local=local, is_proxy=is_proxy),
            ssl=self._tls or True,
            force_close=not kept,
            limit=0,  # else waiting for a free connection would count as connecting
            ttl_dns_cache=_NAMES_SECONDS,
            dns_cache_max_size=_MOST_NAMES,
        )

    def _open(self, route: _Route, *, kept: bool) -> tuple[aiohttp.ClientSession, KeptConnections]:
        """Session for one kind of request; made late, for it belongs to the running loop."""
        limits = self._limits
        connector = self._connector(route, kept=kept)
        connector.opened = self._opened
        connections = KeptConnections(connector, limits, self._headers)
        session = aiohttp.ClientSession(
            connector=connector,
            headers=self._headers,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            max_line_size=limits.header_bytes,
            max_field_size=limits.header_bytes,
            # A connection that is not kept is always a new one.
            middlewares=(
                partial(_ask_once, kept=kept and not _is_socks(route), among=connections),
            ),
        )
        self._sessions[route, kept] = session, connections
        return session, connections

    def _socket(self, place: AddrInfoType, *, local: bool, is_proxy: bool) -> socket.socket:
        """Socket for one address, which may come from a name or stand in digits in the request."""
        family, kind, protocol, _, where = place
        address = str(where[0])
        if not allowed(address, local=local):
            raise refused(address)
        if not is_proxy:  # which is asked for the pages of all hosts
            self._addresses.connect(address)
        _opened.get().append(address)
        made = _CountedSocket(family, kind, protocol)
        made.counted = self._open_sockets
        self._open_sockets.count += 1
        return made


def _url(address: str) -> URL:
    """The address as aiohttp wants it, to be sent letter by letter as it is."""
    try:
        url = URL(address, encoded=True)
        clean = address.isascii() and address.isprintable() and " " not in address
        if clean and url.raw_user is None and url.raw_password is None:
            why = blocked_port(url.explicit_port)
            if why:
                raise FetchFailed("private", why)
            return url
    except ValueError:
        pass  # no such port, or a host that is none
    raise FetchFailed(
        "unreachable", f"address must be canonical (got {without_logins(address)[:80]!r})"
    )


@lru_cache(maxsize=100)  # few differ
def _timeouts(limits: RequestLimits) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(
        total=None,  # a timer of ours, which stands still while a body waits for memory
        connect=limits.connect_seconds,
        sock_read=limits.idle_seconds,
    )


def _headers(request: Request, access: Access) -> dict[str, str] | None:
    """What settings have us send, a form's type, and conditions of an unchanged page."""
    conditions = dict(request.headers)
    if access.headers:
        conditions = {name: secret.reveal() for name, secret in access.headers} | conditions
    if request.form is not None:
        conditions["Content-Type"] = FORM_TYPE
    if request.etag and request.etag.isprintable():
        conditions["If-None-Match"] = request.etag
    if request.modified and request.modified.isprintable():
        conditions["If-Modified-Since"] = request.modified
    return conditions or None


def _is_plain(request: Request, access: Access, headers: Mapping[str, str]) -> bool:
    """Whether a request is a GET whose own headers can be written behind those that all send."""
    if request.form is not None or request.body is not None or access.proxy is not None:
        return False
    if not (access.headers or request.headers):
        return True  # conditions are printable, and have names of ours
    return all(
        name.isprintable() and value.isprintable() and name.lower() not in _FRAMING
        for name, value in headers.items()
    )


def _is_socks(route: _Route) -> bool:
    return isinstance(route, ProxyAddress) and route.scheme == SOCKS


async def _opening(kept: KeptConnections, origin: Origin, limits: RequestLimits) -> KeptConnection:
    """A connection that no request holds; a host that hangs up while it is made has dropped us."""
    try:
        return await kept.open(origin, _timeouts(limits))
    except aiohttp.ClientConnectorError:
        raise
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
        failed = FetchFailed("dropped", "connection closed before a response")
        failed.stale = not _opened.get()  # the session had kept it
        raise failed from error


async def _ask_once(
    request: aiohttp.ClientRequest,
    handler: ClientHandlerType,
    *,
    kept: bool,
    among: KeptConnections,
) -> aiohttp.ClientResponse:
    """Keep aiohttp from asking again at once where the host hung up before a response.

    A kept connection may have ended while the request was under way. Then asking again is right,
    but as any request, a politeness delay later; and what a form does must not be done twice.
    """
    if kept:
        among.learn(request)
    opened: list[str] = []
    _opened.set(opened)
    try:
        return await handler(request)
    except aiohttp.ClientConnectorError:
        raise
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
        failed = FetchFailed("dropped", "connection closed before a response")
        failed.stale = kept and not opened and request.method == "GET"
        raise failed from error


def affordable_connections() -> int:
    """How many connections may be open at a time, by the files that the process may open."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return _MOST_CONNECTIONS
    return max(_LEAST_CONNECTIONS, min(_MOST_CONNECTIONS, (files - _OTHER_FILES) // 2))


class _OpenSockets:
    """Counts sockets that are open."""

    def __init__(self) -> None:
        self.count = 0


class _CountedSocket(socket.socket):
    """A socket that is counted while it is open."""

    counted: _OpenSockets | None = None

    def close(self) -> None:
        """Close the socket. Idempotent."""
        if self.counted is not None:
            self.counted.count -= 1
            self.counted = None
        super().close()
