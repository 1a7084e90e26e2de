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
from recrawl.parse.addresses import canonical
from recrawl.parse.messages import Response

if TYPE_CHECKING:
    from recrawl.fetch.fetcher import RequestLimits
    from recrawl.parse.messages import Request

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_FIRST_FINAL = 200  # below it are remarks on the way, and another protocol, which we never ask for


class Exchange:
    """What is known so far of the response to one request.

    Args:
        request: What is asked; the clock starts here.
        limits: What it may cost.
    """

    __slots__ = (
        "_answered",
        "_asked",
        "_body",
        "_headers",
        "_limits",
        "_page",
        "_request",
        "_status",
        "failure",
    )

    def __init__(self, request: Request, limits: RequestLimits) -> None:
        self.failure: FetchFailed | None = None  # set by whoever asks, if it fails
        self._request = request
        self._limits = limits
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

        body = self._body = self._new_body()
        content = response.content
        while piece := await content.readany():
            body.add(piece)
        if protocol is not None and isinstance(protocol.exception(), aiohttp.ClientOSError):
            # Only the end of the connection tells that such a body is whole, and this was none.
            raise FetchFailed("dropped", "incomplete body (the connection was reset)")
        self._page = body.end()

    def response(self) -> Response:
        """The response, as far as it came."""
        now = perf_counter()
        failure = self.failure
        return Response(
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

    def _new_body(self) -> Body:
        limits = self._limits
        encoding = self._headers.get("content-encoding", "")
        return Body(encoding, raw_limit=limits.raw_bytes, decoded_limit=limits.decoded_bytes)

    def _target(self) -> str:
        location = self._headers.get("location", "")
        if self._status not in _REDIRECTS or not location:
            return ""
        return canonical(location, self._request.address) or ""
