"""How a crawl stands at a glance: figures, charts, and what needs attention.

Touches: a store.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING

from recrawl.inspect.status.overview import overview
from recrawl.report.status.status import status_rows
from recrawl.report.words import counted, every, percent, tenths, visits_text
from recrawl.visits.status import VisitOutcome

if TYPE_CHECKING:
    from recrawl.entries.store import ReadStore
    from recrawl.inspect.status.values import CrawlStatus
    from recrawl.settings.settings import Settings

_STILL_DAYS = 1.0  # without a visit although some are due


@dataclass(frozen=True, slots=True)
class Tile:
    """A figure that is seen first.

    Args:
        name: What it is.
        figure: The figure.
        note: What it rests on, or how sure it is.
        link: Where more is said about it.
    """

    name: str
    figure: str
    note: str
    link: str = ""


@dataclass(frozen=True, slots=True)
class Alert:
    """Something that needs attention.

    Args:
        level: `bad` or `warn`.
        sentence: What, and what to do.
        link: Where more is said about it.
    """

    level: str
    sentence: str
    link: str = ""


@dataclass(frozen=True, slots=True)
class Overview:
    """How a crawl stands.

    Args:
        status: All that is known.
        tiles: What is seen first.
        alerts: What needs attention.
        rows: The same lines that `recrawl status` shows.
    """

    status: CrawlStatus
    tiles: list[Tile]
    alerts: list[Alert]
    rows: list[tuple[str, str]]


def read_overview(settings: Settings, reader: ReadStore, now: float) -> Overview:
    """How a crawl stands at an instant, in days after 1970."""
    status = overview(settings, reader, now)
    return Overview(status, tiles(status), alerts(status), status_rows(status))


def tiles(status: CrawlStatus) -> list[Tile]:
    """The figures that are seen first."""
    fresh, low, high = status.fresh
    band = f"90 % band {100 * low:.1f} to {100 * high:.1f} %" if not isnan(low) else "no copies yet"
    found = status.count(VisitOutcome.CHANGED)
    last = every(status.days)
    waste = percent(status.share(status.unchanged))
    return [
        Tile("expected fresh", tenths(fresh), band, "/pages?sort=fresh"),
        _feed_tile(status),
        _visits_tile(status),
        Tile("changes found", f"{found:,}", f"in the last {last}", "/changes"),
        Tile("visits without a change", waste, f"of {counted(status.visits, 'visit')}"),
        Tile("pages", f"{status.pages:,}", counted_copies(status.copies), "/pages"),
    ]


def counted_copies(copies: int) -> str:
    """How many copies there are."""
    return "1 copy" if copies == 1 else f"{copies:,} copies"


def _feed_tile(status: CrawlStatus) -> Tile:
    if status.feed is None or isnan(status.feed.share[0]):
        return Tile("feed complete", "-", "no changes yet", "/changes")
    share, low, high = status.feed.share
    return Tile(
        "feed complete",
        tenths(share),
        f"90 % band {100 * low:.1f} to {100 * high:.1f} %",
        "/changes",
    )


def _visits_tile(status: CrawlStatus) -> Tile:
    budget = sum(each.budget for each in status.spent)
    today = sum(each.today for each in status.spent)
    return Tile("visits today", f"{today:,}", f"budget {visits_text(budget)} per day", "/what-if")


def alerts(status: CrawlStatus) -> list[Alert]:
    """What needs attention, the worst first."""
    found = []
    if status.visits and status.next_visit <= status.at and status.overdue:
        last = status.overdue
        found.append(
            Alert(
                "warn",
                f"{counted(last, 'page')} overdue. Is the crawl running?",
                "/pages?sort=next",
            )
        )
    for target in status.targets:
        if target.copies and not target.met:
            sentence = f"{target.address}: {tenths(target.fresh[0])} fresh of {100 * target.wanted:g} % wanted"
            found.append(Alert("bad" if target.sure else "warn", sentence, "/what-if"))
    for what, count in status.failing.items():
        found.append(
            Alert("warn", f"{counted(count, 'page')} could not be fetched: {what}", "/pages")
        )
    for host in status.hosts_that_lie:
        said = "not modified" if host.word == "not_modified" else "a wrong date"
        sentence = (
            f"{host.host} said {said} for {host.wrong} of {host.heard} changed pages: distrusted"
        )
        found.append(Alert("warn", sentence, f"/sites/{host.host}"))
    if status.shells:
        pages = counted(status.shells, "page")
        found.append(Alert("warn", f"{pages} empty without JavaScript", "/pages?status=shell"))
    for destination in status.destinations:
        if not destination.is_well:
            found.append(Alert("bad", f"{destination.label}: {destination.problem or 'disabled'}"))
    return found
