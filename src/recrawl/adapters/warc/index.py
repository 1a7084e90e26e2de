"""What the WARC files of a folder hold already, so that nothing need be written there twice.

Two kinds of keys lead to a record: what its body is, and, for a page that a host calls unchanged,
the address with the `ETag` and `Last-Modified` that the host gave it. They stand in a file, so that
memory stays small and a restart knows all that was known before. The file may be removed: what
comes again is then written again.

Touches: a file.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING
from uuid import UUID

import apsw

from recrawl.errors import CannotWrite

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_KEY_BYTES = 16


@dataclass(frozen=True, slots=True)
class Original:
    """A record that has the body which others refer to.

    Args:
        number: What it is called.
        address: Address that was fetched.
        at: When its fetch began, in milliseconds after 1970.
        digest: Digest of the body, as records write it.
    """

    number: UUID
    address: str
    at: int
    digest: str


def body_key(body: bytes) -> bytes:
    """Key of a body.

    Not the digest that records carry: two bodies with one SHA-1 can be made, and the second of them
    would be taken for the first and never be written.
    """
    return blake2b(body, digest_size=_KEY_BYTES, person=b"body").digest()


def version_key(address: str, etag: str, modified: str) -> bytes | None:
    """Key of what a host calls by these validators; None where it gave none."""
    if not (etag or modified):
        return None
    text = f"{address}\0{etag}\0{modified}"
    return blake2b(text.encode(errors="replace"), digest_size=_KEY_BYTES, person=b"page").digest()


class Known:
    """Records by their keys, in a file.

    Args:
        path: The file; made if it is not there.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> original = Original(UUID(int=1), "https://a.org/", 0, "sha1:A")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     known = Known(Path(folder) / "known.db")
        ...     known.put(body_key(b"hello"), original)
        ...     known.find(body_key(b"hello")) == original, known.find(body_key(b"bye"))
        ...     known.close()
        (True, None)
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._told():
            self._connection = apsw.Connection(str(path))
            self._connection.execute("pragma journal_mode = wal")
            self._connection.execute("pragma synchronous = normal")
            self._connection.execute(
                "create table if not exists records (key blob primary key, number blob not null,"
                " address text not null, at integer not null, digest text not null) without rowid"
            )
            self._connection.execute("begin")

    def find(self, key: bytes) -> Original | None:
        """The record that a key leads to."""
        with self._told():
            query = "select number, address, at, digest from records where key = ?"
            row = self._connection.execute(query, (key,)).fetchone()
        return row and Original(UUID(bytes=row[0]), *row[1:])

    def put(self, key: bytes, original: Original) -> None:
        """Let a key lead to a record."""
        values = original.number.bytes, original.address, original.at, original.digest
        with self._told():
            statement = "insert or replace into records values (?, ?, ?, ?, ?)"
            self._connection.execute(statement, (key, *values))

    def commit(self) -> None:
        """Keep what was put; until then a crash forgets it."""
        with self._told():
            self._connection.execute("commit")
            self._connection.execute("begin")

    def close(self) -> None:
        """Forget what was put since the last commit, and let go of the file."""
        self._connection.close()

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Say in one sentence what is wrong with the file."""
        try:
            yield
        except (apsw.NotADBError, apsw.CorruptError, apsw.SchemaChangeError) as error:
            rule = "must be a list of records, and may be removed"
            raise CannotWrite(f"{self._path}: {rule} ({error})") from None
        except apsw.Error as error:
            message = f"{self._path}: must be a file that can be written to ({error})"
            raise CannotWrite(message) from None
