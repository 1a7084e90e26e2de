"""What the verbs that crawl share: running a crawl, and what they say of it.

Touches: files, the network, the clock, signals, the standard streams.
"""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Self

from recrawl.cli import screen
from recrawl.cli.watching import saying_steps, watched

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from pathlib import Path

    from recrawl.adapters.warc.fetches import RecordedFetch
    from recrawl.adapters.warc.recorder import WarcRecorder
    from recrawl.clock import RealClock
    from recrawl.crawl.crawler import Crawler
    from recrawl.crawl.finding import Discovered
    from recrawl.crawl.page_visit import PageVisit
    from recrawl.crawl.tally import Tally
    from recrawl.entries.listings import ListingSynced
    from recrawl.fetch.access import AccessTable
    from recrawl.fetch.fetcher import Fetcher
    from recrawl.publish.tasks import Hooks
    from recrawl.settings.settings import Settings


@dataclass(frozen=True, slots=True)
class SettingsSource:
    """How the settings of a crawl that runs are read again.

    Args:
        read: Reads them.
        equip: Makes of them who is told of events, and how addresses are asked for.
    """

    read: Callable[[], Settings]
    equip: Callable[[Settings], tuple[Hooks, AccessTable]]


@dataclass(frozen=True, slots=True)
class CrawlOptions:
    """How long to crawl, and what to record.

    Args:
        once: Whether to stop when nothing is due.
        days: Days after which to stop.
        port: Port of the Prometheus endpoint; 0 for none.
        warc: Folder for WARC files; None for none.
        warc_bytes: Room for all of them together; None to keep them all.
        hooks: Who is told of events; None for nobody.
        access: How addresses are asked for.
        reload: How the settings are read again at SIGHUP; None where they are not.
        on_owner: Called with the crawler that owns the schedule, and with None when it ends.
    """

    once: bool = False
    days: float = inf
    port: int = 0
    warc: Path | None = None
    warc_bytes: int | None = None
    hooks: Hooks | None = None
    access: AccessTable | None = None
    reload: SettingsSource | None = None
    on_owner: Callable[[Crawler | None], object] = bool


async def crawl_on(
    settings: Settings, store: Path, options: CrawlOptions, on_visit: Callable[[PageVisit], object]
) -> None:
    """Crawl until the options or a signal end it; begin again with other settings at SIGHUP."""
    from recrawl.clock import RealClock

    clock = RealClock()
    until = clock.now() + options.days
    with _Reloading(options) as reloading:
        while True:
            await _crawl(settings, store, options, on_visit, (clock, until), reloading)
            if reloading.asked is None:
                return
            settings, (hooks, access) = reloading.take(settings, store)
            options = replace(options, hooks=hooks, access=access)


async def _crawl(
    settings: Settings,
    store: Path,
    options: CrawlOptions,
    on_visit: Callable[[PageVisit], object],
    time: tuple[RealClock, float],
    reloading: _Reloading,
) -> None:
    """Crawl until the options or a signal end it."""
    from recrawl.crawl.running import running
    from recrawl.errors import NothingAnswered
    from recrawl.store.lock import tell_that_it_reloads

    clock, until = time
    async with (
        _recording(options, settings) as record,
        running(
            settings,
            store,
            clock,
            on_visit=on_visit,
            on_replay=_say_replayed,
            on_dated_back=_say_dated_back,
            on_remark=screen.remark,
            access=options.access,
            record=record,
            hooks=options.hooks,
        ) as crawler,
    ):
        silent: list[str] = []

        def found(address: str, what: Discovered) -> None:
            _say_found(settings, address, what)
            silent.extend(() if what.reached else what.remarks)

        reloading.stop = crawler.stop
        if reloading.asked is not None:  # while it was opened
            crawler.stop()
        async with watched(crawler, reloading.end, options.port), saying_steps(clock):
            if options.reload is not None:
                tell_that_it_reloads(store)
            options.on_owner(crawler)
            try:
                await crawler.run(until=until, once=options.once, found=found, synced=_say_synced)
            finally:
                options.on_owner(None)
        if reloading.asked is not None:
            return
        screen.remark(f"Stopped. {crawler.figures().line()}.")
        tally, (alone, hosts) = crawler.tally, crawler.left_alone()
    _say_troubles(tally, alone, hosts)
    unheard = tally.failed or silent or (alone and alone == hosts)
    if options.once and tally.failed == tally.visits and unheard:
        failed = "the visit" if tally.failed == 1 else f"all of {tally.failed:,} visits"
        why = f"{failed} failed" if tally.failed else "all hosts are on hold"
        raise NothingAnswered(f"no site answered ({silent[0] if silent else why})")


