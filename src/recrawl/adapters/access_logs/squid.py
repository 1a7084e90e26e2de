"""Lines of Squid's native log.

    1767225600.129 105 192.0.2.1 TCP_MISS/200 7654 GET http://example.org/ - HIER_DIRECT/-

The word before the status says what the proxy did. Where it has asked the host whether its copy is
still good, it says what the host answered. The size counts the headers, too, and is not looked at.

Pure.
"""

from __future__ import annotations

import re

from recrawl.adapters.access_logs.requests import LoggedRequest
from recrawl.visits.rows import UNKNOWN_CHANGE

LINE = re.compile(
    rb" *([0-9]{1,11})\.([0-9]{3}) +-?[0-9]{1,12} (\S+) ([A-Z][A-Z_]*)/([0-9]{3}) [0-9]{1,15} "
    rb"(\S+) (\S+)(?: .*)?"
)
_UNCHANGED = frozenset({"TCP_REFRESH_UNMODIFIED", "TCP_REFRESH_HIT"})
_CHANGED = frozenset({"TCP_REFRESH_MODIFIED", "TCP_REFRESH_MISS"})
# The host was asked and did not answer: the proxy gave out its old copy.
_FAILED = frozenset({"TCP_REFRESH_FAIL", "TCP_REFRESH_FAIL_OLD", "TCP_REFRESH_FAIL_HIT"})
_REFUSED = ("_DENIED", "_REDIRECT", "_ABORTED")


def parse_squid(line: bytes) -> LoggedRequest | None:
    """The request of a line; None where it is malformed.

    >>> line = b"1767225600.129 105 192.0.2.1 TCP_REFRESH_UNMODIFIED/200 99 GET http://a.org/ - -"
    >>> parse_squid(line)._replace(at=0)
    LoggedRequest(page='http://a.org/', at=0, method='GET', status=200, size=-1, etag='',
                  changed=0, cached=False, agent='', client='192.0.2.1')
    """
    found = LINE.fullmatch(line)
    if found is None:
        return None
    seconds, milliseconds, client, action, status, method, page = (
        part.decode("utf-8", "replace") for part in found.groups()
    )
    changed, code = UNKNOWN_CHANGE, int(status)
    if action in _UNCHANGED:
        changed = 0
    elif action in _CHANGED:
        changed = 1
    elif action in _FAILED:
        code = 0
    return LoggedRequest(
        page,
        int(seconds) * 1_000_000 + int(milliseconds) * 1000,
        method,
        code,
        changed=changed,
        cached=_answered_alone(action),
        client=client,
    )


def _answered_alone(action: str) -> bool:
    """Whether the proxy gave an answer that is not the host's of then."""
    if action in _UNCHANGED or action in _CHANGED:
        return False
    return action.endswith("_HIT") or "_HIT_" in action or any(each in action for each in _REFUSED)
