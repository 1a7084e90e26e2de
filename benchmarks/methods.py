"""How close every method comes to the true rate, on made pages and on real ones.

    python benchmarks/methods.py ../shared/data/pages
    python benchmarks/methods.py ../shared/data/pages --markdown methods.md

*Made pages* change as Poisson processes, so their true rates are known: 3,000 pages a world, with
rates of four families, visited every day or at exponential gaps of a day on average, 5 to 100 gaps
a page. *Real pages* are those of a folder with a folder a source, each with `pages.parquet` (page,
first_seen, removed_at) and `changes.parquet` (page, changed_at). They are replayed as if visited
every 1, 7 or 30 days from the day they were first seen until they were removed or the source's
last change. Pages with fewer than two gaps are left out.

Real pages are not Poisson and have no true rate. The yardstick is what came out: all changes of a
page from its first visit to its last, seen or not, divided by the days between. Two things follow.
Where visits are so frequent that few changes hide, changes seen a day are nearly the yardstick
itself, and a method that reads a page in the light of others only seems to lose. And a band is
about the rate behind the changes, not about their number, so that 90 % need not be met. Where
nothing changed the yardstick is 0: such pages have neither an error nor a coverage, but count for
the share undefined.

Each world is told twice: without dates, and with the date of the last change in every gap that
changed. On made pages the age at the first visit is then known, too; on real pages it is not,
because they are followed from their creation or from the beginning of the record.

Every method gets the prior that is fitted over the world as one site. By method and world:

- `error`: root mean square of ln(estimate / truth), where the method answers: the rate is positive
  and finite, and not that of another method (flag `fallback`);
- `common`: the same over the pages where every method answers that answers anywhere in the world,
  and `on`, the share of such pages;
- `undefined`: share of pages without an answer;
- `ratio`: median of estimate / truth, where the method answers;
- `coverage`: share of the pages whose 90 % band holds the truth; no band holds nothing.

Needs pyarrow. Touches: the files it reads, the fragment it writes, the terminal.
"""

from __future__ import annotations

import argparse
import sys
import time
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow.parquet as pq

from recrawl import Flag, Histories
from recrawl.rates import METHODS, fit_npmle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from recrawl import Estimates
    from recrawl.arrays.types import Bools, Floats, Instants, Ints

    Chance = np.random.Generator

LEVEL = 0.9
SEED = 2003
MADE_PAGES = 3_000

GAPS_A_PAGE = (5, 10, 30, 100)
DAYS = {"daily": 1, "weekly": 7, "monthly": 30}  # between two visits to a real page
DATES = ("without dates", "with dates")

# Rates of so many pages, by the family they come from.
RATES: dict[str, Callable[[Chance, int], Floats]] = {
    "log-normal": lambda chance, pages: chance.lognormal(-0.7, 1.0, pages),
    "gamma": lambda chance, pages: chance.gamma(1.0, 1 / 1.5, pages),
    "two-point": lambda chance, pages: chance.choice([0.05, 2.0], pages),
    "Pareto": lambda chance, pages: 0.1 * (1 + chance.pareto(1.5, pages)),
}

# Days between the visits, one row per page.
GAPS: dict[str, Callable[[Chance, tuple[int, int]], Floats]] = {
    "exponential gaps": lambda chance, size: chance.exponential(1.0, size),
    "regular gaps": lambda _, size: np.ones(size),
}


class Kind(NamedTuple):
    """What a world is called."""

    pages: str  # a family and its gaps, or a source
    visits: str  # how many, or how often
    dates: str


class World(NamedTuple):
    """Pages as their visits show them, and the rates they should be given."""

    kind: Kind
    histories: Histories
    truth: Floats


class Score(NamedTuple):
    """How one method did in one world; nan where it never answered."""

    error: float
    common: float
    on: float
    undefined: float
    ratio: float
    coverage: float


class Source(NamedTuple):
    """Real pages: from when to when each was there, and the changes, each with its page's row."""

    name: str
    first: Instants
    last: Instants
    page: Ints
    changed_at: Instants


Results = dict[Kind, dict[str, Score]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="folder with a folder a source")
    parser.add_argument("--markdown", type=Path, help="file to write a summary to")
    arguments = parser.parse_args()

    made = scored(made_worlds())
    real = scored(real_worlds(arguments.folder))
    print_tables(made | real)
    if arguments.markdown:
        arguments.markdown.write_text(summary(made, real), encoding="utf-8")


# Worlds.


def made_worlds() -> Iterator[World]:
    """Poisson pages of every family, under every kind and number of gaps, told both ways."""
    for family, spacing, gaps in product(RATES, GAPS, GAPS_A_PAGE):
        numbers = [SEED, list(RATES).index(family), list(GAPS).index(spacing), gaps]
        chance = np.random.default_rng(numbers)
        rates = RATES[family](chance, MADE_PAGES)
        histories = visited(rates, GAPS[spacing](chance, (MADE_PAGES, gaps)), chance)
        yield from told_twice(f"{family}, {spacing}", f"{gaps} gaps", histories, rates)


