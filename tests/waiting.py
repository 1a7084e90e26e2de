"""Waiting for what a test needs, however long that takes on a busy machine.

Touches: the clock, processes that tests start.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

# Nothing that works takes as long on the busiest machine: it ends what would hang.
HANGS_SECONDS = 300.0


def wait_until(true: Callable[[], object]) -> None:
    """Wait until something is true."""
    deadline = time.monotonic() + HANGS_SECONDS
    while not true():
        assert time.monotonic() < deadline, "must come true before it is taken to hang"
        time.sleep(0.01)


def wait_for_count(items: Sequence[object], count: int) -> None:
    """Wait until a list that another thread fills holds so many."""
    wait_until(lambda: len(items) >= count)


def cpu_seconds(process: int) -> float:
    """Time that the processors have spent on a process: how far it has come, on a busy machine."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def started(command: Sequence[object], **more: Any) -> AbstractContextManager[Any]:
    """A process that is killed in the end if it has not ended by then."""
    return ending(subprocess.Popen(list(map(str, command)), **more))


@contextmanager
def ending(process: subprocess.Popen[Any]) -> Iterator[subprocess.Popen[Any]]:
    """A process that is killed in the end if it has not ended by then."""
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()


class PatientClock:
    """A scaled clock that waits for this process: it goes on only as the event loop goes round.

    Where other work keeps the processors busy a crawl falls behind a clock on the wall, and how
    far decides what it can find. This one shows the crawl the same days on any machine. It is
    never ahead of `ScaledClock`.

    Args:
        seconds_a_day: Real seconds in which a day passes, where nothing is in the way.
        start: What it shows at first, in days after 1970.
    """

    _STEP_SECONDS = 0.005
    _LONGEST_SECONDS = 2 * _STEP_SECONDS

    def __init__(self, seconds_a_day: float, start: float) -> None:
        self._seconds = seconds_a_day
        self._start = start
        self._passed = 0.0
        self._ticked = time.monotonic()
        self._ticking: asyncio.Task[None] | None = None

    def now(self) -> float:
        """Days after 1970."""
        return self._start + self.passed_seconds() / self._seconds

    def passed_seconds(self) -> float:
        """Seconds since it began, without those for which it stood still."""
        if self._ticking is None or self._ticking.done():
            self._ticking = asyncio.create_task(self._tick())
        return self._passed + self._since()

    def seconds(self, days: float) -> float:
        """Real seconds that so many days take, where nothing is in the way."""
        return days * self._seconds

    async def sleep(self, days: float) -> None:
        """Wait so long, on this clock."""
        end = self.now() + days
        while (left := end - self.now()) > 0:  # noqa: ASYNC110 - it may be late itself
            await asyncio.sleep(left * self._seconds)

    def _since(self) -> float:
        return min(time.monotonic() - self._ticked, self._LONGEST_SECONDS)

    async def _tick(self) -> None:
        while True:
            self._passed += self._since()
            self._ticked = time.monotonic()
            await asyncio.sleep(self._STEP_SECONDS)
