"""What is written of one fetch, given what the files of a folder hold already.

    a body that is new              response, request
    a body that is in a record      revisit that refers to it, request
    304                             revisit that refers to the record with the copy, request
    no response                     metadata: what went wrong
    a page that asks for noarchive  metadata: that it was fetched, and nothing of it

Two kinds of keys lead to a record: what its body is, and, for a page that a host calls unchanged,
the address with the `ETag` and `Last-Modified` that the host gave it. They stand in a file, so that
memory stays small and a restart knows all that was known before. The file may be removed: what
comes again is then written again.

Touches: a file.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from math import isfinite
from typing import TYPE_CHECKING, TypeAlias
from uuid import UUID

import apsw

from recrawl.adapters.warc.records import (
    FIELDS_TYPE,
    REQUEST_TYPE,
    RESPONSE_TYPE,
    Record,
    escaped_uri,
    field_lines,
    record_urn,
    request_message,
    response_head,
    sha1_digest,
    warc_date,
)
from recrawl.errors import CannotWrite
from recrawl.parse.headers import validators
from recrawl.units import http_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from recrawl.parse.messages import Request, Response

    Find: TypeAlias = Callable[[bytes], "OriginalRecord | None"]

_KEY_BYTES = 16
# What SQLite says of a file that is no database, or one of others.
_NO_LIST = (apsw.NotADBError, apsw.CorruptError, apsw.SchemaChangeError, apsw.SQLError)
_OK, _NOT_MODIFIED = 200, 304
SAME_BODY = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
_UNCHANGED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"


@dataclass(frozen=True, slots=True)
class RecordedFetch:
    """One request and what came of it.

    Args:
        request: What was asked.
        response: What came.
        at: When it was asked, in milliseconds after 1970.
        archived: Whether its content may be written down.
    """

    request: Request
    response: Response
    at: int
    archived: bool = True

    @property
    def is_unchanged(self) -> bool:
        """Whether the host says that what was had before still holds."""
        asked_for = self.request.etag or self.request.modified
        return self.response.status == _NOT_MODIFIED and bool(asked_for)


@dataclass(frozen=True, slots=True)
class FetchRecords:
    """What is to be written.

    Args:
        records: In their order in the file.
        index: What keys lead to once the records are written.
    """

    records: tuple[Record, ...]
    index: Mapping[bytes, OriginalRecord] = field(default_factory=dict)


def records_of(
    fetched: RecordedFetch, agent: str, find: Callable[[bytes], OriginalRecord | None]
) -> FetchRecords:
    """What to write of a fetch.

    Args:
        fetched: The fetch.
        agent: What is sent as `User-Agent`.
        find: The record that a key leads to, if it is known.

    Examples:
        >>> from recrawl.parse.messages import Response, Request
        >>> request = Request("https://a.org/")
        >>> fetched = RecordedFetch(request, Response("https://a.org/", 200, body=b"hello"), at=0)
        >>> first = records_of(fetched, "me", lambda key: None)
        >>> [record.kind for record in first.records]
        ['response', 'request']
        >>> again = records_of(fetched, "me", first.index.get)
        >>> [record.kind for record in again.records]
        ['revisit', 'request']
    """
    if not (fetched.response.ok and fetched.archived):
        return FetchRecords((_without_content(fetched),))
    if fetched.is_unchanged:
        return _unchanged(fetched, agent, find)
    response = fetched.response
    key = body_key(response.body)
    known = find(key) if response.body else None
    if known is None:
        record, known = _response(fetched)
    else:
        record = _revisit(fetched, SAME_BODY, known)
    keys = {key: known} if response.body else {}
    if response.status == _OK and response.body:
        keys |= _version(fetched.request.address, *_validators(response), known)
    return FetchRecords((record, _request(fetched, agent, record)), keys)


def _response(fetched: RecordedFetch) -> tuple[Record, OriginalRecord]:
    response, address = fetched.response, fetched.request.address
    digest = sha1_digest(response.body)
    block = response_head(response) + response.body
    fields = {"WARC-Payload-Digest": digest}
    record = Record("response", fetched.at, RESPONSE_TYPE, block, fields, address)
    return record, OriginalRecord(record.number, address, fetched.at, digest)


def _unchanged(
    fetched: RecordedFetch, agent: str, find: Callable[[bytes], OriginalRecord | None]
) -> FetchRecords:
    request = fetched.request
    key = version_key(request.address, request.etag, request.modified)
    known = find(key) if key else None
    record = _revisit(fetched, _UNCHANGED, known)
    keys = {}
    if known is not None:
        # The next request has the validators that came now, where some came.
        etag, modified = _validators(fetched.response)
        keys = _version(request.address, etag or request.etag, modified or request.modified, known)
    return FetchRecords((record, _request(fetched, agent, record)), keys)


def _revisit(fetched: RecordedFetch, profile: str, original: OriginalRecord | None) -> Record:
    """A record without a body; what it refers to is left out where that is not known."""
    fields = {"WARC-Profile": profile}
    if original is not None:
        fields |= reference_fields(original)
    head, address = response_head(fetched.response), fetched.request.address
    return Record("revisit", fetched.at, RESPONSE_TYPE, head, fields, address)


def reference_fields(original: OriginalRecord) -> dict[str, str]:
    """Fields by which a record refers to the one that has its body."""
    return {
        "WARC-Payload-Digest": original.digest,
        "WARC-Refers-To": record_urn(original.number),
        "WARC-Refers-To-Target-URI": escaped_uri(original.address),
        "WARC-Refers-To-Date": warc_date(original.at),
    }


def _request(fetched: RecordedFetch, agent: str, beside: Record) -> Record:
    fields = {"WARC-Concurrent-To": record_urn(beside.number)}
    block, address = request_message(fetched.request, agent), fetched.request.address
    return Record("request", fetched.at, REQUEST_TYPE, block, fields, address)


def _without_content(fetched: RecordedFetch) -> Record:
    """That a page was fetched, and why there is nothing of it."""
    response, address = fetched.response, fetched.request.address
    said = {"problem": response.problem, "detail": response.detail}
    block = field_lines(
        {
            **(said if response.problem else {"robots-tags": "noarchive"}),
            **({"status": str(response.status)} if response.status else {}),
            "seconds": f"{response.seconds:.3f}",
        }
    )
    return Record("metadata", fetched.at, FIELDS_TYPE, block, {}, address)


def _validators(response: Response) -> tuple[str, str]:
    """What a later request for the same copy sends."""
    given = validators(response.headers)
    return given.etag, http_text(int(given.modified)) if isfinite(given.modified) else ""


def _version(
    address: str, etag: str, modified: str, original: OriginalRecord
) -> dict[bytes, OriginalRecord]:
    key = version_key(address, etag, modified)
    return {key: original} if key else {}


@dataclass(frozen=True, slots=True)
class OriginalRecord:
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


class WarcIndex:
    """Records by their keys, in a file.

    Args:
        path: The file; made if it is not there.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> original = OriginalRecord(UUID(int=1), "https://a.org/", 0, "sha1:A")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     index = WarcIndex(Path(folder) / "index.db")
        ...     index.put(body_key(b"hello"), original)
        ...     index.find(body_key(b"hello")) == original, index.find(body_key(b"bye"))
        ...     index.close()
        (True, None)
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._translated_errors():
            self._connection = apsw.Connection(str(path))
            self._connection.execute("pragma journal_mode = wal")
            self._connection.execute("pragma synchronous = normal")
            self._connection.execute(
                "create table if not exists records (key blob primary key, number blob not null,"
                " address text not null, at integer not null, digest text not null) without rowid"
            )
            self._connection.execute("begin")

    def find(self, key: bytes) -> OriginalRecord | None:
        """The record that a key leads to."""
        with self._translated_errors():
            query = "select number, address, at, digest from records where key = ?"
            row = self._connection.execute(query, (key,)).fetchone()
            return row and OriginalRecord(UUID(bytes=row[0]), *row[1:])

    def put(self, key: bytes, original: OriginalRecord) -> None:
        """Let a key lead to a record."""
        values = original.number.bytes, original.address, original.at, original.digest
        with self._translated_errors():
            statement = "insert or replace into records values (?, ?, ?, ?, ?)"
            self._connection.execute(statement, (key, *values))

    def forget(self, wanted: Callable[[str], bool]) -> None:
        """Let nothing lead to the records of some addresses any more; kept at once."""
        with self._translated_errors():
            self.commit()
            rows = self._connection.execute("select key, address from records")
            keys = [(key,) for key, address in rows if wanted(address)]
            self._connection.executemany("delete from records where key = ?", keys)
            self.commit()

    def wipe(self) -> None:
        """Leave no byte of what was forgotten in the file."""
        with self._translated_errors():
            self._connection.execute("commit")
            self._connection.execute("vacuum")
            self._connection.execute("pragma wal_checkpoint(truncate)")
            self._connection.execute("begin")

    def forget_before(self, until: int) -> None:
        """Let no key lead to a record from before an instant, in epoch milliseconds."""
        with self._translated_errors():
            self._connection.execute("delete from records where at < ?", (until,))

    def commit(self) -> None:
        """Keep what was put; until then a crash forgets it."""
        with self._translated_errors():
            self._connection.execute("commit")
            self._connection.execute("begin")

    def close(self) -> None:
        """Forget what was put since the last commit, and let go of the file."""
        self._connection.close()

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        """Say in one sentence what is wrong with the file."""
        try:
            yield
        except (*_NO_LIST, ValueError, TypeError) as error:  # or a value is damaged
            rule = "damaged; delete it to go on"
            raise CannotWrite(f"{self._path}: {rule} ({ascii(str(error))[1:-1]})") from None
        except apsw.Error as error:
            message = f"{self._path} cannot be written ({error})"
            raise CannotWrite(message) from None