def visited(rates: Floats, gaps: Floats, chance: Chance) -> Histories:
    """Dated histories of Poisson pages, a row of `gaps` a page.

    Backwards in time, too, the wait for the next change is exponential. So a page's age at the end
    of a gap is drawn first, and the page changed in the gap if the age is less than the gap.
    """
    age = chance.exponential(1 / rates[:, np.newaxis], gaps.shape)
    changed = age < gaps
    return Histories(
        gaps=gaps.ravel(),
        changed=changed.ravel(),
        offsets=np.arange(len(rates) + 1) * gaps.shape[1],
        age=np.where(changed, age, np.nan).ravel(),
        first_age=chance.exponential(1 / rates),
    )


def told_twice(pages: str, visits: str, dated: Histories, truth: Floats) -> Iterator[World]:
    """The same world without and with the dates of changes."""
    undated = Histories(gaps=dated.gaps, changed=dated.changed, offsets=dated.offsets)
    for dates, histories in zip(DATES, (undated, dated), strict=True):
        yield World(Kind(pages, visits, dates), histories, truth)


def real_worlds(folder: Path) -> Iterator[World]:
    """Real pages of every source, visited at every pace, told both ways."""
    for path in sorted(path for path in folder.iterdir() if path.is_dir()):
        source = read_source(path)
        for visits, days in DAYS.items():
            yield from told_twice(source.name, visits, *replayed(source, days))


def read_source(folder: Path) -> Source:
    """Pages and changes of a source."""
    pages = pq.read_table(folder / "pages.parquet", columns=["page", "first_seen", "removed_at"])
    changes = pq.read_table(folder / "changes.parquet", columns=["page", "changed_at"])
    changed_at = _instants(changes["changed_at"])
    first, removed = (_instants(pages[name]) for name in ("first_seen", "removed_at"))
    last = np.where(np.isnat(removed), changed_at.max(), removed)

    names = pages["page"].to_numpy()
    order = np.argsort(names)
    page = order[np.searchsorted(names, changes["page"].to_numpy(), sorter=order)]
    return Source(folder.name, first, last, page, changed_at)


def _instants(column: object) -> Instants:
    """Instants in whole microseconds; NaT where the column is null."""
    return np.asarray(column, "datetime64[us]")


