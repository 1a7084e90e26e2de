"""Forecasts against what came, for pages of many kinds: is a chance of 30 % right 30 % of the time?

    python benchmarks/populations.py                          # made pages: two minutes
    python benchmarks/populations.py --kind never             # of one kind
    python benchmarks/populations.py --sites                  # made pages of many sites
    python benchmarks/populations.py --bands                  # how often bands hold the rate
    python benchmarks/populations.py ../shared/data/pages     # real pages

Made pages change as Poisson processes whose rates come from one of eight populations: the four that
the estimators were made with, and four that were set down before `npmle` was written. Half
of the pages make the prior, the other half is scored: before each visit a forecaster gives the
chance that it shows a change, then it is told what it showed. The 100,000 forecasts are sorted and
cut into ten
parts of 10,000. Of each forecaster are printed the largest difference of mean forecast and share of
changes among the ten (chance alone makes .005 to .01 of it), and the mean of minus the logarithm of
the chance that was given to what came.

Many sites are 100 with 6 pages each, and 30 with 40 each, visited daily eight times; as many other
pages of the same sites are scored.

Bands are those of all pages of a log, by the prior that the same pages make; printed is the share
that holds the page's rate, of 90 %.

Real pages, a folder a source as in `calibration.py`, are visited daily, weekly and monthly from the
day they were first seen. Half of a source's pages make the prior, and at most 300 of the other half
are scored, by all their visits and by their first ten.

Needs pyarrow for real pages. Touches: the files it reads, the terminal.
"""

from __future__ import annotations

import argparse
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from recrawl import Gamma, Histories, fit_prior
from recrawl.rates import NPMLE, fit_npmle

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.arrays.types import Floats

    Chance = np.random.Generator
    Forecaster = Gamma | NPMLE

VISITS = 100_000  # that are scored
LENGTHS = (5, 50)  # visits per page
SEED = 1956
ASKED = 0.03
SCORED, FIRST = 300, 10  # real pages, and the visits that are a page's first

NEVER = 1e-9  # changes a day: none in a lifetime


def _either(chance: Chance, share: float, some: Floats, others: Floats) -> Floats:
    return np.where(chance.random(len(some)) < share, some, others)


# Rates of so many pages, by what the population is called.
POPULATIONS: dict[str, Callable[[Chance, int], Floats]] = {
    "gamma": lambda chance, pages: chance.gamma(1.0, 1 / 1.5, pages),
    "two-point": lambda chance, pages: chance.choice([0.05, 2.0], pages),
    "Pareto": lambda chance, pages: 0.1 * (1 + chance.pareto(1.5, pages)),
    "log-normal": lambda chance, pages: chance.lognormal(-0.7, 1.0, pages),
    # Held out.
    "three-point": lambda chance, pages: chance.choice([0.02, 0.3, 3.0], pages, p=[0.4, 0.4, 0.2]),
    "log-uniform": lambda chance, pages: 10 ** chance.uniform(-3, 1, pages),
    "two gammas": lambda chance, pages: _either(
        chance, 0.9, chance.gamma(2.0, 0.05 / 2, pages), chance.gamma(2.0, 3.0 / 2, pages)
    ),
    "never": lambda chance, pages: _either(
        chance, 0.5, np.full(pages, NEVER), chance.gamma(1.0, 1 / 1.5, pages)
    ),
}

# Days between the visits, one row per page.
GAPS: dict[str, Callable[[Chance, tuple[int, int]], Floats]] = {
    "daily": lambda _, size: np.ones(size),
    "weekly": lambda _, size: np.full(size, 7.0),
    "random": lambda chance, size: chance.exponential(1.0, size),
}

# A forecaster made from the pages whose rates it may know of.
FORECASTERS: dict[str, Callable[..., Forecaster]] = {
    "gamma": lambda pages, sites=None: Gamma(fit_prior(pages, sites)),
    "npmle": lambda pages, sites=None: NPMLE(fit_npmle(pages, sites)),
}

