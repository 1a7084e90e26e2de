"""Input of `recrawl trends`: the pages of a file, and the options.

Touches: files.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from recrawl.checks import check_choice
from recrawl.cli import options
from recrawl.errors import InvalidParameter, InvalidTable

if TYPE_CHECKING:
    import numpy as np

    from recrawl.adapters.tables.visits import VisitReading
    from recrawl.arrays.texts import Texts
    from recrawl.arrays.types import Ints
    from recrawl.rates.priors import Priors
    from recrawl.trends.points import Place, Points
    from recrawl.trends.windows import Windows
    from recrawl.visits.histories import Histories

_PERIODS = ("month", "weekday", "hour", "year")
_ALL_OF_IT = 1 << 62  # trends are computed in memory


@dataclass(frozen=True, slots=True)
class TrendRequest:
    """The options of `recrawl trends`.

    Args:
        page: The only page; empty for all.
        by: Periods of the local rates; empty for none.
        between: Two instants as text, for a local rate between them.
        windows: Whether consistent windows are asked for.
        test: Whether a trend test is asked for.
        predict: Whether the next change by each method is asked for.
        place: Place of an undated change within its gap.
        threshold: Points of a window that may contradict its state.
        level: Probability of a band.
    """

    page: str
    by: str
    between: tuple[str, str] | None
    windows: bool
    test: bool
    predict: bool
    place: str
    threshold: float
    level: float

    def check(self) -> None:
        """Check the options."""
        from recrawl.checks import check_fraction
        from recrawl.trends.points import PLACES

        check_fraction(level=self.level)
        if self.by:
            check_choice(_PERIODS, by=self.by)
        check_choice(PLACES, place=self.place)
        if self.between is not None:
            start, end = self.instants()
            if not start < end:
                message = f"--between must begin with the earlier instant (got {start} and {end})"
                raise InvalidParameter(message)

    def instants(self) -> tuple[np.datetime64, np.datetime64]:
        """The two ends of `between`."""
        import numpy as np

        assert self.between is not None  # noqa: S101 - asked for only where it was given
        start, end = (options.moment(text).replace(tzinfo=None) for text in self.between)
        return np.datetime64(start, "us"), np.datetime64(end, "us")


@dataclass(frozen=True, slots=True, eq=False)
class TrendPages:
    """The pages of a file, in its order."""

    names: Texts
    histories: Histories
    priors: Priors
    points: Points
    windows: Windows
    level: float
    complete: bool


def read_pages(reading: VisitReading, request: TrendRequest) -> TrendPages:
    """Read the whole file; a file of all changes covers the time between them, too."""
    import numpy as np

    from recrawl.adapters.tables.logs import Log
    from recrawl.arrays.texts import Texts
    from recrawl.rates.priors import Priors
    from recrawl.trends.points import PLACES, points_of, watched_all_the_time
    from recrawl.trends.windows import Windowing, consistent_windows
    from recrawl.visits.histories import Histories

    with Log(reading, _ALL_OF_IT, Path()) as log:
        fitted, pieces = log.fit_prior(), list(log.pieces())
    names = Texts.joined([piece.names for piece in pieces])
    histories = Histories.joined([piece.histories for piece in pieces])
    site = np.concatenate([piece.site for piece in pieces])
    rows = np.argsort(np.concatenate([piece.position for piece in pieces]), kind="stable")
    if request.page:
        rows = _only(names, rows, request.page, reading)
    names, histories = names.take(rows), histories.take(rows)
    if reading.complete:
        histories = watched_all_the_time(histories)
    places: dict[str, Place] = {name: name for name in PLACES}
    place = "end" if reading.complete else places[request.place]
    points = points_of(histories, place=place, random=np.random.default_rng(0))
    windows = consistent_windows(points, Windowing(threshold=request.threshold))
    priors = Priors(fitted.shape, fitted.exposure, site[rows])
    return TrendPages(names, histories, priors, points, windows, request.level, reading.complete)


def _only(names: Texts, rows: Ints, page: str, reading: VisitReading) -> Ints:
    """Row of the page."""
    known = names.tolist()
    if page not in known:
        raise InvalidTable(f"{reading.table.path}: no page {page!r}")
    only: Ints = rows[rows == known.index(page)]
    return only
