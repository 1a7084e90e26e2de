"""How stale each policy leaves a copy of real pages, at the same number of visits.

    python benchmarks/policies.py --data ../shared/data/pages --objective freshness
    python benchmarks/policies.py --data ../shared/data/pages --objective harmonic
    python benchmarks/policies.py --data ../shared/data/pages --table ablation
    python benchmarks/policies.py --data ../shared/data/pages --table constants
    python benchmarks/policies.py --data ../shared/data/pages --table shuffled
    python benchmarks/policies.py --data ../shared/data/pages --table small
    python benchmarks/policies.py --data ../shared/data/pages --table assumed
    python benchmarks/policies.py --data ../shared/data/pages --table sites
    python benchmarks/policies.py --table synthetic
    python benchmarks/policies.py --table made

The folder holds a folder a source, each with `pages.parquet` (page, url, first_seen, removed_at)
and `changes.parquet` (page, changed_at). Every policy replays every source at 1 and at 4 visits a
change, existence-only, deciding every 6 hours. Staleness is the share of live page-time in which
the copy is out of date; harmonic is the time average of 1 + 1/2 + ... + 1/N with N changes missed.
Ties are broken at random, so single figures move by a per cent or two: the policies that are
compared run with several seeds, all others with one.

- `policies`: all policies, and what must hold of ours;
- `ablation`: ours with one part left out;
- `constants`: ours with one constant moved, and what would have been chosen without each source;
- `shuffled`: addresses dealt out at random, so that neighbours tell nothing;
- `small`: ours with and without corrections on thirty small sites cut from the sources;
- `sites`: ours with and without corrections of its own for each site, in crawls of several sites;
- `assumed`: ours with what the other sources say of pages never visited;
- `synthetic`: ours against ours without neighbours where pages change independently;
- `made`: ours with and without corrections where pages change in made ways.

Needs pyarrow. Touches: the files it reads, processes, the terminal.
"""

from __future__ import annotations

import argparse
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from first_visits import fitted

from recrawl.adapters.tables.worlds import read_world
from recrawl.plan.budget import Budget
from recrawl.plan.objectives import OBJECTIVES
from recrawl.policies import POLICIES
from recrawl.policies.recrawl import corrections
from recrawl.policies.recrawl.clocks import Trusting
from recrawl.policies.recrawl.corrections import Corrections
from recrawl.policies.recrawl.policy import Recrawl
from recrawl.policies.recrawl.prior_sums import AssumedRates
from recrawl.simulate.bands import ratio_band, staleness_band
from recrawl.simulate.competitors import ORACLES, policy_named
from recrawl.simulate.made import WORLDS, log_normal_rates, make_world
from recrawl.simulate.run import simulate
from recrawl.simulate.world import World
from recrawl.units import MICROSECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from recrawl.arrays.types import Ints
    from recrawl.policies.pages import Pages
    from recrawl.policies.policy import Policy
    from recrawl.policies.recrawl.state import RecrawlState
    from recrawl.simulate.bands import Band
    from recrawl.simulate.scores import SimulationRun

STEP = 0.25
OURS, KNOWN = "recrawl", "optimal-known"
COMPARED = (OURS, KNOWN, "uniform", "nutch")
# Largest geometric mean of staleness over that of each, and largest in any cell.
LIMITS = {KNOWN: (0.92, 1.03), "uniform": (0.81, 1.00), "nutch": (0.72, inf)}
HARMONIC_LIMIT = 0.94
SYNTHETIC_LIMIT = 0.005
# Small sites: so many of each source, of so many pages; a share of them must be no worse.
PIECES, FEWEST, MOST = 5, 120, 220
NO_WORSE = 0.9
# Crawls of several sites: all small sites together, the sources as far as that, made sites.
SEVERAL = ("pieces", "sources", "made")
JOINED_DAYS, MOST_OF_SOURCE = 1461.0, 900
MADE_DAYS, MADE_INTERVALS = 400.0, (3.0, 10.0, 30.0)
SURE = 1.65  # standard errors from which on a site counts as measurably worse


class TableLess(Corrections):
    """Corrections of which one table says nothing."""

    __slots__ = ()
    bins = slice(0)

    def read(self) -> None:
        """Work out the factors of all bins but those of the table."""
        Corrections.read(self)
        self._factors[self.bins] = 1.0


class NoVisits(TableLess):
    """No factors by the number of visits."""

    __slots__ = ()
    bins = slice(0, corrections.SINCE)


