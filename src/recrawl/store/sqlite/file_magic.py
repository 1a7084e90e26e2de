"""The first bytes of a store's file, which tell it from others without opening the database.

Touches: files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

MAGIC = b"SQLite format 3\0"
APPLICATION = 0x52435231  # "RCR1"
_HEADER_BYTES = 100
_APPLICATION_AT = 68


def has_store_header(path: Path) -> bool:
    """Whether a file begins as a store does; False where it cannot be read.

    Not for a process that has the store open: closing the file would lose SQLite's locks on it.
    """
    try:
        with path.open("rb") as file:
            return is_store_header(file.read(_HEADER_BYTES))
    except OSError:
        return False


def is_store_header(header: bytes) -> bool:
    """Whether these are the first bytes of a store.

    >>> is_store_header(b"page,visited_at,changed")
    False
    """
    application = header[_APPLICATION_AT : _APPLICATION_AT + 4]
    return header.startswith(MAGIC) and application == APPLICATION.to_bytes(4, "big")
