r"""Change points of a page's rate: the best segmentation of its visits, by PELT.

A stretch costs minus twice the log-likelihood of its visits at their most likely rate, and each
cut costs a penalty. The cheapest of all ways to cut is found by dynamic programming from visit to
visit: the cheapest way up to a visit ends with some last stretch, and what is before that is cut
in its own cheapest way. PELT drops beginnings of the last stretch that can never be best again:

    F(t) = min over s of F(s) + cost(s, t) + penalty
    s is dropped for all later visits once F(s) + cost(s, t) >= F(t)

for a stretch never costs less than its two halves. For the same reason a stretch never costs less
than it did some visits ago plus what the new visits cost each by itself. Stretches that are too
dear even so are not worked out anew, which spares nine of ten. Neither changes the answer.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.checks import check_at_least, check_fraction
from recrawl.rates.estimates import STATUS_NAMES
from recrawl.rates.likelihood import Likelihood
from recrawl.trends.points import ends_of_gaps
from recrawl.trends.trend_test import TrendStatus
from recrawl.units import MICROSECONDS_A_DAY
from recrawl.visits.histories import NO_COUNT, Histories

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints, Statuses

_MICROSECOND = 1 / MICROSECONDS_A_DAY

# Up to this many different lengths of hidden gaps are exact; more are binned evenly in the
# logarithm, and each bin has the mean length of its gaps.
_LENGTHS = 64
_MOST_STEPS = 60
_TOLERANCE = 1e-7  # of ln rate; the cost is flat there and errs by the square of it


@dataclass(frozen=True, slots=True, eq=False)
class Segments:
    """Stretches of constant rate, one row per stretch, page after page.

    Args:
        offsets: Where each page begins; one more than there are pages.
        first: Number of the stretch's first gap among its page's.
        stop: Number of the gap after its last.
        start: Days from the page's first visit to the beginning of the stretch.
        end: Days from the page's first visit to its end.
        rate: Changes a day.
        low: Lower end of the band around the rate.
        high: Upper end of the band.
        status: Numbers of `Status`: what a stretch's visits could say about its rate.
        page_status: Numbers of `TrendStatus`, one per page: whether it could be cut at all.
    """

    offsets: Ints
    first: Ints
    stop: Ints
    start: Floats
    end: Floats
    rate: Floats
    low: Floats
    high: Floats
    status: Statuses
    page_status: Statuses

    def __len__(self) -> int:
        """Return the number of pages."""
        return len(self.offsets) - 1

    @property
    def status_names(self) -> list[str]:
        """Status of each stretch in words."""
        return [STATUS_NAMES[code] for code in self.status]


def change_points(
    histories: Histories,
    page: int,
    *,
    penalty: float = 3.0,
    least_gaps: int = 4,
    level: float = 0.9,
) -> Segments:
    r"""Cut one page's visits where its rate jumped.

    The cuts minimise the sum of $-2 \max \ell$ over all stretches, plus `penalty` times $\ln n$ a
    cut, with $n$ the page's gaps and $\ell$ the likelihood of hidden, dated and counted changes at
    a constant rate. The rates and bands are those of `Likelihood`.

    Args:
        histories: What the visits showed.
        page: Number of the page.
        penalty: What a cut must gain, in units of $\ln n$.
        least_gaps: Fewest gaps of a stretch.
        level: Probability that a rate lies in its band, given the cuts.

    References:
        Killick, Fearnhead and Eckley (2012). Optimal detection of changepoints with a linear
        computational cost. Journal of the American Statistical Association 107, 1590-1598.

    Examples:
        >>> jump = Histories.from_lists([([1.0] * 40, [False] * 20 + [True] * 20)])
        >>> change_points(jump, 0).start
        array([ 0., 20.])
    """
    return all_change_points(
        histories.take(np.array([page])), penalty=penalty, least_gaps=least_gaps, level=level
    )


def all_change_points(
    histories: Histories, *, penalty: float = 3.0, least_gaps: int = 4, level: float = 0.9
) -> Segments:
    """Cut each page's visits where its rate jumped, as `change_points` does."""
    check_fraction(level=level)
    check_at_least(0, penalty=penalty)
    check_at_least(1, least_gaps=least_gaps)
    starts = [
        int(begin) + np.array(_cuts(_Evidence.of(histories, begin, end), penalty, least_gaps))
        for begin, end in zip(
            histories.offsets[:-1].tolist(), histories.offsets[1:].tolist(), strict=True
        )
        if end > begin
    ]
    edges = np.concatenate([*starts, [len(histories.gaps)]]).astype(np.int64)
    return _described(histories, edges, least_gaps, level)


