"""What an error of the HTTP client means to a crawl.

Pure.
"""

from __future__ import annotations

import ssl
from errno import ECONNREFUSED
from typing import TYPE_CHECKING

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError

from recrawl.errors import FetchFailed, reason
from recrawl.fetch.http.headers import remark

if TYPE_CHECKING:
    from recrawl.fetch.fetcher import RequestLimits

# Of the same error several may hold: the first that does is meant.
_KINDS: tuple[tuple[type[BaseException], str, str], ...] = (
    (aiohttp.ClientConnectorDNSError, "dns", "host must have an address"),
    (aiohttp.ClientConnectorCertificateError, "tls", "host must have a valid certificate"),
    (aiohttp.ClientSSLError, "tls", "host must speak TLS"),
    (ssl.SSLError, "tls", "host must speak TLS"),
    (aiohttp.ClientConnectorError, "unreachable", "host must be within reach"),
    (aiohttp.ServerDisconnectedError, "dropped", "host must answer before it hangs up"),
    (aiohttp.ClientResponseError, "bad-answer", "answer must be HTTP"),
    (aiohttp.InvalidURL, "unreachable", "address must be one that can be asked"),
    (aiohttp.NonHttpUrlClientError, "unreachable", "address must be of http or https"),
    (OSError, "dropped", "connection must last until the answer has come"),
)


def failure_of(error: Exception, limits: RequestLimits) -> FetchFailed:
    """The failure that `error` means.

    >>> from recrawl.fetch.fetcher import RequestLimits
    >>> failure_of(ConnectionResetError(104, "Connection reset by peer"), RequestLimits()).problem
    'dropped'
    """
    if isinstance(error, FetchFailed):
        return error
    if isinstance(error, TimeoutError):
        return FetchFailed("timeout", _late(error, limits))
    if isinstance(error, aiohttp.ClientPayloadError):
        return _broken_body(error)
    if isinstance(error, aiohttp.ClientConnectorError) and error.errno == ECONNREFUSED:
        return FetchFailed("refused", _sentence("host must take connections", error))
    for kind, problem, rule in _KINDS:
        if isinstance(error, kind):
            return FetchFailed(problem, _sentence(rule, error))
    return FetchFailed("bad-answer", _sentence("answer must be HTTP", error))


def _late(error: TimeoutError, limits: RequestLimits) -> str:
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return f"host must be connected within {limits.connect_seconds} seconds (it was not)"
    if isinstance(error, aiohttp.SocketTimeoutError):
        return f"host must send something every {limits.idle_seconds} seconds (it did not)"
    return f"answer must be complete within {limits.total_seconds} seconds (it was not)"


def _broken_body(error: aiohttp.ClientPayloadError) -> FetchFailed:
    """A body that ended too early, or whose chunks are none."""
    cause = error.__cause__
    if isinstance(cause, OSError) or "not completed" in str(error):
        return FetchFailed("dropped", _sentence("body must come whole", error))
    return FetchFailed("bad-answer", _sentence("body must be framed as HTTP says", error))


def _sentence(rule: str, error: BaseException) -> str:
    return f"{rule} ({remark(_said(error)) or type(error).__name__})"


def _said(error: BaseException) -> str:
    """The heart of a message: aiohttp wraps it in what the answer says anyway."""
    if isinstance(error, aiohttp.ClientConnectorError):
        return reason(error.os_error)
    if isinstance(error, aiohttp.ClientPayloadError) and error.__cause__ is not None:
        return _said(error.__cause__)
    if isinstance(error, aiohttp.ClientResponseError | HttpProcessingError):
        return error.message.rstrip(" \n^")
    return str(error)
