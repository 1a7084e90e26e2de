"""How a crawl stands at a glance: figures, charts, and what needs attention.

Touches: a store.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, nan
from typing import TYPE_CHECKING
from urllib.parse import quote

from recrawl.inspect.status.overview import overview
from recrawl.report.status.status import status_rows
from recrawl.report.words import counted, every, percent, tenths, visits_text
from recrawl.serve.views.sites import MANY_FAILURES
from recrawl.units import SECONDS_A_DAY
from recrawl.visits.status import VisitOutcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.entries.store import ReadStore
    from recrawl.inspect.status.values import CrawlStatus, HostThatLies
    from recrawl.settings.settings import Settings

_STILL_DAYS = 0.5  # without a visit although some are due
_MOST_NAMED = 5  # hosts, each with an alert of its own
_NOTABLE_UNKNOWN = 0.05  # share of the pages that may be unknown without an alert


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
    last_seconds = reader.newest_instant() or nan
    unreachable = [each.name for each in reader.hosts() if each.failures >= MANY_FAILURES]
    found = alerts(status, last_visit=last_seconds / SECONDS_A_DAY, unreachable=unreachable)
    return Overview(status, tiles(status), found, status_rows(status))


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


def alerts(status: CrawlStatus, *, last_visit: float, unreachable: Sequence[str]) -> list[Alert]:
    """What needs attention, the worst first.

    Args:
        status: How the crawl stands.
        last_visit: When the last visit was made, in days after 1970; nan for never.
        unreachable: Hosts that did not answer of late.
    """
    found = [
        *_standing_still(status, last_visit),
        *_targets(status),
        *(
            Alert("bad", f"{each.label}: {each.problem or 'disabled'}")
            for each in status.destinations
            if not each.is_well
        ),
        *(
            Alert("bad", f"Listing {each.name}: the last sync was not accepted: {each.alarm}", link)
            for each in status.listings
            if each.alarm
            for link in [f"/listings/{quote(each.name, safe='')}"]
        ),
        *_unreachable(unreachable),
        *(_failing(what, count) for what, count in status.failing.items()),
        *(_distrusted(each) for each in status.hosts_that_lie),
        *_unknown(status),
    ]
    if status.shells:
        pages = counted(status.shells, "page")
        found.append(Alert("warn", f"{pages} empty without JavaScript", "/pages?status=shell"))
    return sorted(found, key=lambda alert: alert.level != "bad")


def _standing_still(status: CrawlStatus, last_visit: float) -> list[Alert]:
    """A crawl that makes no visits although some are due."""
    days = status.at - last_visit
    due = status.next_visit <= status.at and days > _STILL_DAYS
    if due:
        sentence = f"No visit for {every(days)} although pages are due. Is the crawl running?"
        return [Alert("bad", sentence, "/pages?sort=next")]
    if not status.overdue:
        return []
    pages = counted(status.overdue, "page")
    return [Alert("warn", f"{pages} overdue: past a set time or maximum", "/sites?sort=overdue")]


def _targets(status: CrawlStatus) -> list[Alert]:
    found = []
    for target in status.targets:
        if not target.copies or (target.met and target.sure):
            continue
        share = f"{tenths(target.fresh[0])} fresh, wanted {100 * target.wanted:g} %"
        level = "bad" if target.sure else "warn"
        about = "" if target.sure or not target.met else " (may be missed)"
        found.append(Alert(level, f"{target.address}: {share}{about}", "/what-if"))
    return found


def _unreachable(hosts: Sequence[str]) -> list[Alert]:
    if len(hosts) > _MOST_NAMED:
        return [Alert("bad", f"{len(hosts):,} hosts cannot be reached", "/sites?sort=failing")]
    return [
        Alert("bad", f"{host} cannot be reached", f"/sites/{quote(host, safe='')}")
        for host in hosts
    ]


def _failing(what: str, count: int) -> Alert:
    pages = counted(count, "page")
    if what == "401":
        verb = "asks" if count == 1 else "ask"
        return Alert("bad", f"{pages} {verb} for a login (401): check user and password", "/pages")
    return Alert("warn", f"{pages} could not be fetched: {what}", "/sites?sort=failing")


def _distrusted(host: HostThatLies) -> Alert:
    said = "“not modified”" if host.word == "not_modified" else "a wrong date"
    sentence = f"{host.host} said {said} of {host.wrong} of {host.heard} changed pages: distrusted"
    return Alert("warn", sentence, f"/sites/{quote(host.host, safe='')}")


def _unknown(status: CrawlStatus) -> list[Alert]:
    """Pages that are expected to exist, if they are many."""
    unknown = status.unknown
    if unknown is None or unknown.low < max(_NOTABLE_UNKNOWN * status.pages, 1):
        return []
    sentence = f"About {unknown.mean:,.0f} pages are expected to exist that are not known"
    return [Alert("warn", sentence, "/sites")]
