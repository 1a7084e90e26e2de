"""How well each predictor foretells the next change of real pages, visit by visit.

    python benchmarks/prediction.py ../shared/data/pages
    python benchmarks/prediction.py ../shared/data/pages --days 1

The folder holds a folder a source, each with `pages.parquet` (page, first_seen, removed_at) and
`changes.parquet` (page, changed_at). Every page is replayed as if visited at regular gaps from the
day it was first seen until it was removed or the source's last change. At each visit, from nothing
but the visits so far, every predictor of `PREDICTORS` gives

- the chance that the page is unchanged at the next visit. Its score is the mean logarithm of the
  chance given to what happened; higher is better;
- the days to the next change that it thinks too short as likely as too long. Its error is the mean
  absolute difference from the days to the true change, both cut at a year, over all visits after
  which the page was on record for a year. (Without these cuts the error would be that of the
  few pages that never change, or of those that changed before the record ended.)

All start from the same prior, fitted over the source as one site. The bank's score may nowhere be
more than 0.005 a visit below that of `gamma`, and must be above it on two sources of three.

Needs pyarrow. Touches: the files it reads, the terminal.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow.parquet as pq

from recrawl import Gamma, Histories, Priors, fit_prior
from recrawl.rates.bank import Bank
from recrawl.rates.ranks import most_first
from recrawl.trends import fit_clock
from recrawl.trends.points import ends_of_gaps, points_of
from recrawl.trends.prequential import _running
from recrawl.trends.windows import LEAST_POINTS, Windowing, Windows, WindowTimes, _cut

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recrawl import Estimates
    from recrawl.arrays.types import Floats, Ints

DEFAULT = "bank"
LARGEST_LOSS = 0.005
LEAST_WINS = 2 / 3

YEAR = 365.0
# A chance of nothing or of certainty that proves wrong costs this much, not infinitely much.
LEAST_CHANCE = 1e-9


class Replay(NamedTuple):
    """What predictors may see, and what not: one row per gap, at the visit that begins it."""

    histories: Histories
    wait: Floats  # days to the next change; infinite if there is none on record
    ahead: Floats  # days that the page is still on record


class Forecast(NamedTuple):
    """One row per gap, forecast at the visit that begins it."""

    unchanged: Floats  # chance that the gap shows no change
    wait: Floats  # days to the next change: the median


# A predictor reads the gaps of a page only up to the one it foretells, and has an answer for each:
# one with too little to go on gives that of `gamma`. The dates are in `histories.first_visit`.
Predictor = Callable[[Histories, Priors], Forecast]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="folder with a folder a source")
    parser.add_argument("--days", type=float, default=7.0, help="between two visits")
    arguments = parser.parse_args()

    print(f"{'source':12} {'visits':>8} {'changed':>7}  predictor     score    gain  error, days")
    gains = []
    for source in sorted(path for path in arguments.folder.iterdir() if path.is_dir()):
        replay = replayed(source, arguments.days)
        histories = replay.histories
        priors = fit_prior(histories)
        print(f"{source.name:12} {len(histories.gaps):8d} {histories.changed.mean():7.4f}", end="")
        scores: dict[str, float] = {}
        for name, predictor in PREDICTORS.items():
            forecast = predictor(histories, priors)
            scores[name] = score(forecast, histories)
            gain = scores[name] - scores["gamma"]
            error = absolute_error(forecast, replay)
            indent = 31 if len(scores) > 1 else 2
            print(f"{'':{indent}}{name:12} {scores[name]:7.4f} {gain:+7.4f} {error:12.1f}")
        gains.append(scores[DEFAULT] - scores["gamma"])
    wins = sum(gain > 0 for gain in gains)
    print(f"{DEFAULT}: above gamma on {wins} of {len(gains)} sources, worst {min(gains):+.4f}")
    assert min(gains) >= -LARGEST_LOSS, f"{DEFAULT} loses too much to a constant rate"
    assert wins >= LEAST_WINS * len(gains), f"{DEFAULT} beats a constant rate too rarely"


def replayed(source: Path, days: float) -> Replay:
    """Visits every so many days to a source's pages; pages too short-lived for two are out."""
    pages = pq.read_table(source / "pages.parquet")
    changes = pq.read_table(source / "changes.parquet", columns=["page", "changed_at"])
    first, removed = (_days(pages[name]) for name in ("first_seen", "removed_at"))
    changed_at = _days(changes["changed_at"])
    last = np.where(np.isnan(removed), changed_at.max(), removed)
    gaps = np.maximum(np.floor((last - first) / days), 0).astype(np.int64)

    names = pages["page"].to_numpy()
    order = np.argsort(names)
    page = order[np.searchsorted(names, changes["page"].to_numpy(), sorter=order)]
    since = changed_at - first[page]

    # One sorted column for all pages: each has a stretch of its own, longer than any record.
    stretch = np.ceil((last - first).max()) + 1
    inside = (since > 0) & (since <= (last - first)[page])
    known = np.sort(page[inside] * stretch + since[inside])
    page_of_gap = np.repeat(np.arange(len(gaps)), gaps)
    offsets = np.concatenate([[0], np.cumsum(gaps)])
    visit = (np.arange(offsets[-1]) - offsets[page_of_gap]) * days
    # A change at the very instant of a visit is seen by it, and the next one is meant.
    row = np.searchsorted(known, page_of_gap * stretch + visit, side="right")
    following = np.append(known, np.inf)[row]
    wait = np.where(following < (page_of_gap + 1) * stretch, following, np.inf)
    wait -= page_of_gap * stretch + visit

    alive = gaps > 0
    histories = Histories(
        gaps=np.full(len(wait), days),
        changed=wait <= days,
        offsets=np.concatenate([[0], np.cumsum(gaps[alive])]),
        first_visit=np.asarray(pages["first_seen"], "datetime64[us]")[alive],
    )
    return Replay(histories, wait, (last - first)[page_of_gap] - visit)


