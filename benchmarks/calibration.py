"""How well `gamma` predicts changes of real pages, beside the exact posterior.

    python benchmarks/calibration.py ../shared/data/pages

The folder holds a folder a source, each with `pages.parquet` (page, first_seen, removed_at) and
`changes.parquet` (page, changed_at). Every page is replayed as if visited every seven days from the
day it was first seen until it was removed or the source's last change. Before each visit two
forecasters give the chance that the page has changed, then both are told whether it has:

- `gamma`, the two numbers of `recrawl.Gamma`;
- the exact posterior of a constant rate on a grid of its logarithm.

Both start from the same prior, fitted over the source as one site. A forecaster's score is the mean
of minus the logarithm of the chance it gave to what happened; `gamma` may lose at most 2 % to the
exact posterior. The rates of real pages wander, so neither is calibrated: the deciles say by how
much the forecasts (of `gamma`) and the frequencies differ.

Needs pyarrow. Touches: the files it reads, the terminal.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow.parquet as pq
from scipy.special import gammainc

from recrawl import Gamma, Histories, fit_prior
from recrawl.rates.ranks import most_first

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recrawl import Priors
    from recrawl.arrays.types import Bools, Floats, Ints

DAYS = 7.0  # between two visits
WORST_RATIO = 1.02

# Rates of the grid: from one change in 2700 years, below which a page never changes for all we
# can see, to thirty a day. Steps of 3 % are finer than any posterior here is wide.
RATES = np.geomspace(1e-6, 30.0, 512)
PAGES_A_BLOCK = 256  # their grids stay in the cache


class Forecast(NamedTuple):
    """Of each visit: the chance of no change by both forecasters, and what came."""

    gamma: Floats
    exact: Floats
    changed: Bools


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="folder with a folder a source")
    folder = parser.parse_args().folder

    print(
        f"{'source':12} {'pages':>6} {'visits':>8} {'changed':>7} {'shape':>6} {'exposure':>8}",
        end="",
    )
    print(f" {'gamma':>7} {'exact':>7} {'ratio':>6}  forecast less frequency by decile of forecast")
    worst = 0.0
    for source in sorted(path for path in folder.iterdir() if path.is_dir()):
        histories = replayed(source)
        priors = fit_prior(histories)
        forecast = forecasts(histories, priors)
        gamma, exact = (score(chance, forecast.changed) for chance in forecast[:2])
        worst = max(worst, gamma / exact)
        print(
            f"{source.name:12} {len(histories):6d} {len(forecast.changed):8d} "
            f"{forecast.changed.mean():7.3f} {priors.shape[0]:6.3f} {priors.exposure[0]:8.2f} "
            f"{gamma:7.4f} {exact:7.4f} {gamma / exact:6.4f}  "
            + " ".join(f"{error:+.3f}" for error in decile_errors(forecast))
        )
    print(f"worst ratio {worst:.4f}, at most {WORST_RATIO} asked")
    assert worst <= WORST_RATIO, "gamma loses too much to the exact posterior"


def replayed(source: Path) -> Histories:
    """Histories of a source's pages under weekly visits; pages too short-lived for two are out."""
    pages = pq.read_table(source / "pages.parquet")
    changes = pq.read_table(source / "changes.parquet", columns=["page", "changed_at"])
    names = pages["page"].to_numpy()
    first, removed = (_days(pages[name]) for name in ("first_seen", "removed_at"))
    changed_at = _days(changes["changed_at"])
    last = np.where(np.isnan(removed), changed_at.max(), removed)
    gaps = np.maximum(np.floor((last - first) / DAYS), 0).astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(gaps)])

    order = np.argsort(names)
    page = order[np.searchsorted(names, changes["page"].to_numpy(), sorter=order)]
    # A change at the very instant of a visit is seen by it.
    gap = np.ceil((changed_at - first[page]) / DAYS).astype(np.int64) - 1
    seen = (gap >= 0) & (gap < gaps[page])
    changed = np.zeros(offsets[-1], np.bool_)
    changed[offsets[page[seen]] + gap[seen]] = True
    histories = Histories(gaps=np.full(len(changed), DAYS), changed=changed, offsets=offsets)
    return histories.take(np.flatnonzero(gaps > 0))


def _days(column: object) -> Floats:
    """Days since the epoch; nan where the column is null."""
    instants = np.asarray(column, "datetime64[us]")
    days: Floats = (instants - np.datetime64(0, "us")) / np.timedelta64(1, "D")
    return days


def forecasts(histories: Histories, priors: Priors) -> Forecast:
    """Chances of no change before each visit, in the order of the gaps."""
    gamma, exact = np.empty(len(histories.gaps)), np.empty(len(histories.gaps))
    forecaster = Gamma(priors)
    state = forecaster.start(len(histories))
    for pages, rows in visit_by_visit(histories, len(histories)):
        gamma[rows] = forecaster.read(state[pages]).unchanged(DAYS)
        state[pages] = forecaster.update(
            state[pages], histories.gaps[rows], histories.changed[rows]
        )

    stays = np.exp(-RATES * DAYS)
    edges = np.concatenate([[0], np.sqrt(RATES[1:] * RATES[:-1]), [np.inf]])
    prior = np.diff(gammainc(priors.shape[0], edges * priors.exposure[0]))
    weights = np.tile(prior, (len(histories), 1))
    for pages, rows in visit_by_visit(histories, PAGES_A_BLOCK):
        weight = weights[pages]
        exact[rows] = weight @ stays
        weight *= np.where(histories.changed[rows, np.newaxis], 1 - stays, stays)
        weights[pages] = weight / weight.sum(axis=1, keepdims=True)
    return Forecast(gamma, exact, histories.changed)


def visit_by_visit(histories: Histories, block: int) -> Iterator[tuple[Ints, Ints]]:
    """Pages of a block that have a first gap and the rows of these, a second, and so on."""
    for start in range(0, len(histories), block):
        order, ranks = most_first(histories.gaps_of_page[start : start + block])
        for rank, left in enumerate(ranks):
            pages = start + order[:left]
            yield pages, histories.offsets[pages] + rank


def score(unchanged: Floats, changed: Bools) -> float:
    """Mean of minus the logarithm of the chance given to what happened."""
    return -float(np.mean(np.log(np.where(changed, 1 - unchanged, unchanged))))


def decile_errors(forecast: Forecast) -> list[float]:
    """Mean forecast of a change by `gamma` less its frequency, by decile of the forecast."""
    chance = 1 - forecast.gamma
    surprise = (chance - forecast.changed)[np.argsort(chance, kind="stable")]
    return [float(part.mean()) for part in np.array_split(surprise, 10)]


if __name__ == "__main__":
    main()
