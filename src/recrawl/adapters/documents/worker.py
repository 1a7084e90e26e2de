"""The process that reads documents: `python -m recrawl.adapters.documents.worker CPU WALL`.

It holds nothing that is worth stealing, and can do nothing: once its libraries are loaded it may
open no file and no connection, start no process, write nothing but to its pipe, and use so much
memory. Each document has `CPU` seconds of the processor and `WALL` seconds in all, after which the
system ends the process, whatever it is at. It ends with its owner, too, since its pipe does.

Touches: its standard streams, limits of its own process.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from recrawl.adapters.documents import reading
from recrawl.adapters.documents.bounds import UnreadableDocument
from recrawl.adapters.documents.messages import Reply, receive_document, send_reply

if TYPE_CHECKING:
    from typing import IO

_MEMORY_BYTES = 1 << 30
_STREAMS = 3
_MOST_DOCUMENTS = 1_000  # after which another worker begins afresh, with what it has forgotten


def main(cpu_seconds: int, wall_seconds: float) -> None:
    """Read documents from the standard input until it ends.

    Args:
        cpu_seconds: What a document may take of the processor.
        wall_seconds: What it may take in all.
    """
    documents, replies = sys.stdin.buffer, sys.stdout.buffer
    reading.load_codecs()
    _give_up_rights()
    left, sound = _MOST_DOCUMENTS, True
    with suppress(BrokenPipeError):  # nobody waits any more
        while sound and left and (body := receive_document(documents)) is not None:
            left -= 1
            _limit_time(cpu_seconds, wall_seconds)
            sound = _serve(body, replies, last=not left)
            signal.setitimer(signal.ITIMER_REAL, 0.0)


def _give_up_rights() -> None:
    """Take from this process what no document needs."""
    _limit(resource.RLIMIT_AS, _MEMORY_BYTES)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_FSIZE, 0)
    _limit(resource.RLIMIT_NPROC, 0)
    _limit(resource.RLIMIT_NOFILE, _STREAMS)  # which are open: no other can be


def _limit(what: int, most: int) -> None:
    with suppress(OSError, ValueError):  # a system that has no such limit
        resource.setrlimit(what, (most, most))


def _serve(body: bytes, replies: IO[bytes], *, last: bool) -> bool:
    """Convert a document; whether this process is as good as before."""
    began = time.process_time()
    made, text = False, ""
    try:
        made, text = True, reading.to_html(body)
    except UnreadableDocument as problem:
        text = str(problem)
    except MemoryError:
        text, last = "it needs too much memory", True
    except RecursionError:
        text, last = "it is nested too deeply", True
    except Exception:  # noqa: BLE001 - whatever a library makes of a stranger's file
        text, last = "it is damaged", True
    send_reply(replies, Reply(made, last, time.process_time() - began, text))
    return not last


def _limit_time(cpu_seconds: int, wall_seconds: float) -> None:
    """Let the system end this process once a document has taken too long."""
    most = int(time.process_time()) + cpu_seconds + 1
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    if hard == resource.RLIM_INFINITY or most < hard:
        resource.setrlimit(resource.RLIMIT_CPU, (most, hard))
    signal.setitimer(signal.ITIMER_REAL, wall_seconds)


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))
    os._exit(0)  # what a library has broken cannot be tidied up