def _days(column: object) -> Floats:
    """Days since the epoch; nan where the column is null."""
    instants = np.asarray(column, "datetime64[us]")
    days: Floats = (instants - np.datetime64(0, "us")) / np.timedelta64(1, "D")
    return days


def by_gamma(histories: Histories, priors: Priors) -> Forecast:
    """A constant rate."""
    return told_gap_by_gap(Gamma(priors), histories)


def by_bank(histories: Histories, priors: Priors) -> Forecast:
    """The forgetting bank, by the Gamma distribution of its estimates."""
    return told_gap_by_gap(Bank(priors), histories)


def by_mixture(histories: Histories, priors: Priors) -> Forecast:
    """The forgetting bank, its chances by the members themselves; the days as above."""
    bank = Bank(priors)
    forecast = told_gap_by_gap(bank, histories)
    state = bank.start(len(histories))
    for pages, rows in visit_by_visit(histories):
        gaps = histories.gaps[rows]
        forecast.unchanged[rows] = bank.unchanged(state[pages], gaps)
        state[pages] = bank.update(state[pages], gaps, histories.changed[rows])
    return forecast


def by_weibull(histories: Histories, priors: Priors) -> Forecast:
    """The Weibull process of the window so far; `gamma` before a window has four points."""
    seen, forecast = Seen.of(histories), by_gamma(histories, priors)
    logs = np.maximum(seen.number * np.log(seen.now) - seen.logs, 1e-12)
    beta = (seen.number - 1) / logs
    expected = seen.number * np.expm1(beta * np.log1p(histories.gaps[seen.row] / seen.now))
    forecast.unchanged[seen.row] = np.exp(-expected)
    forecast.wait[seen.row] = seen.now * np.expm1(np.log1p(np.log(2) / seen.number) / beta)
    return forecast


def by_duane(histories: Histories, priors: Priors) -> Forecast:
    """The line through the Duane plot of the window so far; `gamma` before four points."""
    seen, forecast = Seen.of(histories), by_gamma(histories, priors)
    power = 1 - seen.slope
    cumulative = np.exp(power * np.log(seen.now) - seen.intercept)
    expected = cumulative * np.expm1(power * np.log1p(histories.gaps[seen.row] / seen.now))
    forecast.unchanged[seen.row] = np.exp(-expected)
    rate = np.maximum(power, 1e-6) * cumulative / seen.now
    forecast.wait[seen.row] = np.log(2) / rate
    return forecast


