"""The scheduler for somebody else's crawler: due pages out, what visits found in.

It is the crawl of this package without the network. It may be used by any number of threads at
once, and by an event loop: every call is short, and one lock is held while it lasts. A visit is on
disk when `seen` returns. Leases are only in memory, so those of a process that was killed are free.

Touches: a store, the clock, threads.
"""

from __future__ import annotations

import asyncio
import json
import os
import threading
import time
from contextlib import ExitStack, contextmanager
from functools import partial
from math import inf, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from recrawl.clock import RealClock
from recrawl.entries.entries import PagesFound, SettingsUsed
from recrawl.errors import InvalidParameter, StoreError
from recrawl.parse.addresses import host_of
from recrawl.scheduler.crawl_schedule import CrawlSchedule
from recrawl.scheduler.outside_visits import OutsideVisits, judge_visit, reported_visits
from recrawl.scheduler.reports import Report, address_of, outcome_of, report_of
from recrawl.scheduler.waiting_hints import hear_waiting, taken_by
from recrawl.settings.settings import Settings, plain_settings
from recrawl.state.opening import open_crawl
from recrawl.state.weights import check_weights
from recrawl.store import hold_store, open_store
from recrawl.store.retention import Retention
from recrawl.store.settings_file import load_settings, store_of
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence

    from recrawl.clock import Clock
    from recrawl.entries.entries import Found
    from recrawl.entries.reports import AnsweredReport
    from recrawl.scheduler.crawl_schedule import DuePage, SchedulerStatus
    from recrawl.scheduler.reports import Headers
    from recrawl.store import Address
    from recrawl.visits.status import VisitOutcome

_OPENED_WITH = "Scheduler.open"
_IN_MEMORY = "memory"
_SHORTEST_WAIT_SECONDS = 0.001
_LONGEST_WAIT_SECONDS = 60.0  # a machine that slept wakes up late, but not by more


