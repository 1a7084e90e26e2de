"""`recrawl crawl --engine ray`: workers as actors of a Ray cluster.

What a worker needs travels to it: the text of the settings, and the variables of the environment
that they or libpq read. Files that the settings name are read where the worker runs.

Touches: processes, a cluster, the environment, signals, the standard streams.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from recrawl.cli import screen
from recrawl.errors import InvalidParameter, StoreError, WorkersFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from recrawl.cli.worker import WorkerOptions
    from recrawl.crawl.workers.worker import Worker

_AGAIN_SECONDS = 2.0
_NAMED = re.compile(r"""["']env:([A-Za-z_][A-Za-z0-9_]*)["']""")
_READ_BY_OTHERS = re.compile(r"PG[A-Z]+|(?:https?|no|all)_proxy", re.IGNORECASE)  # libpq, proxies


@dataclass(frozen=True, slots=True)
class WorkerOrder:
    """All that a worker on another machine needs.

    Args:
        path: The settings file; files that it names are looked for beside it.
        text: What is in it.
        options: What the worker records.
        environment: Variables that it reads, with their secrets.
    """

    path: str
    text: str = field(repr=False)
    options: WorkerOptions
    environment: Mapping[str, str] = field(repr=False)


def variables_needed(text: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Variables of the environment that settings name, and those that libpq and proxies have.

    >>> here = {"TOKEN": "x", "PGPASSWORD": "y", "HOME": "/root", "no_proxy": "a.org"}
    >>> variables_needed('secret = "env:TOKEN"', here)
    {'TOKEN': 'x', 'PGPASSWORD': 'y', 'no_proxy': 'a.org'}
    """
    named = set(_NAMED.findall(text))
    return {
        name: value
        for name, value in environment.items()
        if name in named or _READ_BY_OTHERS.fullmatch(name)
    }


def options_of(number: int, options: WorkerOptions) -> WorkerOptions:
    """Options of one of several workers: files and ports of its own.

    >>> from pathlib import Path
    >>> from recrawl.cli.worker import WorkerOptions
    >>> all_of_them = WorkerOptions(visit_log=Path("visits.jsonl"), warc=Path("a"), port=9100)
    >>> second = options_of(1, all_of_them)
    >>> str(second.visit_log), str(second.warc), second.port
    ('visits-1.jsonl', 'a/worker-1', 9101)
    """
    log, warc, port = options.visit_log, options.warc, options.port
    return replace(
        options,
        visit_log=log and log.with_name(f"{log.stem}-{number}{log.suffix}"),
        warc=warc and warc / f"worker-{number}",
        port=port and port + number,
    )


def crawl_on_ray(path: Path, options: WorkerOptions, workers: int) -> None:
    """Crawl with so many workers on Ray until they are done, or a signal ends it.

    Raises:
        WorkersFailed: Some of them have failed; the others have done their work.
    """
    from recrawl.adapters.engines.ray_actors import run_actors
    from recrawl.store.settings_file import load_text, settings_of
    from recrawl.store.slots.leases import lease_slots

    text = load_text(path)
    settings = settings_of(text, path)
    lease_slots(settings.store).prepare(settings.slots)  # what is wrong with it is said now
    if workers > settings.slots:
        raise InvalidParameter(
            f"--workers must be at most the {settings.slots} slots of the crawl (got {workers})"
        )
    absolute = replace(
        options,
        visit_log=options.visit_log and options.visit_log.absolute(),
        warc=options.warc and options.warc.absolute(),
    )
    environment = variables_needed(text, os.environ)
    makers: list[Callable[[], RayWorker]] = []
    for number in range(workers):
        own = options_of(number, absolute)
        order = WorkerOrder(str(path.absolute()), text, own, environment)
        makers.append(partial(RayWorker, order))
    with _stopped_by_signals() as is_stopped:
        errors = run_actors(makers, is_stopped=is_stopped, say=_say)
    failed = [f"worker {number}: {error}" for number, error in enumerate(errors) if error]
    if failed:
        raise WorkersFailed(f"{len(failed)} of {workers} workers failed ({failed[0]})")


def _say(number: int, sentence: str) -> None:
    screen.remark(f"worker {number}: {sentence}")


@contextmanager
def _stopped_by_signals() -> Iterator[Callable[[], bool]]:
    """Whether SIGINT or SIGTERM has come; the second one ends everything at once."""
    came = threading.Event()

    def stop(*_: object) -> None:
        if came.is_set():
            raise KeyboardInterrupt
        came.set()

    def is_stopped() -> bool:
        for number in before:  # Ray has handlers of its own when it has started
            signal.signal(number, stop)
        return came.is_set()

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    is_stopped()
    try:
        yield is_stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class RayWorker:
    """A worker in an actor; see `recrawl.adapters.engines.ray_actors.LongWork`.

    Args:
        order: What it needs.
    """

    def __init__(self, order: WorkerOrder) -> None:
        self._order = order
        self._sentences: list[str] = []
        self._lock = threading.Lock()
        self._stopping = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._worker: Worker | None = None

    def run(self, again: bool) -> None:
        """Work until it is done or stopped."""
        os.environ.update(self._order.environment)
        self._remark(f"Runs on {socket.gethostname()} (process {os.getpid()}).")
        while not self._stopping:
            try:
                asyncio.run(self._run())
            except StoreError as error:
                if not again:
                    raise
                self._remark(f"{error}; tried again")
                time.sleep(_AGAIN_SECONDS)
            else:
                return

    async def _run(self) -> None:
        from recrawl.cli.watching import measured
        from recrawl.cli.worker import opened_worker, stopped_sentence
        from recrawl.store.settings_file import settings_of

        order, options = self._order, self._order.options
        path = Path(order.path)
        settings = settings_of(order.text, path)
        async with opened_worker(path, settings, options, self._remark) as made:
            with self._lock:
                self._loop, self._worker = asyncio.get_running_loop(), made
                if self._stopping:
                    made.stop()
            try:
                async with measured(made, options.port):
                    await made.run(seconds=options.seconds, once=options.once)
            finally:
                with self._lock:
                    self._loop = self._worker = None
            self._remark(stopped_sentence(made))

    def stop(self) -> None:
        """Have the worker stop soon, and give its slots back."""
        with self._lock:
            self._stopping = True
            if self._loop is not None and self._worker is not None:
                self._loop.call_soon_threadsafe(self._worker.stop)

    def said(self) -> list[str]:
        """What was said since the last time."""
        with self._lock:
            sentences, self._sentences = self._sentences, []
        return sentences

    def _remark(self, sentence: str) -> None:
        with self._lock:
            self._sentences.append(sentence)
