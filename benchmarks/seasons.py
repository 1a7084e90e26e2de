"""How often the bands of local rates and seasonal forecasts hold the true rate.

    python benchmarks/seasons.py                    # both tables: some ten minutes
    python benchmarks/seasons.py local              # or: forecast, alone
    python benchmarks/seasons.py local --pages 500 --kind mild

Pages are made with known rates and watched in several ways; the estimator then sees what a crawler
would. A band of 90 % should hold the true rate of 90 pages of 100. Every figure is over 2,000 pages
of one kind, so it is uncertain by 1.3 points either way.

`local`: a year of each page. *busy* are the periods named in the second column, *others* the rest,
with the share of bands that hold the true rate, and the mean rate over the true one.

`forecast`: some years of each page, and the rate of the next January: the share of bands that hold
it, the mean rate over the true one, and the mean weight of the season.

`alone`: the same for complete histories with one page per file, so that no other page shows whether
years differ. A tenth of the pages: each is a run of its own.

Pure but for the terminal.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl import Histories
from recrawl.trends.local_rates import local_rates
from recrawl.trends.points import watched_all_the_time
from recrawl.trends.seasons import seasonal_forecast

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.arrays.types import Bools, Floats, Ints

    Random = np.random.Generator

FIRST = np.datetime64("2025-01-01", "us")
DAY = np.timedelta64(1, "D")
WATCHED = ("complete", "dated daily", "dated weekly", "daily", "weekly", "irregular")


@dataclass(frozen=True)
class Kind:
    """One kind of pages.

    Args:
        busy: Periods that are unlike the rest, by label.
        rates: Rate on each day, one row per page, from days since 2025 began.
        by: Periods that are asked for.
    """

    busy: str
    rates: Callable[[Ints, int, Random], Floats]
    by: str = "month"


def in_months(*months: int, fast: float, slow: float) -> Callable[[Ints, int, Random], Floats]:
    """Pages that are fast in some months and slow in the others."""

    def rates(days: Ints, pages: int, _: Random) -> Floats:
        return np.tile(np.where(np.isin(month_of(days), months), fast, slow), (pages, 1))

    return rates


def month_of(days: Ints) -> Ints:
    """Month of the year of each day, from 1."""
    months: Ints = (FIRST + days * DAY).astype("datetime64[M]").astype(np.int64) % 12 + 1
    return months


def school_terms(days: Ints, pages: int, _: Random) -> Floats:
    """One change a day in term, one in 20 days in July and August."""
    return np.tile(np.where(np.isin(month_of(days), (7, 8)), 0.05, 1.0), (pages, 1))


def workdays(days: Ints, pages: int, _: Random) -> Floats:
    """Half a change a day from Monday to Friday, a twentieth at weekends."""
    return np.tile(np.where((days + 2) % 7 < 5, 0.5, 0.05), (pages, 1))


def growing(days: Ints, pages: int, _: Random) -> Floats:
    """From a change in ten days to one a day, in a straight line over the year."""
    return np.tile(0.1 + 0.9 * days / 365, (pages, 1))


def burst(days: Ints, pages: int, random: Random) -> Floats:
    """One change in 200 days, and twelve in one month of the year."""
    month = random.integers(1, 13, pages)
    return np.where(month_of(days) == month[:, np.newaxis], 0.4, 0.005)


def unlike(days: Ints, pages: int, random: Random) -> Floats:
    """Every month of every page has its own rate, log-normal around one change in five days."""
    rate = np.exp(random.normal(np.log(0.2), 0.7, (pages, 12)))
    return rate[:, month_of(days) - 1]


LOCAL = {
    "January .42, else .02": Kind("01", in_months(1, fast=0.42, slow=0.02)),
    "January 1, else .05": Kind("01", in_months(1, fast=1.0, slow=0.05)),
    "January .6, else .02": Kind("01", in_months(1, fast=0.6, slow=0.02)),
    "mild: January .3, else .2": Kind("01", in_months(1, fast=0.3, slow=0.2)),
    "summer, five times .1": Kind("07 08", in_months(7, 8, fast=0.5, slow=0.1)),
    "school terms 1, else .05": Kind("07 08", school_terms),
    "weekdays .5, weekends .05": Kind("Sat Sun", workdays, "weekday"),
    "no season, .01": Kind("01", in_months(fast=0.01, slow=0.01)),
    "no season, 2": Kind("01", in_months(fast=2.0, slow=2.0)),
    "growing from .1 to 1": Kind("12", growing),
    "one burst month .4, else .005": Kind("burst", burst),
    "each month its own": Kind("01", unlike),
}


def january(fast: float, slow: float, spread: float = 0.0) -> Callable[[Ints, int, Random], Floats]:
    """Pages with busy Januaries, each year's times a Gamma factor of this variance."""

    def rates(days: Ints, pages: int, random: Random) -> Floats:
        year = days_to_years(days)
        factor = np.ones((pages, year[-1] + 1))
        if spread:
            factor = random.gamma(1 / spread, spread, factor.shape)
        return np.where(month_of(days) == 1, fast, slow) * factor[:, year]

    return rates


