"""Protocol of an HTTP client: one conditional request in, one response out.

A `Fetcher` makes one request and follows no redirect: `recrawl.fetch.polite` checks robots.txt and
politeness at every hop.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import isfinite
from typing import TYPE_CHECKING, Protocol

from recrawl.errors import InvalidParameter

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.parse.messages import Request, Response


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """Limits of one request.

    Args:
        connect_seconds: Name lookup, connection and TLS handshake.
        idle_seconds: Between two reads.
        total_seconds: The whole request.
        raw_bytes: The body as received.
        decoded_bytes: The body after decompression.
        header_bytes: The status line, and each header.

    Examples:
        >>> RequestLimits(total_seconds=0)
        Traceback (most recent call last):
            ...
        recrawl.errors.InvalidParameter: total_seconds must be positive and finite (got 0)
    """

    connect_seconds: float = 10.0
    idle_seconds: float = 15.0
    total_seconds: float = 60.0
    raw_bytes: int = 10_000_000
    decoded_bytes: int = 20_000_000
    header_bytes: int = 65_536

    def __post_init__(self) -> None:
        """Check the limits."""
        for limit in fields(self):
            value = getattr(self, limit.name)
            if not (value > 0 and isfinite(value)):
                raise InvalidParameter(f"{limit.name} must be positive and finite (got {value})")


class Fetcher(Protocol):
    """HTTP client."""

    async def fetch(self, request: Request, on_send: Callable[[], object] = bool) -> Response:
        """Response to one request.

        Raises nothing but `asyncio.CancelledError`, and what `on_send` raises.

        Args:
            request: What to ask for.
            on_send: Called at the instant at which the request goes out, when nothing of ours is
                left to wait for; what it raises keeps the request from being sent.
        """

    async def close(self) -> None:
        """Close all connections."""
