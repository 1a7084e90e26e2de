"""Records of a WARC file: what they say, and their bytes.

A record is some lines of fields, an empty line and a block of bytes. Each is compressed by itself,
so that a reader can begin at any of them, and a file that ends in the middle of one has lost that
one alone.

Pure.
"""

from __future__ import annotations

import zlib
from base64 import b32encode
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha1
from typing import TYPE_CHECKING
from uuid import uuid4

from recrawl.adapters.warc.messages import in_one_word, one_line

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

VERSION = "WARC/1.1"
FIELDS_TYPE = "application/warc-fields"
REQUEST_TYPE = "application/http; msgtype=request"
RESPONSE_TYPE = "application/http; msgtype=response"

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_GZIP = 31  # of zlib: a stream with the head and the check of gzip
# Sixty pages in HTML, of 49 kB on the mean, took 0.29, 0.33, 0.66 and 1.76 ms each at levels 1, 3,
# 6 and 9, and became 18.5, 17.2, 15.3 and 15.1 % of their size: they are written once, and kept.
_LEVEL = 6


@dataclass(frozen=True, slots=True)
class Record:
    r"""One record.

    Args:
        kind: Its type, such as `response`.
        at: When its fetch began, in whole milliseconds after 1970.
        content_type: What the block is.
        block: Its bytes.
        fields: Further fields.
        address: Address that was fetched; empty where it is about none.
        number: What others call it by.

    Examples:
        >>> from uuid import UUID
        >>> record = Record("metadata", 1500, FIELDS_TYPE, b"a: b", number=UUID(int=1))
        >>> print(record.plain().decode().replace("\r", "").rstrip())
        WARC/1.1
        WARC-Type: metadata
        WARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-000000000001>
        WARC-Date: 1970-01-01T00:00:01.500Z
        WARC-Block-Digest: sha1:5SIWYIWHMO2UCCAEUVOHBWIGKZHMB5M2
        Content-Type: application/warc-fields
        Content-Length: 4
        <BLANKLINE>
        a: b
    """

    kind: str
    at: int
    content_type: str
    block: bytes
    fields: Mapping[str, str] = field(default_factory=dict)
    address: str = ""
    number: UUID = field(default_factory=uuid4)

    def plain(self) -> bytes:
        """Its bytes before they are compressed."""
        fields = {
            "WARC-Type": self.kind,
            "WARC-Record-ID": name_of(self.number),
            "WARC-Date": date_of(self.at),
            **({"WARC-Target-URI": in_one_word(self.address)} if self.address else {}),
            **self.fields,
            "WARC-Block-Digest": digest_of(self.block),
            "Content-Type": self.content_type,
            "Content-Length": str(len(self.block)),
        }
        head = fields_of(fields)
        return b"".join([VERSION.encode(), b"\r\n", head, b"\r\n", self.block, b"\r\n\r\n"])

    def packed(self) -> bytes:
        """Its bytes in a file."""
        stream = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP)
        return stream.compress(self.plain()) + stream.flush()


def fields_of(fields: Mapping[str, str]) -> bytes:
    r"""Lines of fields, none of which can end its line.

    >>> fields_of({"software": "recrawl", "said": "a\r\nb: c"})
    b'software: recrawl\r\nsaid: ab: c\r\n'
    """
    return b"".join(one_line(f"{name}: {value}") + b"\r\n" for name, value in fields.items())


def name_of(number: UUID) -> str:
    """A record as others refer to it."""
    return f"<urn:uuid:{number}>"


def date_of(at: int) -> str:
    """Milliseconds after 1970 as a record writes them.

    >>> date_of(1_700_000_000_250)
    '2023-11-14T22:13:20.250Z'
    """
    instant = _EPOCH + timedelta(milliseconds=at)
    return f"{instant.replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"


def digest_of(block: bytes) -> str:
    """Digest of some bytes in the one spelling that all readers check.

    >>> digest_of(b"")
    'sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ'
    """
    # Readers know no other well. Nothing is compared by it here: see `warc_known`.
    digest = sha1(block, usedforsecurity=False).digest()
    return f"sha1:{b32encode(digest).decode()}"
