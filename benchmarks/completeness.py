"""How complete the change feed is said to be, against the truth.

    python benchmarks/completeness.py [--seeds 20] [--pages 300]

Crawls of the demo's world and of four made ones, on a virtual clock: 40 days, and a visit a day for
every third page. From the tenth day on, every second day, the feed is said to have some share of
the changes of the last week, with a 90 % band; the truth counts the copies that are outdated.

Reported for each world: the mean share as said and as it was, the largest error, how often the band
held, and the same for the number of changes that were not seen yet. Looks at one crawl are not
independent, so coverage is over all looks of all seeds.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.demo.truth import Belief, truly_fresh
from recrawl.demo.virtual import VirtualExample
from recrawl.demo.world import SECTIONS as DEMO_SECTIONS
from recrawl.demo.world import ExampleWorld, Says, draw_world
from recrawl.inspect.status.overview import completeness
from recrawl.plan.budget import Budget
from recrawl.policies.recrawl.beliefs import freshness
from recrawl.policies.recrawl.policy import Recrawl
from recrawl.simulate.made import bursty, log_normal_rates, poisson, sections, weekly
from recrawl.units import epoch_days

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.simulate.world import World

DAYS, FIRST_LOOK, LOOK_EVERY, WEEK = 40.0, 10.0, 2.0, 7.0
UNDATED = next(
    number for number, section in enumerate(DEMO_SECTIONS) if section.says is Says.NOTHING
)


@dataclass(frozen=True, slots=True)
class Look:
    """The share that the feed is said to have, its band, and the true share; the same unseen."""

    share: tuple[float, float, float]
    true_share: float
    unseen: tuple[float, float, float]
    true_unseen: int


def made(make: Callable[..., World]) -> Callable[[int, int], ExampleWorld]:
    """A made world whose pages say nothing of changes, as the demo's crawl takes it."""

    def draw(pages: int, seed: int) -> ExampleWorld:
        random = np.random.default_rng(seed)
        rates = log_normal_rates(pages, every=8.0, spread=1.2, random=random)
        world = make(rates, days=DAYS, random=random)
        start = float(epoch_days(world.start))
        at = epoch_days(world.changes)
        changes = [at[slice(*world.offsets[page : page + 2])].tolist() for page in range(pages)]
        rows = [
            (f"/{address}", UNDATED, rate)
            for address, rate in zip(world.address, rates, strict=True)
        ]
        return ExampleWorld.of(rows, changes, start=start, end=start + DAYS)

    return draw


WORLDS: dict[str, Callable[[int, int], ExampleWorld]] = {
    "demo": lambda pages, seed: draw_world(pages, start=20_000.0, days=DAYS, seed=seed),
    "poisson": made(poisson),
    "sections": made(sections),
    "weekly": made(weekly),
    "bursty": made(bursty),
}


def looks(world: ExampleWorld, seed: int) -> list[Look]:
    """What is said in one crawl, and what is true."""
    budget = Budget(len(world) / 3)
    crawl = VirtualExample(world, Recrawl(), budget, np.random.default_rng(seed))
    found = []
    for day in np.arange(FIRST_LOOK, DAYS, LOOK_EVERY).tolist():
        now = world.start + day
        crawl.go_on(until=now)
        state: Any = crawl.agenda.frontier(0).state
        visits = crawl.visits()
        pages = crawl.agenda.pages(0)
        seen = changes_seen(world, visits.page, visits.at, now - WEEK)
        fresh = freshness(state, now)
        (is_fresh,) = truly_fresh(world, visits, [Belief(now, pages, np.ones(len(pages)))])
        outdated = int(np.count_nonzero(~is_fresh))
        said = completeness(seen, fresh, WEEK)
        found.append(Look(said.share, seen / max(seen + outdated, 1), said.unseen, outdated))
    return found


def changes_seen(world: ExampleWorld, page: Any, at: Any, since: float) -> int:  # noqa: ANN401
    """Visits since an instant that found a page otherwise than the visit before."""
    order = np.lexsort((at, page))
    page, at = page[order], at[order]
    again = np.flatnonzero((page[1:] == page[:-1]) & (at[1:] >= since)) + 1
    return sum(
        world.version(int(page[row]), at[row]) != world.version(int(page[row]), at[row - 1])
        for row in again.tolist()
    )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seeds", type=int, default=20)
    options.add_argument("--pages", type=int, default=300)
    given = options.parse_args()
    print("world      said   true   worst  band holds | unseen said   true  band holds")
    for name, draw in WORLDS.items():
        made = [
            look for seed in range(given.seeds) for look in looks(draw(given.pages, seed), seed)
        ]
        said, low, high = np.array([look.share for look in made]).T
        true = np.array([look.true_share for look in made])
        unseen, fewest, most = np.array([look.unseen for look in made]).T
        outdated = np.array([look.true_unseen for look in made])
        holds = (low <= true) & (true <= high)
        counted = (fewest <= outdated) & (outdated <= most)
        print(
            f"{name:10} {said.mean():.3f}  {true.mean():.3f}  {abs(said - true).max():.3f}"
            f"  {100 * holds.mean():8.1f} % | {unseen.mean():11.1f} {outdated.mean():6.1f}"
            f"  {100 * counted.mean():8.1f} %"
        )


if __name__ == "__main__":
    main()
