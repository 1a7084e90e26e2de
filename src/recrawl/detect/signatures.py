"""Short signatures that stand for the content of a page.

Two contents with the same 64 bits are taken for one: for a page visited a million times the chance
of a change missed so is less than one in ten million million.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xxhash import xxh3_64_digest

from recrawl.visits.status import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True)
class Signatures:
    """What a copy is compared by.

    Args:
        content: Signature of the bytes.
        text: Signature of what a reader sees of them.
    """

    content: bytes
    text: bytes


def compared(
    known: Signatures | None, body: bytes, text: Callable[[], str]
) -> tuple[Outcome, Signatures]:
    """What a visit found, and the signatures to compare the next one by.

    Equal bytes are equal pages, so what a reader sees is worked out only where bytes differ.

    Args:
        known: Signatures of the copy; None where there is none.
        body: Bytes of the page now.
        text: Gives what a reader sees of them.

    Examples:
        >>> outcome, known = compared(None, b"<p>a</p>", lambda: "a")
        >>> outcome
        <Outcome.FIRST: 0>
        >>> [compared(known, body, lambda: text)[0].label for body, text in
        ...     [(b"<p>a</p>", "a"), (b"<p >a</p>", "a"), (b"<p>b</p>", "b")]]
        ['same', 'cosmetic', 'changed']
    """
    content = xxh3_64_digest(body)
    if known is not None and known.content == content:
        return Outcome.SAME, known
    found = Signatures(content, xxh3_64_digest(text().encode(errors="surrogatepass")))
    if known is None:
        return Outcome.FIRST, found
    return Outcome.COSMETIC if known.text == found.text else Outcome.CHANGED, found
