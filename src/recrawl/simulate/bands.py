"""How sure a score is: bands by the bootstrap over sections.

Pages of one section change together, so that they tell less than as many pages apart. A band
answers what the score would be on a site like this one: sections are drawn with replacement, as
many as there are, again and again.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from recrawl.errors import InvalidParameter
from recrawl.simulate.sections import sections

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints
    from recrawl.simulate.scores import SimulationRun

_DRAWS = 1000
# More sections than this are first put together at random, which leaves the band as it is.
_MOST_GROUPS = 2048


class Band(NamedTuple):
    """A figure, and between which two it lies; nan where there is one section only."""

    figure: float
    low: float
    high: float


def staleness_band(run: SimulationRun, *, random: np.random.Generator, level: float = 0.9) -> Band:
    """Staleness of a run.

    Args:
        run: A run.
        random: Draws the sections.
        level: Probability that the figure lies in its band.

    References:
        Efron and Tibshirani (1993). An introduction to the bootstrap. Chapman and Hall, chapter 8.
    """
    group = _groups(run, random)
    stale, live = _of_groups(run, group)
    return _band(run.staleness, _drawn(stale, live, random=random), level)


def ratio_band(
    run: SimulationRun, other: SimulationRun, *, random: np.random.Generator, level: float = 0.9
) -> Band:
    """Staleness of a run over that of another in the same world; both by the same sections."""
    if len(run.world) != len(other.world):
        message = f"runs must be of one world (got {len(run.world)} and {len(other.world)} pages)"
        raise InvalidParameter(message)
    group = _groups(run, random)
    (ours, _), (theirs, _) = _of_groups(run, group), _of_groups(other, group)
    with np.errstate(invalid="ignore", divide="ignore"):
        figure = float(np.float64(ours.sum()) / theirs.sum())
        return _band(figure, _drawn(ours, theirs, random=random), level)


def _groups(run: SimulationRun, random: np.random.Generator) -> Ints:
    """Group of each page: its section, or one of a fixed number that sections are put into."""
    section, count = sections(run.world.address)
    if count <= _MOST_GROUPS:
        return section
    group: Ints = random.permutation(count)[section] % _MOST_GROUPS
    return group


def _of_groups(run: SimulationRun, group: Ints) -> tuple[Floats, Floats]:
    """Stale days and live days of each group, by weight."""
    weight, count = run.world.weight, int(group.max()) + 1
    stale, live = np.zeros(count), np.zeros(count)
    np.add.at(stale, group, weight * run.stale_days)
    np.add.at(live, group, weight * run.world.scored_days)
    return stale, live


def _drawn(above: Floats, below: Floats, *, random: np.random.Generator) -> Floats:
    """Ratios of sums over groups that are drawn with replacement."""
    count = len(above)
    if count == 1:
        return np.full(1, np.nan)
    times = random.multinomial(count, np.full(count, 1 / count), _DRAWS).astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios: Floats = (times @ above) / (times @ below)
    return ratios[np.isfinite(ratios)]


def _band(figure: float, drawn: Floats, level: float) -> Band:
    if not len(drawn):
        return Band(figure, float("nan"), float("nan"))
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return Band(figure, float(low), float(high))