def replayed(source: Source, days: int) -> tuple[Histories, Floats]:
    """Dated histories under visits every so many days, and the changes a day that there were."""
    step = np.timedelta64(days, "D").astype("timedelta64[us]")
    gaps = np.maximum((source.last - source.first) // step, 0)
    offsets = np.concatenate([[0], np.cumsum(gaps)])

    # Rounded up, in whole numbers: a change at the very instant of a visit is seen by it.
    gap = -((source.first[source.page] - source.changed_at) // step) - 1
    seen = (gap >= 0) & (gap < gaps[source.page])
    page, gap, changed_at = source.page[seen], gap[seen], source.changed_at[seen]
    ages = (source.first[page] + (gap + 1) * step - changed_at) / np.timedelta64(1, "D")
    age = np.full(offsets[-1], np.nan)
    np.fmin.at(age, offsets[page] + gap, ages)  # the last change of a gap is the youngest

    histories = Histories(
        gaps=np.full(len(age), float(days)), changed=~np.isnan(age), offsets=offsets, age=age
    )
    kept = np.flatnonzero(gaps >= 2)
    changes = np.bincount(page, minlength=len(gaps))
    return histories.take(kept), changes[kept] / (gaps[kept] * days)


# Scores.


def scored(worlds: Iterable[World]) -> Results:
    """Scores of every method in every world; progress goes to stderr."""
    results: Results = {}
    for world in worlds:
        begun = time.perf_counter()
        results[world.kind] = scores(world)
        _progress(world, time.perf_counter() - begun)
    return results


def _progress(world: World, seconds: float) -> None:
    size = f"{len(world.truth):,} pages, {len(world.histories.gaps):,} gaps"
    print(f"{', '.join(world.kind)}: {size}, {seconds:.1f} s", file=sys.stderr)


def scores(world: World) -> dict[str, Score]:
    """Scores of every method in one world."""
    priors = fit_npmle(world.histories)  # with the Gamma of `fit_prior`
    found = {name: make(priors, LEVEL).estimate(world.histories) for name, make in METHODS.items()}
    answers = {name: answered(estimates) for name, estimates in found.items()}
    # A method that answers nowhere does not read this kind of world, and has no say here.
    common = np.logical_and.reduce([given for given in answers.values() if given.any()])
    common &= world.truth > 0
    return {name: score(found[name], answers[name], common, world.truth) for name in found}


def answered(estimates: Estimates) -> Bools:
    """Pages with a positive, finite rate by the method itself."""
    answers: Bools = (estimates.rate > 0) & (estimates.rate < np.inf) & ~_fell_back(estimates)
    return answers


def _fell_back(estimates: Estimates) -> Bools:
    """Pages that the method left to another one."""
    bit = int(getattr(Flag, "FALLBACK", 0))
    return (estimates.flags & np.uint32(bit)).astype(np.bool_)


def score(estimates: Estimates, answers: Bools, common: Bools, truth: Floats) -> Score:
    """Score of one method, from the pages where it and where all methods answer."""
    if not answers.any():
        return Score(np.nan, np.nan, np.nan, 1.0, np.nan, np.nan)
    known = truth > 0
    own = answers & known
    surprise = np.log(np.divide(estimates.rate, truth, where=own, out=np.ones(len(truth))))
    holds = (estimates.low <= truth) & (truth <= estimates.high) & ~_fell_back(estimates)
    return Score(
        error=_root_mean_square(surprise[own]),
        common=_root_mean_square(surprise[common]),
        on=float(common.mean()),
        undefined=1 - float(answers.mean()),
        ratio=_median_ratio(surprise[own]),
        coverage=float(holds[known].mean()) if known.any() else np.nan,
    )


def _root_mean_square(values: Floats) -> float:
    return float(np.sqrt(np.mean(values**2))) if len(values) else np.nan


def _median_ratio(surprise: Floats) -> float:
    return float(np.exp(np.median(surprise))) if len(surprise) else np.nan


# Reports.


def print_tables(results: Results) -> None:
    """Print a table for each sort of pages: one row per method and number of visits."""
    for pages, dates in dict.fromkeys((kind.pages, kind.dates) for kind in results):
        print(f"\n{pages}, {dates}")
        print(
            f"{'visits':9} {'method':20} {'error':>6} {'common':>6} {'on':>7} "
            f"{'undefined':>9} {'ratio':>6} {'coverage':>8}"
        )
        for kind, by_method in results.items():
            if (kind.pages, kind.dates) == (pages, dates):
                for method, one in by_method.items():
                    print(f"{kind.visits:9} {method:20} {_row(one)}")


def _row(one: Score) -> str:
    return " ".join(
        [
            _number(one.error, ".2f").rjust(6),
            _number(one.common, ".2f").rjust(6),
            _number(one.on, ".1%").rjust(7),
            _number(one.undefined, ".1%").rjust(9),
            _number(one.ratio, ".2f").rjust(6),
            _number(one.coverage, ".1%").rjust(8),
        ]
    )


def _number(value: float, form: str) -> str:
    return "-" if np.isnan(value) else format(value, form)


def summary(made: Results, real: Results) -> str:
    """Return the Markdown fragment: a few worlds, with one row per method."""
    parts = [_CELLS]
    for pages, dates in _SHOWN:
        columns = {f"{gaps} gaps": made[Kind(pages, f"{gaps} gaps", dates)] for gaps in GAPS_A_PAGE}
        parts += [f"**Synthetic pages, {pages}, {dates}**", _markdown(columns)]
    parts.append(_YARDSTICK)
    for dates in DATES:
        columns = {visits: pooled(real, visits, dates) for visits in DAYS}
        parts += [f"**Real pages, {dates}**", _markdown(columns)]
    return "\n\n".join(parts) + "\n"


_SHOWN = (
    ("log-normal, exponential gaps", "without dates"),
    ("log-normal, regular gaps", "without dates"),
    ("log-normal, exponential gaps", "with dates"),
)

_CELLS = """\
Cells: error (the same on common pages) / undefined / coverage. The *error* is the root mean square
of ln(estimate / truth) over the pages where the method answers, then, to compare methods, over the
pages where all of them do. *Undefined* is the percentage of pages without an answer, *coverage* the
percentage whose 90 % band holds the truth. A dash stands where the method answers for no page."""

_YARDSTICK = """\
Real pages are not Poisson and have no true rate: the yardstick is the number of changes a day that
there were while a page was watched, seen or not. Where few changes hide, changes seen a day are
nearly the yardstick itself. Pages that never changed count for *undefined* only. All figures are
means over the sources."""


def pooled(results: Results, visits: str, dates: str) -> dict[str, Score]:
    """Scores of every method averaged over the sources where it has them."""
    worlds = [
        by_method
        for kind, by_method in results.items()
        if (kind.visits, kind.dates) == (visits, dates)
    ]
    return {method: _mean([by_method[method] for by_method in worlds]) for method in METHODS}


def _mean(several: list[Score]) -> Score:
    columns = np.array(several).T
    return Score(*(_mean_of_known(column[~np.isnan(column)]) for column in columns))


def _mean_of_known(values: Floats) -> float:
    return float(values.mean()) if len(values) else np.nan


def _markdown(columns: dict[str, dict[str, Score]]) -> str:
    """Lay out a table with one row per method and a column a number of visits."""
    lines = [["method", *columns], ["---", *("---:" for _ in columns)]]
    lines += [
        [f"`{method}`", *(_cell(column[method]) for column in columns.values())]
        for method in METHODS
    ]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _cell(one: Score) -> str:
    if np.isnan(one.error):
        return "–"  # noqa: RUF001 - a dash for print
    shares = f"{100 * one.undefined:.0f} / {100 * one.coverage:.0f}"
    return f"{one.error:.2f} ({one.common:.2f}) / {shares}"


if __name__ == "__main__":
    main()
