"""Decoding of pages as browsers do it.

In this order: a byte order mark, the charset that the host names, the one that the page names in
its first kilobyte, UTF-8 if the bytes are valid UTF-8, and else what the bytes look like. Names of
charsets mean what they mean on the web: `latin1` is Windows-1252.

Pure.
"""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

from resiliparse.parse.encoding import (  # type: ignore[import-untyped] # ships no types
    detect_encoding,
    map_encoding_to_html5,
)

_UTF8 = "utf-8"
_MARKS = (
    (codecs.BOM_UTF8, _UTF8),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_NAMED_BY_HOST = re.compile(r"""charset\s*=\s*["']?\s*([^\s"';,]{1,40})""", re.IGNORECASE)
_NAMED_BY_PAGE = re.compile(
    rb"""<meta\s[^>]{0,200}?charset\s*=\s*["']?\s*([a-z0-9_:.-]{1,40})
       | ^\s*<\?xml\s[^>]{0,200}?encoding\s*=\s*["']([a-z0-9_:.-]{1,40})""",
    re.IGNORECASE | re.VERBOSE,
)
_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
_HEAD_BYTES = 1024
# Guessing costs about 0.2 microseconds a byte, and nothing else can run meanwhile.
_GUESSED_BYTES = 1 << 14
# What the web means by these names is more than Python does.
_WIDER = {
    "shift_jis": "cp932",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "euc_kr": "cp949",
    "iso8859-11": "cp874",
}


def decoded(body: bytes, content_type: str = "") -> str:
    r"""Text of a page; bytes that stand for no letter become U+FFFD.

    Args:
        body: The page.
        content_type: The `Content-Type` header.

    Examples:
        >>> decoded(b"\xe9t\xe9", "text/html; charset=ISO-8859-1")
        'été'
        >>> decoded('<meta charset="koi8-r">да'.encode("koi8-r"))
        '<meta charset="koi8-r">да'
        >>> decoded("naïve".encode(), "text/html")
        'naïve'
    """
    return decoded_page(body, content_type).text


class DecodedPage(NamedTuple):
    """Text of a page.

    Attributes:
        text: The text.
        utf8: Whether its bytes are the text in UTF-8, but for those that stand for no letter.
    """

    text: str
    utf8: bool = False


def decoded_page(body: bytes, content_type: str = "") -> DecodedPage:
    """Text of a page, and whether it is in plain UTF-8; parameters as of `decoded`."""
    for mark, name in _MARKS:
        if body.startswith(mark):
            return DecodedPage(body[len(mark) :].decode(name, "replace"))
    name = _named_by_host(content_type) or _named_by_page(body)
    if name:
        return DecodedPage(body.decode(name, "replace"), name == _UTF8)
    try:
        return DecodedPage(body.decode(), utf8=True)
    except UnicodeDecodeError:
        return DecodedPage(body.decode(_guessed(body), "replace"))


def may_be_utf8(body: bytes, content_type: str = "") -> bool:
    r"""Whether `decoded` takes a page for plain UTF-8 if its bytes are that.

    >>> may_be_utf8(b"<p>a"), may_be_utf8(b"<meta charset=koi8-r>"), may_be_utf8(b"\xff\xfea\0")
    (True, False, False)
    """
    if body.startswith(tuple(mark for mark, _ in _MARKS)):
        return False
    return (_named_by_host(content_type) or _named_by_page(body)) in ("", _UTF8)


def _named_by_host(content_type: str) -> str:
    found = _NAMED_BY_HOST.search(content_type[:_HEAD_BYTES])
    return _codec(found[1]) if found else ""


def _named_by_page(body: bytes) -> str:
    found = _NAMED_BY_PAGE.search(_COMMENT.sub(b"", body[:_HEAD_BYTES]))
    if found is None:
        return ""
    name = _codec((found[1] or found[2]).decode("ascii"))
    # Its own name could not be read if it were true.
    return _UTF8 if name.startswith("utf-16") else name


def _guessed(body: bytes) -> str:
    return _wide(detect_encoding(body, max_len=_GUESSED_BYTES))


def _codec(label: str) -> str:
    """Python's name for a charset by its name on the web; empty if it has none."""
    return _wide(map_encoding_to_html5(label, fallback_utf8=False) or "")


def _wide(name: str) -> str:
    return _WIDER.get(name, name)
