"""One HTTP exchange, from the request to the last byte of its response.

Touches: the network, the clock.
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

import aiohttp

from recrawl.errors import FetchFailed
from recrawl.fetch.http.bodies import Body
from recrawl.fetch.http.headers import headers_of
from recrawl.fetch.http.large_bodies import SMALL
from recrawl.parse.addresses import canonical
from recrawl.parse.messages import Response

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.fetch.fetcher import RequestLimits
    from recrawl.fetch.http.large_bodies import LargeBodies
    from recrawl.parse.messages import Request

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_FIRST_FINAL = 200  # below it are remarks on the way, and another protocol, which we never ask for


class Exchange:
    """What is known so far of the response to one request.

    Args:
        request: What is asked; the clock starts here.
        limits: What it may cost.
        large: Where a large body waits for a place in memory.
    """

    __slots__ = (
        "_answered",
        "_asked",
        "_body",
        "_headers",
        "_large",
        "_limits",
        "_page",
        "_placed",
        "_request",
        "_status",
        "failure",
    )

    def __init__(self, request: Request, limits: RequestLimits, large: LargeBodies) -> None:
        self.failure: FetchFailed | None = None  # set by whoever asks, if it fails
        self._request = request
        self._limits = limits
        self._large = large
        self._placed = False  # whether a place is held
        self._asked = perf_counter()
        self._answered = 0.0
        self._status = 0
        self._headers: dict[str, str] = {}
        self._body: Body | None = None
        self._page = b""

    async def read(self, response: aiohttp.ClientResponse) -> None:
        """Take the response in, within the limits."""
        self._answered = perf_counter()
        self._status = response.status
        self._headers = headers_of(response.raw_headers)
        self._check(response.content_length or 0)
        connection = response.connection
        protocol = connection.protocol if connection and self._is_unframed() else None

        def whole() -> None:
            """Only the end of the connection tells that a body without a length is whole."""
            if protocol is not None and isinstance(protocol.exception(), aiohttp.ClientOSError):
                raise FetchFailed("dropped", "incomplete body (the connection was reset)")

        pieces: list[bytes] = []
        try:
            await self._take_in(response.content, self._new_body(SMALL), pieces, whole)
        except FetchFailed as failed:
            most = max(self._limits.raw_bytes, self._limits.decoded_bytes)
            if failed.problem != "too-large" or most <= SMALL:
                raise
        else:
            return
        await self._large.take()
        self._placed = True
        body = self._new_body(most)
        while pieces:
            body.add(pieces.pop(0))
        await self._take_in(response.content, body, None, whole)

    async def _take_in(
        self,
        content: aiohttp.StreamReader,
        body: Body,
        pieces: list[bytes] | None,
        check_whole: Callable[[], None],
    ) -> None:
        """Read a body to its end; `pieces` keeps what came, in case it must be read again."""
        self._body = body
        while piece := await content.readany():
            if pieces is not None:
                pieces.append(piece)
            body.add(piece)
        check_whole()
        self._page = body.end()

    def abandon(self) -> None:
        """Give back what is held, where no response will be made."""
        if self._placed:
            self._placed = False
            self._large.give_back()

    def response(self) -> Response:
        """The response, as far as it came."""
        now = perf_counter()
        failure = self.failure
        made = Response(
            address=self._request.address,
            status=self._status,
            headers=self._headers,
            body=b"" if failure else self._page,
            raw_bytes=self._body.raw_bytes if self._body else 0,
            seconds=now - self._asked,
            waited_seconds=(self._answered or now) - self._asked,
            target=self._target(),
            problem=failure.problem if failure else "",
            detail=str(failure) if failure else "",
        )
        if self._placed and made.body:
            self._placed = False
            self._large.keep_for(made)
        self.abandon()
        return made

    def _check(self, announced: int) -> None:
        """Refuse what the headers alone show to be of no use."""
        if self._status < _FIRST_FINAL:
            detail = f"status must be one that ends a request (got {self._status})"
            raise FetchFailed("bad-answer", detail)
        most = self._limits.raw_bytes
        if announced > most:
            detail = f"body must have at most {most} bytes (announced {announced})"
            raise FetchFailed("too-large", detail)

    def _is_unframed(self) -> bool:
        """Whether the body goes on until the connection ends."""
        return not ("content-length" in self._headers or "transfer-encoding" in self._headers)

    def _new_body(self, most: int) -> Body:
        """A body of at most so many bytes, if the limits allow as many."""
        limits = self._limits
        return Body(
            self._headers.get("content-encoding", ""),
            raw_limit=min(limits.raw_bytes, most),
            decoded_limit=min(limits.decoded_bytes, most),
        )

    def _target(self) -> str:
        location = self._headers.get("location", "")
        if self._status not in _REDIRECTS or not location:
            return ""
        return canonical(location, self._request.address) or ""
