"""Sanitised response headers.

Pure.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from recrawl.parse.messages import MOST_HEADERS
from recrawl.parse.robots_tags import HEADER, HEADER_JOINT

if TYPE_CHECKING:
    from collections.abc import Sequence

_CONTROLS = dict.fromkeys((*range(0x20), *range(0x7F, 0xA0)))
_LONGEST_REMARK = 200
_LONGEST_KEPT = 40  # bytes of a name


def headers_of(raw: Sequence[tuple[bytes, bytes]]) -> dict[str, str]:
    r"""Headers by lower-case name, at most `MOST_HEADERS`; repeated ones are joined by a comma.

    Robots tags are joined otherwise, for a name at the beginning of a list holds for all of it.

    >>> headers_of([(b"ETag", b'"1"'), (b"Vary", b"a"), (b"vary", b"b\x1b[2J")])
    {'etag': '"1"', 'vary': 'a, b[2J'}
    """
    headers: dict[str, str] = {}
    for raw_name, raw_value in raw if len(raw) <= MOST_HEADERS else raw[:MOST_HEADERS]:
        name = _name(raw_name) if len(raw_name) <= _LONGEST_KEPT else _name_of(raw_name)
        value = text_of(raw_value)
        if name in headers:
            joint = HEADER_JOINT if name == HEADER else ", "
            value = f"{headers[name]}{joint}{value}"
        headers[name] = value
    return headers


def _name_of(raw: bytes) -> str:
    return raw.decode("latin-1").lower()


_name = lru_cache(maxsize=500)(_name_of)  # hosts send much the same ones


def text_of(raw: bytes) -> str:
    r"""Text of a header's value without control characters.

    The standard says ASCII; other bytes are UTF-8 more often than Latin-1.

    >>> text_of("/été".encode()), text_of(b"/\xe9t\xe9"), text_of(b"a\0b")
    ('/été', '/été', 'ab')
    """
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    return text if text.isprintable() else text.translate(_CONTROLS)


def remark(text: str) -> str:
    r"""Untrusted text in one line, without control characters.

    >>> remark("no\n  \u202eway")
    'no way'
    """
    line = "".join(filter(str.isprintable, " ".join(text.split())))
    return line if len(line) <= _LONGEST_REMARK else line[:_LONGEST_REMARK] + "..."
