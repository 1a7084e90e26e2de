"""What a crawl asks of an HTTP client: one conditional request in, one answer out.

A `Fetcher` makes one request and follows no redirect, for robots.txt and politeness must be asked
again at every hop. Whatever goes wrong is a `problem` of the `Answer`, never an exception: to a
crawl, a host that hangs is as ordinary as one that answers.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from math import isfinite
from typing import TYPE_CHECKING, Protocol

from recrawl.errors import InvalidParameter

if TYPE_CHECKING:
    from collections.abc import Mapping

PROBLEMS = (
    "dns",  # the host's name has no address
    "private",  # the host's address is none of the public network's, or no page may be there
    "unreachable",  # no way to the address, or it is no address we can ask
    "refused",  # nobody listens there
    "tls",  # the certificate is not valid for this host, or no handshake
    "timeout",  # one of the limits in seconds
    "dropped",  # the connection ended before the answer did
    "bad-answer",  # what came is no HTTP
    "bad-encoding",  # the body is not in the encoding that it is said to be in
    "too-large",  # one of the limits in bytes
)

MOST_HEADERS = 100
# What is asked for, and what a form is.
ACCEPT = "text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.8"
FORM_TYPE = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one request may cost.

    Args:
        connect_seconds: Finding the address, connecting and the TLS handshake.
        idle_seconds: Between two reads.
        total_seconds: The whole request.
        raw_bytes: The body as it comes.
        decoded_bytes: The body after decompression.
        header_bytes: The status line, and each header.

    Examples:
        >>> Limits(total_seconds=0)
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
        """Refuse limits under which nothing could be fetched, or without end."""
        for limit in fields(self):
            value = getattr(self, limit.name)
            if not (value > 0 and isfinite(value)):
                raise InvalidParameter(f"{limit.name} must be positive and finite (got {value})")


@dataclass(frozen=True, slots=True)
class Request:
    """One page to ask for.

    Args:
        address: Canonical address.
        etag: The page's last `ETag`, sent as `If-None-Match`.
        modified: The page's last `Last-Modified` as the host wrote it, sent as
            `If-Modified-Since`.
        local: Whether loopback and private addresses may be asked.
        form: What is sent as a form by POST, as browsers write it; None for an ordinary GET.
    """

    address: str
    etag: str = ""
    modified: str = ""
    local: bool = False
    form: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back.

    Args:
        address: Address that was asked.
        status: HTTP status; 0 where none came.
        headers: By lower-case name; repeated ones joined by a comma, control characters gone, no
            more than `MOST_HEADERS`.
        body: Decoded; empty where there is a problem, so that half a page is never taken for one.
        raw_bytes: Bytes of the body that came, before decoding.
        seconds: From asking to the last byte.
        waited_seconds: From asking to the headers: how busy the host is.
        target: Where a redirect leads, canonical; empty if nowhere that could be fetched.
        problem: Empty, or one of `PROBLEMS`.
        detail: The problem in one sentence, for people.

    Examples:
        >>> Answer("https://example.org/", status=304, headers={"etag": '"1"'}).ok
        True
    """

    address: str
    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    raw_bytes: int = 0
    seconds: float = 0.0
    waited_seconds: float = 0.0
    target: str = ""
    problem: str = ""
    detail: str = ""

    @property
    def ok(self) -> bool:
        """Whether a whole answer came, whatever it says."""
        return not self.problem


class Fetcher(Protocol):
    """Makes requests."""

    async def fetch(self, request: Request) -> Answer:
        """Answer to one request; raises nothing but `asyncio.CancelledError`."""
        ...

    async def close(self) -> None:
        """Let go of all connections."""
        ...
