"""A forecast for a coming month: the same season of past years and the recent trend together.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.special import gamma_quantile
from recrawl.rates.estimates import Status
from recrawl.rates.gamma_state import gamma_states
from recrawl.rates.priors import Priors
from recrawl.trends.local_rates import PULL, local_rates
from recrawl.trends.visit_instants import visit_instants

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Statuses
    from recrawl.visits.histories import Histories

_TINY = 1e-300


@dataclass(frozen=True, slots=True, eq=False)
class SeasonalForecast:
    """Rates to expect in a coming month, one row per page.

    Args:
        month: The month.
        rate: Changes a day.
        low: Lower end of the band around the rate.
        high: Upper end of the band.
        season: Rate in the same month of past years; nan where there is none.
        recent: Rate of the last months.
        season_weight: How much the season counts, from 0 to 1; the rest is the recent rate's.
        status: `OK`, or `PRIOR_ONLY` where no month was watched.
    """

    month: np.datetime64
    rate: Floats
    low: Floats
    high: Floats
    season: Floats
    recent: Floats
    season_weight: Floats
    status: Statuses

    def __len__(self) -> int:
        """Return the number of pages."""
        return len(self.rate)


# In months: how fast the recent rate forgets, and how fast scores do. Years of a season count
# alike: few pages have been watched for many.
_MEMORY = 3.0
_DISCOUNT = 0.98


def seasonal_forecast(
    histories: Histories, month: str, *, priors: Priors | None = None, level: float = 0.9
) -> SeasonalForecast:
    r"""Rate to expect in a month such as `2027-01`, from the months before it.

    Two predictors make a Gamma distribution each: the *season*, what the same month of past years
    showed, and the *recent* rate, what the last months showed, each weighing
    $e^{-1/3}$ of the next. Every past month that had a season is predicted from the months before
    it, and scored with the logarithm of the chance of its changes. Predictors weigh by their
    scores so far, scores of a month ago counting 0.98. The forecast is the mixture of both. A page
    watched for less than a year has the recent rate alone.

    Args:
        histories: The pages. Visits from that month on are not used.
        month: The month to forecast.
        priors: Priors of the rates; see `fit_prior`.
        level: Probability that the rate lies in its band.
    """
    goal = np.datetime64(month, "M")
    histories = _before(histories, goal)
    rows = local_rates(histories, "month", priors=priors, level=level)
    overall = Priors.one() if priors is None else priors
    shape, exposure = gamma_states(histories, *overall.of_pages(len(histories)))
    base = np.full(len(histories), PULL), PULL * exposure / shape

    number = rows.start.astype("datetime64[M]").astype(np.int64)
    least = int(number.min(initial=int(goal.astype(np.int64))))
    months = int(goal.astype(np.int64)) - least
    evidence = np.zeros((2, len(histories), max(months, 0) + 1))
    at = (rows.page, number - least)
    # What the visits add to the prior: where changes hide, fewer of them in fewer days.
    events = np.maximum(rows.shape - PULL, 0)
    evidence[0][at] = events
    evidence[1][at] = rows.exposure * np.where(
        rows.changes > 0, events / np.maximum(rows.changes, _TINY), 1.0
    )

    recent = np.zeros((2, len(histories)))
    season = np.zeros((12, 2, len(histories)))
    score = np.zeros(len(histories))
    for step in range(months):
        now, past = evidence[:, :, step], season[step % 12]
        told = (now[1] > 0) & (past[1] > 0)
        better = _log_chance(base, past, now) - _log_chance(base, recent, now)
        score = score * _DISCOUNT + np.where(told, better, 0)
        recent = (recent + now) * np.exp(-1 / _MEMORY)
        season[step % 12] += now
    return _mixed(goal, base, (season[months % 12], recent), score, level)


def _before(histories: Histories, month: np.datetime64) -> Histories:
    """Only the gaps that end before the month."""
    _, end = visit_instants(histories)
    keep = ~(end > month.astype("datetime64[us]"))
    counts = histories.total(keep)
    known = {}
    if histories.knows_age:
        known["age"] = histories.age[keep]
    if histories.knows_count:
        known["count"] = histories.count[keep]
    late = histories.first_visit > month.astype("datetime64[us]")
    return replace(
        histories,
        gaps=histories.gaps[keep],
        changed=histories.changed[keep],
        offsets=np.concatenate([[0], np.cumsum(counts)]),
        first_visit=np.where(late, np.datetime64("NaT", "us"), histories.first_visit),
        **{"age": None, "count": None, **known},
    )


def _log_chance(base: tuple[Floats, Floats], seen: Floats, now: Floats) -> Floats:
    """Logarithm of the chance of a month's changes, but for terms that all predictors share."""
    from scipy.special import gammaln  # slow to load: only where it is needed

    shape, exposure = base[0] + seen[0], base[1] + seen[1]
    found: Floats = gammaln(shape + now[0]) - gammaln(shape) + shape * np.log(exposure)
    found -= (shape + now[0]) * np.log(exposure + now[1])
    return found


def _mixed(
    month: np.datetime64,
    base: tuple[Floats, Floats],
    seen: tuple[Floats, Floats],
    score: Floats,
    level: float,
) -> SeasonalForecast:
    """Mixture of season and recent rate, with the band of the Gamma that has its moments."""
    (season_shape, season_days), (recent_shape, recent_days) = (
        (base[0] + each[0], base[1] + each[1]) for each in seen
    )
    season, recent = season_shape / season_days, recent_shape / recent_days
    known = seen[0][1] > 0
    weight = np.where(known, 1 / (1 + np.exp(-np.clip(score, -500, 500))), 0.0)
    rate = weight * season + (1 - weight) * recent
    square = weight * season * (season + 1 / season_days)
    square += (1 - weight) * recent * (recent + 1 / recent_days)
    shape = rate**2 / (square - rate**2)
    tail = (1 - level) / 2
    low, high = (gamma_quantile(shape, at) / shape * rate for at in (tail, 1 - tail))
    nothing = (seen[0][1] == 0) & (seen[1][1] == 0)
    return SeasonalForecast(
        month=month,
        rate=rate,
        low=low,
        high=high,
        season=np.where(known, season, np.nan),
        recent=recent,
        season_weight=weight,
        status=np.where(nothing, Status.PRIOR_ONLY, Status.OK).astype(np.uint8),
    )