class _Reloading:
    """Settings that a crawl is asked by SIGHUP to go on with; for the whole of a crawl.

    The signal is also that of a terminal that is closed: then the crawl ends.

    Args:
        options: Has what reads the settings.

    Attributes:
        asked: Settings that were read; None where nobody asked.
        stop: Stops the crawler of the moment.
    """

    def __init__(self, options: CrawlOptions) -> None:
        self._reload = options.reload
        self._loop = asyncio.get_running_loop()
        self._had_terminal = _has_terminal()
        self.asked: Settings | None = None
        self.stop: Callable[[], object] = bool

    def __enter__(self) -> Self:
        if self._reload is not None:
            self._loop.add_signal_handler(signal.SIGHUP, self._read)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.remove_signal_handler(signal.SIGHUP)

    def end(self) -> None:
        """Stop the crawl, whatever was asked before."""
        self.asked = None
        self.stop()

    def _read(self) -> None:
        """Read the settings; ones that cannot be used change nothing."""
        from recrawl.errors import RecrawlError

        if self._had_terminal and not _has_terminal():
            self.end()
            return
        assert self._reload is not None  # noqa: S101 - else nobody calls
        waits = self.asked is not None
        try:
            found = self._reload.read()
            self._reload.equip(found)
        except RecrawlError as error:
            screen.warn(f"{error}; the crawl goes on with the settings that it has")
            return
        self.asked = found
        if not waits:
            self.stop()

    def take(self, old: Settings, store: Path) -> tuple[Settings, tuple[Hooks, AccessTable]]:
        """The settings to go on with; says what changed, and what of it needs a restart."""
        from recrawl.cli.running_crawl import reloaded

        assert self._reload is not None  # noqa: S101 - else nobody asks
        assert self.asked is not None  # noqa: S101 - asked before
        new, self.asked, self.stop = self.asked, None, bool
        found = reloaded(old, new, store)
        said = [f"applied: {', '.join(found.applied)}"] if found.applied else []
        said += [f"restart the crawl for: {', '.join(found.restart)}"] if found.restart else []
        screen.remark(f"Settings read again; {'; '.join(said) or 'nothing changed'}.")
        return found.settings, self._reload.equip(found.settings)