# Rates of the pages of so many sites, one row per site.
SITES: dict[str, Callable[[Chance, tuple[int, int]], Floats]] = {
    "two kinds": lambda chance, size: chance.choice([0.05, 2.0], size),
    "two kinds, moved": lambda chance, size: (
        chance.choice([0.05, 2.0], size) * chance.lognormal(0, 1, (size[0], 1))
    ),
    "one rate a site": lambda chance, size: chance.lognormal(-1, 1.5, (size[0], 1)) * np.ones(size),
    "one kind a site": lambda chance, size: (
        chance.choice([0.05, 2.0], (size[0], 1)) * chance.lognormal(0, 0.2, size)
    ),
    "log-normal": lambda chance, size: (
        chance.lognormal(-1, 1, (size[0], 1)) * chance.lognormal(0, 0.7, size)
    ),
}
SIZES = ((100, 6), (30, 40))  # sites, pages per site
SITE_VISITS = 8

# Logs whose bands are counted: pages, visits per page, and how many logs.
LOGS = ((30, 10, 70), (2000, 20, 1))


class Score(NamedTuple):
    """How the forecasts of one forecaster were."""

    worst: float  # difference in a decile
    surprise: float  # mean of minus the logarithm of the chance given to what came


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", help="folder with a folder a source")
    parser.add_argument("--kind", choices=POPULATIONS, help="one kind of made pages")
    parser.add_argument("--sites", action="store_true", help="made pages of many sites")
    parser.add_argument("--bands", action="store_true", help="how often bands hold the rate")
    arguments = parser.parse_args()
    if arguments.sites:
        many_sites()
    elif arguments.bands:
        bands()
    elif arguments.folder is None:
        made([arguments.kind] if arguments.kind else list(POPULATIONS))
    else:
        real(arguments.folder)


def made(kinds: list[str]) -> None:
    """Print the scores for made pages."""
    print(f"{'population':12} {'gaps':7} {'visits':>6}", *(f"{n:>16}" for n in FORECASTERS))
    worst = dict.fromkeys(FORECASTERS, 0.0)
    for population in kinds:
        for gaps in GAPS:
            for visits in LENGTHS:
                found = scores(population, gaps, visits)
                for name, score in found.items():
                    worst[name] = max(worst[name], score.worst)
                cells = (f"{each.worst:8.3f} {each.surprise:7.4f}" for each in found.values())
                print(f"{population:12} {gaps:7} {visits:6d}", *cells, flush=True)
    for name, each in worst.items():
        print(f"{name}: off by at most {each:.3f} in a decile; {ASKED} asked")


def many_sites() -> None:
    """Print the scores for made pages of many sites."""
    print(f"{'sites':16} {'sites':>5} {'pages':>5}", *(f"{n:>16}" for n in FORECASTERS))
    for kind, rates_of in SITES.items():
        for sites, pages in SIZES:
            chance = np.random.default_rng([SEED, list(SITES).index(kind), sites])
            rates = rates_of(chance, (sites, 2 * pages))
            shown = chance.random((*rates.shape, SITE_VISITS)) < -np.expm1(-rates)[..., np.newaxis]
            known, scored = (
                part.reshape(-1, SITE_VISITS) for part in (shown[:, :pages], shown[:, pages:])
            )
            site, days = np.repeat(np.arange(sites), pages), np.ones(scored.shape)
            histories = Histories(
                np.ones(known.size), known.ravel(), np.arange(len(known) + 1) * SITE_VISITS
            )
            found = [score(make(histories, site), days, scored) for make in FORECASTERS.values()]
            cells = (f"{each.worst:8.3f} {each.surprise:7.4f}" for each in found)
            print(f"{kind:16} {sites:5d} {pages:5d}", *cells, flush=True)


def bands() -> None:
    """Print how often bands hold the rate, in many small logs and in a large one."""
    print(f"{'population':12} {'gaps':7} {'pages':>5} {'visits':>6}", *FORECASTERS)
    for number, (population, rates_of) in enumerate(POPULATIONS.items()):
        for gaps, (pages, visits, logs) in product(("daily", "random"), LOGS):
            held = dict.fromkeys(FORECASTERS, 0.0)
            for log in range(logs):
                chance = np.random.default_rng([SEED, number, pages, log])
                rates = rates_of(chance, pages)
                days = GAPS[gaps](chance, (pages, visits))
                changed = chance.random(days.shape) < -np.expm1(-rates[:, np.newaxis] * days)
                histories = Histories(days.ravel(), changed.ravel(), np.arange(pages + 1) * visits)
                for name, make in FORECASTERS.items():
                    found = make(histories).estimate(histories)
                    holds = (found.low <= rates) & (rates <= found.high)
                    held[name] += float(holds.mean()) / logs
            cells = (f"{share:.3f}" for share in held.values())
            print(f"{population:12} {gaps:7} {pages:5d} {visits:6d}", *cells, flush=True)


