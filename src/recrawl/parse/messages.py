"""One HTTP request and the response to it, as values.

Whatever goes wrong is a `problem` of the `Response`, never an exception: to a crawl, a host that
hangs is as ordinary as one that answers.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

PROBLEMS = (
    "dns",  # the host's name has no address
    "private",  # the host's address is none of the public network's, or no page may be there
    "unreachable",  # no way to the address, or it is no address we can ask
    "refused",  # nobody listens there
    "forbidden",  # robots.txt does not allow the request: it was not made
    "tls",  # the certificate is not valid for this host, or no handshake
    "timeout",  # one of the limits in seconds
    "dropped",  # the connection ended before the response did
    "bad-answer",  # what came is no HTTP
    "bad-encoding",  # the body is not in the encoding that it is said to be in
    "too-large",  # one of the limits in bytes
    "overloaded",  # we lack memory or files for it: no fault of the host
)

MOST_HEADERS = 100
# What is asked for, and what a form is.
ACCEPT = "text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.8"
FORM_TYPE = "application/x-www-form-urlencoded"


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
        body: What is sent by POST as it is, instead of a form.
        headers: What is sent besides our own headers, such as the type of the body.
        credentials: Whether headers, cookies and a login of the settings are sent, too. They are
            never in a request: whoever sends it looks them up by its address.
    """

    address: str
    etag: str = ""
    modified: str = ""
    local: bool = False
    form: str | None = None
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    credentials: bool = True


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Response:
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
        cpu_seconds: CPU time that decoding the body took.
        target: Where a redirect leads, canonical; empty if nowhere that could be fetched.
        problem: Empty, or one of `PROBLEMS`.
        detail: The problem in one sentence, for people.
        stale: Whether a kept connection had ended before the request came through, so that it may
            be made once more.

    Examples:
        >>> Response("https://example.org/", status=304, headers={"etag": '"1"'}).ok
        True
    """

    address: str
    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    raw_bytes: int = 0
    seconds: float = 0.0
    waited_seconds: float = 0.0
    cpu_seconds: float = 0.0
    target: str = ""
    problem: str = ""
    detail: str = ""
    stale: bool = False

    @property
    def ok(self) -> bool:
        """Whether a whole response came, whatever it says."""
        return not self.problem
