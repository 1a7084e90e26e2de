"""Where the listings of a crawl stand, for `recrawl status` and the like.

Touches: a store.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING

from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from recrawl.entries.store import ReadStore
    from recrawl.listings.live.forecast import LiveForecast
    from recrawl.listings.live.rules import ListingRule
    from recrawl.settings.settings import Settings


_UNKNOWN = (nan, nan, nan)


@dataclass(frozen=True, slots=True)
class ListingStanding:
    """Where a listing stands.

    Args:
        name: Its name.
        listed: Objects of the copy; 0 before the first sync.
        synced: When its copy was last made anew, in days after 1970; nan for never.
        due: When it is synced next.
        reason: Why then.
        precision: Expected of its copy now, and its band: expected, low and high.
        recall: The same of what is listed.
        targets: Least precision and least recall that are wanted; nan for any.
        alarm: What is wrong since; empty for nothing.
        details: Detail pages of its objects; None where the settings ask for none.
    """

    name: str
    listed: int = 0
    synced: float = nan
    due: float = nan
    reason: str = ""
    precision: tuple[float, float, float] = _UNKNOWN
    recall: tuple[float, float, float] = _UNKNOWN
    targets: tuple[float, float] = (nan, nan)
    alarm: str = ""
    details: int | None = None


def listing_standings(settings: Settings, reader: ReadStore, now: float) -> list[ListingStanding]:
    """Where each listing of the settings stands, in their order.

    Args:
        settings: What is asked of the crawl.
        reader: Its store.
        now: The current time, in days after 1970.
    """
    return [standing_of(rule, reader, now) for rule in settings.listings]


def standing_of(rule: ListingRule, reader: ReadStore, now: float) -> ListingStanding:
    """Where one listing stands; arguments as for `listing_standings`."""
    # Slow to load, and most crawls have no listing.
    from recrawl.listings.live.judging import ListingFacts, live_forecast, next_due

    history = reader.listing_history(rule.name)
    forecast = live_forecast(history)
    targets = (rule.precision or nan, rule.recall or nan)
    if not history.syncs:
        return ListingStanding(rule.name, due=rule.opens(now), targets=targets)
    last = history.syncs[-1]
    return ListingStanding(
        name=rule.name,
        listed=last.listed,
        synced=nan if forecast is None else forecast.at,
        due=next_due(rule, ListingFacts(history, {}, forecast), last.at_seconds / SECONDS_A_DAY),
        reason=last.reason,
        precision=_band(forecast, "precision", now),
        recall=_band(forecast, "recall", now),
        targets=targets,
        alarm=history.alarm,
        details=len(reader.detail_pages(rule.name)) if rule.layout.detail else None,
    )


def _band(forecast: LiveForecast | None, metric: str, now: float) -> tuple[float, float, float]:
    interval = None if forecast is None else forecast.quality(metric, now)
    if interval is None:
        return nan, nan, nan
    return interval.expected, interval.low, interval.high
