"""One HTTP exchange, from the request to the last byte of its response.

Touches: the network, the clock.
"""

from __future__ import annotations

import asyncio
import time
from time import perf_counter
from typing import TYPE_CHECKING

import aiohttp

from recrawl.errors import FetchFailed
from recrawl.fetch.access import NO_ACCESS
from recrawl.fetch.http.bodies import Body
from recrawl.fetch.http.byte_budget import SMALL, Reservation
from recrawl.fetch.http.headers import headers_of
from recrawl.parse.addresses import canonical
from recrawl.parse.messages import Response

if TYPE_CHECKING:
    from aiohttp.client_proto import ResponseHandler

    from recrawl.fetch.access import Access
    from recrawl.fetch.fetcher import RequestLimits
    from recrawl.fetch.http.byte_budget import ByteBudget
    from recrawl.fetch.http.connection_protocol import KeptConnection
    from recrawl.fetch.http.kept_connections import KeptResponse
    from recrawl.fetch.http.loop_lag import LoopLag
    from recrawl.parse.messages import Request

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_FIRST_FINAL = 200  # below it are remarks on the way, and another protocol, which we never ask for
_STEP = 1 << 20  # bytes by which the room of a large body grows
_SLACK = 1.125  # what a growing body takes, by its size
# A host that hung up, or timed out, after we have let it wait for so long is not to blame.
_LONG_WAIT_SECONDS = 1.0
_MAY_BE_OURS = frozenset({"dropped", "timeout"})


