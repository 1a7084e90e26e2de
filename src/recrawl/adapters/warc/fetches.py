"""What is written of one fetch: its records, and what is known of bodies from then on.

    a body that is new              response, request
    a body that is in a record      revisit that refers to it, request
    304                             revisit that refers to the record with the copy, request
    no answer                       metadata: what went wrong

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING

from recrawl.adapters.warc.index import Original, body_key, version_key
from recrawl.adapters.warc.messages import answered, asked, in_one_word
from recrawl.adapters.warc.records import (
    FIELDS_TYPE,
    REQUEST_TYPE,
    RESPONSE_TYPE,
    Record,
    date_of,
    digest_of,
    fields_of,
    name_of,
)
from recrawl.parse.headers import validators
from recrawl.units import http_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from recrawl.parse.messages import Request, Response

_OK, _NOT_MODIFIED = 200, 304
_SAME_BODY = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
_UNCHANGED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"


@dataclass(frozen=True, slots=True)
class Fetched:
    """One request and what came of it.

    Args:
        request: What was asked.
        answer: What came.
        at: When it was asked, in milliseconds after 1970.
    """

    request: Request
    answer: Response
    at: int

    @property
    def is_unchanged(self) -> bool:
        """Whether the host says that what was had before still holds."""
        asked_for = self.request.etag or self.request.modified
        return self.answer.status == _NOT_MODIFIED and bool(asked_for)


@dataclass(frozen=True, slots=True)
class Entry:
    """What is to be written.

    Args:
        records: In their order in the file.
        known: What keys lead to once the records are written.
    """

    records: tuple[Record, ...]
    known: Mapping[bytes, Original] = field(default_factory=dict)


def entry_of(fetched: Fetched, agent: str, find: Callable[[bytes], Original | None]) -> Entry:
    """What to write of a fetch.

    Args:
        fetched: The fetch.
        agent: What is sent as `User-Agent`.
        find: The record that a key leads to, if it is known.

    Examples:
        >>> from recrawl.parse.messages import Response, Request
        >>> request = Request("https://a.org/")
        >>> fetched = Fetched(request, Response("https://a.org/", 200, body=b"hello"), at=0)
        >>> entry = entry_of(fetched, "me", lambda key: None)
        >>> [record.kind for record in entry.records]
        ['response', 'request']
        >>> again = entry_of(fetched, "me", entry.known.get)
        >>> [record.kind for record in again.records]
        ['revisit', 'request']
    """
    if not fetched.answer.ok:
        return Entry((_failure(fetched),))
    if fetched.is_unchanged:
        return _unchanged(fetched, agent, find)
    answer = fetched.answer
    key = body_key(answer.body)
    known = find(key) if answer.body else None
    if known is None:
        record, known = _response(fetched)
    else:
        record = _revisit(fetched, _SAME_BODY, known)
    keys = {key: known} if answer.body else {}
    if answer.status == _OK and answer.body:
        keys |= _version(fetched.request.address, *_validators(answer), known)
    return Entry((record, _request(fetched, agent, record)), keys)


def _response(fetched: Fetched) -> tuple[Record, Original]:
    answer, address = fetched.answer, fetched.request.address
    digest = digest_of(answer.body)
    block = answered(answer) + answer.body
    fields = {"WARC-Payload-Digest": digest}
    record = Record("response", fetched.at, RESPONSE_TYPE, block, fields, address)
    return record, Original(record.number, address, fetched.at, digest)


def _unchanged(fetched: Fetched, agent: str, find: Callable[[bytes], Original | None]) -> Entry:
    request = fetched.request
    key = version_key(request.address, request.etag, request.modified)
    known = find(key) if key else None
    record = _revisit(fetched, _UNCHANGED, known)
    keys = {}
    if known is not None:
        # The next request has the validators that came now, where some came.
        etag, modified = _validators(fetched.answer)
        keys = _version(request.address, etag or request.etag, modified or request.modified, known)
    return Entry((record, _request(fetched, agent, record)), keys)


def _revisit(fetched: Fetched, profile: str, original: Original | None) -> Record:
    """A record without a body; what it refers to is left out where that is not known."""
    fields = {"WARC-Profile": profile}
    if original is not None:
        fields |= {
            "WARC-Payload-Digest": original.digest,
            "WARC-Refers-To": name_of(original.number),
            "WARC-Refers-To-Target-URI": in_one_word(original.address),
            "WARC-Refers-To-Date": date_of(original.at),
        }
    head, address = answered(fetched.answer), fetched.request.address
    return Record("revisit", fetched.at, RESPONSE_TYPE, head, fields, address)


def _request(fetched: Fetched, agent: str, beside: Record) -> Record:
    fields = {"WARC-Concurrent-To": name_of(beside.number)}
    block, address = asked(fetched.request, agent), fetched.request.address
    return Record("request", fetched.at, REQUEST_TYPE, block, fields, address)


def _failure(fetched: Fetched) -> Record:
    answer, address = fetched.answer, fetched.request.address
    block = fields_of(
        {
            "problem": answer.problem,
            "detail": answer.detail,
            **({"status": str(answer.status)} if answer.status else {}),
            "seconds": f"{answer.seconds:.3f}",
        }
    )
    return Record("metadata", fetched.at, FIELDS_TYPE, block, {}, address)


def _validators(answer: Response) -> tuple[str, str]:
    """What a later request for the same copy sends."""
    given = validators(answer.headers)
    return given.etag, http_text(int(given.modified)) if isfinite(given.modified) else ""


def _version(address: str, etag: str, modified: str, original: Original) -> dict[bytes, Original]:
    key = version_key(address, etag, modified)
    return {key: original} if key else {}
