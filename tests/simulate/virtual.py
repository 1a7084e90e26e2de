"""Crawls with settings and a store that take no time: the real agenda, and a world without network.

Touches: files.
"""

from __future__ import annotations

from contextlib import contextmanager
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from recrawl.entries.entries import Checkpoint, PageChange, PagesFound, VisitMade
from recrawl.settings.settings import read_settings
from recrawl.state.opening import open_crawl
from recrawl.store import create_store, open_for_writing, open_store
from recrawl.visits.status import VisitOutcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from recrawl.demo.world import ExampleWorld
    from recrawl.entries.store import ReadStore, WriteStore
    from recrawl.frontier.agenda import Lease
    from recrawl.settings.settings import Settings
    from recrawl.state.opening import Crawl

DAY = 86_400.0
SECOND = 1 / DAY
ORIGIN = "https://a.org"


def settings_of(budget: float, *, top: str = "", site: str = "", more: str = "") -> Settings:
    """Settings of one site, with more lines at the top, in its block and below it."""
    text = f'agent = "bot (me@example.org)"\nbudget = "{budget}/1d"\n{top}\n'
    return read_settings(f'{text}\n[[site]]\naddress = "{ORIGIN}/"\n{site}\n\n{more}\n')


class VirtualCrawl:
    """A crawl of a world, whose visits are written down as a live one's are.

    Args:
        world: What is crawled.
        settings: What is asked of the crawl.
        store: Its store, held for writing.
        reader: The same, for reading.
        now: When it begins or goes on, in days after 1970.
        found: What visits to some pages find whatever the world says: failed, gone or refused.
        seed: Of what the crawl leaves to chance.
    """

    def __init__(
        self,
        world: ExampleWorld,
        settings: Settings,
        store: WriteStore,
        reader: ReadStore,
        now: float,
        *,
        found: Mapping[int, VisitOutcome] | None = None,
        seed: int = 0,
    ) -> None:
        self.now = now
        self.made: list[tuple[int, float]] = []
        self._world = world
        self._store = store
        self.reader = reader
        self.settings = settings
        if not reader.page_count():
            names = [f"{ORIGIN}{path}" for path in world.path]
            hosts, rules = ["a.org"] * len(names), settings.rules_of(names)
            store.write([PagesFound(names, hosts, rules, at_seconds=now * DAY)])
        self.crawl: Crawl = open_crawl(
            settings, store, reader, now, random=np.random.default_rng(seed)
        )
        self.found = dict(found or {})

    def go_on(self, until: float, *, stop: Callable[[int], bool] = lambda _: False) -> None:
        """Go on until an instant, or until a page is visited at which to stop."""
        agenda = self.crawl.agenda
        while self.now < until:
            leases = agenda.take(self.now, 1)
            for lease in leases:
                self._visit(lease)
                if stop(lease.page):
                    return
            if not leases:
                self.now = min(max(agenda.ready(self.now), self.now + SECOND), until)

    def save(self) -> None:
        """Save what was learned."""
        self._store.write([Checkpoint(self.crawl.dump())])

    def next_visits(self, pages: Sequence[int], until: float) -> list[float]:
        """When pages are visited next; infinite where they are not until an instant."""
        before, wanted = len(self.made), set(pages)

        def visited(page: int) -> bool:
            wanted.discard(page)
            return not wanted

        self.go_on(until, stop=visited)
        first: dict[int, float] = {}
        for page, at in self.made[before:]:
            first.setdefault(page, at)
        return [first.get(page, inf) for page in pages]

    def _visit(self, lease: Lease) -> None:
        page, now, agenda = lease.page, self.now, self.crawl.agenda
        agenda.answered(lease, now)
        self.made.append((page, now))
        had = agenda.status(page), agenda.failures(page)
        outcome = self.found.get(page) or self._compared(lease)
        match outcome:
            case VisitOutcome.FAILED:
                agenda.failed(page, now)
            case VisitOutcome.GONE:
                agenda.gone(page, now)
            case VisitOutcome.REFUSED:
                agenda.refused(page, now)
            case VisitOutcome.FIRST:
                agenda.copied(page, f"{ORIGIN}{self._world.path[page]}", now)
            case _:
                agenda.seen(page, now, changed=outcome is VisitOutcome.CHANGED)
        if outcome in (VisitOutcome.FIRST, VisitOutcome.SAME, VisitOutcome.CHANGED):
            self.crawl.last[page] = now
        stands, after = (agenda.status(page), agenda.failures(page)), agenda.set_time(page)
        change = None
        if stands != had or after < inf:
            change = PageChange(*stands, after * DAY if after < inf else None)
        self._store.write([VisitMade(page, now * DAY, outcome, http=200, change=change)])

    def _compared(self, lease: Lease) -> VisitOutcome:
        """What a visit finds that the world answers."""
        if lease.first:
            return VisitOutcome.FIRST
        last = float(self.crawl.last[lease.page])
        version = self._world.version
        changed = version(lease.page, self.now) != version(lease.page, last)
        return VisitOutcome.CHANGED if changed else VisitOutcome.SAME


@contextmanager
def crawling(
    path: Path,
    world: ExampleWorld,
    settings: Settings,
    now: float,
    found: Mapping[int, VisitOutcome] | None = None,
) -> Iterator[VirtualCrawl]:
    """A crawl of a world, with its store at a path, which may hold a crawl already."""
    with (
        open_for_writing(path) if path.exists() else create_store(path) as store,
        open_store(path) as reader,
    ):
        yield VirtualCrawl(world, settings, store, reader, now, found=found)
