"""Copies and chunks as rows, read from a store in short reads.

Touches: a store, through what it is given.
"""

from __future__ import annotations

from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from recrawl.detect.change import is_text
from recrawl.extract import SPLITTER, chunks_of, title_of
from recrawl.parse.documents import document_kind
from recrawl.parse.encodings import decoded
from recrawl.publish.events import utc

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from recrawl.entries.store import ReadStore
    from recrawl.publish.content import ContentReader

_Item = TypeVar("_Item")

_COPIES_AT_A_TIME = 100
COPY_COLUMNS: dict[str, type] = {
    "page": str,
    "page_id": int,
    "version": str,
    "seen_at": datetime,
    "size_bytes": int,
    "title": str,
    "content": str,
}
CHUNK_COLUMNS: dict[str, type] = {
    "id": str,
    "hash": str,
    "page": str,
    "page_id": int,
    "version": str,
    "title": str,
    "path": list,
    "part": int,
    "text": str,
    "markdown": str,
    "splitter": int,
}


class KeptCopy(NamedTuple):
    """A copy whose body is kept.

    Attributes:
        page: Number of the page.
        address: Its address.
        digest: Digest of the body.
        at_seconds: When the version was first seen.
        body: The body; None where it was not asked for.
    """

    page: int
    address: str
    digest: bytes
    at_seconds: float
    body: bytes | None


def batched(items: Iterable[_Item], most: int) -> Iterator[list[_Item]]:
    """Items in lists of at most so many.

    >>> list(batched("abc", 2))
    [['a', 'b'], ['c']]
    """
    left = iter(items)
    while some := list(islice(left, most)):
        yield some


def listed_copies(store: ReadStore) -> Iterator[KeptCopy]:
    """All copies that readers of the feed have, without their bodies, by page."""
    for batch in store.snapshot(_COPIES_AT_A_TIME):
        for event in batch:
            if event.version is not None:
                yield KeptCopy(event.page, event.address, event.version, event.at_seconds, None)


def kept_copies(store: ReadStore) -> Iterator[KeptCopy]:
    """The same with bodies; those whose body was dropped are left out."""
    for copy in listed_copies(store):
        body = store.body(copy.digest)
        if body is not None:
            yield copy._replace(body=body)


def copy_row(copy: KeptCopy, content: ContentReader, form: str) -> dict[str, Any]:
    """A copy as a row of `COPY_COLUMNS`.

    Args:
        copy: The copy, with its body.
        content: Reads what it says.
        form: What `content` holds: `html` (the body as text), `text` or `markdown`.
    """
    body = copy.body or b""
    title, told = None, None
    if form == "html":  # what is stored, at the speed of the disk: nothing is made of it
        if is_text(body) and not document_kind(body):
            title, told = title_of(body), decoded(body)
    elif (found := content.content(copy.page, copy.address, copy.digest)) is not None:
        title, told = found.title, found.text if form == "text" else found.markdown
    return {
        "page": copy.address,
        "page_id": copy.page,
        "version": copy.digest.hex(),
        "seen_at": utc(copy.at_seconds),
        "size_bytes": len(body),
        "title": title,
        "content": told,
    }


def chunk_rows(copy: KeptCopy, content: ContentReader) -> list[dict[str, Any]]:
    """The chunks of a copy as rows of `CHUNK_COLUMNS`; none of what is no text."""
    found = content.content(copy.page, copy.address, copy.digest)
    if found is None:
        return []
    return [
        {
            "id": chunk.id,
            "hash": chunk.hash,
            "page": copy.address,
            "page_id": copy.page,
            "version": copy.digest.hex(),
            "title": found.title,
            "path": list(chunk.path),
            "part": chunk.part,
            "text": chunk.text,
            "markdown": chunk.markdown,
            "splitter": SPLITTER,
        }
        for chunk in chunks_of(found)
    ]