def _described(histories: Histories, edges: Ints, least_gaps: int, level: float) -> Segments:
    """Rates of the stretches between the edges."""
    stretches = Histories(
        histories.gaps, histories.changed, edges, age=histories.age, count=histories.count
    )
    rates = Likelihood(level=level).estimate(stretches)
    offsets = np.searchsorted(edges, histories.offsets)
    ends = ends_of_gaps(histories)
    begin = histories.offsets[:-1]
    page = np.repeat(np.arange(len(histories)), np.diff(offsets))

    gaps, visits = histories.gaps_of_page, histories.visits
    page_status = np.full(len(histories), TrendStatus.OK, np.uint8)
    page_status[gaps < 2 * least_gaps] = TrendStatus.TOO_FEW_GAPS
    page_status[visits == 1] = TrendStatus.ONE_VISIT
    page_status[visits == 0] = TrendStatus.NO_VISITS
    return Segments(
        offsets=offsets,
        first=edges[:-1] - begin[page],
        stop=edges[1:] - begin[page],
        start=np.where(edges[:-1] == begin[page], 0.0, ends[edges[:-1] - 1]),
        end=ends[edges[1:] - 1],
        rate=rates.rate,
        low=rates.low,
        high=rates.high,
        status=rates.status,
        page_status=page_status,
    )


def _cuts(seen: _Evidence, penalty: float, least_gaps: int) -> list[int]:
    """First gap of each stretch of the cheapest way to cut one page."""
    count = len(seen.events) - 1
    if count < 2 * least_gaps:
        return [0]
    fee = penalty * np.log(count)
    cheapest = np.full(count + 1, np.inf)
    cheapest[0] = -fee
    before = np.zeros(count + 1, np.int64)
    dropped_from = np.full(count + 1, count + 1)
    costs = _Costs(seen)
    begun = np.empty(0, np.int64)
    for visit in range(least_gaps, count + 1):
        fresh = visit - least_gaps
        if fresh == 0 or fresh >= least_gaps:
            begun = np.append(begun, fresh)
            costs.begin(fresh, visit)
        costs.extend(begun, visit)
        # Only what may be cheapest is worked out: the likeliest first, then all that may beat it.
        bound = cheapest[begun] + costs.at_least[begun] + fee
        first = begun[[np.argmin(bound)]]
        costs.work_out(first, visit)
        best = cheapest[first] + costs.at_least[first] + fee
        rest = begun[(bound < best) & (begun != first)]
        costs.work_out(rest, visit)
        total = cheapest[begun] + costs.at_least[begun] + fee
        winner = int(np.argmin(total))
        cheapest[visit], before[visit] = total[winner], begun[winner]
        # A stretch may not begin here before it can be long enough: drop only from then on.
        out = begun[total - fee >= cheapest[visit]]
        dropped_from[out] = np.minimum(dropped_from[out], visit + least_gaps)
        begun = begun[dropped_from[begun] > visit + 1]

    starts, visit = [], count
    while visit > 0:
        visit = int(before[visit])
        starts.append(visit)
    return starts[::-1]


@dataclass(frozen=True, slots=True, eq=False)
class _Evidence:
    """What one page's visits told, summed up to each visit.

    Args:
        events: Changes at known times or in known number.
        quiet: Days known to be without another change.
        hidden: Gaps that hide changes, one column per length.
        lengths: These lengths.
        alone: Cost of each gap by itself.
    """

    events: Floats
    quiet: Any  # of long floats
    hidden: Floats
    lengths: Floats
    alone: Floats

    @classmethod
    def of(cls, histories: Histories, begin: int, end: int) -> _Evidence:
        gaps, changed = histories.gaps[begin:end], histories.changed[begin:end]
        age, count = histories.age[begin:end], histories.count[begin:end]
        counted = count != NO_COUNT
        dated = ~np.isnan(age) & ~counted
        hidden = changed & ~dated & ~counted
        events = np.where(counted, count, dated)
        quiet = np.where(dated, np.maximum(age, _MICROSECOND), gaps * ~hidden)
        number, lengths = _classes(gaps[hidden])
        table = np.zeros((len(gaps), len(lengths)))
        table[np.flatnonzero(hidden), number] = 1
        some = np.maximum(events, 1)
        alone = -2 * events * (np.log(some / np.where(events > 0, quiet, 1)) - 1)
        # Long: a microsecond after years of quiet days must not be lost.
        return cls(_sums(events), _sums(quiet.astype(np.longdouble)), _sums(table), lengths, alone)


