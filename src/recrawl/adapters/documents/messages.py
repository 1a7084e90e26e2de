"""What a converter and its worker tell each other, over two pipes.

    to the worker     8 bytes: length   the document
    from it           1 byte: flags   8 bytes: CPU seconds   8 bytes: length   HTML, or why not

Touches: files.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

from recrawl.adapters.documents.bounds import MOST_HTML

if TYPE_CHECKING:
    from typing import IO

MOST_DOCUMENT = 64 << 20  # bytes; pages are smaller, unless the settings allow them to be large
_MOST_BYTES = 4 * MOST_HTML
_MOST_SECONDS = 3600.0
_REQUEST, _REPLY = struct.Struct(">Q"), struct.Struct(">BdQ")
_MADE, _LAST = 1, 2  # flags


class Reply(NamedTuple):
    """What became of a document.

    Attributes:
        made: Whether HTML was made of it.
        last: Whether the worker ends now.
        cpu_seconds: What it took.
        text: HTML, or why there is none.
    """

    made: bool
    last: bool
    cpu_seconds: float
    text: str


def send_document(pipe: IO[bytes], body: bytes) -> None:
    """Send a document to a worker."""
    pipe.write(_REQUEST.pack(len(body)))
    pipe.write(body)
    pipe.flush()


def receive_document(pipe: IO[bytes]) -> bytes | None:
    """Wait for a document; None where there are no more."""
    head = pipe.read(_REQUEST.size)
    if len(head) < _REQUEST.size:
        return None
    (length,) = _REQUEST.unpack(head)
    body = pipe.read(length) if length <= MOST_DOCUMENT else b""
    return body if len(body) == length else None


def send_reply(pipe: IO[bytes], reply: Reply) -> None:
    """Send what became of a document."""
    text = reply.text.encode(errors="replace")
    flags = _MADE * reply.made | _LAST * reply.last
    pipe.write(_REPLY.pack(flags, reply.cpu_seconds, len(text)))
    pipe.write(text)
    pipe.flush()


def receive_reply(pipe: IO[bytes]) -> Reply | None:
    """Wait for what became of a document; None of a worker that died, or says what none would."""
    head = pipe.read(_REPLY.size)
    if len(head) < _REPLY.size:
        return None
    flags, seconds, length = _REPLY.unpack(head)
    if flags > _MADE | _LAST or length > _MOST_BYTES or not 0 <= seconds <= _MOST_SECONDS:
        return None
    text = pipe.read(length)
    if len(text) < length:
        return None
    return Reply(bool(flags & _MADE), bool(flags & _LAST), seconds, text.decode(errors="replace"))
