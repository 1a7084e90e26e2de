"""Status of a crawl as a JSON object, for scripts and alerts.

Pure.
"""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any

from recrawl.report.listings.standing import listing_object
from recrawl.report.plain_values import plain_figure, plain_instant
from recrawl.units import SECONDS_A_DAY
from recrawl.visits.status import PageStatus, VisitOutcome

if TYPE_CHECKING:
    from recrawl.entries.filtering import RefusedAddresses
    from recrawl.inspect.status.destinations import DestinationStanding
    from recrawl.inspect.status.values import (
        BudgetOutlook,
        BudgetUse,
        CrawlStatus,
        FeedCompleteness,
        HostThatLies,
        Learning,
        PushStanding,
        SiteCoverage,
        Target,
        Tenth,
        VisitCount,
    )

# Keys of `recrawl status --json` and of the objects in it.
KEYS = (
    *("at", "pages", "copies", "fresh", "fresh_low", "fresh_high", "age_days", "looked_at"),
    *("new", "copied", "suspected", "gone", "refused", "moved", "removed", "erased"),
    "duplicate",
    *("overdue", "next_visit"),
    *("days", "visits", "changed", "unchanged", "first", "failed", "walled"),
    *("changes_per_visit", "unchanged_share", "failed_share", "walled_share", "budgets"),
    *("outlooks", "forecasts", "learning", "targets", "hosts_that_lie", "listings"),
    *("policy", "noarchive", "disk", "feed", "destinations", "fresh_by_weight"),
    *("unlisted", "failed_pages", "shells", "failing"),
    *("unknown", "unknown_low", "unknown_high", "sites"),
    *("refused_addresses", "pushes"),
)
PUSH_KEYS = ("feeds", "subscribed", "pushes", "last")
DESTINATION_KEYS = (
    *("name", "kind", "waiting", "since", "attempts", "next_attempt", "problem"),
    *("disabled", "given_up"),
)
FEED_KEYS = (
    *("days", "seen", "unseen", "unseen_low", "unseen_high"),
    *("complete", "complete_low", "complete_high"),
)
SITE_KEYS = ("origin", "sources", "unknown", "unknown_low", "unknown_high")
DISK_KEYS = ("total_bytes", "unused_bytes", "size_bytes")
BUDGET_KEYS = ("address", "budget_per_day", "visits_today", "visits", "days", "visits_per_day")
OUTLOOK_KEYS = ("times", "visits_per_day", "fresh", "fresh_low", "fresh_high")
TENTH_KEYS = ("chance", "visits", "forecast_share", "found_share", "found_deviation")
LEARNING_KEYS = ("visits", "looked_at", "learning_share", "young_share", "audit_share")
TARGET_KEYS = (
    *("address", "target", "copies", "fresh", "fresh_low", "fresh_high", "met"),
    *("visits", "days", "visits_per_day", "needed_per_day", "reachable"),
)
REFUSED_KEYS = ("host", "reason", "detail", "addresses", "example")
HOST_KEYS = ("host", "signal", "wrong", "checked", "wrong_share_low", "wrong_share_high")


def status_object(status: CrawlStatus) -> dict[str, Any]:
    """The JSON object, by `KEYS`; None for unknown values."""
    fresh, low, high = status.fresh
    found = {
        each.label: status.count(each)
        for each in (
            VisitOutcome.CHANGED,
            VisitOutcome.FIRST,
            VisitOutcome.FAILED,
            VisitOutcome.WALLED,
        )
    }
    figures = {
        "at": plain_instant(status.at),
        "pages": status.pages,
        "copies": status.copies,
        "fresh": plain_figure(fresh),
        "fresh_low": plain_figure(low),
        "fresh_high": plain_figure(high),
        "age_days": plain_figure(status.age),
        "looked_at": status.looked_at,
        **{each.label: status.standing.get(each, 0) for each in PageStatus},
        "overdue": status.overdue,
        "next_visit": plain_instant(status.next_visit),
        "days": plain_figure(status.days),
        "visits": status.visits,
        "unchanged": status.unchanged,
        **found,
        "changes_per_visit": plain_figure(status.share(found["changed"])),
        "unchanged_share": plain_figure(status.share(status.unchanged)),
        "failed_share": plain_figure(status.share(found["failed"])),
        "walled_share": plain_figure(status.share(found["walled"])),
        "budgets": [_budget(spent) for spent in status.spent],
        "outlooks": [_outlook(each) for each in status.outlooks],
        "forecasts": [_tenth(each) for each in status.tenths],
        "learning": _learning(status.learning),
        "targets": [_target(each) for each in status.targets],
        "hosts_that_lie": [_host(each) for each in status.hosts_that_lie],
        "listings": [listing_object(each) for each in status.listings],
        "policy": status.policy,
        "noarchive": status.noarchive,
        "disk": _disk(status),
        "feed": None if status.feed is None else feed_object(status.feed),
        "destinations": [_destination(each) for each in status.destinations],
        "fresh_by_weight": plain_figure(status.fresh_by_weight),
        "unlisted": status.unlisted,
        "failed_pages": status.failed,
        "shells": status.shells,
        "failing": dict(status.failing),
        **_unknown(status),
        "sites": [_site(each) for each in status.sites],
        "refused_addresses": [_refused(*each) for each in status.refused],
        "pushes": None if status.pushes is None else _pushes(status.pushes),
    }
    return {key: figures[key] for key in KEYS}