class Exchange:
    """What is known so far of the response to one request.

    Args:
        request: What is asked; the clock starts here.
        limits: What it may cost.
        budget: Bytes for its body.
        lag: By how much we are late to hear of it.
        access: How it is asked for: what is secret in it comes back to nobody.
    """

    __slots__ = (
        "_access",
        "_answered",
        "_asked",
        "_body",
        "_cpu",
        "_headers",
        "_held",
        "_lag",
        "_late",
        "_limits",
        "_page",
        "_pieces",
        "_raw_bytes",
        "_request",
        "_status",
        "_waited",
        "failure",
    )

    def __init__(
        self,
        request: Request,
        limits: RequestLimits,
        budget: ByteBudget,
        lag: LoopLag,
        access: Access = NO_ACCESS,
    ) -> None:
        # Set by whoever asks, if it fails.
        self.failure: FetchFailed | None = None
        self._request = request
        self._limits = limits
        self._held = Reservation(budget, request.address)
        self._lag = lag
        self._access = access
        self._late = 0.0
        self._asked = perf_counter()
        self._answered = 0.0
        self._waited = 0.0  # seconds, for room in memory
        self._cpu = 0.0  # seconds, for decoding
        self._status = 0
        self._headers: dict[str, str] = {}
        self._body: Body | None = None
        self._page = b""
        self._pieces: list[bytes] = []  # of a body that turned out to be large
        self._raw_bytes = 0  # of a body that is not encoded

    def begin(
        self, response: aiohttp.ClientResponse | KeptResponse, answered: float | None = None
    ) -> None:
        """Take in the head of the response, and refuse what it shows to be of no use.

        Args:
            response: The response.
            answered: When its head had come, by `perf_counter`; None for just now.
        """
        self._answered = perf_counter() if answered is None else answered
        self._late = self._lag.newest()
        self._status = response.status
        self._headers = self._access.without_secrets(headers_of(response.raw_headers))
        self._check(response.content_length or 0)

    def take(self, response: KeptResponse) -> bool:
        """Take in a whole response at once; False where it is to be read: it is large, or room is.

        The next step is `read` then.
        """
        if not self._held.grow_now(SMALL):
            return False
        page = response.content.read_nowait()
        _check_not_reset(response.connection.protocol if response.connection else None)
        limits, most = self._limits, SMALL // 2
        encoding = self._headers.get("content-encoding", "")
        if not encoding and len(page) <= min(limits.raw_bytes, limits.decoded_bytes, most):
            self._page, self._raw_bytes = page, len(page)
            return True
        body = self._body = self._new_body(most)
        self._pieces = [page]
        try:
            body.count(page)
            self._decode(body, [page])
            self._page = body.end()
        except FetchFailed as failed:
            if self._is_small(failed):
                raise
            return False
        return True

    async def read(
        self, response: aiohttp.ClientResponse | KeptResponse, timer: asyncio.Timeout
    ) -> None:
        """Take the response in, within the limits; `timer` ends it, and stands still in waits.

        `begin` comes before.
        """
        connection = response.connection
        protocol = connection.protocol if connection and self._is_unframed() else None
        pieces, is_large = self._pieces, bool(self._pieces)
        if not is_large:
            await self._make_room(SMALL, timer)
            is_large = not await self._read_small(response.content, pieces)
        if is_large:
            await self._read_on(response, pieces, timer)
        # Only the end of the connection tells that a body without a length is whole.
        _check_not_reset(protocol)
        if is_large:
            await self._decode_large(pieces, timer)

    async def _read_small(self, content: aiohttp.StreamReader, pieces: list[bytes]) -> bool:
        """Read and decode a body; False where it turns out to be large."""
        body = self._body = self._new_body(SMALL // 2)
        try:
            while piece := await content.readany():
                pieces.append(piece)
                body.count(piece)
                self._decode(body, [piece])
            self._page = body.end()
        except FetchFailed as failed:
            if self._is_small(failed):
                raise
            return False
        return True

    def _is_small(self, failed: FetchFailed) -> bool:
        """Whether a body has failed otherwise than by being larger than a small one may be."""
        most = max(self._limits.raw_bytes, self._limits.decoded_bytes)
        return failed.problem != "too-large" or most <= SMALL // 2

    async def _read_on(
        self,
        response: aiohttp.ClientResponse | KeptResponse,
        pieces: list[bytes],
        timer: asyncio.Timeout,
    ) -> None:
        """Read the rest of a large body: it takes what was sent, and is decoded once it is whole.

        Decoded on the way, a host that sends a byte a second would hold all that it unpacks to.
        """
        body = self._body = self._new_body(self._limits.raw_bytes + self._limits.decoded_bytes)
        for piece in pieces:
            body.count(piece)
        while True:
            steps = 1 + max(response.content_length or 0, body.raw_bytes) // _STEP
            await self._make_room(SMALL + _STEP * steps, timer)
            piece = await response.content.readany()
            if not piece:
                return
            pieces.append(piece)
            body.count(piece)

    async def _decode_large(self, pieces: list[bytes], timer: asyncio.Timeout) -> None:
        """Decode a large body in a thread, once there is room for what it may become."""
        body = self._body
        assert body is not None  # noqa: S101 - it was read
        most = self._limits.decoded_bytes if body.is_encoded else body.raw_bytes
        await self._make_room(SMALL + int(body.raw_bytes + _SLACK * most), timer)
        pieces.reverse()
        await asyncio.to_thread(self._decode, body, pieces)
        self._page = body.end()

    def _decode(self, body: Body, pieces: list[bytes]) -> None:
        """Decode pieces, the last one first, and count the CPU time."""
        began = time.thread_time()
        try:
            while pieces:
                body.decode(pieces.pop())
        finally:
            self._cpu += time.thread_time() - began

    async def _make_room(self, size: int, timer: asyncio.Timeout) -> None:
        """Wait for so many bytes of memory; that is not the host's time."""
        if self._held.grow_now(size):
            return
        loop = asyncio.get_running_loop()
        began, ends = loop.time(), timer.when()
        timer.reschedule(None)
        try:
            await self._held.grow(size)
        finally:
            waited = loop.time() - began
            self._waited += waited
            if ends is not None:
                timer.reschedule(ends + waited)

    @property
    def limits(self) -> RequestLimits:
        """What it may cost."""
        return self._limits

    @property
    def status(self) -> int:
        """Status of the response; 0 where none came."""
        return self._status

    def abandon(self) -> None:
        """Give back what is held, where no response will be made."""
        self._held.release()

    def response(self) -> Response:
        """The response, as far as it came."""
        now = perf_counter()
        failure = None if self.failure is None else self._blame(self.failure)
        made = Response(
            address=self._request.address,
            status=self._status,
            headers=self._headers,
            body=b"" if failure else self._access.hide(self._page),
            raw_bytes=self._body.raw_bytes if self._body else self._raw_bytes,
            seconds=now - self._asked,
            waited_seconds=self._waited_for(now),
            cpu_seconds=self._cpu,
            target=self._target(),
            problem=failure.problem if failure else "",
            detail=self._access.hide(str(failure).encode()).decode() if failure else "",
            stale=failure is not None and failure.stale,
        )
        self._held.keep_for(made)
        return made

    def _waited_for(self, now: float) -> float:
        """Seconds until the headers came, or until we were held up and would not have noticed."""
        if not self._answered:
            return now - self._asked
        return max(self._answered - self._asked - self._late, 0.0)

    def _blame(self, failure: FetchFailed) -> FetchFailed:
        """A failure, as ours where we have let the host wait."""
        waited = self._waited > _LONG_WAIT_SECONDS
        if waited and failure.problem in _MAY_BE_OURS:
            return FetchFailed("overloaded", f"{failure} (it had to wait for memory)")
        return failure

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
        if self._status not in _REDIRECTS or not (location := self._headers.get("location")):
            return ""
        return canonical(location, self._request.address) or ""


def _check_not_reset(protocol: ResponseHandler | KeptConnection | None) -> None:
    """Refuse a body if its connection was reset: it may have been longer."""
    if protocol is not None and isinstance(protocol.exception(), aiohttp.ClientOSError):
        raise FetchFailed("dropped", "incomplete body (the connection was reset)")
