r"""Rates of parts of time: of each month or year, of weekdays, of hours, or between two instants.

The rate is taken for constant within a period and free to differ from one to the next. Periods cut
each gap into pieces: $w_k$ days in period $k$. With $\Lambda = \sum_k r_k w_k$

| gap | likelihood |
|---|---|
| unchanged | $e^{-\Lambda}$ |
| changed, the last time in period $j$ | $r_j e^{-\Lambda}$, with pieces after the change only |
| changed, no telling when | $1 - e^{-\Lambda}$ |
| changed $n$ times, all of them known | $\Lambda^n e^{-\Lambda}$ |

A period may have hardly been watched. So each page has a prior of half a change at its overall
rate $\mu$ for every period, a Gamma distribution with shape 1/2. The rates in the mode of the
logarithms are found by going round (EM): a hidden change counts
$r_k w_k / (1 - e^{-\Lambda})$ in period $k$, and

$$ r_k = \frac{\text{changes}_k + 1/2}{\text{days}_k + 1/(2\mu)} . $$

The band is that of a Gamma distribution with this mean, whose shape is what is left of the
changes after the doubt about where they were: one over the variance of $\ln r_k$, a diagonal entry
of the inverse of the information matrix of all periods of the page.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.errors import InvalidParameter
from recrawl.rates.estimates import STATUS_NAMES, Status, check_level
from recrawl.rates.gamma_state import gamma_states
from recrawl.rates.priors import Priors
from recrawl.rates.special import gamma_quantile
from recrawl.trends.clock import visit_instants
from recrawl.units import MICROSECONDS_A_DAY, microseconds
from recrawl.visits.stretches import stretches

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from recrawl.visits.arrays import Bools, Floats, Instants, Ints, Statuses
    from recrawl.visits.histories import Histories

PULL = 0.5  # changes at the page's overall rate that a period starts from
_ROUNDS = 40
_SETTLED = 1e-6
_BLOCK_GAPS = 1 << 14
_MATRIX_NUMBERS = 4_000_000  # of one pile of matrices
_TINY = 1e-300
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_DAY = int(MICROSECONDS_A_DAY)


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
        shape: Shape of the Gamma distribution of the rate, whose mean is `rate`.
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
    shape: Floats
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
        priors: What is known of the pages before their visits; see `fit_prior`.
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
        array([3.71, 0.02])
    """
    if by not in _CALENDAR and by not in _CYCLES:
        names = ", ".join((*_CALENDAR, *_CYCLES))
        message = f"by must be one of {names} (got {by!r})"
        raise InvalidParameter(message)
    cut = _by_calendar if by in _CALENDAR else _by_cycle
    return _in_blocks(histories, lambda some: cut(some, by), priors, level)


def rates_between(
    histories: Histories,
    start: datetime | np.datetime64,
    end: datetime | np.datetime64,
    *,
    priors: Priors | None = None,
    level: float = 0.9,
) -> LocalRates:
    """Rate of each page between two instants, a row a page.

    Args:
        histories: The pages.
        start: Where the period begins (UTC).
        end: Where it ends.
        priors: What is known of the pages before their visits; see `fit_prior`.
        level: Probability that a rate lies in its band.
    """
    edges = np.array([_utc(start), _utc(end)])
    if np.isnat(edges).any() or not edges[0] < edges[1]:
        message = f"start must lie before end (got {start} and {end})"
        raise InvalidParameter(message)
    rows = _in_blocks(histories, lambda some: _by_edges(some, edges), priors, level)
    return rows.take(np.arange(1, len(rows), 3))


def _utc(moment: datetime | np.datetime64) -> np.datetime64:
    if isinstance(moment, np.datetime64):
        found: np.datetime64 = moment.astype("datetime64[us]")
        return found
    return np.datetime64(microseconds(moment), "us")


