"""Stores of listings whose whole history is known, made without a network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recrawl.demo.jobs import ExampleJobs
from recrawl.listings.live.judging import ListingFacts, judge_sync
from recrawl.listings.live.pages import ListingSnapshot
from recrawl.listings.live.rules import ListingRule
from recrawl.parse.items.item import Layout
from recrawl.store import create_store, open_store
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from recrawl.entries.listings import ListingSynced
    from recrawl.entries.store import WriteStore
    from recrawl.listings.live.forecast import LiveForecast

START = 20_000.375


def rule(name: str = "jobs", **more: Any) -> ListingRule:
    """A rule of a list that nobody asks for."""
    return ListingRule(name, ("https://example.org/",), Layout("li", "a"), **more)


def kept(
    store: WriteStore,
    shown: Callable[[float], Mapping[str, Mapping[str, str]]],
    wanted: ListingRule,
    days: float,
) -> list[ListingSynced]:
    """Sync a list whenever it is due, for some days; every sync is in the store."""
    now, forecast = START, None
    seen: list[ListingSynced] = []
    while now <= START + days:
        read = ListingSnapshot({key: dict(each) for key, each in shown(now).items()}, 1)
        with open_store(store.name) as reader:
            history = reader.listing_history(wanted.name)
            listed = reader.listed_objects(wanted.name)
        after: tuple[ListingSynced, LiveForecast | None]
        after = judge_sync(wanted, ListingFacts(history, listed, forecast), read, now)
        synced, forecast = after
        store.write([synced])
        seen.append(synced)
        now = synced.next_at_seconds / SECONDS_A_DAY
    return seen


def jobs_shown(jobs: ExampleJobs) -> Callable[[float], dict[str, dict[str, str]]]:
    """What a board shows at an instant."""
    return lambda now: {
        str(job): {"pay": str(1000 + job % 7), "kind": "even" if job % 2 == 0 else "odd"}
        for job in jobs.listed(now).tolist()
    }


def store_of_jobs(path: Path, days: float = 40.0, **more: Any) -> ExampleJobs:
    """A store that kept a job board for some days."""
    jobs = ExampleJobs.made(START, days=days + 1, seed=5, arrivals=5.0)
    with create_store(path) as store:
        kept(store, jobs_shown(jobs), rule(**more), days)
    return jobs