class NoSinceChange(TableLess):
    """No factors by visits since a change."""

    __slots__ = ()
    bins = slice(corrections.SINCE, corrections.RATE)


class NoLevels(TableLess):
    """No factors by rate level."""

    __slots__ = ()
    bins = slice(corrections.RATE, corrections.BINS)


@dataclass(frozen=True)
class TableLessRecrawl(Recrawl):
    """Our policy with one table of corrections less."""

    kind: type[TableLess] = TableLess

    def start(self, pages: Pages, now: np.datetime64, gap: float) -> RecrawlState:
        """State of a crawl that begins now with these pages."""
        state = Recrawl.start(self, pages, now, gap)
        state.corrections.__class__ = self.kind
        return state


# A part left out, by parameters that leave nothing of it.
ABLATION: dict[str, Callable[[Recrawl], Recrawl]] = {
    "all": lambda ours: ours,
    "clocks and relatives": lambda ours: replace(ours, trusting=Trusting(inf, inf, inf), deepest=0),
    "clocks": lambda ours: replace(ours, trusting=Trusting(inf, inf, inf)),
    "section clocks (site clock only)": lambda ours: replace(
        ours, trusting=Trusting(near=inf, far=inf)
    ),
    "learned trust (near clock only)": lambda ours: replace(ours, trusting=Trusting(far=0.25)),
    "memories that forget": lambda ours: replace(ours, memories=(1.0,)),
    "relatives in the prior": lambda ours: replace(ours, relatives=inf),
    "fading of bursts": lambda ours: replace(ours, fade=1e-9),
    "corrections": lambda ours: replace(ours, corrections=inf, site_corrections=inf),
    "corrections of sites": lambda ours: replace(ours, site_corrections=inf),
    "corrections by visits": lambda ours: TableLessRecrawl(ours.objective, kind=NoVisits),
    "corrections by visits since a change": lambda ours: TableLessRecrawl(
        ours.objective, kind=NoSinceChange
    ),
    "corrections by rate": lambda ours: TableLessRecrawl(ours.objective, kind=NoLevels),
}

# One constant moved at a time; the first is what the policy ships with.
CONSTANTS: dict[str, Callable[[Recrawl], Recrawl]] = {
    "as shipped": lambda ours: ours,
    **{
        f"near {near}": lambda ours, near=near: replace(ours, trusting=Trusting(near=near))  # type: ignore[misc]
        for near in (0.12, 0.5, 1.0)
    },
    **{
        f"kernel {kernel}": lambda ours, kernel=kernel: replace(ours, kernel=kernel)  # type: ignore[misc]
        for kernel in (1 / 16, 1 / 4)
    },
    **{
        f"fade {fade}": lambda ours, fade=fade: replace(ours, fade=fade)  # type: ignore[misc]
        for fade in (1 / 8, 1 / 2)
    },
    **{
        f"relatives {count}": lambda ours, count=count: replace(ours, relatives=count)  # type: ignore[misc]
        for count in (1.0, 10.0)
    },
    **{
        f"root {root}": lambda ours, root=root: replace(ours, trusting=Trusting(root=root))  # type: ignore[misc]
        for root in (3.0, 30.0)
    },
    **{
        f"corrections {count}": lambda ours, count=count: replace(ours, corrections=count)  # type: ignore[misc]
        for count in (3.0, 30.0)
    },
}
# Ours, and ours without what it learns of its own expectations.
PAIR = {name: ABLATION[name] for name in ("all", "corrections")}
# Ours, with one set of corrections for all sites, and with none.
OF_SITES = {name: ABLATION[name] for name in ("all", "corrections of sites", "corrections")}
# The second also begins with rates that are fitted to all sources but the one that is replayed.
AS_ELSEWHERE = "as elsewhere"
ASSUMED = {
    "as shipped": ABLATION["all"],
    "once per gap": lambda ours: replace(ours, assumed=AssumedRates(prior_changes=1.0)),
    AS_ELSEWHERE: ABLATION["all"],
}
VARIANTS = {
    "ablation": ABLATION,
    "assumed": ASSUMED,
    "constants": CONSTANTS,
    "shuffled": {"all": ABLATION["all"]},
    "sites": OF_SITES,
    "small": PAIR,
}


@dataclass(frozen=True)
class Cell:
    """One run to make."""

    folder: str
    source: str
    budget: float
    objective: str
    name: str
    seed: int
    table: str = "policies"


