"""Answers from a store, each worked out once for all who ask at the same time.

An answer is kept for some seconds, and handed out meanwhile. One that has become too old may be
handed out once more while the next is worked out, so that nobody waits for what somebody asked a
minute ago. Work runs in a few threads with readers of their own, so that neither the server nor the
crawl beside it waits: reads are short, and never more than a few at once. What is worked out for
all, and may take many seconds, has threads apart from what one asks for: a page of a table does not
wait until the next table is read.

Touches: a store, the clock, threads.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from recrawl.errors import Busy

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from recrawl.entries.store import ReadStore

T = TypeVar("T")

_THREADS = 2  # for what one asks for, and as many for what is worked out for all
_REST = 25.0  # times the processor time of an answer for all, before it is worked out again
_MOST_KEPT = 500
_MOST_WAITING = 64  # questions; whoever comes later is told to come again


@dataclass(frozen=True, slots=True)
class Kept(Generic[T]):
    """An answer.

    Args:
        value: What it is.
        until: When it is too old, on a steady clock.
        usable_until: When it is too old even for those who would rather not wait.
    """

    value: T
    until: float
    usable_until: float


class Answers:
    """Answers questions about a store; used by one event loop.

    Args:
        open_reader: Opens the store for one more thread.
        steady: A clock that nobody can set, in seconds.
    """

    def __init__(
        self, open_reader: Callable[[], ReadStore], steady: Callable[[], float] = time.monotonic
    ) -> None:
        self._open_reader = open_reader
        self._steady = steady
        self._own = threading.local()
        self._opened: list[ReadStore] = []
        self._for_one, self._for_all = (
            ThreadPoolExecutor(
                _THREADS, thread_name_prefix=f"recrawl-answers-{name}", initializer=self._open
            )
            for name in ("one", "all")
        )
        self._kept: OrderedDict[Hashable, Kept[Any]] = OrderedDict()
        self._asked: dict[Hashable, asyncio.Task[Any]] = {}

    async def ask(
        self,
        key: Hashable,
        work: Callable[[ReadStore], T],
        *,
        seconds: float = 0.0,
        late: float = 0.0,
    ) -> T:
        """The answer to a question, which may be as old as it is kept.

        Args:
            key: Tells questions apart.
            work: Works the answer out, in another thread.
            seconds: How long it is kept; where `late` is given, at least 25 times the processor
                time that it took, so that a large store is not read all the time. The first answer
                does not count: what it takes is mostly loading.
            late: How many seconds longer it is handed out while the next is worked out; 0 for
                what is worked out at once.
        """
        kept, now = self._kept.get(key), self._steady()
        if kept is not None and now < kept.until:
            self._kept.move_to_end(key)
            return kept.value  # type: ignore[no-any-return]
        task = self._asked.get(key)
        if task is None:
            if len(self._asked) >= _MOST_WAITING:
                raise Busy("too many questions at once; ask again in a second")
            task = asyncio.create_task(self._answer(key, work, seconds, late))
            self._asked[key] = task
        if kept is not None and now < kept.usable_until:
            task.add_done_callback(_heard)
            return kept.value  # type: ignore[no-any-return]
        # Whoever leaves does not take the answer from the others.
        return await asyncio.shield(task)

    async def _answer(
        self, key: Hashable, work: Callable[[ReadStore], T], seconds: float, late: float
    ) -> T:
        try:
            loop = asyncio.get_running_loop()
            threads = self._for_all if late else self._for_one
            value, took = await loop.run_in_executor(threads, self._work, work)
            if seconds:
                rest = _REST * took if late and key in self._kept else 0.0
                until = self._steady() + max(seconds, rest)
                self._kept[key] = Kept(value, until, until + late)
                self._kept.move_to_end(key)
                while len(self._kept) > _MOST_KEPT:
                    self._kept.popitem(last=False)
            return value
        finally:
            del self._asked[key]

    def _open(self) -> None:
        self._own.reader = None

    def _work(self, work: Callable[[ReadStore], T]) -> tuple[T, float]:
        """What it works out, and the seconds of processor that this took."""
        if self._own.reader is None:
            self._own.reader = self._open_reader()
            self._opened.append(self._own.reader)
        began = time.thread_time()
        return work(self._own.reader), time.thread_time() - began

    def last(self, key: Hashable) -> Any:  # noqa: ANN401 - whatever was asked
        """The last answer to a question, however old; None where there is none."""
        kept = self._kept.get(key)
        return None if kept is None else kept.value

    def forget(self) -> None:
        """Keep no answer: what they rest on has changed."""
        self._kept.clear()

    async def close(self) -> None:
        """Wait for what is at work, and close the store."""
        await asyncio.gather(*self._asked.values(), return_exceptions=True)
        self._for_one.shutdown()
        self._for_all.shutdown()
        for reader in self._opened:
            reader.close()


def _heard(task: asyncio.Task[Any]) -> None:
    """Take note of an error that nobody waits for: whoever asks next gets it, if it is still so."""
    if not task.cancelled():
        task.exception()
