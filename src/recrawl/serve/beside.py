"""The server beside a crawl, in its event loop: the crawl owns the schedule, and lends pages.

Touches: the network.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import TYPE_CHECKING

import uvicorn

if TYPE_CHECKING:
    import socket
    from collections.abc import AsyncIterator, Iterator

    from fastapi import FastAPI

_LAST_SECONDS = 1  # that open streams have, once the crawl has ended
_MOST_CONNECTIONS = 500


class _Server(uvicorn.Server):
    """A server that leaves signals to the crawl."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


@asynccontextmanager
async def served_beside(app: FastAPI, listener: socket.socket) -> AsyncIterator[None]:
    """Answer requests in this event loop while the block runs.

    Args:
        app: Answers them.
        listener: Where they come in; closed at the end.
    """
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_graceful_shutdown=_LAST_SECONDS,
    )
    server = _Server(config)
    task = asyncio.create_task(server.serve([listener]))
    try:
        yield
    finally:
        server.should_exit = True
        with suppress(asyncio.CancelledError):
            await task
        listener.close()
