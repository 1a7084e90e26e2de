"""Damage to what a store keeps, as one sentence.

Pure.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import zstandard

from recrawl.errors import RecrawlError, StoreCorrupt

if TYPE_CHECKING:
    from collections.abc import Iterator

_LONGEST_REASON = 200
# What decoding a value raises that nobody has written in this form.
UNREADABLE = (
    ArithmeticError,
    DeprecationWarning,  # numpy's, of texts that are no numbers, where warnings are errors
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
    zstandard.ZstdError,
)


@contextmanager
def report_damage(name: str) -> Iterator[None]:
    """Report values of a store that cannot be decoded as damage to it."""
    try:
        yield
    except RecrawlError:
        raise
    except UNREADABLE as error:
        raise damaged(name, error) from error


def damaged(name: str, error: Exception) -> StoreCorrupt:
    """What a store says of itself that cannot be."""
    return StoreCorrupt(f"{name} is damaged ({printable(str(error))})")


def printable(text: str) -> str:
    r"""A text from a file as part of a sentence: one line without control characters.

    >>> printable("evil\x1b[2J\nname")
    'evil?[2J?name'
    """
    shown = "".join(letter if letter.isprintable() else "?" for letter in text[:_LONGEST_REASON])
    return shown if len(text) <= _LONGEST_REASON else f"{shown}..."
