"""How often the bands of `recrawl trends windows` and `recrawl trends next` hold the truth.

    .venv/bin/python benchmarks/trend_bands.py          # some seconds

4,000 made pages a cell. `beta` is the band of 90 % of the Weibull process of a window: fixed
beforehand, and all windows as the cut found them. `next` are the bands of 80 % and 90 % of the next
change, by each method, of pages that end with a change (`page,changed_at`) and of pages watched
on: visited every hour, or every tenth of their mean interval. Pages with a constant rate have
theirs from the prior that `bank` and `gamma` are given; all methods are asked of one window, the
whole record, or of the last window as cut.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl import Histories, Priors
from recrawl.trends.fits import fit_windows
from recrawl.trends.next_change import PREDICTORS, next_changes
from recrawl.trends.points import Points, points_of
from recrawl.trends.windows import Windowing, consistent_windows

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Floats
    from recrawl.trends.windows import Windows

PAGES = 4000
SHAPE, DAYS = 2.0, 8.0  # of the rates: a mean of one change in four days
WHOLE = Windowing(np.inf)


def main() -> None:
    beta_bands()
    for level in (0.8, 0.9):
        next_bands(level)


def beta_bands() -> None:
    """The band of beta, for Weibull processes of a fixed number of changes."""
    print("band of beta, 90 %\n\n| changes | beta | whole record | windows as cut | more windows |")
    print("| ---: | ---: | ---: | ---: | ---: |")
    for count in (5, 10, 40):
        for beta in (0.5, 1.0, 2.0):
            points, _ = ends_with_a_change(count, beta, 1.0)
            cells = [held(beta, points, consistent_windows(points, how)) for how in (WHOLE, None)]
            cut = len(consistent_windows(points)) / PAGES - 1
            print(f"| {count} | {beta} | {cells[0]:.1%} | {cells[1]:.1%} | {cut:.1%} |")


def held(beta: float, points: Points, windows: Windows) -> float:
    fits = fit_windows(points, windows)
    return float(((fits.beta_low <= beta) & (beta <= fits.beta_high)).mean())


def ends_with_a_change(count: int, beta: float, rate: Floats | float) -> tuple[Points, Floats]:
    """Pages with so many changes, and the wait for the next of each."""
    steps = np.random.default_rng(count).exponential(size=(PAGES, count + 1))
    days = (np.cumsum(steps, axis=1) ** (1 / beta)) / np.reshape(rate, (-1, 1))
    offsets = np.arange(PAGES + 1) * count
    points = Points(days[:, :count].ravel(), offsets, days[:, count - 1])
    return points, days[:, count] - days[:, count - 1]


def next_bands(level: float) -> None:
    """The next change, by each method."""
    print(f"\nnext change, {level:.0%}\n\n| pages | windows | " + " | ".join(PREDICTORS) + " |")
    print("| --- | --- |" + " ---: |" * len(PREDICTORS))
    random = np.random.default_rng(1)
    rate = random.gamma(SHAPE, 1 / DAYS, PAGES)
    for count in (5, 12, 40):
        points, wait = ends_with_a_change(count, 1.0, rate)
        row(f"constant, {count} changes", complete(points), points, wait, level)
    for beta in (0.5, 2.0):
        points, wait = ends_with_a_change(12, beta, 0.25)
        row(f"beta {beta}, 12 changes", complete(points), points, wait, level)
    for gap in (1 / 24, 0.4):
        seen, wait = watched(rate, 60.0, gap, random)
        row(f"constant, visited every {gap:.2g} d for 60 d", seen, points_of(seen), wait, level)


def complete(points: Points) -> Histories:
    """What is known of pages all of whose changes are known."""
    quiet, changed = points.gaps * (1 - 1e-6), points.gaps * 1e-6
    gaps = np.stack([quiet, changed], axis=1).ravel()
    flags = np.tile([False, True], len(points.times))
    return Histories(gaps, flags, 2 * points.offsets, count=flags.astype(np.int64))


def watched(
    rate: Floats, days: float, gap: float, random: np.random.Generator
) -> tuple[Histories, Floats]:
    """Pages visited at regular gaps, and the wait from the last visit for the next change."""
    visits = round(days / gap)
    changed = random.random((PAGES, visits)) < -np.expm1(-rate * gap)[:, np.newaxis]
    seen = Histories(np.full(PAGES * visits, gap), changed.ravel(), np.arange(PAGES + 1) * visits)
    return seen, random.exponential(1 / rate)


def row(name: str, seen: Histories, points: Points, wait: Floats, level: float) -> None:
    """Share of pages whose next change falls into its band, of those that have one."""
    for how, windowing in (("whole", WHOLE), ("as cut", Windowing())):
        windows = consistent_windows(points, windowing)
        found = next_changes(seen, points, windows, priors=Priors.one(SHAPE, DAYS), level=level)
        cells = []
        for method in PREDICTORS:
            there = ~np.isnan(found[method].wait)
            inside: Bools = (found[method].low <= wait) & (wait <= found[method].high)
            cells.append(f"{inside[there].mean():.1%}")
        print(f"| {name} | {how} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
