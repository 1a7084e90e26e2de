"""Writes records until it is killed: python killed.py FOLDER FIRST [EVENT].

With an EVENT, such as `os.rename`, it kills itself just before it does that with its second file:
that is the only instant at which it could be killed there.
"""

from __future__ import annotations

import os
import random
import signal
import sys
from itertools import count
from pathlib import Path

from recrawl.adapters.warc.fetches import RecordedFetch
from recrawl.adapters.warc.folder import OPEN, WarcFolder
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


def die_before(event: str) -> None:
    """Die the second time that a file that is being written is named in an event of Python's."""
    left = [2]

    def look(name: str, arguments: tuple[object, ...]) -> None:
        if name == event and str(arguments[0]).endswith(OPEN):
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(look)


if __name__ == "__main__":
    if len(sys.argv) > 3:
        die_before(sys.argv[3])
    write(Path(sys.argv[1]), int(sys.argv[2]))
