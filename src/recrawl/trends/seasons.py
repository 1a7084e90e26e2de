"""A forecast for a coming month: the same season of past years and the recent trend together.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.special import gamma_quantile
from recrawl.checks import check_fraction
from recrawl.rates.estimates import Status
from recrawl.trends.local_rates import HALF, overall_rates, rates_by
from recrawl.trends.periods import by_calendar, by_edges, by_month_of_year
from recrawl.trends.visit_instants import visit_instants

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Floats, Statuses
    from recrawl.rates.priors import Priors
    from recrawl.trends.local_rates import LocalRates
    from recrawl.visits.histories import Histories

_TINY = 1e-300
_LITTLE = 1e-6
_BISECTIONS = 30


@dataclass(frozen=True, slots=True, eq=False)
class SeasonalForecast:
    """Rates to expect in a coming month, one row per page.

    Args:
        month: The month.
        rate: Changes a day.
        low: Lower end of the band around the rate.
        high: Upper end of the band; infinite where visits always found a change.
        season: Rate in the same month of past years; nan where there is none.
        recent: Rate of the last months, over as many as foretell best.
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


# Months of the recent rate, of a page that moves fast, slowly, or not at all; and the variance of
# what comes next, as a share of the squared rate.
_MEMORIES = (1, 3, 3, 12, 12, 10_000)
_DRIFTS = np.array([0.0, 0.0, 0.03, 0.0, 0.03, 0.0])
_EVEN_ODDS = np.full((len(_MEMORIES), 1), 1 / len(_MEMORIES))
# Variance between the years of a season.
_SPREADS = np.array([0.0, 0.05, 0.2, 0.5, 1.2])
# How likely each is before any score: a page alone has few years to show it.
_SPREAD_ODDS = np.array([[0.5], [0.2], [0.15], [0.1], [0.05]])
# Months of one year may share what makes it differ, so the spread counts a quarter of their scores.
_SHARED = 0.25
# Season and recent rate before any score: the season is right also where only one month is unlike
# the others, which the scores of few years hardly show.
_ODDS = np.array([[0.75], [0.25]])
# Share of months in which every visit found a change, above which scores are left out: the others
# are those that happened to change little.
_SATURATED = 0.1
_EM_ROUNDS = 300
_EM_PAGES = 2000


def seasonal_forecast(
    histories: Histories, month: str, *, priors: Priors | None = None, level: float = 0.9
) -> SeasonalForecast:
    r"""Rate to expect in a month such as `2027-01`, from the months before it.

    Two families of predictors make Gamma distributions of the rate. The *season* is the same month
    of past years together; its members take the years for equal, or for differing by a factor with
    a variance of 0.05, 0.2, 0.5 or 1.2. The *recent* rate is that of the last month, of the last 3,
    the last 12, or of all months; some of its members add a variance of 0.03.

    Every past month is predicted by all of them from the months before it, and scored with the
    logarithm of the chance of its changes. Season and recent rate are compared over the same month
    of past years, starting from three to one; there the season is what all other years showed.
    Members weigh by their scores on the page and by how well they do on all of the pages. The
    forecast is the mixture. A page without that month in its past has the recent rate alone.

    Args:
        histories: The pages. Visits from that month on are not used.
        month: The month to forecast.
        priors: Priors of the rates; see `fit_prior`.
        level: Probability that the rate lies in its band.
    """
    goal = np.datetime64(month, "M")
    last = int(goal.astype(np.int64))
    histories = _before(histories, goal)
    check_fraction(level=level)
    overall = overall_rates(histories, priors)
    rows = rates_by(histories, lambda some: by_calendar(some, "month"), overall)
    months = _Months.of(rows, last, overall)
    season = rates_by(histories, by_month_of_year, overall)
    season = season.take(np.arange(last % 12, len(season), 12))
    since = {memory: _between(histories, goal - memory, goal, overall) for memory in set(_MEMORIES)}
    recent = [since[memory] for memory in _MEMORIES]
    return _mixed(months, (season, recent), goal, level)


def _between(
    histories: Histories, start: np.datetime64, end: np.datetime64, overall: Floats
) -> LocalRates:
    """Rates from one month to another, one row per page."""
    edges = np.array([start, end], "datetime64[us]")
    rows = rates_by(histories, lambda some: by_edges(some, edges), overall)
    return rows.take(np.arange(1, len(rows), 3))