_CALENDAR = {"month": "datetime64[M]", "year": "datetime64[Y]"}
# Microseconds of a bin, and bins of a round. Weeks begin on Mondays, 1970 on a Thursday.
_CYCLES = {"weekday": (_DAY, 7, 3 * _DAY), "hour": (_DAY // 24, 24, 0)}


@dataclass(frozen=True, slots=True, eq=False)
class _Watched:
    """The part of each gap that tells something, in microseconds, and what it tells.

    Args:
        gap: Row of the gap.
        first: Where the part begins: at the last change if that is dated.
        last: Where it ends.
    """

    gap: Ints
    first: Ints
    last: Ints

    @classmethod
    def of(cls, histories: Histories) -> _Watched:
        """Gaps of all pages whose first visit is known."""
        start, end = visit_instants(histories)
        gap = np.flatnonzero(~np.isnat(start))
        first, last = start[gap].astype(np.int64), end[gap].astype(np.int64)
        age = np.where(_dated(histories)[gap], histories.age[gap], np.inf)
        # Instants are no finer: a change in the very moment of the visit has some age, too.
        back = np.maximum(np.rint(np.minimum(age, 1e6) * MICROSECONDS_A_DAY).astype(np.int64), 1)
        return cls(gap, np.maximum(first, last - back), last)


@dataclass(frozen=True, slots=True, eq=False)
class _Cut:
    """Pieces of gaps in *cells*: a cell is a page in a period.

    Args:
        page: Page of each cell.
        period: Label of each cell.
        start: Where its period begins.
        end: Where its period ends.
        gap: Gap of each piece, rising.
        cell: Cell of each piece.
        days: Length of each piece.
        event: Cell in which the watched part of a gap begins, a row a gap; -1 where unknown.
    """

    page: Ints
    period: Any
    start: Instants
    end: Instants
    gap: Ints
    cell: Ints
    days: Floats
    event: Ints


def _dated(histories: Histories) -> Bools:
    dated: Bools = ~np.isnan(histories.age) & (histories.count < 0)
    return dated


def _by_calendar(histories: Histories, by: str) -> _Cut:
    """Pieces by calendar months or years, from each page's first visit to its last."""
    watched, unit = _Watched.of(histories), _CALENDAR[by]
    known = ~np.isnat(histories.first_visit)
    page_of_gap = histories.page_of_gap
    some = np.zeros(len(histories), np.bool_)
    some[page_of_gap[watched.gap]] = True
    known &= some | (histories.gaps_of_page == 0)
    first_visit = np.where(known, histories.first_visit, np.datetime64(0, "us"))
    earliest = first_visit.astype(unit).astype(np.int64)
    latest = earliest.copy()
    # A visit on the stroke of midnight ends the period before.
    final = (watched.last - 1).astype("datetime64[us]").astype(unit).astype(np.int64)
    np.maximum.at(latest, page_of_gap[watched.gap], final)

    counts = np.where(known, latest - earliest + 1, 0)
    page = np.repeat(np.arange(len(histories)), counts)
    number = stretches(earliest, counts)
    offset = np.cumsum(counts) - counts - earliest  # from a period's number to its cell
    edges = np.arange(earliest.min(initial=0), latest.max(initial=0) + 2).astype(unit)
    instants = edges.astype("datetime64[us]")
    least = int(edges[0].astype(np.int64))
    piece_gap, piece, days, event = _pieces(watched, instants.astype(np.int64), histories)
    return _Cut(
        page,
        np.datetime_as_string(edges[number - least]),
        instants[number - least],
        instants[number - least + 1],
        piece_gap,
        piece + least + offset[page_of_gap[piece_gap]],
        days,
        np.where(event < 0, -1, event + least + offset[page_of_gap]),
    )


def _by_edges(histories: Histories, edges: Instants) -> _Cut:
    """Pieces before, between and after two instants: three cells a page."""
    least, most = np.iinfo(np.int64).min + 1, np.iinfo(np.int64).max
    walls = np.array([least, *edges.astype(np.int64), most])
    piece_gap, piece, days, event = _pieces(_Watched.of(histories), walls, histories)
    page_of_gap, pages = histories.page_of_gap, len(histories)
    label = "/".join(np.datetime_as_string(edges, unit="s").tolist())
    return _Cut(
        np.repeat(np.arange(pages), 3),
        np.tile(np.array(["", label, ""]), pages),
        np.tile(np.array(["NaT", edges[0], edges[1]], "datetime64[us]"), pages),
        np.tile(np.array([edges[0], edges[1], "NaT"], "datetime64[us]"), pages),
        piece_gap,
        piece + 3 * page_of_gap[piece_gap],
        days,
        np.where(event < 0, -1, event + 3 * page_of_gap),
    )


def _pieces(
    watched: _Watched, walls: Ints, histories: Histories
) -> tuple[Ints, Ints, Floats, Ints]:
    """Gap, number between the walls and days of each piece, and where each gap's part begins."""
    begin = np.searchsorted(walls, watched.first, side="right") - 1
    final = np.maximum(np.searchsorted(walls, watched.last, side="left") - 1, begin)
    counts = final - begin + 1
    row = np.repeat(np.arange(len(counts)), counts)
    number = stretches(begin, counts)
    first = np.maximum(watched.first[row], walls[number])
    last = np.minimum(watched.last[row], walls[number + 1])
    whole = _days(watched, histories)
    share = (last - first) / np.maximum(watched.last - watched.first, 1)[row]
    # A gap too short for two instants lies in one piece.
    days = np.where(counts[row] == 1, whole[row], share * whole[row])
    event = np.full(len(histories.gaps), -1, np.int64)
    event[watched.gap] = begin
    return watched.gap[row], number, days, event


def _days(watched: _Watched, histories: Histories) -> Floats:
    """Days of the watched part of each gap."""
    dated = _dated(histories)[watched.gap]
    age = np.maximum(histories.age[watched.gap], 1 / MICROSECONDS_A_DAY)
    return np.where(dated, age, histories.gaps[watched.gap])


def _by_cycle(histories: Histories, by: str) -> _Cut:
    """Pieces by weekday or hour: a gap's time in a bin is one piece, however many rounds long."""
    width, bins, shift = _CYCLES[by]
    watched = _Watched.of(histories)
    page_of_gap, pages = histories.page_of_gap, len(histories)
    found: list[tuple[Ints, Ints, Floats]] = []
    for begin in range(0, len(watched.gap), 1 << 16):  # so many rows of bins at a time
        rows = slice(begin, begin + (1 << 16))
        first, last = watched.first[rows] + shift, watched.last[rows] + shift
        time = (_until(last, width, bins) - _until(first, width, bins)) / MICROSECONDS_A_DAY
        row, number = np.nonzero(time)
        found.append((begin + row, number, time[row, number]))
    # A gap too short for two instants has no time in any bin: it lies where it begins.
    begin_bin = (watched.first + shift) // width % bins
    short = np.flatnonzero(watched.first == watched.last)
    found.append((short, begin_bin[short], _days(watched, histories)[short]))
    row, number, days = (np.concatenate(column) for column in zip(*found, strict=True))
    order = np.argsort(row, kind="stable")
    row, number, days = row[order], number[order], days[order]

    event = np.full(len(histories.gaps), -1, np.int64)
    event[watched.gap] = begin_bin + bins * page_of_gap[watched.gap]
    gap = watched.gap[row]
    labels = _WEEKDAYS if by == "weekday" else [f"{hour:02d}" for hour in range(bins)]
    return _Cut(
        np.repeat(np.arange(pages), bins),
        np.tile(np.array(labels), pages),
        np.repeat(histories.first_visit, bins),
        np.repeat(histories.last_visit, bins),
        gap,
        number + bins * page_of_gap[gap],
        days,
        event,
    )


def _until(instant: Ints, width: int, bins: int) -> Ints:
    """Microseconds that each bin of a round has had by each instant."""
    rounds, place = np.divmod(instant, width * bins)
    part = np.clip(place[:, np.newaxis] - np.arange(bins) * width, 0, width)
    until: Ints = part + (rounds * width)[:, np.newaxis]
    return until


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
    def of(cls, histories: Histories, cut: _Cut) -> _Hidden:
        """Those of a cut."""
        hidden = histories.changed & ~_dated(histories)
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
        expected: Floats = x * times[self.gap]
        return expected


def _in_blocks(
    histories: Histories, cut: Callable[[Histories], _Cut], priors: Priors | None, level: float
) -> LocalRates:
    """Rates of some pages after the others, so that the pieces of all never lie in memory."""
    check_level(level)
    priors = Priors.one() if priors is None else priors
    priors.of_pages(len(histories))  # refuses those made for other pages
    block = histories.offsets[:-1] // _BLOCK_GAPS
    edges = np.flatnonzero(np.diff(block, prepend=-1, append=block[-1:] + 1)).tolist()
    parts = []
    for begin, end in pairwise(edges if len(histories) else [0, 0]):
        pages = np.arange(begin, end)
        some = histories.take(pages)
        rows = _rates(some, cut(some), priors.take(pages), level)
        parts.append(replace(rows, page=rows.page + begin))
    columns = ([getattr(part, field.name) for part in parts] for field in fields(LocalRates))
    return LocalRates(*(np.concatenate(column) for column in columns))


def _rates(histories: Histories, cut: _Cut, priors: Priors, level: float) -> LocalRates:
    """Solve for the rates of all cells and put bands around them."""
    cells = len(cut.page)
    shape, exposure = gamma_states(histories, *priors.of_pages(len(histories)))
    overall = (shape / exposure)[cut.page]
    hidden = _Hidden.of(histories, cut)
    dated = _dated(histories) & (cut.event >= 0)
    events = np.bincount(cut.event[dated], minlength=cells).astype(np.float64)
    days: Floats = np.bincount(cut.cell, cut.days, cells).astype(np.float64)

    rate = _settled(hidden, cut.page, events + PULL, days + PULL / overall)
    in_pieces = hidden.expected(rate)
    changes = events + np.bincount(hidden.cell, in_pieces, cells)
    known = _information(hidden, cut.page, rate, events + PULL)
    tail = (1 - level) / 2
    low, high = (gamma_quantile(known, at) / known * rate for at in (tail, 1 - tail))
    status = _status(histories, cut, changes, days)
    told = events + np.bincount(hidden.cell, hidden.count[hidden.gap], cells)
    return LocalRates(
        page=cut.page,
        period=cut.period,
        start=cut.start,
        end=cut.end,
        changes=changes,
        exposure=days,
        rate=rate,
        low=low,
        # Any rate above some level leaves no gap unchanged.
        high=np.where((status == Status.ALL_CHANGED) & (told == 0), np.inf, high),
        shape=known,
        status=status,
    )


def _settled(hidden: _Hidden, page: Ints, events: Floats, days: Floats) -> Floats:
    """Go round in strides: a stride follows the last two steps (SQUAREM), cell by cell.

    A page whose cells have all settled stays as it is, however long its company takes.
    """
    logs = np.log(events / days)
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
    rate: Floats = np.exp(logs)
    return rate


def _step(hidden: _Hidden, logs: Floats, events: Floats, days: Floats) -> Floats:
    """Logarithms of the rates after one round."""
    changes = np.bincount(hidden.cell, hidden.expected(np.exp(logs)), len(days))
    found: Floats = np.log((events + changes) / days)
    return found


def _information(hidden: _Hidden, page: Ints, rate: Floats, events: Floats) -> Floats:
    r"""One over the variance of the logarithm of each cell's rate.

    In the mode, the information matrix about the logarithms of a page's rates is

    $$ \text{diag}(\text{changes at known places} + 1/2) + \sum_{\text{gaps}} c \, x x^T, \qquad
       c = \frac{e^{-\Lambda}}{(1 - e^{-\Lambda})^2}, $$

    where $x_k = r_k w_k$ in the pieces of a gap with a hidden change; $c = n / \Lambda^2$ where its
    $n$ changes are told. It is the diagonal of the inverse that is needed. Gaps in one piece only
    add to the diagonal, so only the cells that gaps link are made into matrices.
    """
    if not len(hidden.cell):
        return events
    x = rate[hidden.cell] * hidden.days
    total = np.add.reduceat(x, hidden.starts)
    doubt = np.exp(-total) / np.expm1(-total) ** 2
    root = np.sqrt(np.where(hidden.count > 0, hidden.count / total**2, doubt))
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
        # A row a gap: what it says about each linked cell of its page.
        piece = stretches(hidden.starts[gaps], pieces[gaps])
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


def _status(histories: Histories, cut: _Cut, changes: Floats, days: Floats) -> Statuses:
    """What each cell's own pieces show."""
    quiet = np.bincount(cut.cell, ~histories.changed[cut.gap], len(days))
    status = np.full(len(days), Status.OK, np.uint8)
    status[quiet == 0] = Status.ALL_CHANGED
    status[changes == 0] = Status.NO_CHANGE_SEEN
    status[days == 0] = Status.PRIOR_ONLY
    return status


@dataclass(frozen=True, slots=True, eq=False)
class SeasonalForecast:
    """Rates to expect in a coming month, a row a page.

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
        priors: What is known of the pages before their visits; see `fit_prior`.
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
