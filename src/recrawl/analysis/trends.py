"""`trends`: visits or all changes in, how the rate of each page moves out.

Touches: files.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from recrawl.adapters.pictures import DrawnChart
from recrawl.adapters.tables.logs import Log
from recrawl.adapters.tables.results import PieceRows, ordered
from recrawl.adapters.tables.table_options import TableOptions
from recrawl.adapters.tables.visits import VisitReading
from recrawl.analysis.results import ResultTable
from recrawl.analysis.sources import visits_input
from recrawl.analysis.trend_pictures import timeline
from recrawl.arrays.texts import Texts
from recrawl.checks import check_choice, check_fraction
from recrawl.errors import InvalidParameter, InvalidTable, UnknownPage
from recrawl.rates.bank import Bank
from recrawl.rates.estimates import STATUS_NAMES
from recrawl.rates.priors import Priors
from recrawl.report import trends as report
from recrawl.report.rates import Named
from recrawl.report.words import counted
from recrawl.trends.change_points import all_change_points
from recrawl.trends.fits import fit_windows
from recrawl.trends.local_rates import local_rates
from recrawl.trends.next_change import next_changes
from recrawl.trends.points import PLACES, points_of, watched_all_the_time
from recrawl.trends.power_law import power_law
from recrawl.trends.regularity import KINDS, regularity
from recrawl.trends.seasons import seasonal_forecast
from recrawl.trends.trend_test import TrendStatus, trend_test
from recrawl.trends.windows import Windowing, consistent_windows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from recrawl.adapters.tables.columns import TableInput
    from recrawl.adapters.tables.logs import Piece
    from recrawl.adapters.tables.samples import SitePriors
    from recrawl.arrays.types import Ints, Words
    from recrawl.trends.points import Place, Points
    from recrawl.trends.weibull import Variant
    from recrawl.trends.windows import Windows
    from recrawl.visits.histories import Histories

PERIODS = ("month", "weekday", "hour", "year")
NEXT_LEVEL = 0.8  # of the band of the next change
_LEVEL = 0.9
_GAPS = 1 << 20  # that are worked on at a time: what is computed of them fits beside any log
_MONTH = re.compile(r"\d{4}-(0[1-9]|1[0-2])")


@dataclass(frozen=True, slots=True, eq=False)
class TrendPages:
    """Pages of a source, in its order.

    Args:
        names: Their names.
        position: Where in the source each page first stands.
        histories: What the visits showed.
        priors: Priors of their rates.
        complete: Whether the source holds all changes.
    """

    names: Texts
    position: Ints
    histories: Histories
    priors: Priors
    complete: bool

    def only(self, page: str) -> TrendPages:
        """One of the pages; none where it is not among them."""
        rows = _rows_of(page, self.names, self.names.hashes(seed=0)[0])
        return TrendPages(
            self.names.take(rows),
            self.position[rows],
            self.histories.take(rows),
            self.priors.take(rows),
            self.complete,
        )

    def points(self, place: str = "middle") -> Points:
        """Their change points; undated ones at `place` of their gaps."""
        places: dict[str, Place] = {name: name for name in PLACES}
        chosen = "end" if self.complete else places[place]
        # By hashes: a page's places are the same whichever pages are worked on together.
        hashes = self.names.hashes(seed=0)[0] if chosen == "random" else None
        return points_of(self.histories, place=chosen, random=hashes)


def _rows_of(page: str, names: Texts, hashes: Words) -> Ints:
    """Row of a page; none where there is no such page."""
    rows = np.flatnonzero(hashes == Texts.of([page]).hashes(seed=0)[0])
    found = [row for row in rows.tolist() if names.take(np.array([row])).tolist() == [page]]
    return np.array(found, np.int64)


@dataclass(slots=True, eq=False)
class TrendLog:
    """The pages of a source of any size, some at a time.

    Args:
        log: The source, which is open.
        page: The only page; empty for all.
        progress: Called with the share of pages worked on so far, from 0 to 1.
        reverts: Changes back to an earlier version, in the pages gone through last.
        given: Priors of the sites; fitted to the source itself if None.
    """

    log: Log
    page: str = ""
    progress: Callable[[float], None] | None = None
    reverts: int = 0
    given: SitePriors | None = None
    _priors: Priors = field(default_factory=Priors.one)
    _pages: int = 0

    def __post_init__(self) -> None:
        """Fit the priors of all pages, if they are not given."""
        self._priors = self.log.fit_prior() if self.given is None else self.given.priors
        self._pages = self.log.pages

    def __len__(self) -> int:
        """Count the pages."""
        return 1 if self.page else self._pages

    @property
    def table(self) -> TableInput:
        """Where they come from."""
        return self.log.reading.table

    @property
    def complete(self) -> bool:
        """Whether the source holds all changes."""
        return self.log.reading.complete

    def parts(self, gaps: int = _GAPS) -> Iterator[TrendPages]:
        """Go through the pages, about so many gaps at a time; may be called again."""
        self.reverts, done, found = 0, 0, False
        for piece in self.log.pieces():
            rows = np.argsort(piece.position, kind="stable")
            if self.page:
                rows = _rows_of(self.page, piece.names, piece.lots)
            before = np.cumsum(piece.histories.gaps_of_page[rows]) - 1
            edges = np.flatnonzero(np.diff(before // gaps, prepend=-1) > 0)[1:]
            for some in np.split(rows, edges):
                if len(some) or not self.page:
                    found = True
                    yield self._taken(piece, some)
                done += len(some)
                if self.progress is not None:
                    self.progress(done / max(self._pages, 1))
            if self.page and found:
                return
        if self.page:
            raise InvalidTable(f"{self.table.names}: no page {self.page!r}")

    def _taken(self, piece: Piece, rows: Ints) -> TrendPages:
        """Some pages of a piece; a source of all changes covers the time between them, too."""
        names, histories = piece.names.take(rows), piece.histories.take(rows)
        self.reverts += int(histories.reverts.sum())
        if self.complete:
            histories = watched_all_the_time(histories)
        site = piece.site if self.given is None else self.given.rows_of(self.log.sites)[piece.site]
        priors = replace(self._priors, site_of_page=site[rows])
        return TrendPages(names, piece.position[rows], histories, priors, self.complete)

    def rows(self, made: Callable[[TrendPages], report.Table]) -> Iterator[PieceRows]:
        """What is made of all pages, in the order of the source, some rows at a time."""
        results = (_piece_rows(part, made(part)) for part in self.parts())
        return ordered(results, in_order=self.log.in_order, scratch=self.log.scratch)


def _piece_rows(pages: TrendPages, table: report.Table) -> PieceRows:
    offsets = np.searchsorted(table.page, np.arange(len(pages.names) + 1))
    return PieceRows(pages.names, pages.position, offsets, table.columns)


def page_rows(pages: TrendPages, points: Points, windows: Windows, level: float) -> report.Table:
    """One row per page: how its rate moves."""
    histories = pages.histories
    now = Bank(pages.priors, level=level).estimate(histories)
    waits = next_changes(histories, points, windows, priors=pages.priors, level=NEXT_LEVEL)
    return report.page_table(
        report.Summary(
            points=points,
            windows=windows,
            fits=fit_windows(points, windows, level=level),
            rate=now.rate,
            test=trend_test(histories),
            kinds=Named(regularity(histories).kind, KINDS),
            next_change=waits["bank"],
            last_visit=histories.last_visit,
            status=Named(now.status, STATUS_NAMES),
        )
    )


def window_rows(
    points: Points, windows: Windows, level: float, variant: Variant = "corrected"
) -> report.Table:
    """One row per window."""
    fits = fit_windows(points, windows, level=level, variant=variant)
    return report.window_table(points, windows, fits)


def next_rows(pages: TrendPages, points: Points, windows: Windows, level: float) -> report.Table:
    """One row per page and method: its next change."""
    histories = pages.histories
    waits = next_changes(histories, points, windows, priors=pages.priors, level=level)
    return report.next_table(waits, histories.last_visit)


def test_rows(pages: TrendPages) -> report.Table:
    """One row per page: the test for a trend."""
    names = [status.name.lower() for status in TrendStatus]
    return report.test_table(trend_test(pages.histories), names)


def period_rows(pages: TrendPages, by: str, level: float) -> report.Table:
    """One row per page and month, weekday, hour or year."""
    local = local_rates(pages.histories, by, priors=pages.priors, level=level)
    return report.local_table(local, STATUS_NAMES)


def season_rows(pages: TrendPages, month: str, level: float) -> report.Table:
    """One row per page: the rate to expect in a month."""
    forecast = seasonal_forecast(pages.histories, month, priors=pages.priors, level=level)
    return report.season_table(forecast, STATUS_NAMES)


def segment_rows(pages: TrendPages, level: float, penalty: float = 3) -> report.Table:
    """One row per stretch of constant rate."""
    segments = all_change_points(pages.histories, penalty=penalty, level=level)
    return report.segment_table(segments, pages.histories)


def power_rows(pages: TrendPages, level: float) -> report.Table:
    """One row per page: its power law."""
    return report.power_table(power_law(pages.histories, level=level))


def check_month(month: str, name: str) -> None:
    """Check a month such as 2027-01."""
    if not _MONTH.fullmatch(month):
        raise InvalidParameter(f"{name} must look like 2027-01 (got {month!r})")


def _by_windows(
    rows: Callable[[TrendPages, Points, Windows, float], report.Table],
) -> Callable[[TrendPages, str, float], report.Table]:
    """What needs the consistent windows of the pages."""

    def found(pages: TrendPages, _: str, level: float) -> report.Table:
        points = pages.points()
        return rows(pages, points, consistent_windows(points, Windowing()), level)

    return found


_KINDS: dict[str, Callable[[TrendPages, str, float], report.Table]] = {
    "pages": _by_windows(page_rows),
    "windows": _by_windows(lambda _, points, windows, level: window_rows(points, windows, level)),
    "next": _by_windows(next_rows),
    "test": lambda pages, *_: test_rows(pages),
    "rates": period_rows,
    "season": season_rows,
    "change-points": lambda pages, _, level: segment_rows(pages, level),
    "power-law": lambda pages, _, level: power_rows(pages, level),
}


@dataclass(frozen=True, eq=False, repr=False)
class TrendResult(ResultTable):
    """How rates move, with the columns that the verbs of `recrawl trends` write.

    Attributes:
        pages: What was read: names, histories and priors, to go on computing.
        level: Probability that a figure lies in its band.
    """

    pages: TrendPages
    level: float

    def chart(self, page: str = "") -> DrawnChart:
        """Timeline of one page: visits, changes, and the rate with its band.

        Args:
            page: Its name; may be left out if there is only one.
        """
        if not page and len(self.pages.names) != 1:
            raise InvalidParameter("chart needs a page, e.g. chart(page=result.names[0])")
        one = self.pages.only(page) if page else self.pages
        if not len(one.names):
            raise UnknownPage(f"no page {page!r} among {len(self.pages.names):,}")
        return DrawnChart(timeline(one, one.points(), level=self.level))

    def _said(self) -> str:
        pages = counted(len(self.pages.names), "page")
        return pages if len(self) == len(self.pages.names) else f"{len(self):,} rows of {pages}"


def trends(  # noqa: PLR0913 - the options of the verb
    source: object,
    *,
    kind: str = "pages",
    period: str = "",
    level: float | None = None,
    columns: Mapping[str, str] | None = None,
    skip_bad_rows: bool = False,
    delimiter: str = "",
    tz: str = "",
) -> TrendResult:
    """Find trends in the change rate of each page, and predict the next change.

    The same as the verb `recrawl trends KIND` with its default options.

    Args:
        source: Visits as for `estimate`, or all changes of each page (`page`, `changed_at`).
        kind: "pages" for one row per page; "windows", "next", "test", "rates", "season",
            "change-points" or "power-law" for what these verbs write.
        period: For "rates" month (the default), weekday, hour or year; for "season" the month to
            forecast, e.g. 2027-01.
        level: Probability that a figure lies in its band; 0.9, and 0.8 for "next".
        columns: Your names of the columns, where they differ.
        skip_bad_rows: Leave malformed rows out instead of refusing the source.
        delimiter: What separates cells of CSV; what the header tells if empty.
        tz: Time zone of times without an offset, such as `Europe/Berlin`; UTC if empty.

    Examples:
        >>> import recrawl
        >>> days = [f"2026-01-{day:02}" for day in range(1, 31)]
        >>> changes = {"page": ["/a"] * 30, "changed_at": days}
        >>> recrawl.trends(changes)["/a"]["kind"]
        'regular'
        >>> recrawl.trends(changes, kind="rates").column("period")
        array(['2026-01'], dtype='<U7')
    """
    check_choice(_KINDS, kind=kind)
    level = (NEXT_LEVEL if kind == "next" else _LEVEL) if level is None else level
    check_fraction(level=level)
    if kind == "rates":
        period = period or "month"
        check_choice(PERIODS, period=period)
    elif kind == "season":
        check_month(period, "period")
    elif period:
        raise InvalidParameter(f"period is for rates and season (got {period!r} for {kind})")
    options = TableOptions.of(columns, skip_bad_rows=skip_bad_rows, delimiter=delimiter, tz=tz)
    with (
        visits_input(source, options, change_times=True) as table,
        Log(VisitReading(table, change_times=True), sys.maxsize, Path()) as log,
    ):
        (pages,) = TrendLog(log).parts(gaps=sys.maxsize)
    rows = _KINDS[kind](pages, period, level)
    return TrendResult(pages.names.take(rows.page), rows.columns, "page", pages=pages, level=level)
