"""Draw bias and spread of each method over changes a gap: the pictures of the concept pages.

    python docs/pictures/accuracy.py [FOLDER]

Exact sums and integrals, nothing simulated. Gaps are equal and a day long. `gamma` and `grid`
start from a broad prior around one change a gap, `classes` has its default classes, and
`malcolm-age` is judged by the mean interval, which it estimates. Needs nothing but recrawl.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from recrawl.adapters.pictures import write_picture
from recrawl.rates import (
    Classes,
    Gamma,
    Grid,
    Likelihood,
    MalcolmAge,
    MomentMatching,
    Priors,
    accuracy,
    interval_accuracy,
)
from recrawl.report.charts.accuracy import Curve, accuracy_chart
from recrawl.report.design import DESIGNED, curves

GAPS = (5, 10, 20, 50)
EXPECTED = np.geomspace(0.05, 6, 60)
PRIOR = Priors.one(0.5, 0.5)  # rates around one change a gap, give or take a factor of ten
APART = {"cho-exact", "gamma", "malcolm-age"}  # not drawn, or in another way
OTHERS = {
    "gamma": Gamma(PRIOR),
    "grid": Grid(PRIOR),
    "likelihood": Likelihood(),
    "moment-matching": MomentMatching(),
    "classes": Classes(),
}


def all_curves() -> dict[str, list[Curve]]:
    """Curves of each picture, by method."""
    drawn = {name: curves([name], GAPS) for name in DESIGNED if name not in APART}
    for name, estimator in OTHERS.items():
        found = [accuracy(estimator, EXPECTED, gap=1.0, gaps=gaps) for gaps in GAPS]
        drawn[name] = [
            Curve(gaps, EXPECTED, some.bias, some.sigma)
            for gaps, some in zip(GAPS, found, strict=True)
        ]
    ages = [interval_accuracy(MalcolmAge(), EXPECTED, gap=1.0, gaps=gaps) for gaps in GAPS]
    drawn["malcolm-age"] = [
        Curve(gaps, EXPECTED, some.bias, some.sigma) for gaps, some in zip(GAPS, ages, strict=True)
    ]
    return drawn


def main() -> None:
    """Write the files."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    for name, drawn in all_curves().items():
        write_picture(folder / f"accuracy-{name}.svg", accuracy_chart(drawn, title=name))


if __name__ == "__main__":
    main()