def days_to_years(days: Ints) -> Ints:
    """Years since 2025 of each day."""
    years: Ints = (FIRST + days * DAY).astype("datetime64[Y]").astype(np.int64) - 55
    return years


def doubling(days: Ints, pages: int, _: Random) -> Floats:
    """Twice as fast every year, from one change in ten days."""
    return np.tile(0.1 * np.exp2(days / 365.25), (pages, 1))


def straight(days: Ints, pages: int, _: Random) -> Floats:
    """A tenth more every year, of one change in five days."""
    return np.tile(0.2 * (1 + days / 3652.5), (pages, 1))


def last_burst(days: Ints, pages: int, _: Random) -> Floats:
    """A burst in one October, the last but one."""
    burst_month = (days_to_years(days) == days_to_years(days)[-1] - 2) & (month_of(days) == 10)
    return np.tile(np.where(burst_month, 1.0, 0.05), (pages, 1))


def own_januaries(days: Ints, pages: int, random: Random) -> Floats:
    """Only the Januaries differ between years, by a Gamma factor of variance .1."""
    year = days_to_years(days)
    factor = random.gamma(10, 0.1, (pages, year[-1] + 1))
    return np.where(month_of(days) == 1, 0.8 * factor[:, year], 0.15)


def doubled(days: Ints, pages: int, _: Random) -> Floats:
    """Januaries are twice as fast, and everything is from the fifth year on."""
    level = np.where(days_to_years(days) >= 4, 0.3, 0.15)
    return np.tile(level * np.where(month_of(days) == 1, 2, 1), (pages, 1))


def some_seasonal(days: Ints, pages: int, random: Random) -> Floats:
    """Half of the pages have a busy January."""
    busy = random.random(pages) < 0.5
    return np.where((month_of(days) == 1) & busy[:, np.newaxis], 0.5, 0.1)


def any_rate(days: Ints, pages: int, random: Random) -> Floats:
    """Every month of every page has its own rate, all orders of magnitude alike."""
    rate = np.exp(random.uniform(np.log(0.05), np.log(1.5), (pages, 12)))
    return rate[:, month_of(days) - 1]


# Those below were first run when the method was finished, and it was not changed after them.
LOCAL |= {
    "quarter ends .6, else .1": Kind("03 06 09 12", in_months(3, 6, 9, 12, fast=0.6, slow=0.1)),
    "log-uniform .05 to 1.5": Kind("01", any_rate),
    "December .9, else .03": Kind("12", in_months(12, fast=0.9, slow=0.03)),
    "quiet May .05, else .5": Kind("05", in_months(5, fast=0.05, slow=0.5)),
}