@dataclass(frozen=True, slots=True, eq=False)
class _Months:
    """What each month before the forecast showed, one row per month and a column per page.

    Args:
        changes: Own changes; see `LocalRates`.
        days: Own days.
        saturated: Whether every visit of the month found a change.
        overall: Rate of each page over all its time.
    """

    changes: Floats
    days: Floats
    saturated: Bools
    overall: Floats

    @classmethod
    def of(cls, rows: LocalRates, last: int, overall: Floats) -> _Months:
        """Months up to, but without, the last; the first row is a month of January."""
        number = rows.start.astype("datetime64[M]").astype(np.int64)
        least = int(number.min(initial=last)) // 12 * 12
        columns = np.zeros((3, last - least, len(overall)))
        columns[:, number - least, rows.page] = rows.own_changes, rows.own_days, np.isinf(rows.high)
        return cls(columns[0], columns[1], columns[2] > 0, overall)

    def scores(self) -> _Scores:
        """Log scores of all predictors, by page."""
        months, pages = self.days.shape
        scores = _Scores.none(pages)
        usable = (self.days > 0) & ~self.saturated
        if self.saturated.sum() > _SATURATED * (self.days > 0).sum():
            return scores
        season, firm = np.zeros((2, 12, pages)), np.zeros((2, len(_SPREADS), 12, pages))
        sums = np.zeros((2, months + 1, pages))
        np.cumsum(self.changes, axis=0, out=sums[0, 1:])
        np.cumsum(self.days, axis=0, out=sums[1, 1:])
        for step in range(months):
            place, seen = step % 12, usable[step]
            now = np.stack([self.changes[step], self.days[step]])
            starts = [max(step - memory, 0) for memory in _MEMORIES]
            before = sums[:, step : step + 1] - sums[:, starts]
            recent = _log_chance(_spread(*self._even(before), _DRIFTS), now)
            by_year = _log_chance(_spread(*self._even(firm[:, :, place]), _SPREADS), now)
            if place == months % 12:
                scores.compare(recent, *self._other_years(now))
            scores.add(recent, by_year, seen, seen & (season[1][place] > 0))
            season[:, place] += now
            firm[:, :, place] += now[:, np.newaxis] * self._left(season[:, place], now[1])
        return scores

    def _other_years(self, now: Floats) -> tuple[Floats, Bools]:
        """Log scores of the season by all years but one, and where there are others.

        Earlier years alone would be fewer than those that make the forecast.
        """
        mine = slice(len(self.days) % 12, None, 12)
        season = np.stack([self.changes[mine].sum(axis=0), self.days[mine].sum(axis=0)])
        others = np.maximum(season - now, 0)
        firm = others[:, np.newaxis] * self._left(season, now[1])
        chance = _log_chance(_spread(*self._even(firm), _SPREADS), now)
        return chance, (now[1] > 0) & (others[1] > 0)

    def left(self) -> Floats:
        """How much of a season's changes is left where its years differ, by spread and page."""
        mine = slice(len(self.days) % 12, None, 12)
        season = np.stack([self.changes[mine].sum(axis=0), self.days[mine].sum(axis=0)])
        left = sum(days * self._left(season, days) for days in self.days[mine])
        return np.where(season[1] > 0, left / np.maximum(season[1], _TINY), 1.0)

    def _even(self, seen: Floats) -> tuple[Floats, Floats]:
        """Shape and exposure from half a change at the page's rate."""
        return seen[0] + HALF, seen[1] + HALF / self.overall

    def _left(self, season: Floats, days: Floats) -> Floats:
        """Years that differ by more than chance say less, the more changes they have."""
        shape, exposure = self._even(season)
        found: Floats = 1 / (1 + _SPREADS[:, np.newaxis] * shape / exposure * days)
        return found


@dataclass(slots=True, eq=False)
class _Scores:
    """Log scores by predictor and page.

    Args:
        recent: Of the recent rate by memory.
        season: Of the season by spread.
        better: Of the season less those of the recent rate.
    """

    recent: Floats
    season: Floats
    better: Floats

    @classmethod
    def none(cls, pages: int) -> _Scores:
        """Nothing predicted yet."""
        zeros = np.zeros((len(_MEMORIES), pages)), np.zeros((len(_SPREADS), pages))
        return cls(*zeros, np.zeros(pages))

    def compare(self, recent: Floats, season: Floats, known: Bools) -> None:
        """Add a month of the forecast's name, predicted by both families."""
        gain = _logsum(season + _logs(self.season)) - _logsum(recent + _logs(self.recent))
        self.better += np.where(known, gain, 0)

    def add(self, recent: Floats, season: Floats, seen: Bools, known: Bools) -> None:
        """Add a month that was seen, to the season where its name was seen before."""
        self.recent += np.where(seen, recent, 0)
        self.season += np.where(known, season, 0) * _SHARED


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
        reverted=histories.reverted[keep],
        **{"age": None, "count": None, **known},
    )


