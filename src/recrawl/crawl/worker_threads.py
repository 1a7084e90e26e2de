"""Worker threads: work that takes long, done beside the event loop.

Each piece of work has a thread that does not keep the program from ending: whatever a page holds,
a crawl that is asked to stop stops. Few are worked on at a time, since each may need memory for a
large page many times over, and of large pages one: however many there are, small ones go on beside
them. Since threads of Python hold each other up all the same, a large page is followed by a rest
some times as long, where it has held up work of others. Work waits in a line per owner, and owners
take turns, so that nobody is held up by how much others send. A thread cannot be ended from
outside, so work that nobody waits for any more goes on; where that has happened too often, nothing
is begun before some of it has ended.

Touches: threads, the clock that counts CPU time.
"""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar

from recrawl.frontier.fair_shares import RoundRobin

Made = TypeVar("Made")

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from contextlib import AbstractAsyncContextManager
    from typing import Protocol

    class OnCpu(Protocol):
        """Hears of CPU time."""

        def __call__(self, owner: str, seconds: float, /, *, large: bool) -> object:
            """Count the CPU seconds of one piece of work, on a large page or not."""
            ...

    class Run(Protocol):
        """Does a step of work."""

        def __call__(self, work: Callable[[], Made], /) -> Awaitable[Made]:
            """Return what the work makes."""
            ...


_AT_ONCE = 2
_MOST_THREADS = 4  # with those that nobody waits for any more
_LONGEST_SECONDS = 60.0
# After a large page, by the time that it took. Honest visits beside hostile hosts, in
# benchmarks/starvation.py: re-run it before changing.
_REST = 9.0
# Bytes of a page: up to here it is read at once, without a thread; beyond, it is a large one.
SMALL, _LARGE = 1 << 16, 1 << 20


