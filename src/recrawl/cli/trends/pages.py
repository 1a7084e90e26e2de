"""The pages whose trends are request, read from a file, and what is wanted of them.

Touches: files.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

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
_ALL_OF_IT = 1 << 62  # trends are worked out in memory


@dataclass(frozen=True, slots=True)
class TrendRequest:
    """What was asked for.

    Args:
        page: The one page; empty where all are request.
        by: Periods of the local rates; empty where none are request.
        between: Two instants, as they were written, for a local rate between them.
        windows: Whether consistent windows are request.
        test: Whether a test of each page is request.
        predict: Whether the next change by each method is request.
        place: Where in its gap a change without a date lies.
        threshold: Points that may disagree with their window.
        level: Probability that a band covers.
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
        """Refuse what means nothing."""
        from recrawl.checks import check_fraction
        from recrawl.errors import InvalidParameter
        from recrawl.trends.points import PLACES

        check_fraction(level=self.level)
        if self.by and self.by not in _PERIODS:
            raise InvalidParameter(f"by must be one of {', '.join(_PERIODS)} (got {self.by!r})")
        if self.place not in PLACES:
            raise InvalidParameter(f"place must be one of {', '.join(PLACES)} (got {self.place!r})")
        if self.between is not None:
            start, end = self.instants()
            if not start < end:
                message = f"between must be an earlier and a later instant (got {start} and {end})"
                raise InvalidParameter(message)

    def instants(self) -> tuple[np.datetime64, np.datetime64]:
        """The two ends of `between`."""
        import numpy as np

        from recrawl.cli import options

        assert self.between is not None  # noqa: S101 - asked for only where it was given
        start, end = (options.moment(text).replace(tzinfo=None) for text in self.between)
        return np.datetime64(start, "us"), np.datetime64(end, "us")


@dataclass(frozen=True, slots=True, eq=False)
class TrendPages:
    """All pages that are request, in the order of the file."""

    names: Texts
    histories: Histories
    priors: Priors
    points: Points
    windows: Windows
    level: float
    complete: bool


def read_pages(reading: VisitReading, request: TrendRequest) -> TrendPages:
    """Read the whole file; one of all changes tells of the time between them, too."""
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
    """Row of one page."""
    from recrawl.errors import InvalidTable

    known = names.tolist()
    if page not in known:
        raise InvalidTable(f"{reading.table.path}: page must be in the file (got {page!r})")
    only: Ints = rows[rows == known.index(page)]
    return only
