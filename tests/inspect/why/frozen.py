"""Crawls that stand still: what is said of a page's next visit, and what then really happens.

Touches: files.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import apsw

from recrawl.inspect.scenario import build_scenario
from recrawl.inspect.why.binding import binding
from recrawl.inspect.why.what_if import what_ifs
from recrawl.simulate.next_visit import simulate_next_visit
from recrawl.state.snapshot import load_snapshot
from recrawl.store import open_store
from tests.simulate.virtual import ORIGIN, crawling

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from recrawl.demo.world import ExampleWorld
    from recrawl.inspect.why.binding import Binding
    from recrawl.inspect.why.values import WhatIf
    from recrawl.settings.settings import Settings
    from recrawl.simulate.scenario import Scenario
    from recrawl.state.snapshot import Snapshot
    from recrawl.visits.status import VisitOutcome


@dataclass(frozen=True)
class Said:
    """What is said of a page's next visit."""

    at: float
    kind: Binding
    what_ifs: dict[str, WhatIf]
    scenario: Scenario


@dataclass(frozen=True)
class Frozen:
    """A crawl that stands still at an instant, and when it has visited its pages after that."""

    path: Path
    world: ExampleWorld
    settings: Settings
    now: float
    found: Mapping[int, VisitOutcome]
    went_on: list[float]

    @classmethod
    def at(
        cls,
        path: Path,
        world: ExampleWorld,
        settings: Settings,
        now: float,
        found: Mapping[int, VisitOutcome] | None = None,
        days: float = 0.0,
    ) -> Frozen:
        """A crawl from the start of a world until an instant, which goes on for some days."""
        running = path.with_name("running.db")
        with crawling(running, world, settings, world.start, found) as crawl:
            crawl.go_on(now)
            crawl.save()
            # Not by copying the file: to close it again would end the store's own locks.
            connection = apsw.Connection(str(running))
            connection.execute("vacuum into ?", (str(path),))
            connection.close()
            went_on = crawl.next_visits(range(len(world)), now + days) if days else []
        return cls(path, world, settings, now, found or {}, went_on)

    def copied(self, path: Path) -> Frozen:
        """The same, with a store of its own."""
        shutil.copy(self.path, path)
        return replace(self, path=path)

    @cached_property
    def snapshot(self) -> Snapshot:
        """The crawl as it stands."""
        with open_store(self.path) as reader:
            return load_snapshot(self.settings, reader, self.now)

    def scenario(self, page: int, most: int = 2_000) -> Scenario:
        """The scenario of a page."""
        with open_store(self.path) as reader:
            return build_scenario(self.snapshot, reader, page, most=most)

    def said(self, page: int, *, otherwise: bool = True) -> Said:
        """What is said of a page; what would change it only where that is wanted."""
        scenario = self.scenario(page)
        base = simulate_next_visit(scenario)
        changes = what_ifs(scenario, base) if otherwise else []
        named = {f"{each.change} {each.to}": each for each in changes}
        return Said(base.at, binding(scenario, base), named, scenario)

    def really(
        self,
        pages: Sequence[int],
        settings: Settings | None = None,
        *,
        changed: int | None = None,
        days: float = 40.0,
    ) -> list[float]:
        """When pages are really visited next if the crawl begins again.

        Args:
            pages: The pages.
            settings: With other settings.
            changed: With a visit to a page that has changed.
            days: How long to wait for them.
        """
        path = self.path.with_name("again.db")
        shutil.copy(self.path, path)
        with crawling(path, self.world, settings or self.settings, self.now, self.found) as crawl:
            if changed is not None:
                crawl.crawl.agenda.seen(changed, self.now, changed=True)
            return crawl.next_visits(pages, self.now + days)

    def block(self, page: int, lines: str) -> str:
        """A block of the settings for one page."""
        return f'[[page]]\naddress = "{ORIGIN}{self.world.path[page]}"\n{lines}\n'
