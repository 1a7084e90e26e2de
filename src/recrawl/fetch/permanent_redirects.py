"""Where permanent redirects lead, remembered for a day.

A chain of redirects costs a request per hop, at every visit. A hop that answered 301 or 308 is
skipped for a day, as HTTP allows (RFC 9110, 15.4.2), or for as long as its Cache-Control says if
that is shorter. What a page of the crawl answers itself is asked all the same where it would lead
to another page of the crawl, since then the page has moved.

Pure.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recrawl.parse.messages import Request, Response

PERMANENT = frozenset({301, 308})
_LIFETIME = 1.0  # days
_MOST = 10_000
_NEVER = re.compile(r"(?:^|,)\s*no-(?:store|cache)\s*(?:$|[,=])", re.IGNORECASE)
_MAX_AGE = re.compile(r"(?:^|,)\s*max-age\s*=\s*\"?([0-9]{1,12})", re.IGNORECASE)


class PermanentRedirects:
    """Permanent redirects that were seen, the newest; memory is bounded."""

    def __init__(self) -> None:
        self._targets: dict[tuple[str, bool], tuple[str, float]] = {}

    def __bool__(self) -> bool:
        """Whether any is remembered."""
        return bool(self._targets)

    def learn(self, request: Request, response: Response, now: float) -> None:
        """Remember where a request was sent on to, if that was for good.

        Args:
            request: The request.
            response: The response to it.
            now: The instant, in days.
        """
        permanent = response.ok and response.target and response.status in PERMANENT
        if not permanent or request.form is not None:
            return
        until = now + _lifetime(response.headers.get("cache-control", ""))
        if until > now:
            self._targets.pop(_key(request), None)
            self._targets[_key(request)] = response.target, until
            if len(self._targets) > _MOST:
                del self._targets[next(iter(self._targets))]

    def target_of(self, request: Request, now: float) -> str:
        """Where a request would be sent on to; empty where that is not known."""
        target, until = self._targets.get(_key(request), ("", now))
        return target if until > now and request.form is None else ""

    def forget(self, requests: Iterable[Request]) -> None:
        """Ask again, since where they led is not there."""
        for request in requests:
            self._targets.pop(_key(request), None)


def _key(request: Request) -> tuple[str, bool]:
    # Whoever shows who they are may be sent elsewhere.
    return request.address, request.credentials


def _lifetime(cache_control: str) -> float:
    """Days that a redirect may be remembered.

    >>> _lifetime(""), _lifetime("max-age=43200"), _lifetime("private, no-store")
    (1.0, 0.5, 0.0)
    """
    if _NEVER.search(cache_control):
        return 0.0
    found = _MAX_AGE.search(cache_control)
    return min(int(found[1]) / SECONDS_A_DAY, _LIFETIME) if found else _LIFETIME
