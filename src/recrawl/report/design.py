"""A study as a table: how well each method would do, and what it would take to do better.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from recrawl.rates import METHODS
from recrawl.rates.design import gain_of_dates, gaps_needed, unbiased_up_to
from recrawl.rates.existence_accuracy import accuracy, chance_within, interval_accuracy
from recrawl.rates.priors import Priors
from recrawl.report.charts.accuracy import Curve
from recrawl.report.words import every, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

# Methods that read only how many gaps changed, or dates in a way whose error is known exactly.
DESIGNED = (
    "gamma",
    "ratio",
    "cho",
    "cho-exact",
    "matloff",
    "beta",
    "malcolm",
    "malcolm-age",
    "lln",
    "last-modified",
    "last-modified-raw",
)

_FIGURES = (
    "bias",
    "sigma",
    "error",
    "within_precision",
    "undefined",
    "interval_bias",
    "interval_sigma",
    "unbiased_up_to",
    "gaps_needed",
    "period_needed_days",
)
COLUMNS = ("method", "gaps", "gap_days", "period_days", "changes_a_gap", *_FIGURES)

_FEWEST = 0.05  # changes per gap where a picture begins
_POINTS = 60


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
        at, gap, gaps = np.array([rate]), self.gap, self.gaps
        found = accuracy(estimator, at, gap=gap, gaps=gaps)
        interval = interval_accuracy(estimator, at, gap=gap, gaps=gaps)
        close = chance_within(estimator, at, gap=gap, gaps=gaps, within=self.precision)
        needed = gaps_needed(estimator, rate, gap=gap, precision=self.precision)
        return [
            self.gaps,
            self.gap,
            self.gaps * self.gap,
            self.gap / self.mean_interval,
            float(found.bias[0]),
            float(found.sigma[0]),
            float(found.error[0]),
            float(close[0]),
            float(found.undefined[0]),
            float(interval.bias[0]),
            float(interval.sigma[0]),
            unbiased_up_to(estimator, self.gaps, gap=self.gap, bound=self.bound),
            needed,
            needed * self.gap,
        ]

    @property
    def gain_of_dates(self) -> float:
        """Undated gaps that tell as much as a dated one."""
        return float(gain_of_dates(self.gap / self.mean_interval))


def study_header(study: Study) -> list[str]:
    """Names of the columns for people."""
    return [
        "method",
        "bias",
        "sigma",
        "error",
        f"within {percent(study.precision)}",
        "no answer",
        "of interval",
        "unbiased",
        "visits",
        "time",
    ]


def study_words(methods: Sequence[str], columns: dict[str, list[float]]) -> list[list[str]]:
    """Rows for people, under `study_header`."""
    return [
        [
            method,
            _signed(columns["bias"][row]),
            _share(columns["sigma"][row]),
            _share(columns["error"][row]),
            percent(columns["within_precision"][row]),
            percent(columns["undefined"][row]),
            _signed(columns["interval_bias"][row]),
            _region(columns["unbiased_up_to"][row]),
            _visits(columns["gaps_needed"][row]),
            every(columns["period_needed_days"][row]),
        ]
        for row, method in enumerate(methods)
    ]


def _signed(value: float) -> str:
    return f"{100 * value:+.1f} %" if value < np.inf else "infinite"


def _visits(needed: float) -> str:
    return "never" if needed == np.inf else f"{needed:.0f}"


def _region(most: float) -> str:
    if most == np.inf:
        return "always"
    return f"r < {most:.2f}" if most > 0 else "nowhere"


def _share(value: float) -> str:
    return f"{100 * value:.1f} %" if value < np.inf else "infinite"


def curves(methods: Sequence[str], gaps: Sequence[int], *, most: float = 6.0) -> list[Curve]:
    """Bias and sigma over changes per gap, of each method and number of gaps.

    Args:
        methods: Names of estimators.
        gaps: Numbers of gaps.
        most: Changes per gap where the curves end.
    """
    expected = np.geomspace(_FEWEST, most, _POINTS)
    made = []
    for method, number in product(methods, gaps):
        estimator = METHODS[method](Priors.one(), 0.9)
        some = accuracy(estimator, expected, gap=1.0, gaps=number)
        made.append(Curve(number, expected, some.bias, some.sigma, method))
    return made
