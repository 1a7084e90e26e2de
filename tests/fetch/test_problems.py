"""Errors that a test cannot bring about by itself are made by hand here; `test_faults.py` has the
others."""

import errno
import ssl

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey

from recrawl.errors import FetchFailed
from recrawl.fetch.fetcher import RequestLimits
from recrawl.fetch.http.problems import failure_of
from recrawl.parse.messages import PROBLEMS

KEY = ConnectionKey("example.org", 443, True, True, None, None, None)


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        (aiohttp.ClientConnectorError(KEY, OSError(errno.ENETUNREACH, "No way")), "unreachable"),
        (aiohttp.ClientConnectorError(KEY, OSError(errno.EHOSTUNREACH, "No way")), "unreachable"),
        (aiohttp.ClientConnectorError(KEY, OSError(errno.EMFILE, "Too many")), "unreachable"),
        (aiohttp.ClientConnectorError(KEY, OSError(errno.ECONNREFUSED, "No")), "refused"),
        (aiohttp.ClientConnectorDNSError(KEY, OSError(-3, "Try again")), "dns"),
        (aiohttp.ClientConnectorSSLError(KEY, ssl.SSLError(1, "alert")), "tls"),
        (ssl.SSLError(1, "bad record"), "tls"),
        (aiohttp.ServerTimeoutError(), "timeout"),
        (aiohttp.ClientOSError(errno.EPIPE, "Broken pipe"), "dropped"),
        (aiohttp.ClientPayloadError("nonsense"), "bad-answer"),
        (ValueError("nonsense"), "bad-answer"),
        (FetchFailed("private", "as it is"), "private"),
    ],
)
def test_every_error_is_one_of_the_problems(error, problem):
    failure = failure_of(error, RequestLimits())

    assert failure.problem == problem
    assert problem in PROBLEMS
    assert str(failure)


def test_what_the_system_said_is_told_in_one_line():
    error = aiohttp.ClientConnectorError(KEY, OSError(errno.EHOSTUNREACH, "No route\nto host"))

    assert str(failure_of(error, RequestLimits())) == "host unreachable (no route to host)"
