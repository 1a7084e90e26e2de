"""Change rates to assume of pages never visited, and what new crawls make of them.

    python benchmarks/first_visits.py ../shared/data/pages
    python benchmarks/first_visits.py ../shared/data/pages --starts 5

The folder holds a folder a source, each with `pages.parquet` (page, url, first_seen, removed_at)
and `changes.parquet` (page, changed_at). Every source is replayed as if each page had been visited
once a week, and the prior of a site that is not among the sources is fitted to all of them, and to
all but one: what a crawl of that one could have known. All sources count alike.

With --starts, crawls of each source begin at so many instants, spread over its time, and last three
mean gaps, at 1, 4 and 16 visits per change. The table shows, for each thing to assume, by how much
the expected share of fresh copies is off in the first gap and in the second and third, the mean of
its absolute value over all starts, and how many copies are stale, over those of `as shipped`.

Needs pyarrow. Touches: the files it reads, the terminal.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from calibration import replayed

from recrawl import Histories, fit_prior
from recrawl.adapters.tables.worlds import read_world
from recrawl.plan.budget import Budget
from recrawl.plan.objectives import OBJECTIVES
from recrawl.policies.recrawl.policy import Recrawl
from recrawl.policies.recrawl.prior_sums import PUBLIC_RATES, AssumedRates
from recrawl.simulate.run import simulate
from recrawl.simulate.world import World
from recrawl.units import MICROSECONDS_A_DAY, epoch_days

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints

BUDGETS = (1.0, 4.0, 16.0)  # visits per change, by the mean rate of the whole source
GAPS = 3  # that a start lasts
STEPS_PER_GAP = 64


@dataclass(frozen=True, slots=True)
class Watched(Recrawl):
    """Our policy; whenever it values visits, it notes how fresh it believes its copies to be."""

    looks: list[tuple[float, Floats, Ints, Floats]] = field(default_factory=list)

    def value(self, state: Any, rows: Ints, now: np.datetime64) -> Floats:  # noqa: ANN401
        """What a visit to each page is worth now."""
        fresh = Recrawl.fresh(self, state, rows, now)
        self.looks.append((float(epoch_days(now)), fresh, rows.copy(), state.last[rows]))
        return Recrawl.value(self, state, rows, now)


def fitted(folder: Path, without: str = "") -> AssumedRates:
    """Rates of a site that is not among the sources, from all of them or all but one."""
    places = sorted(path for path in folder.iterdir() if path.is_dir())
    histories = [replayed(place) for place in places if place.name != without]
    sites = np.repeat(np.arange(len(histories)), [len(each) for each in histories])
    # A site without pages has the prior of all.
    priors = fit_prior(Histories.joined(histories), sites, site_count=len(histories) + 1)
    shape, exposure = float(priors.shape[-1]), float(priors.exposure[-1])
    return AssumedRates(float(f"{shape / exposure:.3g}"), float(f"{shape:.3g}"))


def start_at(world: World, at: np.datetime64, days: float) -> World | None:
    """The pages of a world as a crawl finds them that begins at an instant; None where few are."""
    until = at + np.timedelta64(round(days * MICROSECONDS_A_DAY), "us")
    rows = np.flatnonzero((world.first_seen < until) & ~(world.removed_at <= at))
    place = np.full(len(world), -1)
    place[rows] = np.arange(len(rows))
    row = place[world.row_of_change]
    inside = np.flatnonzero((row >= 0) & (world.changes > at))
    if until > world.end or not len(inside):
        return None
    return World.of(
        [world.address[each] for each in rows],
        np.maximum(world.first_seen[rows], at),
        (row[inside], world.changes[inside]),
        removed_at=world.removed_at[rows],
        end=until,
    )


def errors(world: World, looks: list[tuple[float, Floats, Ints, Floats]], gap: float) -> Floats:
    """Expected less true share of fresh copies, in the first gap and after it."""
    start = float(epoch_days(world.start))
    changes, off = epoch_days(world.changes), np.zeros((2, 2))
    long = float(changes.max()) - start + 2
    keys = world.row_of_change * long + (changes - start)
    for now, fresh, rows, last in looks:
        seen, reached = (
            np.searchsorted(keys, rows * long + (at - start), side="right") for at in (last, now)
        )
        part = int(now - start >= gap)
        off[part] += fresh.mean() - np.mean(seen == reached), 1
    return np.asarray(off[:, 0] / np.maximum(off[:, 1], 1))


def show_starts(folder: Path, starts: int) -> None:
    """What crawls that begin make of what is assumed."""
    objective, figures = OBJECTIVES["freshness"], {}
    for place in sorted(path for path in folder.iterdir() if path.is_dir()):
        world = read_world(place / "pages.parquet", place / "changes.parquet")
        elsewhere = fitted(folder, without=place.name)
        rate = len(world.changes) / float(world.live_days.sum())
        for budget in BUDGETS:
            gap = 1 / (budget * rate)
            assumed = {
                "as shipped": AssumedRates(),
                "once per gap": AssumedRates(prior_changes=1.0),
                "as elsewhere": elsewhere,
                "between": AssumedRates(
                    float(np.sqrt(elsewhere.prior_rate / gap)), elsewhere.prior_shape
                ),
                "shape as elsewhere": AssumedRates(None, elsewhere.prior_shape),
            }
            for share in (np.arange(starts) + 0.5) / starts:
                at = world.start + (share * (world.end - world.start)).astype("timedelta64[us]")
                some = start_at(world, at, GAPS * gap)
                if some is None:
                    continue
                for name, each in assumed.items():
                    policy = Watched(objective, assumed=each)
                    random = np.random.default_rng(0)
                    run = simulate(
                        some,
                        policy,
                        Budget(1 / gap, "page"),
                        random=random,
                        step=min(gap / STEPS_PER_GAP, 0.25),
                    )
                    off = errors(some, policy.looks, gap)
                    figures.setdefault((budget, name), []).append((*off, run.staleness))
        print(f"{place.name} {elsewhere.prior_rate:g} {elsewhere.prior_shape:g}", flush=True)
    print(f"\n{'visits a change':<18}{'assumed':<22}{'starts':>7}", end="")
    print(f"{'first gap':>16}{'later':>16}{'stale':>8}")
    for (budget, name), rows in figures.items():
        found, shipped = np.array(rows), np.array(figures[budget, "as shipped"])
        ratio = np.exp(np.mean(np.log(found[:, 2] / shipped[:, 2])))
        words = [
            f"{found[:, part].mean():+.3f} ({np.abs(found[:, part]).mean():.3f})" for part in (0, 1)
        ]
        print(f"{budget:<18g}{name:<22}{len(rows):>7}{words[0]:>16}{words[1]:>16}{ratio:>8.3f}")


def main() -> None:
    """Read the options and show what to assume."""
    parser = argparse.ArgumentParser(description="What to assume of pages never visited.")
    parser.add_argument("folder", type=Path, help="folder with a folder a source")
    parser.add_argument("--starts", type=int, default=0, help="crawls that begin, per source")
    options = parser.parse_args()
    print(f"{'without':<14}{'changes a day':>14}{'shape':>8}")
    sources = sorted(path.name for path in options.folder.iterdir() if path.is_dir())
    fits = {name: fitted(options.folder, without=name) for name in ("", *sources)}
    for name, found in fits.items():
        print(f"{name or '(none)':<14}{found.prior_rate:>14g}{found.prior_shape:>8g}")
    shipped = (PUBLIC_RATES.prior_rate, PUBLIC_RATES.prior_shape)
    verdict = "holds" if (fits[""].prior_rate, fits[""].prior_shape) == shipped else "FALLS SHORT"
    print(f"{verdict}: {shipped[0]:g} changes a day, shape {shipped[1]:g}, as `public` ships")
    if options.starts:
        show_starts(options.folder, options.starts)


if __name__ == "__main__":
    main()
