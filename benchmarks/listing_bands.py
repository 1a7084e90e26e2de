"""Whether the bands of listings hold what they claim, on made sources whose truth is known.

    python benchmarks/listing_bands.py
    python benchmarks/listing_bands.py --table forecasts --runs 500

Every band has a nominal 90 %, or a confidence of 80 % from below, and is asked whether it holds:

- `rates`: the removal rate, its mean lifetime and the median lifetime that `describe` and
  `partition` write, the rates of `partition --search shrunk`, and the updates per day of
  `describe --updates`;
- `arrivals`: a day's and a week's new objects in the picture of `describe`, on days that the fit
  has not seen;
- `published`: precision and recall by `forecast --method static`, `survival` and `ar-published`;
- `forecasts`: the same by the default, of a source that was crawled daily for 80 days, 1, 3, 7 and
  14 days ahead, and the floors of `schedule`;
- `cycles`: the same by the default in the long run, as in `backtest` and in a crawl: synced every
  7 days after 80 days of training.

Sources are *steady* (objects vanish one by one at one rate and come as a Poisson process), *bursty*
(days differ by a log-normal factor with a deviation of 0.5, in removals and in arrivals) or
*drifting* (both rates triple within the first 150 days). The published bands are made for
the first.

Needs no files. Touches: the terminal.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np

from recrawl.listings.data.attributes import ObjectGroups
from recrawl.listings.data.grid import DayGrid
from recrawl.listings.data.spells import Listing, Updates
from recrawl.listings.data.updates import histories_of_attribute, update_rate
from recrawl.listings.describe import removal_rates
from recrawl.listings.forecast.methods import DEFAULT, TRAIN_DAYS, SyncReplay, method_named
from recrawl.listings.groups.shrinkage import shrunk_rates
from recrawl.listings.models.negative_binomial import WEEK, NegativeBinomialArrivals

LEVEL, CONFIDENCE = 0.9, 0.8
WITHIN = 0.87, 0.93
AHEAD = (1, 3, 7, 14)
START = np.datetime64("2026-01-05", "us")
DAY = np.timedelta64(1, "D")
QUALITIES = ("precision", "recall")
RATE, ARRIVALS = 0.05, 20.0
DRIFTING_DAYS = 150
METHODS = ("static", "survival", "ar-published")


@dataclass(frozen=True)
class Kind:
    """A kind of source: how days differ, and how fast rates grow."""

    name: str
    shock: float = 0.0
    growth: float = 0.0


STEADY = Kind("steady")
KINDS = (STEADY, Kind("bursty", shock=0.5), Kind("drifting", growth=np.log(3) / DRIFTING_DAYS))


def made_grid(random: np.random.Generator, days: int, kind: Kind) -> DayGrid:
    """A source day by day; what is there at the first crawl has been coming for 100 days."""
    before = 100
    span = days + before
    level = np.exp(kind.growth * np.clip(np.arange(span) - before, 0, DRIFTING_DAYS))
    hazard, mean = (
        level * np.exp(random.normal(-(kind.shock**2) / 2, kind.shock, span)) for _ in range(2)
    )
    total = np.concatenate([[0.0], np.cumsum(RATE * hazard)])
    new = random.poisson(ARRIVALS * mean)
    arrived = np.repeat(np.arange(span), new) + random.random(int(new.sum()))
    # Removed when the hazard it has gathered reaches an exponential number.
    threshold = np.interp(arrived, np.arange(span + 1), total) + random.exponential(
        size=len(arrived)
    )
    removed = np.interp(threshold, total, np.arange(span + 1), right=np.inf)
    first = np.maximum(np.ceil(arrived).astype(np.int64) - before, 0)
    gone = np.minimum(np.ceil(np.minimum(removed, span)).astype(np.int64) - before, days)
    gone = np.where(np.isinf(removed), days, gone)
    seen = (first < gone) & (first < days)
    none = np.zeros(days, np.bool_)
    count = int(np.count_nonzero(seen))
    return DayGrid(START, none, ~none, count, np.arange(count), first[seen], gone[seen])


def say(what: str, held: np.ndarray, *, nominal: float = LEVEL) -> None:
    """Print what share of bands held, and whether that is near what they claim."""
    share = float(np.mean(held))
    low, high = (end + nominal - LEVEL for end in WITHIN)
    verdict = "holds" if low <= round(share, 3) <= high else "too wide" if share > high else "FAILS"
    print(f"  {what:<58}{100 * nominal:>5.0f} %{100 * share:>8.1f} %  {verdict}", flush=True)


def play_rates(options: argparse.Namespace) -> None:
    """Groups of 60 objects, each with a rate of its own, crawled daily for 90 days."""
    print("\nrates, one group per run")
    random = np.random.default_rng(1)
    runs, objects, days = options.runs, 60, 90
    rate = random.gamma(4.0, 0.05 / 4, runs)
    group = np.repeat(np.arange(runs), objects)
    arrived = random.uniform(0, days - 10, len(group))
    removed = arrived + random.exponential(size=len(group)) / rate[group]
    first, gone = np.ceil(arrived).astype(int), np.minimum(np.ceil(removed).astype(int), days + 1)
    seen = np.flatnonzero(first < gone)
    crawls = START + np.arange(days + 1) * DAY
    keys = [str(row) for row in range(len(seen))]
    spells = [(row, int(first[each]), int(gone[each])) for row, each in enumerate(seen.tolist())]
    found = removal_rates(Listing.of(keys, crawls, spells), group[seen], runs)
    say("removal rate and mean lifetime", (found.low <= rate) & (rate <= found.high))
    curves = found.curves
    ends = np.array([curve.median_band(LEVEL) for curve in curves])
    true = np.array([curve.start for curve in curves]) + np.log(2) / rate
    low = np.where(np.isnan(ends[:, 0]), 0, ends[:, 0])
    high = np.where(np.isnan(ends[:, 1]), np.inf, ends[:, 1])
    say("median lifetime", (low <= true) & (true <= high))
    shrunk_low, shrunk_high = shrunk_rates(found.removals, found.exposure).band(LEVEL)
    say("rates of --search shrunk", (shrunk_low <= rate) & (rate <= shrunk_high))
    say("updates per day", _updates(random, options.runs))


def _updates(random: np.random.Generator, runs: int) -> np.ndarray:
    """Twenty objects watched daily for thirty days, each changing every 20 days."""
    objects, days, rate = 20, 31, 0.05
    crawls = START + np.arange(days) * DAY
    spells = [(row, 0, days) for row in range(objects)]
    keys = [str(row) for row in range(objects)]
    held = []
    for _ in range(runs):
        changed = random.random((objects, days - 1)) < -np.expm1(-rate)
        who, when = np.nonzero(changed)
        updates = Updates(who, when + 1, np.full(len(who), -1))
        listing = Listing.of(keys, crawls, spells, updates=updates)
        band = update_rate(histories_of_attribute(listing, -1), level=LEVEL)
        held.append(band.low <= rate <= band.high)
    return np.array(held)


def play_arrivals(options: argparse.Namespace) -> None:
    """Fitted to 120 days; the days after them are asked."""
    print("\narrivals")
    random = np.random.default_rng(2)
    for shape in (np.inf, 4.0):
        for size in (1, WEEK):
            held = []
            for _ in range(options.runs):
                days = 120 + size
                level = 1.0 if np.isinf(shape) else random.gamma(shape, 1 / shape, days)
                counts = random.poisson(ARRIVALS * np.broadcast_to(level, days)).astype(float)
                fit = NegativeBinomialArrivals.fit_by_weekday(counts[:120], np.arange(120) % WEEK)
                low, high = (
                    fit.quantile_of_independent_days(size, tail, 120 % WEEK)
                    for tail in ((1 - LEVEL) / 2, (1 + LEVEL) / 2)
                )
                held.append(low <= counts[120:].sum() <= high)
            name = "Poisson" if np.isinf(shape) else "in batches (dispersion 6)"
            say(f"new objects of {'a day' if size == 1 else 'a week'}, {name}", np.array(held))


def outcomes(
    run: SyncReplay, grid: DayGrid, day: int, ahead: tuple[int, ...]
) -> dict[tuple[str, int], tuple[bool, bool]]:
    """Whether each band, and each floor, held what came so many days after a sync."""
    forecast = run.forecast(max(ahead))
    found = {}
    for metric in QUALITIES:
        low, high = getattr(forecast.low, metric), getattr(forecast.high, metric)
        floor = forecast.floor(metric, CONFIDENCE)
        for days in ahead:
            true = getattr(grid, metric)(day, day + days)
            inside = low[days - 1] - 1e-9 <= true <= high[days - 1] + 1e-9
            found[metric, days] = (bool(inside), bool(true >= floor[days - 1]))
    return found


def played(method: str, kind: Kind, runs: int, seed: int) -> dict[tuple[str, int], np.ndarray]:
    """Outcomes of fresh sources, each trained on 80 days."""
    random = np.random.default_rng(seed)
    rows = []
    for _ in range(runs):
        grid = made_grid(random, TRAIN_DAYS + max(AHEAD) + 1, kind)
        groups = ObjectGroups.one(grid.objects)
        run = SyncReplay(grid, groups, method_named(method), train=TRAIN_DAYS)
        rows.append(outcomes(run, grid, TRAIN_DAYS, AHEAD))
    return {key: np.array([row[key] for row in rows]) for key in rows[0]}


def show(found: dict[tuple[str, int], np.ndarray], what: str) -> None:
    """Print the bands by metric and horizon, and the floors."""
    for (metric, days), held in found.items():
        say(f"{what}: {metric}, {days} d ahead", held[:, 0])
    for metric in QUALITIES:
        floors = np.concatenate([held[:, 1] for key, held in found.items() if key[0] == metric])
        say(f"{what}: {metric} floor, all horizons", floors, nominal=CONFIDENCE)


def play_published(options: argparse.Namespace) -> None:
    print("\npublished bands, each run a source of its own")
    for method in METHODS:
        show(played(method, STEADY, options.runs, 3), f"{method}, steady")
    for method in METHODS:
        found = played(method, KINDS[1], max(options.runs // 4, 1), 4)
        show({key: held for key, held in found.items() if key[1] == WEEK}, f"{method}, bursty")


def play_forecasts(options: argparse.Namespace) -> None:
    print("\ndefault forecaster after 80 days of training, each run a source of its own")
    for kind in KINDS:
        runs = max(options.runs // 4, 1)
        show(played(DEFAULT, kind, runs, 5), f"{DEFAULT}, {kind.name}")


def play_cycles(options: argparse.Namespace) -> None:
    print("\ndefault forecaster in the long run, synced every 7 days")
    per_source = 40
    for kind in KINDS:
        random = np.random.default_rng(6)
        rows = []
        for _ in range(max(options.runs // per_source, 1)):
            days = TRAIN_DAYS + WEEK * per_source + 1
            grid = made_grid(random, days, kind)
            groups = ObjectGroups.one(grid.objects)
            run = SyncReplay(grid, groups, method_named(DEFAULT), train=TRAIN_DAYS)
            for day in range(TRAIN_DAYS, days - WEEK, WEEK):
                rows.append(outcomes(run, grid, day, (WEEK,)))
                run.advance(day + WEEK)
        found = {key: np.array([row[key] for row in rows]) for key in rows[0]}
        show(found, f"{DEFAULT}, {kind.name}")


TABLES = {
    "rates": play_rates,
    "arrivals": play_arrivals,
    "published": play_published,
    "forecasts": play_forecasts,
    "cycles": play_cycles,
}


def main() -> None:
    """Read the options and show the tables."""
    parser = argparse.ArgumentParser(description="Measure what bands of listings hold.")
    parser.add_argument("--table", choices=["all", *TABLES], default="all")
    parser.add_argument("--runs", type=int, default=2000, help="a quarter of it for `forecasts`")
    options = parser.parse_args()
    print(f"  {'band':<58}{'nominal':>7}{'held':>10}")
    for name, table in TABLES.items():
        if options.table in ("all", name):
            table(options)


if __name__ == "__main__":
    main()
