"""What a test leaves behind: processes, threads, files and sockets.

What is not closed is closed by whoever collects garbage next, and the warning of it is then laid
at the door of another test. So each test is compared with what was there before it. Only where
something is left is garbage collected, at which moment the warning comes up for the right test.

Touches: the processes below this one. Does nothing where there is no /proc.
"""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import sys
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from tests.preloaded import SERVERS

if TYPE_CHECKING:
    from collections.abc import Iterator

# What has been told to end may take a while to do so, longer on a busy machine.
_PATIENCE_SECONDS = 20.0
_PR_SET_CHILD_SUBREAPER = 36
_FILES = Path("/proc/self/fd")
_THREADS = Path("/proc/self/task")
_blamed: set[str] = set()  # on one test: not on the last of its file as well


@dataclass(frozen=True, slots=True)
class Held:
    """What this process holds at an instant, but for what serves all tests (`tests.preloaded`).

    Attributes:
        files: Open files and sockets: number and target.
        threads: Threads at work.
        children: Processes below this one, orphans of theirs among them.
        draws: Whether a picture was drawn: what draws them stays, with files of its own.
    """

    files: frozenset[tuple[str, str]]
    threads: frozenset[threading.Thread]
    children: frozenset[int]
    draws: bool

    @classmethod
    def now(cls) -> Self:
        """What is held at this moment."""
        draws = "vl_convert" in sys.modules
        ours = {str(server.held()[1]) for server in SERVERS}
        files = frozenset(each for each in _open_files() if each[0] not in ours)
        return cls(files, frozenset(threading.enumerate()), _children(), draws)

    def more_than(self, before: Held) -> list[str]:
        """What has come since then, in words."""
        files = sorted(self.files - before.files) if self.draws == before.draws else []
        threads = sorted(thread.name for thread in self.threads - before.threads)
        children = sorted(self.children - before.children)
        found = [
            *(f"file {number}: {target}" for number, target in files),
            *(f"thread {name}" for name in threads),
            *(f"process {child}: {_command(child)}" for child in children),
        ]
        return [each for each in found if each not in _blamed]


def adopt_orphans() -> None:
    """Let processes whose parent has ended become children of this process, where it can see them.

    Else what a killed command had started would belong to nobody.
    """
    with suppress(AttributeError, OSError):  # another system than Linux
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


@contextmanager
def nothing_left(patience_seconds: float = _PATIENCE_SECONDS) -> Iterator[None]:
    """Fail if anything is left that was not there before; processes are ended all the same."""
    if not _FILES.exists():
        yield
        return
    before = Held.now()
    yield
    after = Held.now()
    if not after.more_than(before):
        return
    gc.collect()
    deadline = time.monotonic() + patience_seconds
    while (left := (after := Held.now()).more_than(before)) and time.monotonic() < deadline:
        time.sleep(0.02)
    for child in after.children - before.children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    _blamed.update(left)
    assert not left, "left behind: " + "; ".join(left)


def _open_files() -> frozenset[tuple[str, str]]:
    found = []
    for number in os.listdir(_FILES):  # noqa: PTH208 - with PTH115: much faster
        with suppress(OSError):  # the one through which the folder was read
            found.append((number, os.readlink(f"/proc/self/fd/{number}")))  # noqa: PTH115
    return frozenset(found)


def _children() -> frozenset[int]:
    """Children that are alive; those that have ended are taken off the list of processes."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return frozenset()
    found = []
    for child in _begun():
        with suppress(OSError):  # it may have ended in this moment
            fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
            if fields[0] == "Z":
                os.waitpid(child, os.WNOHANG)
            else:
                found.append(child)
    return frozenset(found)


def _begun() -> list[int]:
    """Children of all threads, but for those that serve all tests."""
    found: list[int] = []
    for thread in os.listdir(_THREADS):  # noqa: PTH208 - much faster
        with suppress(OSError):  # it may have ended in this moment
            found += map(int, Path(f"{_THREADS}/{thread}/children").read_text().split())
    ours = {server.held()[0] for server in SERVERS}
    return [child for child in found if child not in ours]


def _command(process: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_text().replace("\0", " ").strip()
    return "it has just ended"