def _has_terminal() -> bool:
    """Whether this process has a terminal that is still there."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True


def _say_troubles(tally: Tally, alone: int, hosts: int) -> None:
    """Print how many visits failed, and how many hosts are left alone."""
    from recrawl.report.words import counted

    if tally.failed:
        where = counted(len(tally.failing), "host")
        screen.remark(f"{tally.failed:,} of {counted(tally.visits, 'visit')} failed, at {where}.")
    if alone:
        why = "robots.txt could not be fetched, or they asked to wait"
        screen.remark(f"Hosts on hold: {alone:,} of {hosts:,} ({why}).")


async def find_pages(
    settings: Settings,
    store: Path,
    numbers: Sequence[int],
    access: AccessTable | None = None,
    on_answer: Callable[[], object] | None = None,
) -> str:
    """Look for the pages of some rules now, and store them; returns why no site answered.

    Args:
        settings: What is asked of the crawl.
        store: Its store.
        numbers: Numbers of the rules.
        access: How addresses are asked for.
        on_answer: Called once the sites have answered, before anything is stored.

    Raises:
        NothingAnswered: With `on_answer`: a site cannot be asked now.
    """
    from recrawl.clock import RealClock
    from recrawl.crawl.running import running

    silent: list[str] = []
    reached = 0

    def found(number: int, what: Discovered) -> None:
        nonlocal reached
        _say_found(settings, settings.rules[number].address, what)
        reached += what.reached
        silent.extend(() if what.reached else what.remarks)

    remark = screen.remark
    async with running(settings, store, RealClock(), access=access, on_remark=remark) as crawler:
        if on_answer is not None:
            for number in numbers:
                await _check_answer(crawler, settings.rules[number].address, number)
            on_answer()
        await crawler.find(numbers, found)
        await crawler.save()
    return "" if reached or not silent else silent[0]


async def _check_answer(crawler: Crawler, address: str, number: int) -> None:
    """Raise if a site cannot be asked now."""
    from recrawl.errors import NothingAnswered
    from recrawl.fetch.http.resolver import NOT_PUBLIC

    if why := await crawler.trouble_at(number):
        hint = "add --local to allow it" if NOT_PUBLIC in why else "add --later to add it anyway"
        raise NothingAnswered(f"{address}: {why}; {hint}")


@asynccontextmanager
async def _recording(
    options: CrawlOptions, settings: Settings
) -> AsyncIterator[Callable[[Fetcher], Fetcher] | None]:
    """Wrapper of the fetcher that records everything fetched; None where nobody asked for it."""
    folder = options.warc
    if folder is None:
        yield None
        return
    async with AsyncExitStack() as stack:

        def record(fetcher: Fetcher) -> Fetcher:  # not before the store is ours
            recorder = warc_recorder(folder, options.warc_bytes, settings)
            stack.push_async_exit(recorder)
            return recorder.wrap(fetcher)

        yield record


def warc_recorder(folder: Path, total_bytes: int | None, settings: Settings) -> WarcRecorder:
    """What records fetches in WARC files, unless a page asks for `noarchive`.

    Args:
        folder: Folder for the files.
        total_bytes: Room for all of them together; None to keep them all.
        settings: What is asked of the crawl.
    """
    from recrawl.adapters.warc.folder import WarcFolder
    from recrawl.adapters.warc.recorder import WarcRecorder

    files = WarcFolder(folder, settings.agent, total_bytes=total_bytes)
    return WarcRecorder(files, may_archive=partial(_may_archive, settings))


def _may_archive(settings: Settings, fetched: RecordedFetch) -> bool:
    """Whether a page does not ask for `noarchive`, or is one of whose tags nothing is heeded."""
    from recrawl.parse.robots_tags import read_robots_tags
    from recrawl.visits.status import RobotsTag

    if not settings.heeds_robots_tags(fetched.request.address):
        return True
    tags = read_robots_tags(fetched.response, settings.robots_agent)
    return RobotsTag.NOARCHIVE not in tags.at(fetched.at / 1000)


def _say_dated_back(visits: int) -> None:
    from recrawl.report.words import counted

    screen.remark(
        f"The clock was ahead: {counted(visits, 'visit')} dated in the future moved to now."
    )


def _say_replayed(visits: int) -> None:
    from recrawl.report.words import counted

    screen.remark(f"Replayed {counted(visits, 'visit')}.")


def _say_found(settings: Settings, address: str, found: Discovered) -> None:
    screen.remark(f"{address}: {found_sentence(settings, address, found)}")
    for sentence in found.remarks:
        screen.remark(f"  {sentence}")


def found_sentence(settings: Settings, address: str, found: Discovered) -> str:
    """What was found of a site, and what to do where that is next to nothing.

    >>> from recrawl.crawl.finding import Discovered
    >>> from recrawl.settings.rules import Rule
    >>> from recrawl.settings.settings import Settings
    >>> asked = Settings("bot (me@example.org)", rules=(Rule("https://a.org/"),))
    >>> found_sentence(asked, "https://a.org/", Discovered({"https://a.org/": None}, new=1))
    'Found 1 page (no sitemaps, no feeds). Set links = 3 to follow links.'
    >>> pages = dict.fromkeys(["https://a.org/", "https://a.org/b"])
    >>> found_sentence(asked, "https://a.org/", Discovered(pages, new=1, sitemaps=1))
    'Found 2 pages, 1 of them new (1 sitemap, no feeds).'
    """
    from recrawl.report.words import counted

    rule = settings.rule_for(address)
    if not found.reached:
        return "No answer yet; a crawl asks again."
    pages = counted(len(found.addresses), "page")
    if rule is not None and rule.exact:
        return f"Found {pages}."
    if len(found.addresses) > 1 and found.new:
        pages += (
            ", all new" if found.new >= len(found.addresses) else f", {found.new:,} of them new"
        )
    kinds = {"sitemap": found.sitemaps, "feed": found.feeds}
    named = [counted(number, kind) if number else f"no {kind}s" for kind, number in kinds.items()]
    said = f"Found {pages} ({', '.join(named)})."
    if len(found.addresses) == 1 and rule is not None and not rule.links:
        said += " Set links = 3 to follow links."
    return said


def _say_synced(synced: ListingSynced) -> None:
    screen.remark(synced_sentence(synced))


def synced_sentence(synced: ListingSynced) -> str:
    """Summary of a sync of a listing.

    >>> from recrawl.entries.listings import ListingSynced, SyncOutcome
    >>> new, gone = {"a": {}, "b": {}}, ["c"]
    >>> synced = ListingSynced("jobs", 0.0, SyncOutcome.DONE, 86_400.0, inserted=new, deleted=gone)
    >>> synced_sentence(synced)
    'jobs: 0 listed, 2 new, 0 changed, 1 gone; next sync in 1.0d.'
    """
    from recrawl.report.words import every
    from recrawl.units import SECONDS_A_DAY

    said = f"{synced.outcome.label}, {synced.detail}"
    if synced.outcome.accepted:
        said = (
            f"{synced.items:,} listed, {len(synced.inserted):,} new, "
            f"{len(synced.updated):,} changed, {len(synced.deleted):,} gone"
        )
    wait = (synced.next_at_seconds - synced.at_seconds) / SECONDS_A_DAY
    return f"{synced.listing}: {said}; next sync in {every(wait)}."
