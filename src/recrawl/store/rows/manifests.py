"""Manifests of copies: which chunks each has, as compressed JSON.

A manifest is named by the visit that brought its copy. Events keep the name when the manifest
itself is dropped, as they keep the digest of a version.

Touches: a database, through what it is given.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from uuid import UUID

from recrawl.entries.manifests import MOST_CHUNKS, MOST_LETTERS, ListedChunk, Manifest
from recrawl.errors import InvalidParameter
from recrawl.store.rows.packing import packed, unpacked
from recrawl.store.rows.values import exactly, number
from recrawl.visits.status import FeedKind

if TYPE_CHECKING:
    from recrawl.store.rows.database import Database

_INSERT = "insert into manifests (visit, page, splitter, chunks, data) values (?, ?, ?, ?, ?)"
_MANIFEST = "select splitter, chunks, data from manifests where visit = ?"
_LETTER_BYTES = 12  # of JSON at most: two escapes
_CHUNK_BYTES = 256  # id, hash and brackets
_LARGEST = MOST_CHUNKS * _CHUNK_BYTES + MOST_LETTERS * _LETTER_BYTES
_HASH_BYTES = 32
_ENDING = ", ".join(str(int(kind)) for kind in FeedKind if kind.ends)
# The copy after it has come, and who is told of that is told no more.
_SUPERSEDED = f"""
    delete from manifests where visit in (
        select manifest_before from changes
        where id < ? and kind not in ({_ENDING}) and manifest is distinct from manifest_before
    )
"""  # noqa: S608 - our own numbers


def keep(connection: Database, page: int, visit: int, manifest: Manifest) -> None:
    """Write the manifest of the copy that a visit brought."""
    rows = [
        (each.id.replace("-", ""), each.hash, each.part, *each.path) for each in manifest.chunks
    ]
    text = json.dumps(rows, separators=(",", ":")).encode()
    if len(rows) > MOST_CHUNKS or len(text) > _LARGEST:
        raise InvalidParameter(
            f"a manifest must have at most {MOST_CHUNKS:,} chunks and {_LARGEST:,} bytes "
            f"(got {len(rows):,} and {len(text):,})"
        )
    connection.execute(_INSERT, (visit, page + 1, manifest.splitter, len(rows), packed(text)))


def manifest_named(connection: Database, name: int | None) -> Manifest | None:
    """A manifest by its name; None where it is not kept."""
    row = None if name is None else connection.execute(_MANIFEST, (name,)).fetchone()
    return None if row is None else manifest_in(*row)


def manifest_in(splitter: int, count: int, data: bytes) -> Manifest:
    """A manifest as it was before it was stored; raises `ValueError` if it is none of ours."""
    rows = exactly(list, json.loads(unpacked(exactly(bytes, data), _LARGEST)))
    if len(rows) != number(count, most=MOST_CHUNKS):
        raise ValueError(f"a manifest of {count} chunks has {len(rows)}")
    return Manifest(number(splitter), tuple(_chunk(*exactly(list, row)) for row in rows))


def _chunk(name: Any, digest: Any, part: Any, *path: Any) -> ListedChunk:  # noqa: ANN401 - of a file
    read = bytes.fromhex(exactly(str, digest))
    if len(read) != _HASH_BYTES:
        raise ValueError(f"a hash of {_HASH_BYTES} bytes has {len(read)}")
    uuid = UUID(bytes=bytes.fromhex(exactly(str, name)))
    return ListedChunk(
        str(uuid), read.hex(), tuple(exactly(str, each) for each in path), number(part)
    )


def prune(connection: Database, first: int) -> None:
    """Delete what only events before a number need, which are about to be deleted."""
    connection.execute(_SUPERSEDED, (first,))


def drop(connection: Database, page: int) -> None:
    """Delete all manifests of a page."""
    connection.execute("delete from manifests where page = ? + 1", (page,))
