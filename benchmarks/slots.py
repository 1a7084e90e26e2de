"""Slots that share a budget by one price, against one process and against static shares.

    python benchmarks/slots.py [--seeds 4]
    python benchmarks/slots.py --data ../shared/data/pages --sources ota_contrib,tosback
    python benchmarks/slots.py --table learning [--data ../shared/data/pages --sources ...]

Everything runs on a virtual clock with the frontier and the policy of a live crawl.

- `sharing`: the same world is crawled by one process, by slots with one price
  (`recrawl.simulate.slots`, which does what workers do), and by slots that each have a fixed share
  of the budget in proportion to their pages. Spending is compared with the budget day by day.
- `learning`: what is lost because slots learn apart. All pages are ranked together, so that the
  price is perfect, but every slot has a state of its own: without any exchange, and with that of
  `recrawl.policies.recrawl.shared_learning`. Small slots are those with less than 50 pages.

Made worlds have sites of very different sizes and rates, with sections that change together. The
public sources are divided by site: the services of `ota_contrib`, the domains of `tosback`, the
languages of `k8s`. Their time is scaled so that a page is visited once a day on the mean; the
policy has no unit of time.

Needs pyarrow for public sources. Touches: the files it reads, the terminal.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.plan.budget import Budget
from recrawl.plan.objectives import OBJECTIVES
from recrawl.policies.recrawl.policy import Recrawl
from recrawl.policies.recrawl.shared_learning import SharedLearning
from recrawl.settings.slots import slot_of
from recrawl.simulate.made import START
from recrawl.simulate.run import simulate
from recrawl.simulate.slots import SlotSimulation
from recrawl.simulate.world import World
from recrawl.units import MICROSECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recrawl.arrays.types import Bools, Floats, Instants, Ints
    from recrawl.policies.pages import Outcomes, Pages
    from recrawl.policies.recrawl.state import RecrawlState
    from recrawl.simulate.scores import SimulationRun

POLICY = Recrawl(objective=OBJECTIVES["freshness"])
EVERY = 1 / 96  # days between exchanges; workers exchange every few seconds
SMALL = 50  # pages
# Where the site stands in the paths of each source.
SITE_AT = {"ota_contrib": 0, "tosback": 1, "k8s": 1}


def made_world(seed: int, pages: int, days: int, sites: int = 24) -> World:
    """Sites of Pareto sizes, whose rates differ by a factor of ten or so; sections change together.

    Four in ten changes of a page are its own; the others come when its section changes, and each
    page of it then changes with a chance of a half.
    """
    random = np.random.default_rng(seed)
    size = random.pareto(0.9, sites) + 1
    size = np.maximum(size / size.sum() * pages, 4).astype(int)
    middle = np.exp(random.normal(-1.5, 1.0, sites))
    address: list[str] = []
    rows: list[Ints] = []
    times: list[Floats] = []
    for site, count in enumerate(size.tolist()):
        section = np.arange(count) // 12
        rate = middle[site] * np.exp(random.normal(0, 0.6, int(section[-1]) + 1))[section]
        rate *= np.exp(random.normal(0, 0.4, count))
        first = len(address)
        address += [f"https://s{site}.org/s{part}/{page}" for page, part in enumerate(section)]
        alone = np.repeat(np.arange(count), random.poisson(0.4 * rate * days))
        rows.append(first + alone)
        times.append(random.uniform(0, days, len(alone)))
        for part in np.unique(section).tolist():
            among = np.flatnonzero(section == part)
            sweeps = random.poisson(rate[among].mean() * 1.2 * days)
            for at in random.uniform(0, days, sweeps):
                some = among[random.random(len(among)) < 0.5]
                rows.append(first + some)
                times.append(at + random.uniform(0, 1 / 24, len(some)))
    changes = np.concatenate(rows), _instants(np.concatenate(times))
    end = START + np.timedelta64(days, "D")
    return World.of(address, np.full(len(address), START), changes, end=end)


def public_world(folder: Path, source: str, visits_a_change: float) -> World:
    """Pages of a source on a host per site, visited once a day on the mean."""
    from pyarrow import parquet

    pages, changes = (
        parquet.read_table(folder / source / f"{name}.parquet") for name in ("pages", "changes")
    )
    paths = [path.replace(" ", "-").split("/") for path in pages["url"].to_pylist()]
    at = SITE_AT[source]
    # A site is a registered domain of its own, whatever its name.
    sites = {name: number for number, name in enumerate(dict.fromkeys(path[at] for path in paths))}
    address = [f"https://s{sites[path[at]]}.org/{'/'.join(path[at + 1 :])}" for path in paths]
    row_of = {page: row for row, page in enumerate(pages["page"].to_pylist())}
    row = np.array([row_of[page] for page in changes["page"].to_pylist()])
    first, gone, changed = (
        np.asarray(column.cast("timestamp[us]").to_numpy(), "datetime64[us]")
        for column in (pages["first_seen"], pages["removed_at"], changes["changed_at"])
    )
    whole = World.of(address, first, (row, changed), removed_at=gone)
    gap = 1 / whole.budget(Budget(visits_a_change, "change")).visits_a_day(1)
    start = first.min()

    def scaled(instants: Instants) -> Instants:
        return START + ((instants - start) / gap).astype("timedelta64[us]")

    return World.of(address, scaled(first), (row, scaled(changed)), removed_at=scaled(gone))


def _instants(days: Floats) -> Instants:
    return START + (days * MICROSECONDS_A_DAY).astype("timedelta64[us]")


def slots_of(world: World, slots: int) -> Ints:
    return np.array([slot_of(address, slots) for address in world.address])


def parts(run: SimulationRun, pages: Bools) -> float:
    """Staleness of some of the pages."""
    time_alive = run.world.scored_days[pages].sum()
    return float(run.stale_days[pages].sum() / time_alive) if time_alive else np.nan


# Sharing.


def crawl(world: World, slot: Ints, every: float, budget: Budget, seed: int) -> tuple[Any, ...]:
    """Freshness of a run, and its spending by the day over the budget."""
    random = np.random.default_rng(seed)
    simulation = SlotSimulation(world, POLICY, budget, slot=slot, every=every, random=random)
    for _ in simulation.steps():
        pass
    run, made = simulation.result(), simulation.leased
    first = int(np.floor(made[0]))
    days = np.bincount((made - first).astype(np.int64))[1:-1]
    live = np.array(
        [np.count_nonzero(_alive(world, first + 1 + day)) for day in range(len(days))], float
    )
    return run, days / world.budget(budget).visits_a_day(1) / live


def _alive(world: World, day: int) -> Bools:
    """Pages that a crawl knows of in the middle of a day after 1970; it forgets none."""
    middle = np.datetime64(0, "us") + np.timedelta64(int((day + 0.5) * MICROSECONDS_A_DAY), "us")
    return np.asarray(world.first_seen <= middle)


def sharing(worlds: Iterator[tuple[str, World, int]], budget: Budget, slots: int) -> None:
    print("world, pages in slots, then freshness, days' spending and CPU seconds of each run")
    ratios: dict[str, list[float]] = {}
    for name, world, seed in worlds:
        slot = slots_of(world, slots)
        print(f"{name}: {np.bincount(slot, minlength=slots).tolist()}", flush=True)
        one = 0.0
        runs = {"one process": (slot * 0, inf), "one price": (slot, EVERY), "static": (slot, inf)}
        for kind, (division, every) in runs.items():
            began = time.process_time()
            run, days = crawl(world, division, every, budget, seed)
            one = one or run.freshness
            ratios.setdefault(kind, []).append(run.freshness / one)
            spent = f"{days.mean():.4f} ({days.min():.3f} to {days.max():.3f})"
            took = time.process_time() - began
            print(
                f"  {kind:12} {run.freshness:.4f}  {run.freshness / one:.4f} of one process, "
                f"spent {spent}, {took:.0f} s",
                flush=True,
            )
    for kind, each in ratios.items():
        mean, error = np.mean(each), np.std(each) / max(len(each) - 1, 1) ** 0.5
        print(f"{kind:12} {mean:.4f} ± {error:.4f} of the freshness of one process")


# Learning.


@dataclass
class Apart:
    """States of slots: which slot each page is in, and its row there."""

    slot: Ints
    row: Ints
    states: dict[int, RecrawlState]
    gap: float


class LearnsApart:
    """Our policy with a state per slot, and values that are compared across all."""

    def __init__(self, slots: int, *, exchange: bool) -> None:
        self._slots, self._exchange = slots, exchange

    def start(self, pages: Pages, now: np.datetime64, gap: float) -> Apart:
        """State of a crawl that begins now."""
        del now
        none = np.empty(0, np.int64)
        return self.found(Apart(none, none, {}, gap), pages)

    def found(self, state: Apart, pages: Pages) -> Apart:
        """State with more pages."""
        slot = np.array([slot_of(each, self._slots) for each in pages.address])
        row = np.zeros(len(slot), np.int64)
        for number in np.unique(slot).tolist():
            some = np.flatnonzero(slot == number)
            new, known = pages.take(some), state.states.get(number)
            if known is None:
                state.states[number] = POLICY.start(new, new.first_seen.max(), state.gap)
                row[some] = np.arange(len(some))
            else:
                row[some] = len(known.last) + np.arange(len(some))
                state.states[number] = POLICY.found(known, new)
        state.slot, state.row = np.append(state.slot, slot), np.append(state.row, row)
        return state

    def with_mean_gap(self, state: Apart, gap: float) -> Apart:
        """State of a crawl whose mean gap has moved."""
        state.gap = gap
        for number, each in state.states.items():
            state.states[number] = POLICY.with_mean_gap(each, gap)
        return state

    def seen(self, state: Apart, rows: Ints, now: Instants, outcomes: Outcomes) -> Apart:
        """State after visits."""
        for number, some in self._by_slot(state, rows):
            known, own = state.states[number], state.row[rows[some]]
            state.states[number] = POLICY.seen(known, own, now[some], outcomes.take(some))
        return state

    def due(self, state: Apart, rows: Ints, price: float) -> Instants:
        """Not asked of a policy that is priced."""
        raise NotImplementedError

    def value(self, state: Apart, rows: Ints, now: np.datetime64) -> Floats:
        """What visits are worth, each by what its slot knows."""
        if self._exchange:
            learned = {number: SharedLearning.of(each) for number, each in state.states.items()}
            for number, each in state.states.items():
                others = (of for other, of in learned.items() if other != number)
                sum(others, SharedLearning()).teach(each)
        values = np.empty(len(rows))
        for number, some in self._by_slot(state, rows):
            values[some] = POLICY.value(state.states[number], state.row[rows[some]], now)
        return values

    def _by_slot(self, state: Apart, rows: Ints) -> Iterator[tuple[int, Ints]]:
        slot = state.slot[rows]
        for number in np.unique(slot).tolist():
            yield number, np.flatnonzero(slot == number)


def learning(worlds: Iterator[tuple[str, World, int]], budget: Budget, slots: int) -> None:
    print("staleness of all pages, of those in small slots, of the others")
    found: dict[str, list[list[float]]] = {}
    for name, world, seed in worlds:
        slot = slots_of(world, slots)
        small = np.bincount(slot)[slot] < SMALL
        step = 1 / world.budget(budget).visits_a_day(1) / 64
        runs: dict[str, Any] = {
            "one process": POLICY,
            "apart": LearnsApart(slots, exchange=False),
            "exchange": LearnsApart(slots, exchange=True),
        }
        print(f"{name}: {np.bincount(slot, minlength=slots).tolist()}")
        for kind, policy in runs.items():
            random = np.random.default_rng(seed)
            run = simulate(world, policy, budget, random=random, step=step)
            each = [run.staleness, parts(run, small), parts(run, ~small)]
            found.setdefault(kind, []).append(each)
            print(f"  {kind:12}" + "".join(f"{value:9.4f}" for value in each), flush=True)
    base = np.array(found["one process"])
    for kind, rows in found.items():
        ratio = np.log(np.array(rows) / base)
        means = np.exp(np.nanmean(ratio, axis=0))
        print(f"{kind:12}" + "".join(f"{mean:9.4f}" for mean in means) + "  of one process")


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    asked.add_argument("--table", choices=["sharing", "learning"], default="sharing")
    asked.add_argument("--data", type=Path, help="folder with a folder per source")
    asked.add_argument("--sources", default="ota_contrib,tosback")
    asked.add_argument("--visits", type=float, default=1.0, help="per change")
    asked.add_argument("--slots", type=int, default=8)
    asked.add_argument("--seeds", type=int, default=4, help="of made worlds")
    asked.add_argument("--pages", type=int, default=600, help="of made worlds")
    asked.add_argument("--days", type=int, default=24, help="of made worlds; 4 do not count")
    given = asked.parse_args()

    def worlds() -> Iterator[tuple[str, World, int]]:
        if given.data is not None:
            for source in given.sources.split(","):
                yield source, public_world(given.data, source, given.visits), 0
            return
        for seed in range(given.seeds):
            world = made_world(seed, given.pages, given.days).after(4.0)
            yield f"made {seed}", world, seed

    table = {"sharing": sharing, "learning": learning}[given.table]
    table(worlds(), Budget(given.visits, "change"), given.slots)


if __name__ == "__main__":
    main()
