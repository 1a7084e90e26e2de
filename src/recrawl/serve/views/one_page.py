"""All that is known of one page: its visits, versions, rate, and why it is visited next.

Touches: a store, the clock.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.adapters.stores.visits import batch_of
from recrawl.analysis.trend_pictures import duane_plot, timeline
from recrawl.analysis.trends import TrendPages, window_rows
from recrawl.arrays.texts import Texts
from recrawl.errors import UnknownPage
from recrawl.inspect.why.why import reasons
from recrawl.rates.priors import Priors
from recrawl.report.histories import HEADER, visit_words
from recrawl.report.words import counted, every
from recrawl.serve.source import now
from recrawl.trends.windows import Windowing, consistent_windows
from recrawl.units import utc_text
from recrawl.visits.grouping import group
from recrawl.visits.status import VisitOutcome
from recrawl.visits.vetting import Vetting, vet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recrawl.entries.columns import VisitColumns
    from recrawl.entries.store import ReadStore
    from recrawl.inspect.why.values import Why
    from recrawl.report.charts.vega import Chart, Colours
    from recrawl.state.snapshot import Snapshot
    from recrawl.trends.points import Points
    from recrawl.trends.windows import Windows

_SHOWN_VISITS = 100
_MOST_VISITS = 20_000  # of a chart
_LEVEL = 0.9
_FEWEST_CHANGES = 3  # of a Duane plot
_WINDOW_HEAD = ("window from", "to", "changes", "rate", "mean interval")


@dataclass(frozen=True, slots=True)
class ShownVersion:
    """A version of a page.

    Args:
        at: When it was first seen.
        seconds: The same, in seconds after 1970.
        size: Its bytes.
        digest: Its name.
    """

    at: str
    seconds: float
    size: int
    digest: str


@dataclass(frozen=True, slots=True)
class PageView:
    """One page.

    Args:
        at: The instant that all this was read, in days after 1970.
        page: Its number.
        address: Its address.
        header: Heads of the table of visits.
        visits: The newest visits, newest first.
        visits_total: How many there are.
        versions: Versions that are kept, newest first.
    """

    at: float
    page: int
    address: str
    header: tuple[str, ...]
    visits: list[list[str]]
    visits_total: int
    versions: list[ShownVersion]


@dataclass(frozen=True, slots=True)
class PageChart:
    """A chart of a page.

    Args:
        chart: The chart.
        summary: What it shows.
        head: Heads of the table behind it.
        rows: Rows of that table.
    """

    chart: Chart
    summary: str
    head: Sequence[str]
    rows: list[list[str]]


def address_of(reader: ReadStore, page: int) -> str:
    """Address of a page; refused where there is none of that number."""
    if not 0 <= page < reader.page_count():
        raise UnknownPage(f"there is no page {page}")
    return reader.addresses([page])[0]


def read_page(reader: ReadStore, page: int) -> PageView:
    """All that is known of a page."""
    address = address_of(reader, page)
    visits = reader.history(page)
    versions = [
        ShownVersion(utc_text(each.at_seconds), each.at_seconds, each.size, each.digest.hex())
        for each in reversed(reader.versions(page))
    ]
    words = visit_words(visits, _SHOWN_VISITS)
    return PageView(now(reader), page, address, HEADER, words, len(visits.at), versions)


def read_why(snapshot: Snapshot, reader: ReadStore, page: int) -> Why:
    """Why a page is visited next."""
    address_of(reader, page)
    return reasons(snapshot, reader, page)


def _pages(reader: ReadStore, page: int) -> TrendPages | None:
    """A page as trends take it; None where its visits say nothing."""
    address, visits = address_of(reader, page), reader.history(page, most=_MOST_VISITS)
    batch = batch_of(_alone(visits), Texts.of([address]))
    if len(batch.at) <= 1:
        return None
    grouped = group([batch.hashed(0)])
    histories = vet(grouped.rows, Vetting())
    return TrendPages(grouped.names, grouped.position, histories, Priors.one(), complete=False)


def _alone(visits: VisitColumns) -> VisitColumns:
    """Visits of one page, which is number 0."""
    return replace(visits, page=np.zeros(len(visits.page), np.int64))


def timeline_of(reader: ReadStore, page: int, colours: Colours) -> PageChart | None:
    """Visits, changes and rate of a page; None where there is nothing to draw."""
    pages = _pages(reader, page)
    if pages is None:
        return None
    points = pages.points()
    chart = timeline(pages, points, level=_LEVEL, colours=colours)
    summary = chart.pop("title")["subtitle"]
    _without_domains(chart)
    windows = consistent_windows(points, Windowing())
    return PageChart(chart, summary, _WINDOW_HEAD, _window_words(points, windows))


def _without_domains(chart: Chart) -> None:
    """Leave the ends of the axis of time to what is drawn: all panels reach from end to end.

    Where they are said, Vega-Lite joins those of all layers by an expression which the interpreter
    does not know that a browser needs where a policy forbids to evaluate code.
    """
    for panel in chart.get("vconcat", [chart]):
        for layer in panel.get("layer", []):
            x = layer.get("encoding", {}).get("x", {})
            if "domain" in x.get("scale", {}):
                scale = {name: value for name, value in x["scale"].items() if name != "domain"}
                layer["encoding"]["x"] = {**x, "scale": scale}


def duane_of(reader: ReadStore, page: int, colours: Colours) -> PageChart | None:
    """Duane plot of a page; None where it has too few changes."""
    pages = _pages(reader, page)
    if pages is None:
        return None
    points = pages.points()
    windows = consistent_windows(points, Windowing())
    if not len(windows) or len(points.times) < _FEWEST_CHANGES:
        return None
    chart = duane_plot(points, windows, title="", colours=colours)
    chart.pop("title")
    summary = f"Mean time between changes over time, in {counted(len(windows), 'window')}."
    return PageChart(chart, summary, _WINDOW_HEAD, _window_words(points, windows))


def _window_words(points: Points, windows: Windows) -> list[list[str]]:
    """Stretches of time in which the page changed steadily, in words."""
    columns: Mapping[str, Any] = window_rows(points, windows, _LEVEL).columns
    state = columns["state"]
    days = (columns["start"], columns["end"])
    starts, ends = (np.datetime_as_string(at, unit="m").tolist() for at in days)
    return [
        [
            starts[row].replace("T", " "),
            ends[row].replace("T", " "),
            str(int(windows.points[row])),
            state.words[int(state.codes[row])],
            every(float(columns["mtbu_days"][row])),
        ]
        for row in range(len(windows))
    ]


def week_of(reader: ReadStore, page: int) -> tuple[list[list[int]], list[list[int]]]:
    """Visits and changes found: one row per weekday, from Monday on, of 24 hours in UTC."""
    visits = reader.history(page, most=_MOST_VISITS)
    hours = visits.at.astype("datetime64[h]").astype(np.int64)
    place = (hours // 24 + 3) % 7 * 24 + hours % 24  # 1970 began on a Thursday
    made = np.bincount(place, minlength=7 * 24)
    found = np.bincount(place[visits.outcome == VisitOutcome.CHANGED], minlength=7 * 24)
    return made.reshape(7, 24).tolist(), found.reshape(7, 24).tolist()
