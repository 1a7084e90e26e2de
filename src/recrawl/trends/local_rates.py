r"""Rates of parts of time: of each month or year, of weekdays, of hours, or between two instants.

The rate is taken for constant within a period and free to differ from one to the next. Periods cut
each gap into pieces: $w_k$ days in period $k$. With $\Lambda = \sum_k r_k w_k$

| gap | likelihood |
|---|---|
| unchanged | $e^{-\Lambda}$ |
| changed, the last time in period $j$ | $r_j e^{-\Lambda}$, with pieces after the change only |
| changed, no telling when | $1 - e^{-\Lambda}$ |
| changed $n$ times, all of them known | $\Lambda^n e^{-\Lambda}$ |

A period speaks for itself: nothing pulls it to the rate of the others. It starts from the
*reference prior* of Jeffreys, which makes a band of 90 % hold a rate in 90 of 100 cases, whatever
the rate is. With all changes known that is half a change in no days; where only the fact of a
change is known it is about half a change in a third of a gap, and it fades where dated changes are
denser than visits:

$$ a = \frac12 \cdot \text{mean of } \frac{rg}{e^{rg} - 1} \text{ over dated changes}, \qquad
   b = \frac13 \cdot \text{mean length of gaps with hidden changes} . $$

Only the part of a period's changes that may as well have been in other periods is pulled, to half
a change at the page's overall rate $\mu$: a gap of two days has been in every hour. The rates in
the mode of the logarithms are found by EM: a hidden change counts
$r_k w_k / (1 - e^{-\Lambda})$ in period $k$, and

$$ r_k = \frac{\text{changes}_k + a_k}{\text{days}_k + b_k} . $$

The band is that of a Gamma distribution with this mean, whose shape $K$ is what is left of the
changes after the doubt about where they were: one over the variance of $\ln r_k$, a diagonal entry
of the inverse of the information matrix of all periods of the page.

The rate itself leaves that prior out: $N = K - a$ changes in $E = K / r - b$ days make $N / E$.
Where there were none, or next to no days, that is no rate; so a prior around $\mu$ that lets go of
everything unlike it, $r^{-1/2} (r + \mu/5)^{-3/5}$, is put in. The rate solves

$$ r E = N + \frac12 - \frac35 \cdot \frac{r}{r + \mu/5} , $$

which is $\mu$ without any days, $N / E$ near $\mu$, and a tenth of a change less far above it.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.arrays.ranges import expand_ranges
from recrawl.arrays.special import gamma_quantile
from recrawl.checks import check_choice, check_fraction
from recrawl.errors import InvalidParameter
from recrawl.rates.estimates import STATUS_NAMES, Status
from recrawl.rates.gamma_state import gamma_states
from recrawl.rates.priors import Priors
from recrawl.trends.periods import (
    CALENDAR,
    CYCLES,
    by_calendar,
    by_cycle,
    by_edges,
    is_dated,
)
from recrawl.units import microseconds

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from recrawl.arrays.types import Bools, Floats, Instants, Ints, Statuses
    from recrawl.trends.periods import Cut
    from recrawl.visits.histories import Histories

HALF = 0.5  # change that a period starts from
# Of the page's rate: below it the prior of a rate gives half a change, above it none. Smaller
# values pull less. With 0.2, 13 changes in 31 days make 0.416 a day.
_NEAR = 0.2
_PASSES = 3  # the reference prior depends on the rate
_ROUNDS = 40
_SETTLED = 1e-6
_BLOCK_GAPS = 1 << 14
_MATRIX_NUMBERS = 4_000_000  # of one pile of matrices
_TINY = 1e-300
_SMALL, _LARGE = 1e-9, 500.0


@dataclass(frozen=True, slots=True, eq=False)
class LocalRates:
    """Rates by page and period, the periods of a page in their order.

    Args:
        page: Number of the page.
        period: Label: `2026-01`, `2026`, `Mon`, `07`, or both ends.
        start: Where the period begins; the first visit where a weekday or an hour is pooled.
        end: Where it ends.
        changes: Changes in it; fractions where a change may lie in several periods. A hidden
            change counts as many changes as are to be expected in its gap.
        exposure: Days watched in it. The days of a gap before a dated change are not.
        rate: Changes a day.
        low: Lower end of the band around the rate.
        high: Upper end of the band; infinite where every gap showed a change at no known time.
        own_changes: Changes that would tell as much about the rate if each had a known place.
        own_days: Days in which they would have been seen.
        status: Numbers of `Status`, of the page in this period; `PRIOR_ONLY` where it was not
            watched and the figures are those of the page as a whole.
    """

    page: Ints
    period: Any
    start: Instants
    end: Instants
    changes: Floats
    exposure: Floats
    rate: Floats
    low: Floats
    high: Floats
    own_changes: Floats
    own_days: Floats
    status: Statuses

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.page)

    def take(self, rows: Any) -> LocalRates:  # noqa: ANN401 - numbers or flags
        """Only the named rows, in the order named."""
        return LocalRates(*(getattr(self, field.name)[rows] for field in fields(self)))

    @property
    def status_names(self) -> list[str]:
        """Status of each row in words."""
        return [STATUS_NAMES[code] for code in self.status]


def local_rates(
    histories: Histories, by: str, *, priors: Priors | None = None, level: float = 0.9
) -> LocalRates:
    """Rate of each page in each `month`, `year`, `weekday` or `hour`, in UTC.

    A page has a row for each month or year from its first visit to its last; none where its first
    visit is unknown. Weekdays and hours are pooled over all the time.

    Args:
        histories: The pages.
        by: `month`, `year`, `weekday` or `hour`.
        priors: Priors of the rates; see `fit_prior`.
        level: Probability that a rate lies in its band.

    Examples:
        A page that changed every day in January, and not once in February:

        >>> from recrawl import Histories
        >>> first = np.array(["2026-01-01"], "datetime64[us]")
        >>> seen = Histories(np.ones(59), np.arange(59) < 31, [0, 59], first_visit=first)
        >>> months = local_rates(seen, "month")
        >>> months.period.tolist(), months.exposure.tolist()
        (['2026-01', '2026-02'], [31.0, 28.0])
        >>> months.rate.round(2)
        array([4.91, 0.02])
    """
    check_choice((*CALENDAR, *CYCLES), by=by)
    cut = by_calendar if by in CALENDAR else by_cycle
    return rates_by(histories, lambda some: cut(some, by), overall_rates(histories, priors), level)


def rates_between(
    histories: Histories,
    start: datetime | np.datetime64,
    end: datetime | np.datetime64,
    *,
    priors: Priors | None = None,
    level: float = 0.9,
) -> LocalRates:
    """Rate of each page between two instants, one row per page.

    Args:
        histories: The pages.
        start: Where the period begins (UTC).
        end: Where it ends.
        priors: Priors of the rates; see `fit_prior`.
        level: Probability that a rate lies in its band.
    """
    edges = np.array([_utc(start), _utc(end)])
    if np.isnat(edges).any() or not edges[0] < edges[1]:
        raise InvalidParameter(f"start must be before end (got {start} and {end})")
    overall = overall_rates(histories, priors)
    rows = rates_by(histories, lambda some: by_edges(some, edges), overall, level)
    return rows.take(np.arange(1, len(rows), 3))


def overall_rates(histories: Histories, priors: Priors | None) -> Floats:
    """Rate of each page over all its time, the mean of `gamma`."""
    priors = Priors.one() if priors is None else priors
    shape, exposure = gamma_states(histories, *priors.of_pages(len(histories)))
    return shape / exposure


def rates_by(
    histories: Histories, cut: Callable[[Histories], Cut], overall: Floats, level: float = 0.9
) -> LocalRates:
    """Rates block by block, so that the pieces of all pages are never in memory together.

    Args:
        histories: The pages.
        cut: Cuts the gaps of some of them into pieces.
        overall: Rate of each page over all its time.
        level: Probability that a rate lies in its band.
    """
    check_fraction(level=level)
    block = histories.offsets[:-1] // _BLOCK_GAPS
    edges = np.flatnonzero(np.diff(block, prepend=-1, append=block[-1:] + 1)).tolist()
    parts = []
    for begin, end in pairwise(edges if len(histories) else [0, 0]):
        some = histories.take(np.arange(begin, end))
        rows = _rates(some, cut(some), overall[begin:end], level)
        parts.append(replace(rows, page=rows.page + begin))
    columns = ([getattr(part, field.name) for part in parts] for field in fields(LocalRates))
    return LocalRates(*(np.concatenate(column) for column in columns))


def _utc(moment: datetime | np.datetime64) -> np.datetime64:
    if isinstance(moment, np.datetime64):
        found: np.datetime64 = moment.astype("datetime64[us]")
        return found
    return np.datetime64(microseconds(moment), "us")


@dataclass(frozen=True, slots=True, eq=False)
class _Hidden:
    """Pieces of the gaps whose changes have no known place, gap by gap.

    Args:
        cell: Cell of each piece.
        days: Its length.
        gap: Number of its gap among these.
        starts: First piece of each gap.
        count: Changes of each gap where the source tells, else 0.
    """

    cell: Ints
    days: Floats
    gap: Ints
    starts: Ints
    count: Floats

    @classmethod
    def of(cls, histories: Histories, cut: Cut) -> _Hidden:
        """Those of a cut."""
        hidden = histories.changed & ~is_dated(histories)
        pieces = np.flatnonzero(hidden[cut.gap])
        gap = cut.gap[pieces]
        new = np.diff(gap, prepend=-1) > 0
        rows = gap[new]
        count = np.maximum(histories.count[rows], 0).astype(np.float64)
        return cls(
            cut.cell[pieces], cut.days[pieces], np.cumsum(new) - 1, np.flatnonzero(new), count
        )

    def take(self, pieces: Bools) -> _Hidden:
        """Only some pieces, those of whole gaps."""
        if pieces.all():
            return self
        gap, new = self.gap[pieces], pieces[self.starts]
        number = np.cumsum(new) - 1
        starts = np.flatnonzero(np.diff(gap, prepend=-1) > 0)
        return _Hidden(self.cell[pieces], self.days[pieces], number[gap], starts, self.count[new])

    def expected(self, rate: Floats) -> Floats:
        """Changes to expect in each piece."""
        x = rate[self.cell] * self.days
        if not len(x):
            return x
        total = np.add.reduceat(x, self.starts)
        times = np.where(self.count > 0, self.count / total, 1 / -np.expm1(-total))
        return x * times[self.gap]


def _rates(histories: Histories, cut: Cut, rate_of_page: Floats, level: float) -> LocalRates:
    """Solve for the rates of all cells and put bands around them."""
    cells = len(cut.page)
    overall = rate_of_page[cut.page]
    hidden = _Hidden.of(histories, cut)
    dated = is_dated(histories) & (cut.event >= 0)
    events = np.bincount(cut.event[dated], minlength=cells).astype(np.float64)
    days: Floats = np.bincount(cut.cell, cut.days, cells).astype(np.float64)

    reference = _Reference(hidden, cut.event[dated], histories.gaps[dated], events)
    logs = np.log((events + HALF) / (days + HALF / overall))
    for _ in range(_PASSES):
        half, third, doubt = reference.prior(np.exp(logs), days)
        pull = third + doubt * HALF / overall
        logs = _settled(hidden, cut.page, logs, events + half, days + pull)
    mode = np.exp(logs)

    changes = events + np.bincount(hidden.cell, hidden.expected(mode), cells)
    shape = _information(hidden, cut.page, mode, events + half)
    tail = (1 - level) / 2
    low, high = (gamma_quantile(shape, at) / shape * mode for at in (tail, 1 - tail))
    # Nothing seen for an hour is no reason to believe in a change a day.
    low *= shape / (shape + np.exp(-4 * (shape - half)) * HALF * mode / overall)
    status = _status(histories, cut, changes, days)
    told = events + np.bincount(hidden.cell, hidden.count[hidden.gap], cells)
    # Any rate above some level leaves no gap unchanged.
    unbounded = (status == Status.ALL_CHANGED) & (told == 0)
    rate = _without_prior(shape - half * (1 - doubt), shape / mode - third, overall)
    own_days = np.where(days > 0, np.maximum(shape / mode - pull, 0.0), 0.0)
    return LocalRates(
        page=cut.page,
        period=cut.period,
        start=cut.start,
        end=cut.end,
        changes=changes,
        exposure=days,
        rate=np.where(unbounded, mode, np.clip(rate, low, high)),
        low=low,
        high=np.where(unbounded, np.inf, high),
        own_changes=np.where(own_days > 0, np.maximum(shape - half, 0.0), 0.0),
        own_days=own_days,
        status=status,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Reference:
    """What the reference prior of each cell depends on.

    Args:
        hidden: Pieces of the gaps with changes at unknown times.
        dated_cell: Cell of each dated change.
        dated_gap: Days of its gap.
        events: Dated changes of each cell.
    """

    hidden: _Hidden
    dated_cell: Ints
    dated_gap: Floats
    events: Floats

    def prior(self, rate: Floats, days: Floats) -> tuple[Floats, Floats, Floats]:
        """Changes and days that each cell starts from, and the share of its changes in doubt."""
        cells, hidden = len(rate), self.hidden
        x = np.clip(rate[self.dated_cell] * self.dated_gap, _SMALL, _LARGE)
        lost = np.bincount(self.dated_cell, 1 - x / np.expm1(x), cells)
        half = HALF * (1 - lost / np.maximum(self.events, 1))
        unwatched = (days == 0).astype(np.float64)
        if not len(hidden.cell):
            return half, np.zeros(cells), unwatched

        x = rate[hidden.cell] * hidden.days
        total = np.add.reduceat(x, hidden.starts)
        share, expected = x / total[hidden.gap], hidden.expected(rate)
        changes = self.events + HALF + np.bincount(hidden.cell, expected, cells)
        doubt = np.bincount(hidden.cell, expected * (1 - share), cells) / changes
        # Gaps weigh by what they tell: the longer ones changed anyway.
        tells = np.where(hidden.count > 0, 0.0, total**2 * _certainty(total))[hidden.gap] * share
        told = self.events + np.bincount(hidden.cell, hidden.count[hidden.gap] * share, cells)
        third = np.bincount(hidden.cell, tells * hidden.days, cells) / 3
        third /= np.maximum(np.bincount(hidden.cell, tells, cells) + told, _TINY)
        return half, third, np.maximum(doubt, unwatched)


def _certainty(total: Floats) -> Floats:
    """What a changed gap tells about the logarithm of its expected changes, over their square."""
    found: Floats = np.exp(-total) / np.expm1(-total) ** 2
    return found


def _without_prior(changes: Floats, days: Floats, overall: Floats) -> Floats:
    """Rate of cells with so many changes of their own in so many days of their own."""
    near, most = _NEAR * overall, HALF * (1 + _NEAR)
    days, changes = np.maximum(days, _TINY), np.maximum(changes, 0.0) + HALF
    linear = changes - most - days * near
    root = np.sqrt(linear**2 + 4 * days * changes * near)
    # Whichever form of the root does not cancel.
    over = np.where(linear > 0, 2 * days, root - linear)
    return np.where(linear > 0, root + linear, 2 * changes * near) / over


def _settled(hidden: _Hidden, page: Ints, logs: Floats, events: Floats, days: Floats) -> Floats:
    """Logarithms of the rates by EM, from `logs` on; accelerated cell by cell.

    Strides extrapolate the last two steps (SQUAREM). A page whose cells have all converged stays,
    however long the others of its block take.
    """
    linked = np.zeros(len(logs), np.bool_)
    linked[hidden.cell] = True
    logs = np.where(linked, logs, np.log(events / days))
    for _ in range(_ROUNDS):
        if not len(hidden.cell):
            break
        one = _step(hidden, logs, events, days)
        two = _step(hidden, one, events, days)
        first, bend = one - logs, two - 2 * one + logs
        # Where steps shrink by the same factor, the stride goes where they would end.
        with np.errstate(divide="ignore", invalid="ignore"):
            length = np.clip(np.where(bend == 0, 1.0, np.abs(first / bend)), 1, 64)
        ahead = logs + 2 * length * first + length**2 * bend
        ahead = np.where(np.abs(ahead - two) < 2, ahead, two)  # noqa: PLR2004 - a factor of 7
        moved = _step(hidden, ahead, events, days)
        going = np.zeros(int(page[-1]) + 1, np.bool_)
        going[page[np.abs(moved - logs) > _SETTLED]] = True
        cells = np.zeros(len(logs), np.bool_)
        cells[hidden.cell] = True  # the others were right from the start
        logs = np.where(cells, moved, logs)
        hidden = hidden.take(going[page[hidden.cell]])
    return logs


def _step(hidden: _Hidden, logs: Floats, events: Floats, days: Floats) -> Floats:
    """Logarithms of the rates after one EM step."""
    changes = np.bincount(hidden.cell, hidden.expected(np.exp(logs)), len(days))
    return np.log((events + changes) / days)


def _information(hidden: _Hidden, page: Ints, rate: Floats, events: Floats) -> Floats:
    r"""One over the variance of the logarithm of each cell's rate.

    In the mode, the information matrix about the logarithms of a page's rates is

    $$ \text{diag}(\text{changes at known places} + a) + \sum_{\text{gaps}} c \, x x^T, \qquad
       c = \frac{e^{-\Lambda}}{(1 - e^{-\Lambda})^2}, $$

    where $x_k = r_k w_k$ in the pieces of a gap with a hidden change; $c = n / \Lambda^2$ where its
    $n$ changes are told. It is the diagonal of the inverse that is needed. Gaps in one piece only
    add to the diagonal, so only the cells that gaps link are made into matrices.
    """
    if not len(hidden.cell):
        return events
    x = rate[hidden.cell] * hidden.days
    total = np.add.reduceat(x, hidden.starts)
    root = np.sqrt(np.where(hidden.count > 0, hidden.count / total**2, _certainty(total)))
    x *= root[hidden.gap]
    pieces = np.diff(hidden.starts, append=len(x))
    alone = pieces[hidden.gap] == 1
    known = events + np.bincount(hidden.cell[alone], x[alone] ** 2, len(rate))
    several = np.flatnonzero(pieces > 1)
    if not len(several):
        return known

    linked = np.zeros(len(rate), np.bool_)
    linked[hidden.cell[~alone]] = True
    size = np.bincount(page[linked], minlength=int(page[-1]) + 1)
    rank = np.cumsum(linked) - 1  # among all linked cells; a page's lie together
    offset = np.cumsum(size) - size
    numbers = np.flatnonzero(linked)
    page_of_gap = page[hidden.cell[hidden.starts[several]]]
    for rows in _piles(size[page_of_gap], page_of_gap):
        gaps = several[rows]
        some = np.unique(page_of_gap[rows])
        wide = int(size[some[0]])
        # One row per gap: what it says about each linked cell of its page.
        piece = expand_ranges(hidden.starts[gaps], pieces[gaps])
        row = np.repeat(np.arange(len(gaps)), pieces[gaps])
        column = rank[hidden.cell[piece]] - offset[page[hidden.cell[piece]]]
        says = np.zeros((len(gaps), wide))
        says[row, column] = x[piece]
        edges = np.searchsorted(page_of_gap[rows], some, side="left").tolist()
        matrix = np.empty((len(some), wide, wide))
        for number, (begin, end) in enumerate(pairwise([*edges, len(gaps)])):
            np.matmul(says[begin:end].T, says[begin:end], out=matrix[number])
        cells = numbers[offset[some][:, np.newaxis] + np.arange(wide)]
        diagonal = np.arange(wide)
        matrix[:, diagonal, diagonal] += known[cells]
        known[cells] = 1 / np.linalg.inv(matrix)[:, diagonal, diagonal]
    return known


def _piles(size: Ints, page: Ints) -> list[Ints]:
    """Rows of gaps whose pages have equally many linked cells, in piles that fit the memory."""
    order = np.lexsort((page, size))
    new_page = np.diff(page[order], prepend=-1) != 0
    cost = np.cumsum(size[order] + np.where(new_page, size[order] ** 2, 0))
    # A pile begins with a page: all gaps of a page share its first cost.
    begun = np.maximum.accumulate(np.where(new_page, cost, 0)) // _MATRIX_NUMBERS
    edges = np.flatnonzero((np.diff(begun) > 0) | (np.diff(size[order]) > 0)) + 1
    return np.split(order, edges)


def _status(histories: Histories, cut: Cut, changes: Floats, days: Floats) -> Statuses:
    """What each cell's own pieces show."""
    quiet = np.bincount(cut.cell, ~histories.changed[cut.gap], len(days))
    status = np.full(len(days), Status.OK, np.uint8)
    status[quiet == 0] = Status.ALL_CHANGED
    status[changes == 0] = Status.NO_CHANGE_SEEN
    status[days == 0] = Status.PRIOR_ONLY
    return status
