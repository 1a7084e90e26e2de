"""Errors of the HTTP client as problems of a response.

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

_HANDSHAKES = ssl.SSLError, TypeError
_DENIED_BY_PROXY = frozenset({403, 407})  # other codes tell of the host behind it
# The first match decides: some errors are instances of several.
_KINDS: tuple[tuple[type[BaseException], str, str], ...] = (
    (aiohttp.ClientConnectorDNSError, "dns", "host not found"),
    (aiohttp.ClientConnectorCertificateError, "tls", "invalid certificate"),
    (aiohttp.ClientSSLError, "tls", "TLS handshake failed"),
    (ssl.SSLError, "tls", "TLS handshake failed"),
    (aiohttp.ClientConnectorError, "unreachable", "host unreachable"),
    (aiohttp.ServerDisconnectedError, "dropped", "connection closed before a response"),
    (aiohttp.ClientResponseError, "bad-answer", "response is not HTTP"),
    (aiohttp.InvalidURL, "unreachable", "invalid address"),
    (aiohttp.NonHttpUrlClientError, "unreachable", "not an http or https address"),
    (OSError, "dropped", "connection lost"),
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
    if isinstance(error, aiohttp.ClientProxyConnectionError | aiohttp.ClientHttpProxyError):
        return _failed_proxy(error)
    if isinstance(error, aiohttp.ClientConnectorError) and error.errno == ECONNREFUSED:
        return FetchFailed("refused", _sentence("connection refused", error))
    return _by_kind(error)


def _by_kind(error: Exception) -> FetchFailed:
    # Behind a proxy a handshake fails within other errors; the second is of Python itself.
    cause = error.__cause__
    is_plain = isinstance(error, aiohttp.ClientConnectionError) and not isinstance(
        error, aiohttp.ClientSSLError
    )
    if is_plain and isinstance(cause, _HANDSHAKES):
        return FetchFailed("tls", _sentence("TLS handshake failed", cause))
    for kind, problem, what in _KINDS:
        if isinstance(error, kind):
            return FetchFailed(problem, _sentence(what, error))
    return FetchFailed("bad-answer", _sentence("response is not HTTP", error))


def _failed_proxy(
    error: aiohttp.ClientProxyConnectionError | aiohttp.ClientHttpProxyError,
) -> FetchFailed:
    if isinstance(error, aiohttp.ClientProxyConnectionError):
        return proxy_failure(_sentence("the proxy cannot be reached", error))
    said = _sentence(f"the proxy answers {error.status}", error)
    return proxy_failure(said, by_proxy=error.status in _DENIED_BY_PROXY)


def proxy_failure(
    detail: str, problem: str = "unreachable", *, by_proxy: bool = True
) -> FetchFailed:
    """The failure of a proxy of ours, or that of a host as the proxy tells it."""
    failed = FetchFailed(problem, detail)
    failed.by_proxy = by_proxy
    return failed


def _late(error: TimeoutError, limits: RequestLimits) -> str:
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return f"no connection within {limits.connect_seconds} seconds"
    if isinstance(error, aiohttp.SocketTimeoutError):
        return f"no data for {limits.idle_seconds} seconds"
    return f"response not complete within {limits.total_seconds} seconds"


def _broken_body(error: aiohttp.ClientPayloadError) -> FetchFailed:
    """A body that ended too early, or with malformed chunks."""
    cause = error.__cause__
    if isinstance(cause, OSError) or "not completed" in str(error):
        return FetchFailed("dropped", _sentence("incomplete body", error))
    return FetchFailed("bad-answer", _sentence("malformed body", error))


def _sentence(what: str, error: BaseException) -> str:
    return f"{what} ({remark(_said(error)) or type(error).__name__})"


def _said(error: BaseException) -> str:
    """The cause within a message of aiohttp."""
    if isinstance(error, aiohttp.ClientConnectorError):
        return reason(error.os_error)
    if isinstance(error, aiohttp.ClientPayloadError) and error.__cause__ is not None:
        return _said(error.__cause__)
    if isinstance(error, aiohttp.ClientResponseError | HttpProcessingError):
        return error.message.rstrip(" \n^")
    return str(error)
