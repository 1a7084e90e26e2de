"""A proxy on loopback that speaks HTTP and SOCKS5, takes every name for this machine, and tells who
asked for what.

That every name leads here lets a test ask for `http://site.example:PORT/` without a packet to
anybody: so it is seen that the proxy, and nobody else, was asked to resolve the name.
"""

from __future__ import annotations

import asyncio
import threading
from base64 import b64encode
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

if TYPE_CHECKING:
    import ssl
    from collections.abc import Coroutine, Iterator
    from urllib.parse import SplitResult

_SOCKS, _PASSWORD, _NO_METHOD = 5, 2, 255
_BY_NAME, _V4, _V6 = 3, 1, 4
_GRANTED, _REFUSED = 0, 5


@dataclass
class TestProxy:
    """Listens at a free port; `async with` it in the running loop.

    Attributes:
        targets: Host and port of each request, as they were asked for.
    """

    __test__ = False

    login: tuple[str, str] | None = None
    tls: ssl.SSLContext | None = None
    port: int = 0
    targets: list[tuple[str, int]] = field(default_factory=list)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self.tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *error: object) -> None:
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @contextmanager
    def in_thread(self) -> Iterator[Self]:
        """The proxy in a thread and a loop of its own."""
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever, name="proxy")
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
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            first = await reader.readexactly(1)
            if first[0] == _SOCKS:
                await self._socks(reader, writer)
            else:
                await self._http(first, reader, writer)
        self._tasks.discard(task)
        writer.close()

    async def _http(
        self, first: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Requests of one connection: a tunnel, or one after the other to the same host."""
        target = await self._asked_for(first, reader, writer)
        if target is None:
            return
        method, parts, head = target
        there = await self._connect(parts.hostname or "", parts.port or 80)
        if method == "CONNECT":
            writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
            await _splice(_pour(reader, there[1]), _pour(there[0], writer), there[1])
            return

        async def forward() -> None:
            sent: bytes | None = head
            while sent is not None:
                there[1].write(sent)
                more = await self._asked_for(b"", reader, writer)
                sent = None if more is None else more[2]

        await _splice(forward(), _pour(there[0], writer), there[1])

    async def _asked_for(
        self, first: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> tuple[str, SplitResult, bytes] | None:
        """Method, address and head of the next request as its host gets it; None if denied."""
        head = (first + await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        line, *headers = head.split("\r\n")
        method, target, version = line.split(" ")
        basic = b64encode(":".join(self.login or ()).encode()).decode()
        if self.login is not None and f"Proxy-Authorization: Basic {basic}" not in headers:
            writer.write(b"HTTP/1.1 407 Who are you\r\nContent-Length: 0\r\n\r\n")
            return None
        parts = urlsplit(f"//{target}" if method == "CONNECT" else target)
        self.targets.append((str(parts.hostname), int(parts.port or 80)))
        path = parts.path + (f"?{parts.query}" if parts.query else "")
        kept = [each for each in headers if not each.lower().startswith("proxy-")]
        return method, parts, "\r\n".join([f"{method} {path} {version}", *kept]).encode("latin-1")

    async def _socks(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        methods = await reader.readexactly((await reader.readexactly(1))[0])
        wanted = _PASSWORD if self.login is not None else 0
        if wanted not in methods:
            writer.write(bytes([_SOCKS, _NO_METHOD]))
            return
        writer.write(bytes([_SOCKS, wanted]))
        if self.login is not None:
            await reader.readexactly(1)
            given = tuple([(await _text(reader)) for _ in range(2)])
            writer.write(bytes([1, given != self.login]))
            if given != self.login:
                return
        kind = (await reader.readexactly(4))[3]
        size = {_V4: 4, _V6: 16}.get(kind)
        if size is None:
            host = await _text(reader)
        else:
            host = ".".join(map(str, await reader.readexactly(size)))
        port = int.from_bytes(await reader.readexactly(2))
        self.targets.append((host, port))
        try:
            there = await self._connect(host, port)
        except OSError:
            writer.write(bytes([_SOCKS, _REFUSED, 0, _V4, *bytes(6)]))
            return
        writer.write(bytes([_SOCKS, _GRANTED, 0, _V4, *bytes(6)]))
        await _splice(_pour(reader, there[1]), _pour(there[0], writer), there[1])

    async def _connect(
        self, host: str, port: int
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        del host  # every name is ours
        return await asyncio.open_connection("127.0.0.1", port)


async def _text(reader: asyncio.StreamReader) -> str:
    return (await reader.readexactly((await reader.readexactly(1))[0])).decode()


async def _splice(
    there: Coroutine[None, None, None],
    back: Coroutine[None, None, None],
    connection: asyncio.StreamWriter,
) -> None:
    """Hand on what either says, until one has nothing more to say."""
    ways = [asyncio.create_task(there), asyncio.create_task(back)]
    try:
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    finally:
        connection.close()  # first: the test may be over before the rest is
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)


async def _pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while piece := await reader.read(65_536):
        writer.write(piece)
        await writer.drain()
