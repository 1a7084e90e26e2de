r"""Precision and recall of a local copy under the published arrival-survival model.

The copy holds the $n$ objects listed at the last sync. They vanish at a rate
$\alpha$, and each day brings $m$ new ones that vanish alike. After $d$ days

$$ \text{precision} = e^{-\alpha d}, \qquad
   M = m \sum_{k=0}^{d-1} e^{-\alpha k} = m \frac{1 - e^{-\alpha d}}{1 - e^{-\alpha}}, \qquad
   \text{recall} = \frac{n e^{-\alpha d}}{n e^{-\alpha d} + M} . $$

A source with $n = m / (1 - e^{-\alpha})$ neither grows nor shrinks, and there recall and
precision are the same.

Pure.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from recrawl.checks import check_fraction

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats


def precision_after(days: Floats, rate: float) -> Floats:
    """Share of the copy to expect still listed after some days.

    >>> precision_after(np.array([10.0]), 0.058).round(6)
    array([0.559898])
    """
    return np.exp(-rate * np.asarray(days, np.float64))


def newcomers(days: Floats, rate: float, arrivals: float) -> Floats:
    """Objects to expect that came since the copy was made and are still listed, M.

    >>> newcomers(np.array([3.0]), rate=0.0, arrivals=40.0)  # nothing vanishes: m d
    array([120.])
    """
    days = np.asarray(days, np.float64)
    if rate == 0:
        return arrivals * days
    left: Floats = arrivals * np.expm1(-rate * days) / np.expm1(-rate)
    return left


def recall_after(days: Floats, rate: float, arrivals: float, copied: float) -> Floats:
    """Share of the listed objects to expect in the copy after some days; 1 where none is listed.

    A source in balance has the same recall as precision:

    >>> steady = 40 / (1 - np.exp(-0.058))
    >>> round(float(steady), 4)
    709.8485
    >>> recall_after(np.array([10.0]), 0.058, 40.0, steady).round(6)
    array([0.559898])
    """
    kept = copied * precision_after(days, rate)
    listed = kept + newcomers(days, rate, arrivals)
    return np.divide(kept, listed, out=np.ones_like(listed), where=listed > 0)


def published_band(precision: Floats, copied: float, confidence: float) -> tuple[Floats, Floats]:
    r"""The paper's band of the precision: $p \pm z \sqrt{p (1-p) / n}$, within 0 and 1.

    It knows the chance of each object and nothing of the doubt about the rate; on real sources
    it holds far fewer outcomes than it says.

    >>> low, high = published_band(np.array([0.5]), copied=100.0, confidence=0.95)
    >>> low.round(3), high.round(3)
    (array([0.402]), array([0.598]))
    """
    check_fraction(confidence=confidence)
    wide = NormalDist().inv_cdf((1 + confidence) / 2) * np.sqrt(
        precision * (1 - precision) / max(copied, 1.0)
    )
    return np.clip(precision - wide, 0, 1), np.clip(precision + wide, 0, 1)
