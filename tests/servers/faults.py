"""A web server that does what a test tells it to, however wrong, and writes down who asked.

What to answer is a value a path (`tests.servers.answers`); a path without one gets a 404. The
server speaks HTTP/1.1 over sockets by hand, for a real HTTP library would refuse to be wrong.

    async with FaultServer({"/": page(b"hello")}) as server:   # in the running loop
        ... server.address("/") ... server.requests ...

    with FaultServer({"/": page(b"hello")}).in_thread() as server:   # beside a program
        ...
"""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    import ssl
    from collections.abc import Awaitable, Callable, Iterator

    Behaviour = Callable[["Wire"], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Seen:
    """One request."""

    at: float  # seconds, of the clock that never goes back
    method: str
    path: str  # with its query
    headers: dict[str, str]  # by lower-case name
    connection: int  # numbered from 0 in the order in which they were opened


@dataclass(slots=True)
class Wire:
    """One connection, on which one request waits for its answer."""

    request: Seen
    writer: asyncio.StreamWriter
    keep: bool = True  # whether another request may follow on this connection
    server: FaultServer = field(kw_only=True)

    async def send(self, raw: bytes) -> None:
        self.writer.write(raw)
        await self.writer.drain()

    async def answer(self, status: int, headers: dict[str, str], body: bytes = b"") -> None:
        """A correct answer, unless the headers or the body make it wrong."""
        await self.send(head(status, {"Content-Length": str(len(body))} | headers) + body)

    def hang_up(self) -> None:
        self.keep = False

    def reset(self) -> None:
        """End the connection as a crashed machine does: no farewell, what was sent may be lost."""
        self.keep = False
        linger = struct.pack("ii", 1, 0)
        self.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.writer.transport.abort()


def head(status: int, headers: dict[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} Said", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


class FaultServer:
    """Listens on loopback at a free port."""

    def __init__(
        self, pages: dict[str, Behaviour] | None = None, *, tls: ssl.SSLContext | None = None
    ) -> None:
        self.pages = dict(pages or {})  # may be changed while the server runs
        self.requests: list[Seen] = []
        self.connections = 0
        self.port = 0
        self._tls = tls
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: list[asyncio.StreamWriter] = []
        self._news = asyncio.Event()

    def address(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"{'https' if self._tls else 'http'}://{host}:{self.port}{path}"

    def behaviour(self, path: str) -> Behaviour:
        """What is done at a path, with or without its query."""
        return self.pages.get(path) or self.pages.get(path.partition("?")[0]) or _missing

    def asked(self, path: str) -> list[Seen]:
        """Requests for one path, in order."""
        return [seen for seen in self.requests if seen.path == path]

    def gaps(self) -> list[float]:
        """Seconds between one request and the next: what politeness is about."""
        times = [seen.at for seen in self.requests]
        return [after - before for before, after in pairwise(times)]

    async def wait_for(self, count: int) -> None:
        """Return when so many requests have come."""
        while len(self.requests) < count:
            self._news.clear()
            await self._news.wait()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(
            self._serve, "127.0.0.1", 0, ssl=self._tls, backlog=1024
        )
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *error: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in list(self._tasks):  # those that never answer would never end
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        # With TLS both sides take leave, for which the loop may not live long enough.
        for writer in self._writers:
            writer.transport.abort()
        await asyncio.sleep(0)

    @contextmanager
    def in_thread(self) -> Iterator[Self]:
        """The server in a thread and a loop of its own."""
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever, name="faults")
        thread.start()
        try:
            asyncio.run_coroutine_threadsafe(self.__aenter__(), loop).result()
            yield self
            asyncio.run_coroutine_threadsafe(self.__aexit__(), loop).result()
        finally:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._writers.append(writer)
        number, self.connections = self.connections, self.connections + 1
        # Whoever asks may hang up at any time, and the test may be over before the answer is.
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while True:
                request = _request(await reader.readuntil(b"\r\n\r\n"), number)
                self.requests.append(request)
                self._news.set()
                wire = Wire(request, writer, server=self)
                await self.behaviour(request.path)(wire)
                if not wire.keep:
                    break
        self._tasks.discard(task)
        writer.close()


def _request(raw: bytes, connection: int) -> Seen:
    first, *lines = raw.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ", 2)
    pairs = (line.split(":", 1) for line in lines if line)
    headers = {name.lower(): value.strip() for name, value in pairs}
    return Seen(time.monotonic(), method, path, headers, connection)


async def _missing(wire: Wire) -> None:
    await wire.answer(404, {"Content-Type": "text/plain"}, b"nothing here")
