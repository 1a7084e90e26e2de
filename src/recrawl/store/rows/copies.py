"""Rows of copies: what the last visit found of a page.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recrawl.store.rows.database import upsert

if TYPE_CHECKING:
    from recrawl.entries.entries import Copy

PUT = upsert(
    "copies",
    "page, bytes_signature, text_signature, etag, modified_seconds, simhash, robots, "
    "unavailable_after, shell",
    "page",
)


def row_of(page: int, copy: Copy) -> tuple[Any, ...]:
    """Row of the copy of a page."""
    return (
        page + 1,
        copy.bytes_signature,
        copy.text_signature,
        _as_text(copy.etag),
        copy.modified_seconds,
        _signed(copy.simhash),
        int(copy.robots),
        copy.unavailable_after_seconds,
        int(copy.shell),
    )


def _signed(bits: int | None) -> int | None:
    """An unsigned 64-bit number as a signed one, as databases store it.

    >>> _signed(2**64 - 1), _signed(5), _signed(None)
    (-1, 5, None)
    """
    return bits if bits is None or bits < 1 << 63 else bits - (1 << 64)


def _as_text(etag: str | None) -> str | None:
    """A validator as received; None if it cannot be sent again, or encoded as UTF-8."""
    if etag is None or "\0" in etag:  # which PostgreSQL cannot hold
        return None
    if etag.isascii():
        return etag
    return None if etag.encode(errors="ignore").decode() != etag else etag