FORECAST = {
    "January .6, else .02": (6, january(0.6, 0.02)),
    "January 1.5, else .1": (6, january(1.5, 0.1)),
    "January .42, else .02, 3 years": (3, january(0.42, 0.02)),
    "mild: January .3, else .2": (4, january(0.3, 0.2)),
    "years differ: January 1, else .1": (6, january(1.0, 0.1, spread=0.2)),
    "years differ much": (6, january(1.0, 0.1, spread=0.5)),
    "no season, .01": (4, january(0.01, 0.01)),
    "no season, 2": (2, january(2.0, 2.0)),
    "no season, .2, 8 months": (0.67, january(0.2, 0.2)),
    "a tenth more every year": (4, straight),
    "twice as fast every year": (4, doubling),
    "one burst in four years": (4, last_burst),
    # Unseen, as above.
    "winter .4, else .1": (5, in_months(12, 1, fast=0.4, slow=0.1)),
    "quiet January .03, else .3": (5, in_months(1, fast=0.03, slow=0.3)),
    "half of the pages: January .5": (5, some_seasonal),
    "only Januaries differ": (5, own_januaries),
    "all doubled last year": (5, doubled),
}


ALONE = (
    "January .6, else .02",
    "mild: January .3, else .2",
    "years differ: January 1, else .1",
    "no season, .01",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", nargs="?", choices=["local", "forecast", "alone"])
    parser.add_argument("--pages", type=int, default=2000)
    parser.add_argument("--kind", default="", help="only kinds that begin so")
    asked = parser.parse_args()
    for name, work in {"local": local, "forecast": forecast, "alone": alone}.items():
        if asked.table in (None, name):
            work(asked.pages, asked.kind)


def local(pages: int, only: str) -> None:
    """Print the coverage of local rates."""
    print(f"{'pages':30} {'watched':13} {'busy':>6} {'others':>7} {'rate/true':>10}")
    for name, kind in LOCAL.items():
        if not name.startswith(only):
            continue
        for number, how in enumerate(WATCHED):
            random = np.random.default_rng(number)
            days = np.arange(365)
            rates = kind.rates(days, pages, random)
            rows = local_rates(watched(how, rates, random), kind.by)
            true = _true_rates(rates, days, kind.by)[rows.page, _place(rows.period, kind.by)]
            holds = (rows.low <= true) & (true <= rows.high)
            busy = _busy(rows.period, true, kind)
            ratio = rows.rate[busy].mean() / true[busy].mean()
            print(
                f"{name:30} {how:13} {100 * holds[busy].mean():5.1f}% "
                f"{100 * holds[~busy].mean():6.1f}% {ratio:10.2f}"
            )


def _busy(period: Ints, true: Floats, kind: Kind) -> Bools:
    if kind.busy == "burst":
        return true > 0.1
    return np.any([np.char.endswith(period, label) for label in kind.busy.split()], axis=0)


def _true_rates(rates: Floats, days: Ints, by: str) -> Floats:
    """Mean rate of each page in each month or on each weekday."""
    # 2025 began on a Wednesday.
    place = month_of(days) - 1 if by == "month" else (days + 2) % 7
    return np.stack([rates[:, place == one].mean(axis=1) for one in np.unique(place)], axis=1)


def _place(period: Ints, by: str) -> Ints:
    if by == "month":
        return np.array([int(label[-2:]) - 1 for label in period.tolist()])
    week = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    return np.array([week.index(label) for label in period.tolist()])


def forecast(pages: int, only: str) -> None:
    """Print the coverage of forecasts of the next January."""
    print(f"{'pages':34} {'watched':13} {'holds':>6} {'rate/true':>10} {'season':>7}")
    for name in FORECAST:
        if not name.startswith(only):
            continue
        for number, how in enumerate(("complete", "dated weekly", "weekly")):
            random = np.random.default_rng(number)
            goal, histories, true = _years(how, name, pages, random)
            found = seasonal_forecast(histories, goal)
            holds = (found.low <= true) & (true <= found.high)
            print(
                f"{name:34} {how:13} {100 * holds.mean():5.1f}% "
                f"{found.rate.mean() / true.mean():10.2f} {found.season_weight.mean():7.2f}"
            )


def alone(pages: int, only: str) -> None:
    """Print the coverage of forecasts of pages that have no company."""
    print(f"{'alone':34} {'holds':>6} {'season':>7}")
    for name in ALONE:
        if not name.startswith(only):
            continue
        goal, histories, true = _years("complete", name, pages // 10, np.random.default_rng(1))
        found = [
            seasonal_forecast(histories.take(np.array([page])), goal)
            for page in range(len(histories))
        ]
        low, high, weight = (
            np.concatenate([getattr(one, part) for one in found])
            for part in ("low", "high", "season_weight")
        )
        holds = (low <= true) & (true <= high)
        print(f"{name:34} {100 * holds.mean():5.1f}% {weight.mean():7.2f}")


def _years(how: str, name: str, pages: int, random: Random) -> tuple[str, Histories, Floats]:
    """January to forecast, what was seen before it, and the rate of each page in it."""
    years, rates_of = FORECAST[name]
    goal = f"{2025 + int(np.ceil(years))}-01"
    length = int((np.datetime64(f"{goal}-01") - FIRST) / DAY)
    rates = rates_of(np.arange(length + 31), pages, random)
    start = length - int(365 * years) if years < 1 else 0
    histories = watched(how, rates[:, start:length], random, start)
    return goal, histories, rates[:, length:].mean(axis=1)


def watched(how: str, rates: Floats, random: Random, start: int = 0) -> Histories:
    """What visits of this manner see of pages with these rates a day."""
    pages, length = rates.shape
    counts = random.poisson(rates)
    cell = np.repeat(np.arange(counts.size), counts.ravel())
    page, day = np.divmod(cell, length)
    at = np.sort(page * length + day + random.random(len(cell)))
    first_visit = np.full(pages, FIRST + start * DAY)
    page = np.minimum(at // length, pages - 1).astype(np.int64)
    at = np.clip(at - page * length, 1e-6, length - 2e-5)
    if how == "complete":
        return _complete(at, page, pages, length, first_visit)

    if how == "irregular":
        gaps = np.clip(random.exponential(3.0, (pages, length // 2)), 0.1, 30)
        ends = np.cumsum(gaps, axis=1)
        inside = ends < length
    else:
        step = 7.0 if "weekly" in how else 1.0
        # Each page begins at its own time of the day or week.
        offset = random.uniform(0.1, step, (pages, 1)) if step > 1 else np.ones((pages, 1))
        ends = np.minimum(np.arange(int(length // step) + 1) * step + offset, length - 1e-5)
        inside = np.diff(ends, axis=1, prepend=0) > 0
    gaps = np.diff(ends, axis=1, prepend=0)
    flat_ends = (ends + np.arange(pages)[:, np.newaxis] * 2 * length)[inside]
    row = np.searchsorted(flat_ends, at + page * 2 * length)
    offsets = np.concatenate([[0], np.cumsum(inside.sum(axis=1))])
    seen = row < offsets[page + 1]
    age = np.full(len(flat_ends), np.nan)
    age[row[seen]] = ends[inside][row[seen]] - at[seen]  # the last of several stays
    changed = ~np.isnan(age)
    gaps = gaps[inside]
    return Histories(
        gaps,
        changed,
        offsets,
        np.clip(age, 1e-9, gaps * (1 - 1e-9)) if "dated" in how else None,  # type: ignore[arg-type]
        first_visit=first_visit,
    )


def _complete(at: Floats, page: Ints, pages: int, length: int, first_visit: Floats) -> Histories:
    """All changes, and the quiet time between them and to the end."""
    # A second early: rounding must not carry the end into the next month.
    when = np.concatenate([at, np.full(pages, length - 1e-5)])
    whose = np.concatenate([page, np.arange(pages)])
    order = np.lexsort((when, whose))
    when, whose = when[order], whose[order]
    changed = order < len(at)
    begins = np.diff(whose, prepend=-1) > 0
    gaps = np.maximum(when - np.where(begins, 0, np.roll(when, 1)), 1e-6)
    offsets = np.append(np.flatnonzero(begins), len(gaps))
    return watched_all_the_time(Histories(gaps, changed, offsets, first_visit=first_visit))


if __name__ == "__main__":
    main()
