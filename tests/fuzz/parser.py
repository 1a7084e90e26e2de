"""A parser to fuzz: what it reads, what may come of it, and what one attempt showed.

read(data)   parses and asserts what must hold of the result, whatever the bytes
raises       the only errors that may come, each one printable line of bounded length
seeds        whole examples; real files join where they are there
modules      whose branches the inputs are to reach: `package.module`, or `package.module:name`
             for one function or class of a module that does other work, too
"""

from __future__ import annotations

import signal
import time
import traceback
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from random import Random
    from types import FrameType

    from recrawl.errors import RecrawlError

LONGEST_MESSAGE = 1_000

_OURS = str(Path(__file__).parents[2] / "src")


@dataclass(frozen=True, slots=True)
class Parser:
    """One parser.

    Args:
        name: What it is called.
        read: Parses bytes and asserts what must hold.
        seeds: Examples to begin with.
        modules: Modules, or parts of modules, that it is the entry of.
        once: Large examples that reach a limit: tried as they are, and never changed.
        tokens: Words of its language.
        raises: Errors that may be raised.
        real: Kinds of real files that are examples, too; see `real_files.py`.
        generate: Makes an example by the rules of the language, if bytes alone do not get deep.
        longest: Most bytes of an input.
        longest_message: Most letters of an error; what people type may be quoted whole.
        cpu_seconds: Most CPU time of an input.
        memory_bytes: Most that an input may add to the largest size of the process.
    """

    name: str
    read: Callable[[bytes], object]
    seeds: tuple[bytes, ...]
    modules: tuple[str, ...]
    once: tuple[bytes, ...] = ()
    tokens: tuple[bytes, ...] = ()
    raises: tuple[type[RecrawlError], ...] = ()
    real: tuple[str, ...] = ()
    generate: Callable[[Random], bytes] | None = None
    longest: int = 4096
    longest_message: int = LONGEST_MESSAGE
    cpu_seconds: float = 2.0
    memory_bytes: int = 128 << 20


@dataclass(frozen=True, slots=True)
class Attempt:
    """What one input showed.

    Args:
        failure: What is wrong in one line, the same for all inputs with one cause; empty if fine.
        cpu_seconds: CPU time.
        memory_bytes: How much larger the process has become than it ever was.
    """

    failure: str
    cpu_seconds: float
    memory_bytes: int


_STATUS_BYTES = 4096  # more than /proc/self/status has


class _HangError(BaseException):
    """An input has used far more CPU time than it may; no parser can catch this by accident."""


def attempt(parser: Parser, data: bytes) -> Attempt:
    """Parse one input."""
    memory, started = peak_bytes(), time.process_time()
    failure = _failure(parser, data)
    took, grown = time.process_time() - started, peak_bytes() - memory
    if not failure and took > parser.cpu_seconds:
        failure = f"took more than {parser.cpu_seconds:g} s of CPU time"
    if not failure and grown > parser.memory_bytes:
        failure = f"took more than {parser.memory_bytes >> 20} MB of memory"
    return Attempt(failure, took, grown)


def _failure(parser: Parser, data: bytes) -> str:
    try:
        parser.read(data)
    except parser.raises as error:
        return _bad_message(error, parser.longest_message)
    except (Exception, _HangError) as error:  # noqa: BLE001 - whatever it is, it is reported
        return _described(error)
    return ""


def _bad_message(error: RecrawlError, longest: int) -> str:
    text = str(error)
    if not text or not text.isprintable():
        return f"message must be one printable line: {_described(error)}"
    if len(text) > longest:
        return f"message must have at most {longest} letters: {_described(error)}"
    return ""


def _described(error: BaseException) -> str:
    """Kind of an error, and the last line of ours that it came through."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if frame.filename.startswith(_OURS)] or frames
    where = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}"
    if isinstance(error, AssertionError):  # of what must hold, or of our own
        return f"{frames[-1].line} at {Path(frames[-1].filename).name}:{frames[-1].lineno}"
    return f"{type(error).__name__} at {where}"


@contextmanager
def hangs_end(parser: Parser) -> Iterator[None]:
    """End an input that uses ten times the CPU time that it may, inside of `with`."""

    def end(number: int, frame: FrameType | None) -> None:
        raise _HangError

    before = signal.signal(signal.SIGPROF, end)
    # Counts CPU time of all inputs together, so `rewind` is called for each.
    try:
        rewind(parser)
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def rewind(parser: Parser) -> None:
    """Let the CPU time of an input begin."""
    signal.setitimer(signal.ITIMER_PROF, 10 * parser.cpu_seconds)


def peak_bytes() -> int:
    """Largest size that the process has had.

    Not `getrusage`: a child begins there with the largest size of its parent.
    """
    with open("/proc/self/status", "rb", buffering=0) as file:  # noqa: PTH123 - asked twice an input
        text = file.read(_STATUS_BYTES)
    return int(text.partition(b"VmHWM:")[2].split(None, 1)[0]) << 10
