"""Writes records until it is killed: python warc_killed.py FOLDER FIRST."""

from __future__ import annotations

import random
import sys
from itertools import count
from pathlib import Path

from recrawl.adapters.warc.fetches import RecordedFetch
from recrawl.adapters.warc.folder import WarcFolder
from recrawl.parse.messages import Request, Response

LARGEST_BYTES = 300_000


def body_of(number: int) -> bytes:
    """Bytes that hardly shrink; every third page is that of another address, too."""
    chance = random.Random(number - number % 3 // 2)  # noqa: S311 - no secrets
    return chance.randbytes(chance.randrange(1, 30_000))


def address_of(number: int) -> str:
    return f"http://example.org/{number}"


def write(folder: Path, first: int) -> None:
    with WarcFolder(folder, "test-bot", largest_bytes=LARGEST_BYTES) as files:
        for number in count(first):
            address = address_of(number)
            answer = Response(address, 200, {}, body_of(number))
            files.write(RecordedFetch(Request(address), answer, number))
            sys.stdout.write(f"{number}\n")
            sys.stdout.flush()
            if not number % 10:
                files.sync()


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]))