def _classes(gaps: Floats) -> tuple[Ints, Floats]:
    """Class of each gap, and the mean length of each class."""
    lengths, number = np.unique(gaps, return_inverse=True)
    if len(lengths) > _LENGTHS:
        place = np.log(gaps / gaps.min()) / np.log(gaps.max() / gaps.min())
        number = np.minimum((place * _LENGTHS).astype(np.int64), _LENGTHS - 1)
        _, number = np.unique(number, return_inverse=True)
        lengths = np.bincount(number, gaps) / np.bincount(number)
    return number, lengths


def _sums(values: Any) -> Any:  # noqa: ANN401 - of the same type
    """Sums over the first 0, 1, 2, ... rows."""
    nothing = np.zeros((1, *values.shape[1:]), values.dtype)
    return np.concatenate([nothing, np.cumsum(values, axis=0)])


class _Costs:
    """Cost of the stretch from each gap to the visit at hand, or a bound below it."""

    def __init__(self, seen: _Evidence) -> None:
        self._seen = seen
        self._log_rate = np.full(len(seen.events), np.nan)  # of the last time it was worked out
        self.at_least = np.zeros(len(seen.events))

    def begin(self, gap: int, visit: int) -> None:
        """Let a stretch begin that already reaches to the gap before the visit."""
        self.at_least[gap] = self._seen.alone[gap : visit - 1].sum()

    def extend(self, begun: Ints, visit: int) -> None:
        """Let all stretches reach to the next visit."""
        self.at_least[begun] += self._seen.alone[visit - 1]

    def work_out(self, begun: Ints, visit: int) -> None:
        """Find the cost of these stretches."""
        seen = self._seen
        events = seen.events[visit] - seen.events[begun]
        quiet = (seen.quiet[visit] - seen.quiet[begun]).astype(np.float64)
        quiet = np.maximum(quiet, events * _MICROSECOND)  # not to be lost on rounding
        hidden = seen.hidden[visit] - seen.hidden[begun]
        # All quiet, or all hiding a change: a rate of 0 or infinity fits without a doubt.
        self.at_least[begun] = 0
        inside = (events + hidden.sum(axis=1) > 0) & (quiet > 0)
        if inside.any():
            rows = begun[inside]
            self._log_rate[rows], self.at_least[rows] = _cheapest_rate(
                events[inside], quiet[inside], hidden[inside], seen.lengths, self._log_rate[rows]
            )


def _cheapest_rate(
    events: Floats, quiet: Floats, hidden: Floats, lengths: Floats, guess: Floats
) -> tuple[Floats, Floats]:
    """Logarithm of the most likely rate of each stretch, and minus twice the log-likelihood."""
    changes = events + hidden.sum(axis=1)
    # The score is positive at the first and negative at the second (beyond rounding).
    low = np.log(changes / (quiet + hidden @ lengths / 2)) - 1e-9
    high = np.log(changes / quiet) + 1e-9
    at = np.where(
        (guess > low) & (guess < high), guess, _as_if_equal(events, quiet, hidden, lengths)
    )
    at = np.clip(at, low, high)
    for _ in range(_MOST_STEPS):
        expected = np.exp(at)[:, np.newaxis] * lengths
        with np.errstate(over="ignore"):
            pull = expected / np.expm1(expected)
        due = np.exp(at) * quiet
        score = events + (hidden * pull).sum(axis=1) - due
        fall = due + (hidden * pull * (pull + expected - 1)).sum(axis=1)
        low, high = np.where(score >= 0, at, low), np.where(score >= 0, high, at)
        goal = at + score / fall
        goal = np.where((goal >= low) & (goal <= high), goal, (low + high) / 2)
        size = np.abs(goal - at).max()
        at = goal
        if size < _TOLERANCE:
            break
    expected = np.exp(at)[:, np.newaxis] * lengths
    chance = np.log(-np.expm1(-expected))
    height = events * at - np.exp(at) * quiet + (hidden * chance).sum(axis=1)
    return at, -2 * height


def _as_if_equal(events: Floats, quiet: Floats, hidden: Floats, lengths: Floats) -> Floats:
    """Logarithm of the rate if all hidden gaps were equally long: exact if they are."""
    untold = hidden.sum(axis=1)
    mean = hidden @ lengths / np.maximum(untold, 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        bare = np.log(np.log1p(untold * mean / quiet) / mean)
        return np.where(untold > 0, bare, np.log(events / quiet))