class WorkerThreads:
    """Does work beside the loop that it is made in.

    Args:
        longest_seconds: After which nobody waits for a piece of work any more.
        on_cpu: Called with the owner of a piece of work, the CPU seconds that it took, and whether
            its page was large.
    """

    def __init__(
        self,
        longest_seconds: float = _LONGEST_SECONDS,
        on_cpu: OnCpu = lambda *_, **__: None,
    ) -> None:
        self._longest_seconds = longest_seconds
        self._on_cpu = on_cpu
        self._threads = 0
        # How many are worked on, and who waits: large pages, and small ones.
        self._working = {True: 0, False: 0}
        self._waiting = {True: RoundRobin[asyncio.Future[None]](), False: RoundRobin()}
        self._large_owner = ""  # of the large page that is worked on
        self._held_up = False  # whether it has held up work of others
        self._rests_until = 0.0

    def turn(self, size: int, owner: str) -> AbstractAsyncContextManager[Run]:
        """Turn for work in several steps, of which none waits for others once it has begun.

        So what the first steps make of a large page is in memory once, not once for all that wait.
        A small page is read at once, without a thread; its steps are charged together, so nothing
        that takes its time may be waited for between them.

        Args:
            size: Bytes of the page that it is done on.
            owner: For whom it is done; owners take turns.
        """
        if size <= SMALL:
            return _AtOnce(partial(self._charge, owner))
        return self._own_turn(owner, large=size > _LARGE)

    async def read(self, work: Callable[[], Made], size: int, owner: str) -> Made:
        """What one step of work on a page makes; arguments as in `turn`."""
        async with self.turn(size, owner) as run:
            return await run(work)

    async def run(self, work: Callable[[], Made], size: int = 0, owner: str = "") -> Made:
        """What some work makes, in a thread; `TimeoutError` where it, or other work, takes long."""
        async with self._own_turn(owner, large=size > _LARGE) as run:
            return await run(work)

    @asynccontextmanager
    async def _own_turn(self, owner: str, *, large: bool) -> AsyncIterator[Run]:
        loop = asyncio.get_running_loop()
        turn = loop.create_future()
        self._waiting[large].put(owner, turn)
        self._call_next(loop)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # it came together with the turn
                self._end_turn(loop, large=large)
            raise
        began = loop.time()
        if large:
            self._large_owner, self._held_up = owner, False
        try:
            yield partial(self._in_thread, owner, large=large)
        finally:
            self._held_up |= owner != self._large_owner
            if large and self._held_up:
                self._rests_until = loop.time() + _REST * (loop.time() - began)
                loop.call_at(self._rests_until, self._call_next, loop)
            self._end_turn(loop, large=large)

    def _end_turn(self, loop: asyncio.AbstractEventLoop, *, large: bool) -> None:
        self._working[large] -= 1
        self._call_next(loop)

    def _call_next(self, loop: asyncio.AbstractEventLoop) -> None:
        """Begin what may begin: one large piece of work, and small ones beside it."""
        rests = self._working[True] == _AT_ONCE - 1 or loop.time() < self._rests_until
        while sum(self._working.values()) < _AT_ONCE:
            large = bool(self._waiting[True]) and not rests
            if not self._waiting[large]:
                return
            turn = self._waiting[large].take()
            if not turn.done():  # else nobody waits for it any more
                self._working[large] += 1
                rests = rests or large
                turn.set_result(None)

    def _charge(self, owner: str, seconds: float) -> None:
        """Count CPU seconds that a small page took; a large one could not go on meanwhile."""
        self._held_up |= owner != self._large_owner
        self._on_cpu(owner, seconds, large=False)

    async def _in_thread(self, owner: str, work: Callable[[], Made], *, large: bool) -> Made:
        if self._threads >= _MOST_THREADS:
            message = f"all {self._threads} worker threads are busy"
            raise TimeoutError(message)
        loop = asyncio.get_running_loop()
        made: asyncio.Future[Made] = loop.create_future()
        job = _Job(work, made, loop, owner, large)
        threading.Thread(target=self._run, args=(job,), daemon=True).start()
        self._threads += 1
        try:
            async with asyncio.timeout(self._longest_seconds):
                return await made
        except TimeoutError:
            job.charged = self._longest_seconds  # nobody knows yet what it will take
            self._on_cpu(owner, job.charged, large=large)
            raise
        finally:
            del made, job, work  # an error refers to this frame: a large page must not stay for it

    def _run(self, job: _Job[Made]) -> None:
        """Do some work, and tell the loop; in a thread."""
        result: Made | None = None
        error: BaseException | None = None
        try:
            result = job.work()
        except BaseException as raised:  # noqa: BLE001 - who waits must hear of it, whatever it is
            error = raised
        used = time.thread_time()  # of a thread that did nothing else

        def tell() -> None:  # in the loop, so that one thread counts all
            nonlocal error
            self._threads -= 1
            self._on_cpu(job.owner, max(used - job.charged, 0.0), large=job.large)
            if job.made.done():
                return  # nobody waits any more
            if error is not None:
                job.made.set_exception(error)
                error = None
                del job.made, job.work  # which the error refers to
            else:
                job.made.set_result(result)  # type: ignore[arg-type] # what the work made

        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            job.loop.call_soon_threadsafe(tell)


@dataclass(slots=True)
class _Job(Generic[Made]):
    """A piece of work in its thread."""

    work: Callable[[], Made]
    made: asyncio.Future[Made]
    loop: asyncio.AbstractEventLoop
    owner: str
    large: bool
    charged: float = 0.0


class _AtOnce:
    """A turn for a small page: each step is done as it is asked for, in the loop.

    Args:
        charge: Called with the CPU seconds of all steps together: to ask for them takes as long as
            some of what is asked about.
    """

    __slots__ = ("_began", "_charge")

    def __init__(self, charge: Callable[[float], object]) -> None:
        self._charge = charge

    async def __aenter__(self) -> Run:
        self._began = time.thread_time()
        return _done

    async def __aexit__(self, *_: object) -> None:
        self._charge(time.thread_time() - self._began)


async def _done(work: Callable[[], Made]) -> Made:
    return work()