@lru_cache(maxsize=8)
def world_of(folder: str, source: str, seed: int, *, shuffled: bool) -> World:
    """A source, with its addresses dealt out at random where that is asked for."""
    place = Path(folder) / source
    world = read_world(str(place / "pages.parquet"), str(place / "changes.parquet"))
    if shuffled:
        order = np.random.default_rng(seed).permutation(len(world))
        world = replace(world, address=tuple(world.address[row] for row in order.tolist()))
    return world


def cut(world: World, piece: int) -> World:
    """A small site: pages of a source whose addresses follow each other, so that sections stay."""
    random = np.random.default_rng(piece)
    pages = int(random.integers(FEWEST, MOST + 1))
    first = int(random.integers(len(world) - pages + 1))
    rows = sorted(range(len(world)), key=world.address.__getitem__)[first : first + pages]
    return some_of(world, np.array(rows))


def some_of(world: World, rows: Ints) -> World:
    """Some pages of a world, in this order."""
    place = np.full(len(world), -1)
    place[rows] = np.arange(len(rows))
    row = place[world.row_of_change]
    inside = np.flatnonzero(row >= 0)
    return World.of(
        [world.address[each] for each in rows.tolist()],
        world.first_seen[rows],
        (row[inside], world.changes[inside]),
        removed_at=world.removed_at[rows],
        end=world.end,
    )


def joined(worlds: Iterable[World], days: float) -> World:
    """Sites in one crawl, which lasts the last so many days of each."""
    end = np.datetime64("2024-01-01", "us")
    start = end - np.timedelta64(round(days * MICROSECONDS_A_DAY), "us")
    address: list[str] = []
    first, removed, rows, changes = [], [], [], []
    for number, world in enumerate(worlds):
        later = end - world.end
        seen, gone, at = world.first_seen + later, world.removed_at + later, world.changes + later
        here = np.flatnonzero(~(gone <= start) & (seen < end))
        place = np.full(len(world), -1)
        place[here] = np.arange(len(here)) + len(address)
        row = place[world.row_of_change]
        inside = np.flatnonzero((row >= 0) & (at > start))
        address += [f"https://site{number}.example/{world.address[each]}" for each in here.tolist()]
        first.append(np.maximum(seen[here], start))
        removed.append(gone[here])
        rows.append(row[inside])
        changes.append(at[inside])
    return World.of(
        address,
        np.concatenate(first),
        (np.concatenate(rows), np.concatenate(changes)),
        removed_at=np.concatenate(removed),
        end=end,
    )


def several_sites(folder: str, name: str) -> World:
    """A crawl of several sites, cut from the sources or made."""
    if name == "made":
        each = list(WORLDS)
        return joined((_made(each[k % len(each)], k) for k in range(12)), MADE_DAYS)
    sources = sorted(place.name for place in Path(folder).iterdir() if place.is_dir())
    wholes = {each: world_of(folder, each, 0, shuffled=False) for each in sources}
    if name == "sources":
        return joined((_some(world, MOST_OF_SOURCE) for world in wholes.values()), JOINED_DAYS)
    pieces = (cut(world, piece) for world in wholes.values() for piece in range(PIECES))
    return joined(pieces, JOINED_DAYS)


def _some(world: World, pages: int) -> World:
    """At most so many pages of a source, at random."""
    rows = np.sort(np.random.default_rng(0).permutation(len(world))[:pages])
    return some_of(world, rows)


def _made(name: str, seed: int) -> World:
    """A small site that changes in a made way."""
    random = np.random.default_rng(seed)
    every = MADE_INTERVALS[seed % len(MADE_INTERVALS)]
    rates = log_normal_rates(120, every=every, spread=1.6, random=random)
    return make_world(name, rates, days=MADE_DAYS, random=random)


def run(cell: Cell) -> tuple[Cell, SimulationRun]:
    """Play one cell."""
    shuffled = cell.table == "shuffled"
    source, _, piece = cell.source.partition(" ")
    if cell.table == "sites":
        world = several_sites(cell.folder, source)
    else:
        world = world_of(cell.folder, source, cell.seed if shuffled else 0, shuffled=shuffled)
    if piece:
        world = cut(world, int(piece))
    objective = OBJECTIVES[cell.objective]
    variants = VARIANTS.get(cell.table, {})
    policy: Policy[Any] = (
        variants[cell.name](Recrawl(objective))
        if cell.name in variants
        else policy_named(cell.name, world, objective)
    )
    if cell.name == AS_ELSEWHERE and isinstance(policy, Recrawl):
        policy = replace(policy, assumed=fitted(Path(cell.folder), without=source))
    random = np.random.default_rng(cell.seed)
    return cell, simulate(world, policy, Budget(cell.budget, "change"), step=STEP, random=random)


