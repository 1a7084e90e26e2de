"""Documents as HTML, through a worker process that is started when the first one comes.

A document that crashes a library, or keeps it busy for ever, costs its worker and nothing else: the
next document gets another.

Touches: processes, threads, the clock.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections import OrderedDict
from contextlib import contextmanager, suppress
from hashlib import sha256
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple, Self

from recrawl.adapters.documents.bounds import CPU_SECONDS, WALL_SECONDS
from recrawl.adapters.documents.messages import MOST_DOCUMENT, receive_reply, send_document
from recrawl.errors import MissingExtra

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from recrawl.adapters.documents.messages import Reply

_WORKER = "recrawl.adapters.documents.worker"
# What a worker needs of the environment; secrets of others are none of its business.
_ENVIRONMENT = ("LANG", "LC_ALL", "LD_LIBRARY_PATH", "PATH", "PYTHONHOME", "PYTHONPATH", "TZ")
_NEEDED = ("mammoth", "pptx", "pypdfium2", "python_calamine")
_TOO_LONG = (-signal.SIGALRM, -signal.SIGXCPU)  # how a worker ends that has taken too long
_MOST_KEPT, _LETTERS_KEPT = 32, 8 << 20
_GRACE_SECONDS = 1.0


class Converted(NamedTuple):
    """What became of a document.

    Attributes:
        html: The document as HTML; None where that cannot be.
        problem: Why not, in a few words.
        seconds: What it took, of the processor where that is known.
    """

    html: str | None
    problem: str = ""
    seconds: float = 0.0


class DocumentConverter:
    """Makes HTML of PDF and Office documents; threads take turns.

    Args:
        on_problem: Called with a few words on each document that cannot be read.
        cpu_seconds: What a document may take of the processor, in whole seconds.
        wall_seconds: What it may take in all.

    Examples:
        >>> with DocumentConverter() as converter:
        ...     converter.convert(b"%PDF-1.7 and no more").problem
        'it is damaged'
    """

    def __init__(
        self,
        on_problem: Callable[[str], object] = bool,
        cpu_seconds: int = CPU_SECONDS,
        wall_seconds: float = WALL_SECONDS,
    ) -> None:
        self._on_problem = on_problem
        self._cpu_seconds = cpu_seconds
        self._wall_seconds = wall_seconds
        self._turn = threading.Lock()
        self._worker: subprocess.Popen[bytes] | None = None
        self._kept: OrderedDict[bytes, Converted] = OrderedDict()
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __call__(self, body: bytes) -> str | None:
        """HTML of a document; None where that cannot be, which is told."""
        found = self.convert(body)
        if found.html is None:
            self._on_problem(found.problem)
        return found.html

    def convert(self, body: bytes) -> Converted:
        """What becomes of a document; of one that was converted lately, what became of it."""
        key = sha256(body).digest()
        with self._turn:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]._replace(seconds=0.0)
            found = self._convert(body)
            if not self._closed:
                self._keep(key, found)
            return found

    def close(self) -> None:
        """End the worker, whatever it is at. Idempotent."""
        self._closed = True
        worker = self._worker
        if worker is not None:
            worker.kill()
        with self._turn:
            self._end_worker()
            self._kept.clear()

    def _keep(self, key: bytes, found: Converted) -> None:
        self._kept[key] = found
        letters = sum(len(each.html or "") for each in self._kept.values())
        while len(self._kept) > _MOST_KEPT or (letters > _LETTERS_KEPT and len(self._kept) > 1):
            letters -= len(self._kept.popitem(last=False)[1].html or "")

    def _convert(self, body: bytes) -> Converted:
        if self._closed:
            return Converted(None, "its reader was closed")
        if not has_extra():
            return Converted(None, str(MissingExtra("reading documents", "documents")))
        if len(body) > MOST_DOCUMENT:
            return Converted(None, f"it is larger than {MOST_DOCUMENT >> 20} MB")
        began = time.monotonic()
        worker = self._running_worker()
        with _killed_after(worker, self._wall_seconds + _GRACE_SECONDS) as late:
            reply = _ask(worker, body)
        if reply is None:
            code = self._end_worker()
            slow = late.is_set() or code in _TOO_LONG
            why = "it takes too long to read" if slow else "its reader crashed"
            return Converted(None, why, time.monotonic() - began)
        if reply.last:
            self._end_worker()
        if reply.made:
            return Converted(reply.text, "", reply.cpu_seconds)
        return Converted(None, reply.text, reply.cpu_seconds)

    def _running_worker(self) -> subprocess.Popen[bytes]:
        if self._worker is not None and self._worker.poll() is not None:  # somebody has ended it
            self._end_worker()
        if self._worker is None:
            limits = str(self._cpu_seconds), str(self._wall_seconds)
            kept = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
            self._worker = subprocess.Popen(  # noqa: S603 - our own module
                [sys.executable, "-P", "-m", _WORKER, *limits],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=kept,
                start_new_session=True,  # Ctrl-C is for its owner
            )
            if self._closed:  # meanwhile, by one that could not see it yet
                self._worker.kill()
        return self._worker

    def _end_worker(self) -> int | None:
        """End the worker, and say how it ended; None where there was none."""
        worker, self._worker = self._worker, None
        if worker is None:
            return None
        for pipe in (worker.stdin, worker.stdout):
            with suppress(OSError):
                pipe.close()  # type: ignore[union-attr] # both are pipes
        try:
            return worker.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            worker.kill()
            return worker.wait()


def has_extra() -> bool:
    """Whether the libraries of the extra `documents` are installed."""
    return all(find_spec(name) is not None for name in _NEEDED)


def _ask(worker: subprocess.Popen[bytes], body: bytes) -> Reply | None:
    assert worker.stdin is not None and worker.stdout is not None  # noqa: S101, PT018 - pipes
    try:
        send_document(worker.stdin, body)
    except OSError:
        return None
    return receive_reply(worker.stdout)


@contextmanager
def _killed_after(worker: subprocess.Popen[bytes], seconds: float) -> Iterator[threading.Event]:
    """Kill a worker after some time, unless the block has ended; gives whether that was so."""
    late = threading.Event()

    def kill() -> None:
        late.set()
        worker.kill()

    timer = threading.Timer(seconds, kill)
    timer.daemon = True
    timer.start()
    try:
        yield late
    finally:
        timer.cancel()
        timer.join()
