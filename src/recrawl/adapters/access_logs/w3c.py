"""Lines of the extended log format of the W3C, as Amazon CloudFront and IIS write them.

A line `#Fields: date time cs-method ...` names the fields of those below it, which are separated by
tabs or blanks. A content delivery network says whether it answered from its own copy
(`x-edge-result-type`), and then the line is no visit to the page.

Pure.
"""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import unquote

from recrawl.adapters.access_logs.requests import UNKNOWN_SIZE, LoggedRequest
from recrawl.errors import InvalidInput
from recrawl.units import instant, microseconds
from recrawl.visits.rows import UNKNOWN_CHANGE

_FIELDS = b"#Fields:"
_CHECKED = "RefreshHit"
_CACHED = frozenset({"Hit", "OriginShieldHit", "LimitExceeded", "CapacityExceeded", "Redirect"})
_NONE = "-"
_MOST_FIELDS = 200


class W3CLines:
    """Reads lines.

    Args:
        site: Scheme and host of paths; empty where lines name their hosts.

    Attributes:
        nameless: Whether some line had a path and no host.
    """

    def __init__(self, site: str) -> None:
        self._site = site
        self._names: list[str] = []
        self.nameless = False

    def __call__(self, line: bytes) -> LoggedRequest | None:
        """The request of a line; None where it is malformed, or a comment."""
        if line.startswith(_FIELDS):
            self._names = line[len(_FIELDS) :].decode("utf-8", "replace").split()[:_MOST_FIELDS]
        if line.startswith(b"#") or not self._names:
            return None
        cells = line.decode("utf-8", "replace").split("\t" if b"\t" in line else " ")
        if len(cells) != len(self._names):
            return None
        row = {name: cell for name, cell in zip(self._names, cells, strict=True) if cell != _NONE}
        at = _instant(f"{row.get('date', '')}T{row.get('time', '')}Z")
        status = row.get("sc-status", "")
        if at is None or not status.isascii() or not status.isdigit() or len(status) > 3:  # noqa: PLR2004 - a code
            return None
        result = row.get("x-edge-result-type", row.get("x-edge-response-result-type", ""))
        return LoggedRequest(
            self._page(row),
            at,
            row.get("cs-method", ""),
            int(status),
            _size(row),
            changed=0 if result == _CHECKED else UNKNOWN_CHANGE,
            cached=result in _CACHED,
            agent=unquote(row.get("cs(User-Agent)", "")).replace("+", " "),
            client=row.get("c-ip", ""),
        )

    def _page(self, row: dict[str, str]) -> str:
        query = row.get("cs-uri-query")
        path = row.get("cs-uri-stem", "") + ("" if query is None else f"?{query}")
        if self._site:
            return self._site + path
        # CloudFront's `cs(Host)` is its own name; what the client asked for stands behind it.
        host = row.get("x-host-header", row.get("cs-host", row.get("cs(Host)", "")))
        if not host:
            self.nameless = True
            return ""
        secure = row.get("cs-protocol", "https") == "https" and row.get("s-port", "443") == "443"
        return f"{'https' if secure else 'http'}://{host}{path}"


def _size(row: dict[str, str]) -> int:
    """Bytes of the body where they are logged by themselves: `sc-bytes` counts the headers, too."""
    text = row.get("sc-content-len", "")
    whole = "sc-range-start" not in row and text.isascii() and text.isdigit()
    return int(text) if whole and len(text) < 16 else UNKNOWN_SIZE  # noqa: PLR2004 - an exabyte


@lru_cache(maxsize=1 << 10)
def _instant(text: str) -> int | None:
    """Microseconds since 1970 of a time in ISO 8601."""
    try:
        return microseconds(instant(text))
    except InvalidInput:
        return None
