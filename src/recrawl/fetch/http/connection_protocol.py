"""A connection on which one plain request is made after the other, as the event loop calls it.

It has aiohttp's C parser read each response, and wakes up whoever waits once: when the response is
whole, or must be read to go on. Nothing of a response gets into the next one: each has a parser of
its own, and a connection on which anything follows a response is of no more use.

Touches: the network.
"""

from __future__ import annotations

import asyncio
from math import inf
from time import perf_counter
from typing import TYPE_CHECKING

import aiohttp
from aiohttp.http import HttpProcessingError, HttpResponseParser
from aiohttp.streams import EMPTY_PAYLOAD

if TYPE_CHECKING:
    from aiohttp.connector import Connection
    from aiohttp.http import RawResponseMessage

_BUFFERED = 1 << 16  # bytes of a body that may wait to be read
_ON_THE_WAY = frozenset({100, *range(102, 200)})  # remarks, after which the response comes
_WITHOUT_BODY = frozenset({101, 204, 304})


class KeptConnection(asyncio.Protocol):
    """A connection on which one request is made after the other.

    Args:
        connection: As aiohttp opened it, or kept it after a response; from now on it is ours.
        header_bytes: Most bytes of the status line, and of each header.

    Attributes:
        is_new: Whether it was opened for the request that is being made.
        is_lost: Whether it has ended.
        idle_since: Since when it has waited for another request, by the loop's clock.
        message: Head of the newest response; None until it has come.
        content: Its body.
        answered: When the head had come, by `perf_counter`.
    """

    __slots__ = (
        "_connection",
        "_ends",
        "_error",
        "_handler",
        "_header_bytes",
        "_idle_seconds",
        "_is_asked",
        "_is_paused",
        "_is_spoilt",
        "_loop",
        "_parser",
        "_silent_until",
        "_transport",
        "_waiter",
        "answered",
        "content",
        "idle_since",
        "is_lost",
        "is_new",
        "message",
    )

    def __init__(self, connection: Connection, header_bytes: int) -> None:
        handler, transport = connection.protocol, connection.transport
        if handler is None or transport is None or handler.should_close:
            connection.close()  # it has ended, or something has come that nobody asked for
            raise aiohttp.ServerDisconnectedError
        self.is_new = False
        self.is_lost = False
        self.idle_since = inf
        self.message: RawResponseMessage | None = None
        self.content: aiohttp.StreamReader = EMPTY_PAYLOAD
        self.answered = 0.0
        self._connection = connection
        self._handler = handler
        self._transport = transport
        self._loop = asyncio.get_running_loop()
        self._idle_seconds = inf
        self._silent_until = self._ends = inf
        self._waiter: asyncio.Future[None] | None = None
        self._error: BaseException | None = None
        self._is_asked = self._is_paused = self._is_spoilt = False
        self._header_bytes = header_bytes
        self._parser: HttpResponseParser  # of the newest request
        transport.set_protocol(self)

    def _new_parser(self) -> HttpResponseParser:
        """A parser for one response: what it has kept of that one would get into the next."""
        return HttpResponseParser(
            self,  # type: ignore[arg-type] # which has what a stream asks its protocol for
            self._loop,
            _BUFFERED,
            payload_exception=aiohttp.ClientPayloadError,
            read_until_eof=True,
            auto_decompress=False,
            max_line_size=self._header_bytes,
            max_field_size=self._header_bytes,
        )

    @property
    def connected(self) -> bool:
        """Whether it has not ended, as the stream of a body asks."""
        return not self.is_lost

    @property
    def protocol(self) -> KeptConnection:
        """What knows how it ended."""
        return self

    def exception(self) -> BaseException | None:
        """Why it ended, or is of no use; None where it is as it should be."""
        return self._error

    def rest(self) -> bool:
        """Wait for another request; False where none may be made, since this has not ended well."""
        self._is_asked = False
        self._silent_until = self._ends = inf
        if not (self.is_usable() and self.content.is_eof() and self._ends_there()):
            return False
        self.message, self.content = None, EMPTY_PAYLOAD
        del self._parser  # it holds the head, too, which may be large
        self.idle_since = self._loop.time()
        return True

    def _ends_there(self) -> bool:
        """Whether nothing has come behind the response, not even the beginning of another."""
        try:
            return self._parser.feed_eof() is None
        except Exception:  # noqa: BLE001 - whatever it is, it does not end there
            return False

    def is_usable(self) -> bool:
        """Whether it has neither ended nor begun to end since the newest response."""
        return not (self._is_spoilt or self.is_lost or self._transport.is_closing())

    async def ask(self, request: bytes, idle_seconds: float, ends: float) -> None:
        """Send a request, and wait until its response is whole, or must be read to go on."""
        if self.is_lost:
            raise aiohttp.ServerDisconnectedError
        self.message, self.content = None, EMPTY_PAYLOAD
        self._parser = self._new_parser()
        self._idle_seconds = idle_seconds
        self._silent_until, self._ends = self._loop.time() + idle_seconds, ends
        self._is_asked = True
        self._waiter = self._loop.create_future()
        self._transport.write(request)
        await self._waiter
        self._ends = inf  # whoever reads on has a timer

    def expire(self, now: float) -> None:
        """Fail where the host has been silent for too long, or the request has taken too long."""
        if now >= self._silent_until:
            self._fail(aiohttp.SocketTimeoutError("Timeout on reading data from socket"))
        elif now >= self._ends:
            self._fail(TimeoutError())

    def close(self) -> None:
        """Close it. Idempotent."""
        self._is_asked = False
        self._silent_until = self._ends = inf
        # An error refers to frames that hold a body: it must not stay for it.
        self._error, self.message, self.content = None, None, EMPTY_PAYLOAD
        self._connection.close()

    # What the loop calls.

    def data_received(self, data: bytes) -> None:
        """Take in bytes of a response."""
        if not self._is_asked:  # whatever it is, it is no response
            if data:
                self._is_spoilt = True
                self._transport.close()
            return
        try:
            messages, upgraded, _ = self._parser.feed_data(data)
        except Exception as error:  # noqa: BLE001 - as aiohttp does: whatever it is, it is no HTTP
            self._transport.close()
            self._fail(_as_no_http(error) if self.message is None else _as_no_body(error))
            return
        self._is_spoilt |= upgraded
        for message, content in messages:
            self._take_head(message, content)
        if self.message is not None and (self._is_paused or self.content.is_eof()):
            self._silent_until = inf  # nothing more is waited for, or not yet
            self._wake()
        elif data:
            self._silent_until = self._loop.time() + self._idle_seconds

    def _take_head(self, message: RawResponseMessage, content: aiohttp.StreamReader) -> None:
        if self.message is not None:  # this is another response, which nobody has asked for
            self._is_spoilt = True
            return
        if message.code in _ON_THE_WAY:
            return
        self._is_spoilt |= message.should_close
        self.message, self.answered = message, perf_counter()
        self.content = EMPTY_PAYLOAD if message.code in _WITHOUT_BODY else content

    def eof_received(self) -> None:
        """Stop the clock: the end of the connection follows."""
        self._silent_until = inf

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell whoever waits how the connection ended."""
        self.is_lost = True
        if self._is_asked:
            self._end(exc)
        self._handler.connection_lost(exc)  # the session waits for it when it is closed

    def _end(self, exc: Exception | None) -> None:
        lost: BaseException = aiohttp.ServerDisconnectedError()
        if isinstance(exc, OSError):
            lost = aiohttp.ClientOSError(*exc.args)
            lost.__cause__ = exc
        if self.message is None:
            self._fail(lost)
            return
        try:
            self._parser.feed_eof()  # which is the end of a body without a length
        except Exception as error:  # noqa: BLE001 - of another body it is not
            said = f"Response payload is not completed: {error!r}"
            broken = aiohttp.ClientPayloadError(said if exc is None else f"{said}. {exc!r}")
            broken.__cause__ = error
            self._fail(broken)
        else:
            self._error = self._error or lost
            self._wake()

    # What the stream of a body calls.

    def pause_reading(self) -> None:
        """Take no more in until somebody has read what is there: that is not the host's time."""
        self._is_paused, self._silent_until = True, inf
        self._parser.pause_reading()
        self._transport.pause_reading()

    def resume_reading(self, resume_parser: bool = True) -> None:  # noqa: FBT001, FBT002 - as it is called
        """Go on."""
        if not self._is_paused:
            return
        self._is_paused = False
        self._silent_until = self._loop.time() + self._idle_seconds
        if resume_parser:
            self.data_received(b"")
        if not (self._is_paused or self.is_lost):
            self._transport.resume_reading()

    def _fail(self, error: BaseException) -> None:
        """Tell whoever waits, or reads, that there will be no whole response."""
        self._silent_until = self._ends = inf
        self._is_spoilt = True
        self._error = error
        if self._waiter is not None and self.message is None:
            self._wake(error)
            return
        if not self.content.is_eof():
            self.content.set_exception(error)
        self._wake()

    def _wake(self, error: BaseException | None = None) -> None:
        waiter, self._waiter = self._waiter, None
        if waiter is None or waiter.done():
            return
        if error is None:
            waiter.set_result(None)
        else:
            waiter.set_exception(error)


def _as_no_http(error: Exception) -> HttpProcessingError:
    """What a session of aiohttp raises where its parser fails."""
    failed = HttpProcessingError()
    if isinstance(error, HttpProcessingError):
        failed = HttpProcessingError(code=error.code, message=error.message, headers=error.headers)
    failed.__cause__ = error
    return failed


def _as_no_body(error: Exception) -> aiohttp.ClientPayloadError:
    """What whoever reads a body is told where the parser fails."""
    failed = aiohttp.ClientPayloadError("malformed")
    failed.__cause__ = error
    return failed