def play(cells: list[Cell], jobs: int) -> dict[Cell, SimulationRun]:
    """Play all cells, those of one source one after the other."""
    runs: dict[Cell, SimulationRun] = {}
    with ProcessPoolExecutor(jobs) as pool:
        for done, (cell, result) in enumerate(pool.map(run, cells), 1):
            runs[cell] = result
            print(f"\r{done}/{len(cells)} {cell.source} {cell.name:<40}", end="", flush=True)
    print("\r" + " " * 70 + "\r", end="")
    return runs


def cells_of(names: Iterable[str], options: argparse.Namespace) -> list[Cell]:
    """The runs of a table: several seeds for what is compared, one for the others."""
    several = (*COMPARED, *VARIANTS.get(options.table, {}))
    return [
        Cell(options.data, source, budget, options.objective, name, seed, options.table)
        for source in options.sources
        for budget in options.budgets
        for name in names
        for seed in range(options.seeds if name in several else 1)
    ]


class Table:
    """The runs of a table, and the figures in its cells."""

    def __init__(self, runs: dict[Cell, SimulationRun], score: str) -> None:
        self.runs = runs
        self.score = score
        self.cells = list(dict.fromkeys((cell.source, cell.budget) for cell in runs))
        self.names = list(dict.fromkeys(cell.name for cell in runs))

    def of(self, name: str, cell: tuple[str, float]) -> list[SimulationRun]:
        """All runs of a policy in a cell."""
        return [
            result
            for key, result in self.runs.items()
            if key.name == name and (key.source, key.budget) == cell
        ]

    def figure(self, name: str, cell: tuple[str, float]) -> float:
        """Mean score of a policy in a cell."""
        return float(np.mean([getattr(result, self.score) for result in self.of(name, cell)]))

    def ratios(self, name: str, other: str) -> list[float]:
        """Score of a policy over another's, cell by cell."""
        return [self.figure(name, cell) / self.figure(other, cell) for cell in self.cells]

    def mean(self, name: str, other: str) -> float:
        """Geometric mean of the ratios."""
        return float(np.exp(np.mean(np.log(self.ratios(name, other)))))

    def paired_logs(self, name: str, other: str, source: str) -> list[float]:
        """Log ratio of two policies on a source, one per seed: the mean of all budgets."""
        logs: dict[int, list[float]] = {}
        for key, result in self.runs.items():
            if (key.name, key.source) == (name, source):
                rival = self.runs[replace(key, name=other)]
                ratio = getattr(result, self.score) / getattr(rival, self.score)
                logs.setdefault(key.seed, []).append(float(np.log(ratio)))
        return [float(np.mean(each)) for each in logs.values()]

    def joined(self, name: str, cell: tuple[str, float]) -> SimulationRun:
        """One run with the mean stale days of all seeds."""
        runs = self.of(name, cell)
        return replace(runs[0], stale_days=np.mean([each.stale_days for each in runs], axis=0))


def heading(table: Table, first: str) -> None:
    """Sources and budgets above the columns of a table."""
    print(f"{'':<34}" + "".join(f"{source[:9]:>10}" for source, _ in table.cells) + f"{'mean':>9}")
    print(f"{first:<34}" + "".join(f"{budget:>10g}" for _, budget in table.cells))


def show_policies(table: Table) -> None:
    """All policies: the score in every cell, and the geometric mean over optimal-known."""
    print(f"\n{table.score}; mean: geometric mean over {KNOWN}\n")
    heading(table, "visits a change")
    for name in sorted(table.names, key=lambda name: table.mean(name, KNOWN)):
        figures = "".join(f"{table.figure(name, cell):>10.4f}" for cell in table.cells)
        print(f"{name:<34}{figures}{table.mean(name, KNOWN):>9.3f}")
        if table.score == "staleness":
            bands = [
                staleness_band(table.joined(name, cell), random=np.random.default_rng(0))
                for cell in table.cells
            ]
            print(f"{'':<34}" + "".join(span(band) for band in bands))