def by_season(histories: Histories, priors: Priors) -> Forecast:
    """A constant rate on a clock with hours of the week, fitted over the source."""
    del priors  # days on the clock need a prior of their own
    on_clock = fit_clock(histories).on_clock(histories)
    return told_gap_by_gap(Gamma(fit_prior(on_clock)), on_clock)


PREDICTORS: dict[str, Predictor] = {
    "gamma": by_gamma,
    "bank": by_bank,
    "mixture": by_mixture,
    "weibull": by_weibull,
    "duane": by_duane,
    "season": by_season,
}


class Seen(NamedTuple):
    """Facts about the current window where a gap begins, for gaps with four points so far.

    Windows are cut forward and not merged, so that nothing later than a point decides about it.
    """

    row: Ints  # of the gap
    now: Floats  # days from the window's beginning to the visit
    number: Floats  # points of the window so far
    logs: Floats  # sum of ln s
    slope: Floats  # of the Duane plot
    intercept: Floats

    @classmethod
    def of(cls, histories: Histories) -> Seen:
        """Look at every gap of all pages."""
        points = points_of(histories)
        begins, state = _cut(points, Windowing(3.0, "count"))
        rows = np.flatnonzero(begins)
        page = np.searchsorted(points.offsets, rows, side="right") - 1
        windows = Windows(np.append(rows, len(points.times)), page, state[rows])
        times = WindowTimes.of(points, windows)
        number, x = times.number, times.logs
        logs, y = _running(x, times), x - np.log(number)
        heights, squares = _running(y, times), _running(x * x, times)
        products = _running(x * y, times)
        spread = squares / number - (logs / number) ** 2
        both = products / number - logs * heights / number**2
        slope = np.where(spread > 1e-9, both, 0) / np.where(spread > 1e-9, spread, 1)

        changed = histories.changed.astype(np.int64)
        before = np.cumsum(changed) - changed
        last = before - 1  # the latest point before each gap, all pages end to end
        some = before > before[histories.offsets[:-1]][histories.page_of_gap]
        some[some] = number[last[some]] >= LEAST_POINTS
        row = np.flatnonzero(some)
        last = last[row]
        now = (ends_of_gaps(histories) - histories.gaps)[row] - times.spread(
            windows.origins(points)
        )[last]
        intercept = (heights / number - slope * logs / number)[last]
        return cls(row, now, number[last], logs[last], slope[last], intercept)


def told_gap_by_gap(estimator: Gamma | Bank, histories: Histories) -> Forecast:
    """Forecasts of an estimator that streams."""
    forecast = Forecast(np.empty(len(histories.gaps)), np.empty(len(histories.gaps)))
    state = estimator.start(len(histories))
    for pages, rows in visit_by_visit(histories):
        gaps, estimates = histories.gaps[rows], estimator.read(state[pages])
        forecast.unchanged[rows] = estimates.unchanged(gaps)
        forecast.wait[rows] = median_wait(estimates)
        state[pages] = estimator.update(state[pages], gaps, histories.changed[rows])
    return forecast


def visit_by_visit(histories: Histories) -> Iterator[tuple[Ints, Ints]]:
    """Pages that have a first gap and the rows of these, a second, and so on."""
    order, ranks = most_first(histories.gaps_of_page)
    for rank, left in enumerate(ranks):
        yield order[:left], histories.offsets[order[:left]] + rank


def median_wait(estimates: Estimates) -> Floats:
    """Days after which the chance of no change is a half, at most e^50 exposures."""
    halvings = np.minimum(np.log(2) / estimates.shape, 50.0)
    days: Floats = estimates.exposure * np.expm1(halvings)
    return days


def score(forecast: Forecast, histories: Histories) -> float:
    """Mean logarithm of the chance given to what happened."""
    chance = np.where(histories.changed, 1 - forecast.unchanged, forecast.unchanged)
    assert not np.isnan(chance).any(), "a predictor must have an answer for each gap"
    return float(np.mean(np.log(np.maximum(chance, LEAST_CHANCE))))


def absolute_error(forecast: Forecast, replay: Replay) -> float:
    """Mean absolute error of the days to the next change, cut at a year."""
    counts = replay.ahead >= YEAR
    errors = np.minimum(forecast.wait, YEAR) - np.minimum(replay.wait, YEAR)
    return float(np.abs(errors[counts]).mean())


if __name__ == "__main__":
    main()