def real(folder: Path) -> None:
    """Print the scores for real pages: worst decile, surprise, surprise of the first ten visits."""
    from methods import DAYS, read_source, replayed  # reads Parquet

    print(f"{'source':12} {'visits':8}", *(f"{name:>24}" for name in FORECASTERS))
    for path in sorted(path for path in folder.iterdir() if path.is_dir()):
        source = read_source(path)
        for visits, days in DAYS.items():
            dated, _ = replayed(source, days)
            histories = Histories(dated.gaps, dated.changed, dated.offsets)
            pages = np.random.default_rng(SEED).permutation(len(histories))
            half = len(pages) // 2
            known, scored = histories.take(pages[:half]), histories.take(pages[half:][:SCORED])
            cells = []
            for make in FORECASTERS.values():
                forecast = forecasts(make(known), scored)
                first = nth_gaps(scored) < FIRST
                everything = summary(forecast, scored.changed)
                young = summary(forecast[first], scored.changed[first])
                cells.append(f"{everything.worst:8.3f} {everything.surprise:7.4f} ")
                cells[-1] += f"{young.surprise:7.4f}"
            print(f"{source.name:12} {visits:8}", *cells, flush=True)


def nth_gaps(histories: Histories) -> Floats:
    """Number of each gap in its page, from 0."""
    return np.arange(len(histories.gaps)) - np.repeat(
        histories.offsets[:-1], histories.gaps_of_page
    )


def forecasts(forecaster: Forecaster, histories: Histories) -> Floats:
    """Chance of a change before each visit, of pages with different numbers of visits."""
    predicted, state = np.empty(len(histories.gaps)), forecaster.start(len(histories))
    number = nth_gaps(histories)
    order = np.argsort(number, kind="stable")
    page = histories.page_of_gap
    for rows in np.split(order, np.flatnonzero(np.diff(number[order])) + 1):
        gaps, pages = histories.gaps[rows], page[rows]
        predicted[rows] = 1 - forecaster.read(state[pages]).unchanged(gaps)
        state[pages] = forecaster.update(state[pages], gaps, histories.changed[rows])
    return predicted


def scores(population: str, gaps: str, visits: int) -> dict[str, Score]:
    """Scores of all forecasters for the same pages."""
    pages = VISITS // visits
    chance = np.random.default_rng(
        [SEED, list(POPULATIONS).index(population), list(GAPS).index(gaps), visits]
    )
    rates = POPULATIONS[population](chance, 2 * pages)
    days = GAPS[gaps](chance, (2 * pages, visits))
    changed = chance.random(days.shape) < -np.expm1(-rates[:, np.newaxis] * days)
    known = Histories(
        gaps=days[:pages].ravel(),
        changed=changed[:pages].ravel(),
        offsets=np.arange(pages + 1) * visits,
    )
    return {
        name: score(make(known), days[pages:], changed[pages:])
        for name, make in FORECASTERS.items()
    }


def score(forecaster: Forecaster, days: Floats, changed: Floats) -> Score:
    """Score of one forecaster that is told the visits one after the other."""
    predicted, state = np.empty(days.shape), forecaster.start(len(days))
    for visit in range(days.shape[1]):
        predicted[:, visit] = 1 - forecaster.read(state).unchanged(days[:, visit])
        state = forecaster.update(state, days[:, visit], changed[:, visit])
    return summary(predicted.ravel(), changed.ravel())


def summary(predicted: Floats, changed: Floats) -> Score:
    """Score of forecasts."""
    given = np.where(changed, predicted, 1 - predicted)
    surprise = (predicted - changed)[np.argsort(predicted, kind="stable")]
    deciles = [float(part.mean()) for part in np.array_split(surprise, 10)]
    return Score(max(map(abs, deciles)), -float(np.log(np.maximum(given, 1e-12)).mean()))


if __name__ == "__main__":
    main()
