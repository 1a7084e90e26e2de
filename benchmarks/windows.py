"""Which reading of the windows finds regimes without inventing them.

    .venv/bin/python benchmarks/windows.py              # made pages: under a minute
    .venv/bin/python benchmarks/windows.py FOLDER       # and FOLDER/SOURCE/changes.parquet

Made pages have known regimes. *right*: the share of pages cut into just the true windows, each cut
within two points of the true one. The threshold of `likelihood` was chosen on `TUNED` alone;
`HELD_OUT` was written down before, and looked at after.

Of real pages nobody knows the regimes. *windows* a page; *shuffled*, windows of the same pages with
their gaps in random order, which have no regimes any more; and *score*, how well the last window
foretells the next gap: mean log density of the gap at a constant rate learned from the window, or
by its Weibull process where the 90 % band of beta leaves out 1, above that by the whole record.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from recrawl.trends.next_change import last_windows
from recrawl.trends.points import Points, points_at
from recrawl.trends.weibull import Weibull
from recrawl.trends.windows import Windowing, WindowTimes, consistent_windows

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.arrays.types import Floats, Ints
    from recrawl.trends.windows import Windows

PAGES = 400
NEAR = 2  # points
READINGS = {
    "one window": Windowing(np.inf),
    "likelihood 3": Windowing(3.0, "likelihood"),
    "count 3": Windowing(3.0, "count"),
    "point 3 d": Windowing(3.0, "point"),
    "budget 3 d": Windowing(3.0, "budget"),
    "envelope 3 d": Windowing(3.0, "envelope"),
    "times 3": Windowing(float(np.log(3)), "point"),
    "times 10": Windowing(float(np.log(10)), "point"),
}
LEAST_POINTS = 12  # of a real page
SOURCE_PAGES = 300


@dataclass(frozen=True)
class Kind:
    """Pages of one kind: their gaps, and after how many points a regime ends."""

    gaps: Callable[[np.random.Generator], Floats]
    cuts: tuple[int, ...] = ()


def random_gaps(
    random: np.random.Generator, *parts: tuple[int, float], shape: float = 1.0
) -> Floats:
    """So many gaps of such a mean, part after part."""
    return np.concatenate([random.gamma(shape, mean / shape, count) for count, mean in parts])


def power(random: np.random.Generator, count: int, beta: float) -> Floats:
    """Gaps of a Weibull process."""
    return np.diff(np.cumsum(random.exponential(size=count)) ** (1 / beta), prepend=0.0)


def clockwork(
    random: np.random.Generator, *parts: tuple[int, float], jitter: float = 0.02
) -> Floats:
    """Equal gaps, give or take a little."""
    gaps = np.concatenate([np.full(count, mean) for count, mean in parts])
    return gaps * random.normal(1.0, jitter, len(gaps))


TUNED = {
    "Poisson, 40 gaps of 1 d": Kind(lambda random: random_gaps(random, (40, 1.0))),
    "Poisson, 150 gaps of 1 d": Kind(lambda random: random_gaps(random, (150, 1.0))),
    "step, 20 of 1 d, 20 of 4 d": Kind(lambda r: random_gaps(r, (20, 1.0), (20, 4.0)), (20,)),
    "power law, beta 0.4": Kind(lambda random: power(random, 60, 0.4)),
}
HELD_OUT = {
    "equal gaps: 15 of 50 d, 13 of 2.2 d, 8 of 50 d": Kind(
        lambda r: clockwork(r, (15, 50.0), (13, 2.2), (8, 50.0), jitter=0.0), (15, 28)
    ),
    "Poisson, 12 gaps of 50 d": Kind(lambda random: random_gaps(random, (12, 50.0))),
    "Poisson, 60 gaps of 0.2 d": Kind(lambda random: random_gaps(random, (60, 0.2))),
    "Poisson by day, every other day": Kind(lambda r: r.geometric(0.5, 60).astype(float)),
    "bursty, shape 0.5": Kind(lambda random: random_gaps(random, (60, 5.0), shape=0.5)),
    "bursty, one gap in ten a hundred times as long": Kind(
        lambda r: r.exponential(size=60) * np.where(r.random(60) < 0.1, 10.0, 0.1)
    ),
    "bursty, log-normal, sigma 1.5": Kind(lambda random: random.lognormal(0.0, 1.5, 60)),
    "bursty step, log-normal, 30 of 1 d, 30 of 20 d": Kind(
        lambda r: r.lognormal(0.0, 1.5, 60) * np.repeat([1.0, 20.0], 30), (30,)
    ),
    "clockwork, 50 gaps of 7 d": Kind(lambda random: clockwork(random, (50, 7.0))),
    "regular, shape 8": Kind(lambda random: random_gaps(random, (50, 10.0), shape=8)),
    "step, 25 of 30 d, 25 of 3 d": Kind(lambda r: random_gaps(r, (25, 30.0), (25, 3.0)), (25,)),
    "up and down, 20 of 0.1 d, 20 of 1 d, 20 of 0.1 d": Kind(
        lambda r: random_gaps(r, (20, 0.1), (20, 1.0), (20, 0.1)), (20, 40)
    ),
    "regular step, shape 8, 15 of 10 d, 15 of 5 d": Kind(
        lambda r: random_gaps(r, (15, 10.0), (15, 5.0), shape=8), (15,)
    ),
    "clockwork step, 20 of 14 d, 20 of 7 d": Kind(
        lambda r: clockwork(r, (20, 14.0), (20, 7.0)), (20,)
    ),
    "power law, beta 0.6": Kind(lambda random: power(random, 40, 0.6)),
    "power law, beta 2.5": Kind(lambda random: power(random, 40, 2.5)),
    "gaps that grow by 5 % each, equal else": Kind(
        lambda r: 1.05 ** np.arange(60) * r.normal(1, 0.02, 60)
    ),
    "gaps that grow by 5 % each, at random": Kind(
        lambda r: 1.05 ** np.arange(60) * r.exponential(size=60)
    ),
}


def main() -> None:
    for name, kinds in (("tuned", TUNED), ("held out", HELD_OUT)):
        print(f"\n{name}: right (windows a page)\n")
        header("kind")
        for kind, made in kinds.items():
            cells = [f"{right:.2f} ({count:.1f})" for right, count in map(scored(made), READINGS)]
            print(f"| {kind} | " + " | ".join(cells) + " |")
    if len(sys.argv) > 1:
        real(Path(sys.argv[1]))


def header(first: str) -> None:
    print(f"| {first} | " + " | ".join(READINGS) + " |")
    print("| --- |" + " ---: |" * len(READINGS))


def scored(kind: Kind) -> Callable[[str], tuple[float, float]]:
    """Share of pages cut rightly, and windows a page, by a reading."""
    random = np.random.default_rng(1)
    points = joined([kind.gaps(random) for _ in range(PAGES)])

    def score(reading: str) -> tuple[float, float]:
        windows = windows_by(reading, points)
        begins = windows.offsets[:-1] - points.offsets[windows.page]
        cuts = [begins[windows.page == page][1:] for page in range(PAGES)]
        right = [
            len(found) == len(kind.cuts) and bool((np.abs(found - kind.cuts) <= NEAR).all())
            for found in cuts
        ]
        return float(np.mean(right)), len(windows) / PAGES

    return score


def joined(pages: list[Floats]) -> Points:
    """Pages with these gaps, each watched to its last change."""
    times = [np.cumsum(gaps) for gaps in pages]
    offsets = np.concatenate([[0], np.cumsum([len(gaps) for gaps in pages])])
    return Points(np.concatenate(times), offsets, np.array([page[-1] for page in times]))


def windows_by(reading: str, points: Points) -> Windows:
    """Windows by a reading; `times` compares the logarithms of gaps."""
    windowing = READINGS[reading]
    if not reading.startswith("times"):
        return consistent_windows(points, windowing)
    logs = np.log(points.gaps)
    logs = np.split(logs - logs.min() + 1.0, points.offsets[1:-1])
    return consistent_windows(joined(logs), windowing)


def real(folder: Path) -> None:
    """Windows of real pages, of the same with their gaps shuffled, and their forecasts."""
    print("\nreal: windows a page / of shuffled gaps / score\n")
    header("source")
    for source in sorted(path.parent for path in folder.glob("*/changes.parquet")):
        points = source_points(source)
        random = np.random.default_rng(2)
        gaps = np.split(points.gaps, points.offsets[1:-1])
        shuffled = joined([random.permutation(page) for page in gaps])
        cells = []
        for reading in READINGS:
            own = len(windows_by(reading, points)) / len(points)
            none = len(windows_by(reading, shuffled)) / len(points)
            cells.append(f"{own:.1f} / {none:.1f} / {foretold(reading, gaps):+.3f}")
        print(f"| {source.name} | " + " | ".join(cells) + " |", flush=True)


def source_points(source: Path) -> Points:
    """Some pages of a source with changes enough."""
    import pyarrow.parquet as pq

    table = pq.read_table(source / "changes.parquet")
    page, at = table["page"].to_numpy(), table["changed_at"].to_numpy().astype("datetime64[us]")
    order = np.lexsort((at, page))
    counts = np.bincount(page)
    points = points_at(at[order], np.concatenate([[0], np.cumsum(counts)]))
    some = np.flatnonzero(points.points_of_page > LEAST_POINTS)
    some = np.sort(np.random.default_rng(3).permutation(some)[:SOURCE_PAGES])
    return joined([page_gaps(points, page) for page in some.tolist()])


def page_gaps(points: Points, page: int) -> Floats:
    return points.gaps[points.offsets[page] : points.offsets[page + 1]]


def foretold(reading: str, gaps: list[Floats]) -> float:
    """Mean log density of gaps by the last window before them, less that by all before."""
    scores = []
    for share in (0.5, 0.75, 1.0):
        seen: Ints = np.array([max(int(share * len(page)) - 1, LEAST_POINTS - 1) for page in gaps])
        points = joined([page[:count] for page, count in zip(gaps, seen, strict=True)])
        windows = windows_by(reading, points)
        nexts = np.array([page[number] for page, number in zip(gaps, seen, strict=True)])
        scores.append(density(points, windows, nexts))
        scores[-1] -= density(points, windows_by("one window", points), nexts)
    return float(np.mean(scores))


def density(points: Points, windows: Windows, gap: Floats) -> Floats:
    """Log density of the next gap of each page by its last window."""
    times = WindowTimes.of_some(points, windows, last_windows(windows, len(points)))
    fit = Weibull.of(times)
    count, days, logs = fit.count, fit.span, np.maximum(fit.logs, 1e-12)
    constant = np.log(count / days) - (count + 1) * np.log1p(gap / days)
    share = 1 + count * np.log1p(gap / days) / logs
    power = np.log((count - 1) * count / logs / (days + gap)) - count * np.log(share)
    low, high = fit.band(0.9)
    return np.where((low < 1) & (high > 1), constant, power)


if __name__ == "__main__":
    main()
