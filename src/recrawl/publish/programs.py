"""A program that is run for each event of the change feed, one at a time, in order.

It gets the event as JSON on its standard input. Where it fails or takes too long, that is told in a
line, and the next event follows. Its position is kept as that of any destination, so that a crawl
which is killed runs it again for the event that it was at.

Touches: processes, a store, the clock, threads.
"""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from recrawl.entries.deliveries import DestinationMoved
from recrawl.entries.records import Destination
from recrawl.report.table import printable
from recrawl.report.words import counted
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import Callable, Iterator, Sequence

    from recrawl.clock import Clock
    from recrawl.publish.outbox import Outbox, Write

NAME = "--on-change"
# No webhook can be called so: their names have no space at the end.
DESTINATION = f"{NAME} "
MOST_SECONDS = 60.0
_MOST_OUTPUT = 4096  # bytes of its errors that are kept
_SHOWN = 200
_PIPE_BYTES = 1 << 16  # as much as waits in a pipe


class ProgramRunner:
    """Runs a program for each event.

    Args:
        command: The program and its arguments.
        outbox: Where events come from.
        write: Writes down how far it is.
        clock: Source of the current time.
        on_remark: Called with a sentence when it begins to fail, and when it works again.
        most_seconds: After which it is killed.
    """

    grace_seconds = 5.0

    def __init__(
        self,
        command: Sequence[str],
        outbox: Outbox,
        write: Write,
        clock: Clock,
        on_remark: Callable[[str], object],
        most_seconds: float = MOST_SECONDS,
    ) -> None:
        self._command = list(command)
        self._outbox = outbox
        self._write = write
        self._clock = clock
        self._on_remark = on_remark
        self._most_seconds = most_seconds
        self._woken = asyncio.Event()
        self._ending = False
        self._failed = 0  # since it last worked

    def wake(self) -> None:
        """Look for events: some may have been committed."""
        self._woken.set()

    def end(self) -> None:
        """Run it for what there is, and end."""
        self._ending = True
        self._woken.set()

    async def run(self, *, by_hand: bool = False) -> None:  # noqa: ARG002 - as all at work have it
        """Run it for one event after the other."""
        at = (await self._outbox.destination(DESTINATION)).cursor
        while True:
            self._woken.clear()
            events = await self._outbox.after(at)
            for event in events:
                body = await self._outbox.body(event, ())
                self._tell(await self.run_once(body + b"\n"))
                at = event.number
                now = self._clock.now() * SECONDS_A_DAY
                await self._write(DestinationMoved(Destination(DESTINATION, at), now))
            if not events:
                if self._ending:
                    return
                await self._woken.wait()

    async def run_once(self, body: bytes) -> str:
        """Run it with this on its standard input; what went wrong, empty for nothing."""
        pipe, nothing = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
        with _last_words() as (errors, kept):
            try:
                process = await asyncio.create_subprocess_exec(
                    *self._command,
                    stdin=pipe,
                    stdout=nothing,
                    stderr=errors,
                    start_new_session=True,
                )
            except OSError as error:
                return f"cannot be run ({error.strerror})"
            try:
                async with asyncio.timeout(self._most_seconds):
                    await _converse(process, body)
            except TimeoutError:
                return f"took more than {self._most_seconds:g} s and was killed"
            finally:
                await end_process(process)
        return _problem(process.returncode or 0, kept)

    def _tell(self, problem: str) -> None:
        """Say the first of failures in a row, and how many there were once it works again."""
        name = self._command[0]
        if problem and not self._failed:
            self._on_remark(f"{NAME} {name}: {problem}; the crawl goes on.")
        elif not problem and self._failed:
            self._on_remark(f"{NAME} {name}: works again after {counted(self._failed, 'failure')}.")
        self._failed = self._failed + 1 if problem else 0


@contextmanager
def _last_words() -> Iterator[tuple[int, bytearray]]:
    """A file for the errors of a program, and the last of what it wrote there.

    Not a pipe of asyncio, which would wait for all that the program leaves behind.
    """
    kept = bytearray()
    reading, writing = os.pipe()
    os.set_blocking(reading, False)

    def read() -> None:
        with suppress(BlockingIOError):  # once: whoever writes for ever must not hold up the loop
            kept.extend(os.read(reading, _PIPE_BYTES))
            del kept[:-_MOST_OUTPUT]

    loop = asyncio.get_running_loop()
    loop.add_reader(reading, read)
    try:
        yield writing, kept
        read()
    finally:
        loop.remove_reader(reading)
        os.close(reading)
        os.close(writing)


async def _converse(process: Process, body: bytes) -> None:
    """Hand it the event, and wait for its end."""
    assert process.stdin is not None  # noqa: S101 - a pipe, as asked for
    with suppress(BrokenPipeError, ConnectionResetError):  # it need not read
        process.stdin.write(body)
        await process.stdin.drain()
    process.stdin.close()
    await process.wait()


async def end_process(process: Process) -> None:
    """Kill it with all that it has begun, unless it has ended."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        assert process.stdin is not None  # noqa: S101 - a pipe, as asked for
        process.stdin.close()
        await process.wait()


def _problem(code: int, kept: bytearray) -> str:
    """What went wrong, by the exit code and the last line of the errors."""
    if not code:
        return ""
    how = f"exit code {code}" if code > 0 else f"signal {-code}"
    lines = kept.decode(errors="replace").strip().splitlines()
    return f"{how}: {printable(lines[-1][:_SHOWN])}" if lines else how