def show_verdict(table: Table) -> None:
    """What must hold of ours."""
    print(f"\n{OURS} over\n")
    heading(table, "visits a change")
    for name in COMPARED[1:]:
        if name not in table.names:
            continue
        ratios = table.ratios(OURS, name)
        print(
            f"{name:<34}"
            + "".join(f"{ratio:>10.3f}" for ratio in ratios)
            + f"{table.mean(OURS, name):>9.3f}"
        )
        if table.score == "staleness":
            bands = [
                ratio_band(
                    table.joined(OURS, cell),
                    table.joined(name, cell),
                    random=np.random.default_rng(0),
                )
                for cell in table.cells
            ]
            print(f"{'':<34}" + "".join(span(band) for band in bands))
    print()
    if table.score == "harmonic":
        holds(f"harmonic over {KNOWN}", table.mean(OURS, KNOWN), HARMONIC_LIMIT)
        return
    for name, (limit, worst) in LIMITS.items():
        if name not in table.names:
            continue
        holds(f"staleness over {name}, geometric mean", table.mean(OURS, name), limit)
        holds(f"staleness over {name}, worst cell", max(table.ratios(OURS, name)), worst)


def span(band: Band) -> str:
    """A band in nine letters."""
    low, high = (f"{end:.3f}".removeprefix("0") for end in (band.low, band.high))
    return (
        f"{low}-{high}".rjust(10) if band.high < 1 else f"{band.low:.2f}-{band.high:.2f}".rjust(10)
    )


def holds(what: str, figure: float, limit: float) -> None:
    """Say whether a figure is within its limit."""
    verdict = "holds" if figure <= limit else "FALLS SHORT"
    print(f"{verdict:<12} {what}: {figure:.3f} (at most {limit:.3f})")


def show_variants(table: Table, first: str, over: str = KNOWN) -> None:
    """Variants of ours: staleness over that of optimal-known, or of one of them."""
    print(f"\n{table.score} over {'that without ' * (over != KNOWN)}{over}\n")
    heading(table, first)
    for name in table.names:
        if name != over:
            ratios = "".join(f"{ratio:>10.3f}" for ratio in table.ratios(name, over))
            print(f"{name:<34}{ratios}{table.mean(name, over):>9.4f}")


def show_left_out(table: Table) -> None:
    """For each source the constants that do best on all others, and what they do on it."""
    print("\nchosen without a source, and over optimal-known on that source\n")
    print(f"{'source':<16}{'chosen':<24}{'there':>8}{'as shipped':>12}")
    variants = [name for name in table.names if name != KNOWN]
    for source in dict.fromkeys(source for source, _ in table.cells):
        inside = np.array([cell[0] == source for cell in table.cells])
        logs = {name: np.log(table.ratios(name, KNOWN)) for name in variants}
        best = min(variants, key=lambda name: float(logs[name][~inside].mean()))
        there, shipped = (np.exp(logs[name][inside].mean()) for name in (best, variants[0]))
        print(f"{source:<16}{best:<24}{there:>8.3f}{shipped:>12.3f}")


def show_small(table: Table) -> None:
    """Small sites: ours over ours without corrections, in each of them.

    A run is paired with the one that breaks ties by the same seed. What their ratio varies by from
    seed to seed is the noise, pooled over all sites: each has too few seeds to tell its own.
    """
    sources = list(dict.fromkeys(source for source, _ in table.cells))
    logs = np.array([table.paired_logs("all", "corrections", source) for source in sources])
    means, seeds = logs.mean(axis=1), logs.shape[1]
    noise = float(np.sqrt(logs.var(axis=1, ddof=1).mean() / seeds)) if seeds > 1 else inf
    print(f"\n{'small site':<24}{'with corrections over without':>30}")
    for source, mean in zip(sources, means.tolist(), strict=True):
        print(f"{source:<24}{np.exp(mean):>30.3f}{'  worse' if mean > SURE * noise else ''}")
    worse = means > SURE * noise
    share = float(1 - np.mean(worse))
    verdict = "holds" if seeds > 1 and share >= NO_WORSE else "FALLS SHORT"
    print(f"{verdict:<12} not measurably worse: {share:.2f} of small sites (at least {NO_WORSE})")
    print(
        f"{'':<12} noise: a standard error of {noise:.4f} per site; worse is more than {SURE} of it"
    )
    print(f"{'':<12} ratio at most 1, whatever the noise: {np.mean(means <= 0):.2f} of them")
    print(f"{'':<12} with corrections over without, geometric mean: {np.exp(means.mean()):.4f}")


