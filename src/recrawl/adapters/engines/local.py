"""Tasks in processes of this machine, one task at a time in each.

Every process is a pool of its own: one that is killed takes down only the task that it was at.

Touches: processes.
"""

from __future__ import annotations

import signal
import sys
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

from recrawl.adapters.engines.outcomes import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Future

    from recrawl.adapters.engines import Engine

_KILLED = "the process was killed, perhaps for want of memory"


@contextmanager
def local_engine(jobs: int) -> Iterator[Engine]:
    """So many processes, each started when it is first needed."""
    idle = [_process() for _ in range(jobs)]
    busy: dict[Future[Outcome], tuple[int, ProcessPoolExecutor]] = {}

    def run(work: Callable[[Any], Outcome], tasks: Sequence[Any]) -> Iterator[tuple[int, Outcome]]:
        waiting = list(enumerate(tasks))[::-1]
        while waiting or busy:
            while waiting and idle:
                number, task = waiting.pop()
                process = idle.pop()
                busy[process.submit(work, task)] = number, process
            for future in wait(busy, return_when=FIRST_COMPLETED).done:
                number, process = busy.pop(future)
                try:
                    outcome = future.result()
                except BrokenProcessPool:
                    outcome = Outcome(error=_KILLED)
                    process.shutdown()
                    process = _process()
                idle.append(process)
                yield number, outcome

    try:
        yield run
    finally:
        for process in (*idle, *(process for _, process in busy.values())):
            _end(process)


def _process() -> ProcessPoolExecutor:
    # Spawned, so that no thread of ours is copied half-way.
    return ProcessPoolExecutor(1, get_context("spawn"), _begin)


def _begin() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for who started us, and ends us:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that temporary files are removed


def _end(process: ProcessPoolExecutor) -> None:
    for child in list((process._processes or {}).values()):  # noqa: SLF001 - no other way to end it
        child.terminate()
    process.shutdown(wait=True, cancel_futures=True)
