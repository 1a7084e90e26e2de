r"""Bands of the published models: normal around the forecast, or around its logarithm.

For precision under arrival and survival $p \pm z \sqrt{p (1 - p) / n}$; for recall the delta method
(`recrawl.listings.models.delta_method`); for an autoregressive decay
$\exp(\sum \hat d \pm z \sigma_h)$, with $\sigma_h$ the deviation of the sum of the next decays.

They know objects that vanish one by one and rates that stay as they are. On sources that are so
they hold what they claim; on real ones far less: `recrawl listing backtest` says how much.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from recrawl.listings.forecast.forecast import Forecast, banded, banded_empty
from recrawl.listings.models.delta_method import precision_after, recall_bands

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats
    from recrawl.listings.forecast.forecast import ForecastPath
    from recrawl.listings.models.delta_method import DailyArrivals
    from recrawl.listings.models.exponential import ExponentialSurvival


@dataclass(frozen=True, slots=True, eq=False)
class NormalBand:
    """Band of one metric by a published model.

    Args:
        deviation: Standard deviation after 1, 2, ... days.
        miss: Share of outcomes the band is to miss.
        logarithmic: Whether the deviation is that of the metric's logarithm.

    Examples:
        >>> band = NormalBand(np.array([0.05]), miss=0.05)
        >>> [end.round(3) for end in band.bounds(np.array([0.5]), 100, np.array([1.0]))]
        [array([0.402]), array([0.598])]
    """

    deviation: Floats
    miss: float = 0.1
    logarithmic: bool = False

    def raw(self, quality: Floats, size: Floats | float, days: Floats, tail: float) -> Floats:
        """Quality that only a share `tail` of outcomes falls below."""
        del size
        return self._moved(quality, days, NormalDist().inv_cdf(tail))

    def bounds(self, quality: Floats, size: Floats | float, days: Floats) -> tuple[Floats, Floats]:
        """Low and high ends of the band, within 0 and 1."""
        del size
        wide = NormalDist().inv_cdf(1 - self.miss / 2)
        return self._moved(quality, days, -wide), self._moved(quality, days, wide)

    def _moved(self, quality: Floats, days: Floats, times: float) -> Floats:
        # The variance grows evenly within a day.
        known = np.concatenate([[0.0], self.deviation**2])
        wide = times * np.sqrt(np.interp(days, np.arange(len(known)), known))
        moved = quality * np.exp(wide) if self.logarithmic else quality + wide
        within: Floats = np.clip(moved, 0.0, 1.0)
        return within


def with_published_bands(
    stock: float, path: ForecastPath, bands: tuple[NormalBand, NormalBand]
) -> Forecast:
    """Forecast of a method that knows no mass events, with the bands of its model."""
    low, high = banded(stock, path, bands) if stock else banded_empty(path, bands[0].miss)
    return Forecast(stock, path, path, low, high, bands)


def arrival_survival_bands(
    days: int,
    survival: ExponentialSurvival,
    arrivals: DailyArrivals,
    copied: float,
    miss: float,
) -> tuple[NormalBand, NormalBand]:
    """Bands of precision and recall under constant rates, for 1 to `days` days.

    >>> from recrawl.listings.models.delta_method import DailyArrivals
    >>> from recrawl.listings.models.exponential import ExponentialSurvival
    >>> rates = ExponentialSurvival(0.05, 400.0, 8000.0), DailyArrivals(50.0, 50.0, 80.0)
    >>> kept, found = arrival_survival_bands(10, *rates, copied=1000.0, miss=0.1)
    >>> kept.deviation[-1].round(4), found.deviation[-1].round(4)
    (np.float64(0.0154), np.float64(0.0144))
    """
    ahead = np.arange(1.0, days + 1)
    share = precision_after(ahead, survival.rate)
    recall = recall_bands(ahead, survival, arrivals, copied)
    variance = recall.parameter_variance + recall.process_variance
    return (
        NormalBand(np.sqrt(share * (1 - share) / max(copied, 1.0)), miss),
        NormalBand(np.sqrt(variance), miss),
    )
