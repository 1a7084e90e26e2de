"""Small crawls to look at: a store with visits, and what was learnt from some of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.entries.entries import PageChange, PagesFound, VisitMade
from recrawl.settings.settings import read_settings
from recrawl.state.opening import learnt_parts, open_crawl
from recrawl.store.sqlite.reader import Reader
from recrawl.store.sqlite.store import Store
from recrawl.visits.status import Outcome, PageStatus

if TYPE_CHECKING:
    from pathlib import Path

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
    with Store.create(path) as store:
        rules = settings.rules_of(names)
        store.write([PagesFound(names, hosts, rules, at_seconds=BEGAN * DAY)])
        for number in range(rounds):
            at = BEGAN + 2 * number + np.sort(random.random(len(names)))
            store.write([_visit(row, at[row], number, changed=fast[row]) for row in range(len(at))])
    return settings


def _visit(row: int, at: float, number: int, *, changed: bool) -> VisitMade:
    outcome = Outcome.FIRST if not number else Outcome.CHANGED if changed else Outcome.SAME
    change = PageChange(PageStatus.COPIED) if not number else None
    return VisitMade(
        row + 1, at * DAY, outcome, http=200, size=100, took_seconds=0.25, change=change
    )


def opened(settings: Settings, path: Path, now: float) -> Crawl:
    """The crawl itself, as it would go on."""
    with Store.open(path) as store, Reader(path) as reader:
        return open_crawl(settings, store, reader, now, random=np.random.default_rng(0))


def save(settings: Settings, path: Path, now: float) -> None:
    """Save what was learnt from all visits so far, as a crawl does when it is stopped."""
    with Store.open(path) as store, Reader(path) as reader:
        crawl = open_crawl(settings, store, reader, now, random=np.random.default_rng(0))
        store.save_learnt(learnt_parts(crawl), store.last_visit)
