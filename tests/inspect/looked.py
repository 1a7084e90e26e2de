"""Small crawls to look at: a store with visits, and what was learned from some of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.entries.entries import Checkpoint, PageChange, PagesFound, VisitMade
from recrawl.inspect.status.overview import overview
from recrawl.settings.settings import read_settings
from recrawl.state.opening import open_crawl
from recrawl.store import create_store, open_for_writing, open_store
from recrawl.visits.status import PageStatus, VisitOutcome

if TYPE_CHECKING:
    from pathlib import Path

    from recrawl.inspect.status.values import CrawlStatus
    from recrawl.settings.settings import Settings
    from recrawl.state.opening import Crawl

DAY = 86_400.0
BEGAN = 20_000.0  # days after 1970
TEXT = """agent = "bot (me@example.org)"
budget = "{budget}/1d"

[[site]]
address = "https://a.org/"
"""
OWN = """
[[site]]
address = "https://b.org/"
budget = "5/1d"
weight = 2
maximum = "9d"
"""


def settings_text(budget: int = 20, *, own: bool = False) -> str:
    """Settings of a site, and of another that has its own budget."""
    return TEXT.format(budget=budget) + (OWN if own else "")


def addresses(count: int, host: str = "a.org") -> list[str]:
    """Addresses in folders of ten."""
    return [f"https://{host}/s{number // 10}/p{number}.html" for number in range(count)]


def made(path: Path, *, pages: int = 60, rounds: int = 5, own: bool = False) -> Settings:
    """Write a crawl: first copies, then rounds of visits two days apart that find half changed."""
    settings = read_settings(settings_text(own=own))
    path.with_name("recrawl.toml").write_text(settings_text(own=own))
    names = [*addresses(pages), *(addresses(pages // 2, "b.org") if own else [])]
    hosts = [name.split("/")[2] for name in names]
    random = np.random.default_rng(1)
    fast = random.random(len(names)) < 0.5
    with create_store(path) as store:
        rules = settings.rules_of(names)
        store.write([PagesFound(names, hosts, rules, at_seconds=BEGAN * DAY)])
        for number in range(rounds):
            at = BEGAN + 2 * number + np.sort(random.random(len(names)))
            store.write([_visit(row, at[row], number, changed=fast[row]) for row in range(len(at))])
    return settings


def _visit(row: int, at: float, number: int, *, changed: bool) -> VisitMade:
    outcome = (
        VisitOutcome.FIRST if not number else VisitOutcome.CHANGED if changed else VisitOutcome.SAME
    )
    change = PageChange(PageStatus.COPIED) if not number else None
    return VisitMade(row, at * DAY, outcome, http=200, size=100, took_seconds=0.25, change=change)


def opened(settings: Settings, path: Path, now: float) -> Crawl:
    """The crawl itself, as it would go on."""
    with open_for_writing(path) as store, open_store(path) as reader:
        return open_crawl(settings, store, reader, now, random=np.random.default_rng(0))


def overview_of(settings: Settings, path: Path, now: float) -> CrawlStatus:
    """How the crawl of a store stands."""
    with open_store(path) as reader:
        return overview(settings, reader, now)


def save(settings: Settings, path: Path, now: float) -> None:
    """Save what was learned from all visits so far, as a crawl does when it is stopped."""
    with open_for_writing(path) as store, open_store(path) as reader:
        crawl = open_crawl(settings, store, reader, now, random=np.random.default_rng(0))
        store.write([Checkpoint(crawl.dump())])
