"""Processes that the system kills at a random instant after they have entered something.

Touches: processes, the clock.
"""

from __future__ import annotations

import ctypes
import os
import signal
import struct
import time
import traceback
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator

ENTERED, LEFT = "(", ")"
_MONOTONIC, _NOTIFY_BY_SIGNAL = 1, 0
_NANOSECONDS = 1_000_000_000


class Killed(NamedTuple):
    """What a process told before it was killed.

    Attributes:
        told: Its lines.
        inside: Whether it had entered what it was to be killed in, and not left it.
    """

    told: list[str]
    inside: bool


def tell(*words: object) -> None:
    """Write a line at once: one small write to a pipe, which no kill cuts in two."""
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


@contextmanager
def entering(owner: object, name: str) -> Iterator[None]:
    """Tell when a function is entered; who calls it tells when it is left."""
    usual = getattr(owner, name)

    def told(*args: object, **more: object) -> object:
        enter()
        return usual(*args, **more)

    setattr(owner, name, told)
    try:
        yield
    finally:
        setattr(owner, name, usual)


_fuse: list[tuple[int, float]] = []  # at which entry to begin, and seconds from there to the end


def enter() -> None:
    """Tell that something is entered, and be killed a little later if its turn has come."""
    tell(ENTERED)
    if not _fuse:
        return
    turns, seconds = _fuse.pop()
    if turns > 1:
        _fuse.append((turns - 1, seconds))
    else:
        _kill_after(seconds)


def leave() -> None:
    """Tell that it is left."""
    tell(LEFT)


def run(work: Callable[[], None], turns: int = 0, seconds: float = 0.0) -> Killed:
    """Run work in a process of its own, until the system kills it.

    Args:
        work: Tells what it has done, what it enters and what it leaves.
        turns: How often something is entered before time runs; 0 to let it end by itself.
        seconds: From there to its end.
    """
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads, which all wait
        child = os.fork()
    if not child:
        try:
            os.dup2(writing, 1)
            if turns:
                _fuse.append((turns, seconds))
            work()
        except BaseException:  # noqa: BLE001 - nothing of the child may go on in it
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as pipe:
        lines = pipe.read().splitlines()
    _, status = os.waitpid(child, 0)
    assert status == (signal.SIGKILL if turns else 0), (status, lines[-5:])
    return Killed(lines, lines.count(ENTERED) > lines.count(LEFT))


def took_seconds(work: Callable[[], None]) -> float:
    """How long it takes from what work enters to what it leaves; on the mean over all times."""
    begun = time.monotonic()
    lines = run(work).told
    return (time.monotonic() - begun) / max(lines.count(ENTERED), 1)


def instants(chance: random.Random, longest: float) -> float:
    """A random instant, most often within `longest` seconds."""
    return chance.random() * longest + 1e-6


def _kill_after(seconds: float) -> None:
    """Have the kernel kill this process: whatever it does then, and however busy all others are."""
    libc = ctypes.CDLL(None, use_errno=True)
    event = struct.pack("qii48x", 0, signal.SIGKILL, _NOTIFY_BY_SIGNAL)
    timer = ctypes.c_void_p()
    assert libc.timer_create(_MONOTONIC, event, ctypes.byref(timer)) == 0
    whole, part = divmod(int(seconds * _NANOSECONDS), _NANOSECONDS)
    once = struct.pack("qqqq", 0, 0, whole, max(part, 1))
    assert libc.timer_settime(timer, 0, once, None) == 0
