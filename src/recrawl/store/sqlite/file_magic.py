"""How a store's file begins; told without opening it.

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


def is_store(path: Path) -> bool:
    """Whether a file begins as a store does; False where it cannot be read.

    Not for a process that has the store open: closing the file would lose SQLite's locks on it.
    """
    try:
        with path.open("rb") as file:
            return begins_as_store(file.read(_HEADER_BYTES))
    except OSError:
        return False


def begins_as_store(header: bytes) -> bool:
    """Whether these are the first bytes of a store.

    >>> begins_as_store(b"page,visited_at,changed")
    False
    """
    mark = header[_APPLICATION_AT : _APPLICATION_AT + 4]
    return header.startswith(MAGIC) and mark == APPLICATION.to_bytes(4, "big")