def _unknown(status: CrawlStatus) -> dict[str, Any]:
    unknown = status.unknown
    figures = (nan, nan, nan) if unknown is None else (unknown.mean, unknown.low, unknown.high)
    keys = ("unknown", "unknown_low", "unknown_high")
    return dict(zip(keys, map(plain_figure, figures), strict=True))


def _site(site: SiteCoverage) -> dict[str, Any]:
    unknown = (site.unknown.mean, site.unknown.low, site.unknown.high)
    figures = (site.origin, site.sources, *map(plain_figure, unknown))
    return dict(zip(SITE_KEYS, figures, strict=True))


def _pushes(pushes: PushStanding) -> dict[str, Any]:
    figures = (pushes.feeds, pushes.subscribed, pushes.pushes, plain_instant(pushes.last))
    return dict(zip(PUSH_KEYS, figures, strict=True))


def _disk(status: CrawlStatus) -> dict[str, Any] | None:
    if status.disk is None:
        return None
    figures = status.disk.total_bytes, status.disk.unused_bytes, status.room
    return dict(zip(DISK_KEYS, figures, strict=True))


def feed_object(feed: FeedCompleteness) -> dict[str, Any]:
    """How complete the change feed is, by `FEED_KEYS`."""
    figures = (feed.days, feed.seen, *feed.unseen, *feed.share)
    return dict(zip(FEED_KEYS, map(plain_figure, figures), strict=True))


def _destination(standing: DestinationStanding) -> dict[str, Any]:
    figures = (
        *(standing.label, standing.kind, standing.waiting, _instant(standing.since_seconds)),
        *(standing.attempts, _instant(standing.next_at_seconds), standing.problem or None),
        *(standing.disabled, standing.given_up),
    )
    return dict(zip(DESTINATION_KEYS, figures, strict=True))


def _refused(host: str, refused: RefusedAddresses) -> dict[str, Any]:
    figures = (
        *(host, refused.reason.label, refused.detail or None),
        *(refused.addresses, refused.example),
    )
    return dict(zip(REFUSED_KEYS, figures, strict=True))


def _instant(seconds: float | None) -> str | None:
    return None if seconds is None else plain_instant(seconds / SECONDS_A_DAY)


def _budget(spent: BudgetUse) -> dict[str, Any]:
    figures = (
        spent.address or None,
        plain_figure(spent.budget),
        spent.today,
        *_counted(spent.lately),
    )
    return dict(zip(BUDGET_KEYS, figures, strict=True))


def _counted(counted: VisitCount) -> tuple[float | None, ...]:
    return tuple(map(plain_figure, (counted.visits, counted.days, counted.a_day)))


def _outlook(outlook: BudgetOutlook) -> dict[str, Any]:
    figures = (outlook.times, outlook.visits, *outlook.fresh)
    return dict(zip(OUTLOOK_KEYS, map(plain_figure, figures), strict=True))


def _tenth(tenth: Tenth) -> dict[str, Any]:
    figures = (tenth.chance, tenth.visits, tenth.forecast, tenth.found, tenth.deviation)
    return dict(zip(TENTH_KEYS, map(plain_figure, figures), strict=True))


def _learning(learning: Learning) -> dict[str, Any]:
    counts = (learning.either, learning.young, learning.audits)
    shares = (plain_figure(learning.share(count)) for count in counts)
    return dict(zip(LEARNING_KEYS, (learning.visits, learning.looked_at, *shares), strict=True))


def _target(target: Target) -> dict[str, Any]:
    share = [plain_figure(part) for part in target.fresh]
    figures = (
        *(target.address, target.wanted, target.copies, *share),
        target.met if target.copies else None,
        *(*_counted(target.lately), plain_figure(target.needed), plain_figure(target.most)),
    )
    return dict(zip(TARGET_KEYS, figures, strict=True))


def _host(lies: HostThatLies) -> dict[str, Any]:
    band = plain_figure(lies.low), plain_figure(lies.high)
    figures = (lies.host, lies.word, lies.wrong, lies.heard, *band)
    return dict(zip(HOST_KEYS, figures, strict=True))