class Scheduler:
    """Says which pages to visit now, and learns what visits found; for any thread.

    Made by `Scheduler.open`. Use it as a context, or call `close`: what was learned is saved then.

    Examples:
        Nothing on disk, and two hosts whose politeness delay begins when the scheduler is opened:

        >>> with Scheduler.open(budget="100/1d", delay="0.01s") as scheduler:
        ...     scheduler.add(["https://example.org/", "https://example.com/news"])
        ...     for page in scheduler.pages(patience_seconds=0.5):
        ...         scheduler.seen(page, body=b"<p>What was fetched from there").label
        ...     scheduler.status().copies
        2
        'first'
        'first'
        2
    """

    def __init__(self, schedule: CrawlSchedule, name: str, stack: ExitStack) -> None:
        self._schedule = schedule
        self._name = name
        self._stack = stack
        self._lock = threading.RLock()
        self._moved = threading.Condition(self._lock)
        self._wakers: set[Callable[[], object]] = set()  # of event loops that wait
        self._outside = OutsideVisits(schedule)
        self._closed = False

    @classmethod
    def open(  # noqa: PLR0913 - what a script says in one line
        cls,
        store: Address | None = None,
        *,
        settings: Settings | Address | None = None,
        budget: str | None = None,
        delay: str | None = None,
        together: int | None = None,
        policy: str | None = None,
        clock: Clock | None = None,
        seed: int | None = 0,
    ) -> Self:
        """Hold a store for writing, and schedule its pages; a new store where there is none.

        Args:
            store: Path or URL of the store. Without one it is that of the file of settings, and
                without such a file all is kept in memory.
            settings: A file such as `recrawl.toml`, or settings that were read. Pages that they
                have no rule for are kept and never visited. Without settings the pages of any host
                are visited.
            budget: Visits over a time, as in `500/1d`; that many by default.
            delay: Time between two visits to one host, as in `1s`; that long by default.
            together: Most visits to one host at a time; one by default.
            policy: What decides when pages are visited, as `recrawl simulate` names it: `recrawl`
                by default, `nutch`, `nutch:longest=90d`, ...
            clock: Source of the current time; the real one if none is given.
            seed: Seed of all that is left to chance; None for a fresh one.

        Raises:
            InvalidSettings: The settings are none, or there are two for one thing.
            StoreError: The store cannot be used, or another crawl holds it.
        """
        plain = {"budget": budget, "delay": delay, "together": together, "policy": policy}
        said = {key: value for key, value in plain.items() if value is not None}
        store, asked, text = _settings_of(store, settings, said)
        check_weights(asked)  # before anything is written
        clock = clock or RealClock()
        stack = ExitStack()
        try:
            written = stack.enter_context(hold_store(store, Retention.of(asked)))
            reader = stack.enter_context(open_store(store or written.name))
            written.date_back(clock.now() * SECONDS_A_DAY)
            if reader.settings_used() != text:
                written.write([SettingsUsed(text)])
            random = np.random.default_rng(seed)
            crawl = open_crawl(asked, written, reader, clock.now(), random=random)
        except BaseException:
            stack.close()
            raise
        schedule = CrawlSchedule(crawl, reader, clock, lambda entry: written.write([entry])[0])
        return cls(schedule, _IN_MEMORY if store is None else written.name, stack)

    # What to do next.

    def due(self, most: int = 1) -> list[DuePage]:
        """Pages that are most worth a visit now; fewer than asked for where no more may be made.

        The host of each counts as asked from now on, and is given again when its delay has passed
        after `seen` or `release`.
        """
        with self._held():
            return self._outside.due(most)

    def pages(self, patience_seconds: float | None = None) -> Iterator[DuePage]:
        """Due pages one after the other, waiting for each; several threads may iterate at once.

        Args:
            patience_seconds: Ends when nothing is due for so long, and at once where nothing can be
                and no page is out; None to go on until `close`.
        """
        while (page := self._next_page(_Deadline(patience_seconds))) is not None:
            yield page

    def __iter__(self) -> Iterator[DuePage]:
        """Due pages one after the other, until `close`."""
        return self.pages()

    async def __aiter__(self) -> AsyncIterator[DuePage]:
        """The same in an event loop, which goes on meanwhile."""
        loop, moved = asyncio.get_running_loop(), asyncio.Event()
        waker = partial(loop.call_soon_threadsafe, moved.set)
        self._wakers.add(waker)
        try:
            while True:
                moved.clear()
                with self._lock:
                    if self._closed:
                        return
                    found, seconds = self.due(), self._seconds_to_go()
                for page in found:
                    yield page
                if not found:
                    timer = loop.call_later(_sensible(seconds), moved.set)
                    await moved.wait()
                    timer.cancel()
        finally:
            self._wakers.discard(waker)

    def wait(self, timeout_seconds: float | None = None) -> bool:
        """Wait until a page may be due; False where none is for so long, or after `close`.

        Args:
            timeout_seconds: How long at most; None for any time.
        """
        deadline = _Deadline(timeout_seconds)
        with self._moved:
            while not self._closed:
                seconds = self._seconds_to_go()
                if seconds <= 0:
                    return True
                if deadline.seconds_left() <= 0:
                    return False
                self._moved.wait(_sensible(min(seconds, deadline.seconds_left())))
        return False

    def due_in(self) -> float:
        """Seconds until a page may be due, as far as is known; infinite where none will be."""
        with self._held():
            return self._seconds_to_go()

    def release(self, page: DuePage, *, wait_seconds: float = 0.0) -> None:
        """Give back a page that was not visited.

        Args:
            page: One that was due.
            wait_seconds: When it is due again; at once by default. A restart forgets it.
        """
        with self._held():
            self._outside.release(page, wait_seconds / self._schedule.clock.seconds(1.0))
            self._wake()

    # What became of it.

    def seen(  # noqa: PLR0913 - one for each thing that a crawler may know
        self,
        page: DuePage,
        *,
        changed: bool | None = None,
        outcome: VisitOutcome | str | None = None,
        age: float = nan,
        digest: str | bytes | None = None,
        status: int | None = None,
        headers: Headers | None = None,
        body: bytes | str | None = None,
        url: str | None = None,
    ) -> VisitOutcome:
        """Learn what a visit found, write it down, and return what became of the page.

        Say as much as you know. With a `body` the page is compared as `recrawl crawl` compares it,
        and kept as a version. Validators in `headers` come back with the page the next time.

        Args:
            page: One that was due.
            changed: Whether it had changed, if you have compared it. Needs not be said of a first
                visit.
            outcome: What became of it, if nothing else says so: `failed`, `gone`, `refused`, ...
            age: Days since it last changed; nan where that is unknown.
            digest: What differs if the page does, to be compared with the last one.
            status: Of the response; 200 if none is given.
            headers: Of the response.
            body: Of the response, decoded; or what a browser shows, as text.
            url: Address that answered, where redirects were followed.

        Raises:
            InvalidParameter: The page is not out, or what is said does not say what became of it.
        """
        report = report_of(
            page.address,
            Report(changed, outcome_of(outcome), digest, age=age),
            status=status,
            headers=headers,
            body=body,
            url=url,
        )
        with self._held():
            self._outside.require(page)
        (found,) = self.seen_all([(page, report)])
        if found is None:  # another thread was faster
            self._outside.require(page)
        assert found is not None  # noqa: S101 - or the page was not out
        return found

    def seen_all(
        self, visits: Sequence[tuple[DuePage, Report]], batch: tuple[str, bytes] | None = None
    ) -> list[VisitOutcome | None]:
        """Learn what some visits found, and write them down in one transaction.

        Args:
            visits: Pages that were due, and what is said of each.
            batch: Key of the batch and a digest of it, to be written down with the visits: see
                `reported`. None for a batch without a key.

        Returns:
            What became of each page; None of one that is not out, which counts nothing.

        Raises:
            InvalidParameter: What is said of a page does not say what became of it; nothing of the
                batch is taken.
        """
        with self._held():
            known = [
                self._outside.known(page) if self._outside.has(page) else None for page, _ in visits
            ]
            now = self._schedule.clock.now()
        # Reading a page takes longest, and needs no lock.
        settings = self._schedule.crawl.settings
        judged = [
            None if facts is None else judge_visit(page, report, facts, settings, now)
            for (page, report), facts in zip(visits, known, strict=True)
        ]
        with self._held():
            found = self._outside.learn(judged)
            self._schedule.write(reported_visits(found, batch, now))
            for _ in found.made:
                self._schedule.visited()
            if found.moved:
                self._add([visit.target for visit in found.moved])
            self._wake()
        return found.outcomes

    def reported(self, key: str) -> AnsweredReport | None:
        """A batch that was taken within a day, by its key; None where there was none."""
        with self._held():
            return self._schedule.reader.report(key)

    def add(self, addresses: Iterable[str]) -> int:
        """Add pages by their addresses; those already known stay as they are. Returns how many.

        Pages that a file of settings has no rule for are kept, and never visited.
        """
        new = list(dict.fromkeys(address_of(address) for address in addresses))
        with self._held():
            added = self._add(new)
            self._wake()
        return added

    def take_hints(self) -> bool:
        """Take the hints that wait in the store, as `recrawl hint` leaves them; False for none.

        A page that is hinted at has more likely changed, by how often hints for its host were
        right. One that is not known is added, if it belongs to a site of the settings.
        """
        taken = False
        with self._held():
            schedule = self._schedule
            while (new := hear_waiting(schedule.crawl, schedule.reader)) is not None:
                if new:
                    self._add(new)
                if (away := taken_by(schedule.crawl)) is not None:
                    schedule.write(away)
                taken = True
            if taken:
                schedule.save_if_due()
                self._wake()
        return taken

    def status(self) -> SchedulerStatus:
        """How the crawl stands now."""
        with self._held():
            return self._schedule.status()

    def save(self) -> None:
        """Save what was learned, as is done now and then and by `close`, and prune versions."""
        with self._held():
            self._schedule.save()

    def close(self) -> None:
        """Save what was learned, and let the store go; whoever waits is woken up. Idempotent."""
        with self._moved:
            if self._closed:
                return
            try:
                self._schedule.save()
            except BaseException as error:
                self._end(error)
                raise
            self._end()

    def __enter__(self) -> Self:
        """Use it as a context that closes it."""
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object, /) -> None:
        """Close it; after an error as a process that is killed does, which loses nothing either."""
        if error is None:
            self.close()
            return
        with self._moved:
            if not self._closed:
                self._end(error)

    # All of the following is called with the lock held.

    @contextmanager
    def _held(self) -> Iterator[None]:
        with self._lock:
            if self._closed:
                raise StoreError(f"{self._name}: the scheduler is closed; open it again")
            yield

    def _end(self, error: BaseException | None = None) -> None:
        """Let the store go, after an error or without one."""
        self._closed = True
        self._wake()
        trace = None if error is None else error.__traceback__
        self._stack.__exit__(type(error) if error else None, error, trace)

    def _wake(self) -> None:
        self._moved.notify_all()
        for waker in list(self._wakers):
            waker()

    def _next_page(self, deadline: _Deadline) -> DuePage | None:
        """A page once one is due; None where none is in time."""
        with self._moved:
            while not self._closed:
                if found := self.due():
                    return found[0]
                seconds, left = self._seconds_to_go(), deadline.seconds_left()
                if left <= 0 or (seconds > left and not self._outside):
                    return None
                self._moved.wait(_sensible(min(seconds, left)))
        return None

    def _seconds_to_go(self) -> float:
        """Real seconds until something may be due, as far as is known."""
        clock = self._schedule.clock
        now = clock.now()
        ready = self._schedule.crawl.agenda.ready(now)
        return inf if ready == inf else clock.seconds(max(ready - now, 0.0))

    def _add(self, addresses: list[str]) -> int:
        names = [host_of(each) for each in addresses]
        rules = self._schedule.crawl.settings.rules_of(addresses)
        at = self._schedule.clock.now() * SECONDS_A_DAY
        entry = PagesFound(addresses, names, rules, at)
        found: Found = self._schedule.write(entry)
        return self._schedule.take_in(found, entry)


class _Deadline:
    """When to stop waiting, by a clock that nobody sets."""

    def __init__(self, seconds: float | None) -> None:
        self._at = inf if seconds is None else time.monotonic() + seconds

    def seconds_left(self) -> float:
        return self._at - time.monotonic()


def _sensible(seconds: float) -> float:
    """Seconds to sleep: what is known of the next visit may be a moment too early."""
    return min(max(seconds, _SHORTEST_WAIT_SECONDS), _LONGEST_WAIT_SECONDS)


def _settings_of(
    store: Address | None, settings: Settings | Address | None, plain: dict[str, Any]
) -> tuple[Address | None, Settings, str]:
    """Store, settings, and the plain ones as text that the store is to keep."""
    if settings is None:
        asked = plain_settings(plain, name=_OPENED_WITH)
        return store, asked, json.dumps(plain)
    if plain:
        raise InvalidParameter(
            f"{_OPENED_WITH}: {', '.join(plain)} must stand in the settings, where there are any"
        )
    if isinstance(settings, Settings):
        return store, settings, ""
    file = Path(os.fspath(settings))
    asked = load_settings(file)
    return store or store_of(file, asked), asked, ""