def made(options: argparse.Namespace) -> None:
    """Pages that change in made ways: corrections must cost nothing."""
    print(f"\n{'made world':<18}{'budget':>8}{'with':>12}{'without':>12}{'ratio':>9}")
    objective, logs = OBJECTIVES[options.objective], []
    for name in WORLDS:
        for budget in options.budgets:
            figures = np.zeros((options.seeds, 2))
            for seed in range(options.seeds):
                random = np.random.default_rng(seed)
                rates = log_normal_rates(300, every=10.0, spread=1.6, random=random)
                world = make_world(name, rates, days=200.0, random=random)
                for column, change in enumerate(PAIR.values()):
                    random = np.random.default_rng(seed)
                    policy = change(Recrawl(objective))
                    spent = Budget(budget, "change")
                    result = simulate(world, policy, spent, step=STEP, random=random)
                    figures[seed, column] = getattr(result, options.score)
            ours, without = figures.mean(axis=0)
            logs.append(np.log(ours / without))
            print(f"{name:<18}{budget:>8g}{ours:>12.4f}{without:>12.4f}{ours / without:>9.4f}")
    holds("over without corrections, geometric mean", float(np.exp(np.mean(logs))), 1.0)


def synthetic(options: argparse.Namespace) -> None:
    """Pages that change independently: neighbours must cost next to nothing."""
    print(f"\n{'visits a change':<18}{'with neighbours':>18}{'without':>12}{'ratio':>9}")
    objective = OBJECTIVES[options.objective]
    for budget in options.budgets:
        figures = np.zeros((options.seeds, 2))
        for seed in range(options.seeds):
            random = np.random.default_rng(seed)
            rates = log_normal_rates(2000, every=10.0, spread=1.6, random=random)
            world = make_world("poisson", rates, days=400.0, random=random)
            for column, name in enumerate((OURS, "bank")):
                policy = POLICIES[name](objective)
                random = np.random.default_rng(seed)
                result = simulate(world, policy, Budget(budget, "change"), step=STEP, random=random)
                figures[seed, column] = result.staleness
        ours, alone = figures.mean(axis=0)
        print(f"{budget:<18g}{ours:>18.4f}{alone:>12.4f}{ours / alone:>9.4f}")
        holds("staleness over that without neighbours", ours / alone, 1 + SYNTHETIC_LIMIT)


def main() -> None:
    """Read the options and show a table."""
    parser = argparse.ArgumentParser(description="Compare policies on real histories.")
    parser.add_argument("--data", help="folder with a folder a source")
    parser.add_argument("--objective", choices=[*OBJECTIVES], default="freshness")
    parser.add_argument(
        "--table",
        choices=["policies", *VARIANTS, "synthetic", "made"],
        default="policies",
    )
    parser.add_argument("--policies", help="only these, comma-separated")
    parser.add_argument("--sources", help="only these, comma-separated")
    parser.add_argument("--budgets", default="1,4", help="visits a change, comma-separated")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    options.budgets = [float(text) for text in options.budgets.split(",")]
    options.score = "harmonic" if options.objective == "harmonic" else "staleness"
    if options.table in ("synthetic", "made"):
        {"synthetic": synthetic, "made": made}[options.table](options)
        return
    if options.data is None:
        parser.error("--data is needed for this table")
    folders = sorted(place.name for place in Path(options.data).iterdir() if place.is_dir())
    options.sources = options.sources.split(",") if options.sources else folders
    if options.table == "sites":
        asked = options.sources if set(options.sources) <= set(SEVERAL) else SEVERAL
        options.sources = list(asked)
    if options.table == "small":
        pieces = range(PIECES)
        options.sources = [f"{source} {piece}" for source in options.sources for piece in pieces]
    everyone = [*POLICIES, *ORACLES]
    asked = options.policies.split(",") if options.policies else everyone
    names = [*VARIANTS[options.table], KNOWN] if options.table in VARIANTS else asked
    if options.table in ("small", "sites"):  # compared with each other only
        names = [*VARIANTS[options.table]]
    runs = play(cells_of(names, options), options.jobs)
    table = Table(runs, options.score)
    if options.table == "policies":
        show_policies(table)
        show_verdict(table)
    elif options.table == "small":
        show_small(table)
    elif options.table == "sites":
        show_variants(table, "corrections", over="corrections of sites")
    else:
        show_variants(table, {"ablation": "without"}.get(options.table, options.table))
    if options.table == "constants":
        show_left_out(table)


if __name__ == "__main__":
    main()
