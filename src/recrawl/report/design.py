"""A study as a table: how well each method would do, and what it would take to do better.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.rates import METHODS
from recrawl.rates.accuracy import accuracy
from recrawl.rates.design import gain_of_dates, gaps_needed, unbiased_up_to
from recrawl.rates.priors import Priors
from recrawl.report.charts.accuracy import Curve
from recrawl.report.words import every, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

# Methods that read only how many gaps changed, or dates in a way whose error is known exactly.
DESIGNED = (
    "ratio",
    "cho",
    "cho-exact",
    "matloff",
    "beta",
    "malcolm",
    "lln",
    "last-modified",
    "last-modified-raw",
)
DATED = frozenset({"last-modified", "last-modified-raw"})

_FIGURES = (
    "bias",
    "sigma",
    "error",
    "undefined",
    "unbiased_up_to",
    "gaps_needed",
    "period_needed_days",
)
COLUMNS = ("method", "gaps", "gap_days", "period_days", "changes_a_gap", *_FIGURES)
HEADER = (
    "method",
    "bias",
    "sigma",
    "error",
    "no answer",
    "unbiased",
    "visits needed",
    "time needed",
)

_EXPECTED = np.geomspace(0.05, 6, 60)  # changes a gap of a picture


@dataclass(frozen=True, slots=True)
class Study:
    """Regular visits to a page that is believed to change so often.

    Args:
        mean_interval: Days between changes, by the guess.
        gap: Days between visits.
        gaps: Visits after the first.
        precision: Error to reach, as a share of the rate.
        bound: Largest bias to call unbiased.
        level: Probability that a rate lies in its band.
    """

    mean_interval: float
    gap: float
    gaps: int
    precision: float = 0.2
    bound: float = 0.1
    level: float = 0.9

    def columns(self, methods: Sequence[str]) -> dict[str, list[float]]:
        """Figures of each method, by column; nan where there is none."""
        rows = [self._row(method) for method in methods]
        return {name: [row[number] for row in rows] for number, name in enumerate(COLUMNS[1:])}

    def _row(self, method: str) -> list[float]:
        estimator = METHODS[method](Priors.one(), self.level)
        rate = 1 / self.mean_interval
        found = accuracy(estimator, np.array([rate]), gap=self.gap, gaps=self.gaps)
        needed = gaps_needed(estimator, rate, gap=self.gap, precision=self.precision)
        return [
            self.gaps,
            self.gap,
            self.gaps * self.gap,
            self.gap / self.mean_interval,
            float(found.bias[0]),
            float(found.sigma[0]),
            float(found.error[0]),
            float(found.undefined[0]),
            unbiased_up_to(estimator, self.gaps, bound=self.bound),
            needed,
            needed * self.gap,
        ]

    @property
    def gain_of_dates(self) -> float:
        """Undated gaps that tell as much as a dated one."""
        return float(gain_of_dates(self.gap / self.mean_interval))


def study_words(methods: Sequence[str], columns: dict[str, list[float]]) -> list[list[str]]:
    """Rows for people, under `HEADER`."""
    picked = zip(methods, *(columns[name] for name in _FIGURES), strict=True)
    return [
        [
            method,
            f"{100 * bias:+.1f} %",
            _share(sigma),
            _share(error),
            percent(undefined),
            _region(region),
            "never" if needed == np.inf else f"{needed:.0f}",
            every(period),
        ]
        for method, bias, sigma, error, undefined, region, needed, period in picked
    ]


def _region(most: float) -> str:
    if most == np.inf:
        return "always"
    return f"r < {most:.2f}" if most > 0 else "nowhere"


def _share(value: float) -> str:
    return f"{100 * value:.1f} %" if value < np.inf else "infinite"


def curves(method: str, gaps: Sequence[int]) -> list[Curve]:
    """Bias and sigma of a method over changes a gap, for several numbers of gaps."""
    estimator = METHODS[method](Priors.one(), 0.9)
    found = [accuracy(estimator, _EXPECTED, gap=1.0, gaps=number) for number in gaps]
    return [
        Curve(number, _EXPECTED, some.bias, some.sigma)
        for number, some in zip(gaps, found, strict=True)
    ]
