"""Response headers: validators, content type and Retry-After.

Headers come as a mapping with lower-case names. What breaks its own grammar says nothing, since a
header is as hostile as the page below it.

Pure.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from recrawl.parse.dates import http_date
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Mapping

LONGEST_ETAG = 512
LONGEST_WAIT = 30.0  # days

_LONGEST = 4096  # letters of a header that are read
_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"  # noqa: S105 - the grammar's word, no secret
# Letters beyond ASCII are allowed, but do not come back to the server as it sent them.
_ETAG = re.compile(r'(?:W/)?"[\x21\x23-\x7e]*"')
_SECONDS = re.compile(r"[+-]?[0-9]+(?:\.[0-9]*)?", re.ASCII)
_MIME = re.compile(rf"\s*({_TOKEN}/{_TOKEN})\s*(?=;|$)")
_CHARSET = re.compile(r"[0-9a-z][0-9a-z_.:+-]{0,39}")
_PARAMETER = re.compile(rf';\s*({_TOKEN})(?:\s*=\s*("(?:[^"\\]|\\.)*+"|[^\s;,"]*+))?')


@dataclass(frozen=True, slots=True)
class Validators:
    """Validators of a conditional request.

    Args:
        etag: The entity tag as it came, weak or strong; empty where there is none.
        modified: Epoch seconds of Last-Modified; nan where there is none.
    """

    etag: str = ""
    modified: float = math.nan


def validators(headers: Mapping[str, str]) -> Validators:
    """ETag and Last-Modified of a response.

    >>> validators({"etag": 'W/"a1"', "last-modified": "Fri, 02 Jan 1970 00:00:00 GMT"})
    Validators(etag='W/"a1"', modified=86400.0)
    >>> validators({"etag": "a1"})
    Validators(etag='', modified=nan)
    """
    return _validators(headers.get("etag", ""), headers.get("last-modified", ""))


@lru_cache(maxsize=1 << 10)  # each step of a visit asks for those of the same response
def _validators(etag: str, date: str) -> Validators:
    etag, modified = etag[:_LONGEST].strip(), http_date(date)
    return Validators(
        etag if len(etag) <= LONGEST_ETAG and _ETAG.fullmatch(etag) else "",
        math.nan if modified is None else modified,
    )


def is_same_tag(one: str, other: str) -> bool:
    """Whether two entity tags name the same version: the weak comparison of RFC 9110.

    A server that compresses may name a version weakly at one time, and not at another.

    >>> is_same_tag('W/"1"', '"1"'), is_same_tag('"1"', '"2"')
    (True, False)
    """
    return one.removeprefix("W/") == other.removeprefix("W/")


def retry_after(text: str, now_seconds: float) -> float | None:
    """Retry-After in days, at most `LONGEST_WAIT`; None where it is missing or malformed.

    Args:
        text: Value of the header: seconds, or a date.
        now_seconds: Epoch seconds at which the answer came.

    Examples:
        >>> retry_after("43200", now_seconds=0.0)
        0.5
        >>> retry_after("Sat, 03 Jan 1970 00:00:00 GMT", now_seconds=86400.0)
        1.0
    """
    text = text[:_LONGEST].strip()
    if _SECONDS.fullmatch(text):
        seconds = float(text)
    else:
        moment = http_date(text)
        if moment is None:
            return None
        seconds = moment - now_seconds
    return min(max(seconds / SECONDS_A_DAY, 0.0), LONGEST_WAIT)


@lru_cache(256)  # a few for all pages
def content_type(text: str) -> tuple[str, str | None]:
    """Media type and charset of a Content-Type, both in lower case; empty and None where missing.

    >>> content_type('Text/HTML; version=1; charset="UTF-8"')
    ('text/html', 'utf-8')
    >>> content_type("html")
    ('', None)
    """
    match = _MIME.match(text[:_LONGEST])
    if match is None:
        return "", None
    for name, value in _PARAMETER.findall(text[:_LONGEST], match.end()):
        if name.lower() == "charset":
            charset = _unquoted(value).lower()
            return match[1].lower(), charset if _CHARSET.fullmatch(charset) else None
    return match[1].lower(), None


def _unquoted(value: str) -> str:
    return re.sub(r"\\(.)", r"\1", value[1:-1]) if value.startswith('"') else value