def _mixed(
    months: _Months,
    found: tuple[LocalRates, list[LocalRates]],
    goal: np.datetime64,
    level: float,
) -> SeasonalForecast:
    """Mixture of the season and the recent rates, weighed by how they predicted past months."""
    season, recent = found
    scores = months.scores()
    known = season.exposure > 0
    left = months.left()
    even = HALF / months.overall

    def gamma(changes: Floats, days: Floats) -> tuple[Floats, Floats]:
        # A prior at the page's rate where next to nothing was seen.
        return changes + HALF, days + even * np.exp(-4 * (changes + months.overall * days))

    by_season = _spread(*gamma(season.own_changes * left, season.own_days * left), _SPREADS)
    columns = (
        np.stack([getattr(one, name) for one in recent]) for name in ("own_changes", "own_days")
    )
    by_recent = _spread(*gamma(*columns), _DRIFTS)
    within = (
        _weights(scores.season, _SPREAD_ODDS),
        _weights(scores.recent, _EVEN_ODDS),
    )
    both = _weights(np.stack([scores.better, np.zeros_like(scores.better)]), _ODDS)
    weight = np.where(known, both[0], 0.0)
    weights = np.concatenate([weight * within[0], (1 - weight) * within[1]])
    shape, exposure = (np.concatenate(pair) for pair in zip(by_season, by_recent, strict=True))
    low, high = _mixture_band(weights, shape, exposure, level)

    open_above = weight * np.isinf(season.high)
    open_above += (1 - weight) * (within[1] * [np.isinf(one.high) for one in recent]).sum(axis=0)
    recent_rate = (within[1] * [one.rate for one in recent]).sum(axis=0)
    rate = np.where(known, weight * season.rate, 0.0) + (1 - weight) * recent_rate
    return SeasonalForecast(
        month=goal,
        rate=np.clip(rate, low, high),
        low=low,
        high=np.where(open_above > (1 - level) / 2, np.inf, high),
        season=np.where(known, season.rate, np.nan),
        recent=recent_rate,
        season_weight=weight,
        status=np.where(recent[-1].exposure > 0, Status.OK, Status.PRIOR_ONLY).astype(np.uint8),
    )


def _spread(shape: Floats, exposure: Floats, spreads: Floats) -> tuple[Floats, Floats]:
    """Gamma distributions of rates times a factor with mean 1 and these variances."""
    spread = spreads[:, np.newaxis]
    wider = 1 / (1 / shape + spread + spread / shape)
    return wider, wider * exposure / shape


def _log_chance(predicted: tuple[Floats, Floats], now: Floats) -> Floats:
    """Logarithm of the chance of a month's changes, but for terms that all predictors share."""
    from scipy.special import gammaln  # slow to load: only where it is needed

    shape, exposure = predicted
    found: Floats = gammaln(shape + now[0]) - gammaln(shape)
    found += shape * np.log(exposure) - (shape + now[0]) * np.log(exposure + now[1])
    return found


def _logsum(logs: Floats) -> Floats:
    """Logarithm of the sum of exponentials over the first axis."""
    found: Floats = np.logaddexp.reduce(logs, axis=0)
    return found


def _logs(scores: Floats) -> Floats:
    """Logarithms of the weights that scores make alone."""
    return scores - _logsum(scores)


def _weights(scores: Floats, first: Floats) -> Floats:
    """Weights of members by page: by the page's scores, and by how often a member is best (EM)."""
    common = first
    some = scores[:, :: max(1, scores.shape[1] // _EM_PAGES)]
    for _ in range(_EM_ROUNDS):
        weights = np.exp(_logs(some + np.log(common)))
        # One page that knows nothing keeps every member possible.
        common = (weights.sum(axis=1, keepdims=True) + first) / (some.shape[1] + 1)
    return np.exp(_logs(scores + np.log(common)))


def _mixture_band(
    weights: Floats, shape: Floats, exposure: Floats, level: float
) -> tuple[Floats, Floats]:
    """Quantiles of mixtures of Gamma distributions, by bisection in the logarithm."""
    from scipy.special import gammainc  # slow to load: only where it is needed

    ends = []
    for at in ((1 - level) / 2, (1 + level) / 2):
        quantiles = np.log(gamma_quantile(shape, at) / exposure)
        used = weights > _LITTLE
        least = np.where(used, quantiles, np.inf).min(axis=0)
        most = np.where(used, quantiles, -np.inf).max(axis=0)
        for _ in range(_BISECTIONS):
            middle = (least + most) / 2
            below = (weights * gammainc(shape, np.exp(middle) * exposure)).sum(axis=0) < at
            least, most = np.where(below, middle, least), np.where(below, most, middle)
        ends.append(np.exp(most))
    return ends[0], ends[1]
