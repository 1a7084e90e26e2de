"""Requests of a slot go out only while its lease lasts.

A worker that was paused, or cut off from the store, may wake up when another one has its slots
already. It must not ask a host that the other asks.

Touches: the network, through what it is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recrawl.errors import StoreLocked

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.fetch.fetcher import Fetcher
    from recrawl.parse.messages import Request, Response


class LeasedFetcher:
    """Makes requests while a lease lasts.

    Args:
        fetcher: Makes them.
        is_over: Whether the lease is over.
        name: Of the slot, for messages.
    """

    def __init__(self, fetcher: Fetcher, is_over: Callable[[], bool], name: str) -> None:
        self._fetcher = fetcher
        self._is_over = is_over
        self._name = name

    async def fetch(self, request: Request, on_send: Callable[[], object] = bool) -> Response:
        """Response to one request; raises `StoreLocked` where the lease is over."""

        def send() -> None:
            on_send()
            if self._is_over():
                raise StoreLocked(f"the lease of {self._name} is over; another worker may have it")

        return await self._fetcher.fetch(request, send)

    async def close(self) -> None:
        """Close all connections."""
        await self._fetcher.close()
