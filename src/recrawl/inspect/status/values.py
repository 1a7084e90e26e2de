"""How a crawl stands, as values: freshness, budgets, forecasts, targets.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import nan
from typing import TYPE_CHECKING

from recrawl.visits.status import PageStatus, VisitOutcome

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recrawl.entries.filtering import RefusedAddresses
    from recrawl.entries.records import DiskUsage
    from recrawl.frontier.sources import UnknownPages
    from recrawl.inspect.status.destinations import DestinationStanding
    from recrawl.inspect.status.listings import ListingStanding

WEEK = 7  # days of visits that are counted


@dataclass(frozen=True, slots=True)
class VisitCount:
    """Visits of the last days: of a week, or of all the time since the first.

    Args:
        visits: How many there were.
        days: How long that is, 7 at most.
    """

    visits: float
    days: float

    @property
    def a_day(self) -> float:
        """Visits a day; nan where less than a day was counted: a whole one may be another."""
        return self.visits / self.days if self.days >= 1 else nan


@dataclass(frozen=True, slots=True)
class BudgetUse:
    """Visits that one budget has paid for.

    Args:
        address: Site or page whose own budget it is; empty for the common one.
        budget: Visits a day that it allows.
        today: Visits since midnight, UTC.
        lately: Visits of the last days.
        pages: Pages that it is for.
    """

    address: str
    budget: float
    today: int
    lately: VisitCount
    pages: int = 1


@dataclass(frozen=True, slots=True)
class BudgetOutlook:
    """What to expect in the long run of so many times the budget.

    Args:
        times: How many times what the budgets allow.
        visits: Visits a day that this is.
        fresh: Share of the copies that is expected to be fresh, and its band.
    """

    times: float
    visits: float
    fresh: tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Tenth:
    """Visits of which a change was forecast with about the same chance.

    Args:
        chance: The least; the tenth ends 0.1 above it.
        visits: How many there were of late.
        forecast: Mean chance of a change that was forecast of them.
        found: Share of them that found one.
        deviation: Standard deviation of that share, if pages change independently.
    """

    chance: float
    visits: float
    forecast: float
    found: float
    deviation: float


@dataclass(frozen=True, slots=True)
class Learning:
    """Visits of the last week that were made to learn rather than to refresh.

    Args:
        visits: Visits of the week.
        looked_at: How many of them were looked at, drawn at random.
        young: How many of these went to pages compared with their copies less than three times.
        audits: How many made a second request, to check what the first had said.
        either: How many did one or the other.
    """

    visits: int = 0
    looked_at: int = 0
    young: int = 0
    audits: int = 0
    either: int = 0

    def share(self, count: int) -> float:
        """Share of the visits that were looked at; nan where there were none."""
        return count / self.looked_at if self.looked_at else nan


@dataclass(frozen=True, slots=True)
class Target:
    """A wish for freshness: whether it comes true, and what it costs.

    Args:
        address: Site or page whose it is.
        wanted: Share of its copies that is to be fresh.
        copies: How many there are.
        fresh: Share of them that is expected to be fresh now, and its band; nan without copies.
        lately: Visits of the last days.
        needed: Fewest visits a day that would do in the long run; nan where none do, or where it
            was not worked out.
        most: Share that can be reached at all within politeness and bounds, where that is less
            than is wanted; else nan.
    """

    address: str
    wanted: float
    copies: int
    fresh: tuple[float, float, float]
    lately: VisitCount
    needed: float = nan
    most: float = nan

    @property
    def met(self) -> bool:
        """Whether it is expected to be met now."""
        return self.fresh[0] >= self.wanted

    @property
    def sure(self) -> bool:
        """Whether all of the band is on one side of what is wanted."""
        return self.fresh[1] >= self.wanted or self.fresh[2] < self.wanted


@dataclass(frozen=True, slots=True)
class FeedCompleteness:
    r"""Share of the changes that readers of the change feed have by now.

    A copy is outdated from the first change of its page until a visit finds it so, and then the
    feed tells of it. Of all copies that were outdated at some time in the last days, $N$ have been
    told of since, which is counted, and $U$ are outdated now, which is expected. The feed has

    $$ \frac{N}{N + U} $$

    of these changes. Pages that nobody has found yet are not in it.

    Args:
        days: How many days are counted.
        seen: Changes that the feed has told of in these days.
        unseen: Copies that are expected to be outdated now, and the band of their number.

    Examples:
        >>> week = FeedCompleteness(days=7.0, seen=90, unseen=(10.0, 5.0, 30.0))
        >>> week.share
        (0.9, 0.75, 0.9473684210526315)
        >>> FeedCompleteness(days=0.001, seen=0, unseen=(0.2, 0.0, 1.0)).share
        (0.0, 0.0, 1.0)
    """

    days: float
    seen: int
    unseen: tuple[float, float, float]

    @property
    def share(self) -> tuple[float, float, float]:
        """Share of the changes that are in the feed, and its band; nan where there were none.

        Where there may have been none, the feed may have all of them.
        """
        if not self.seen + self.unseen[0]:
            return nan, nan, nan
        expected, low, high = (self.seen + each for each in self.unseen)
        return self.seen / expected, self.seen / high, self.seen / low if low else 1.0


@dataclass(frozen=True, slots=True)
class HostThatLies:
    """A host whose word on changes is not taken any more.

    Args:
        host: Its name.
        word: What it lies with: "not_modified" of what has changed, "modified" with a wrong date.
        wrong: How often it was wrong.
        heard: How often it was checked.
        low: Lower end of the band that holds the share of wrong words in nine cases of ten.
        high: Upper end.
    """

    host: str
    word: str
    wrong: int
    heard: int
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class PushStanding:
    """What hubs push.

    Args:
        feeds: Feeds that name a hub.
        subscribed: How many of them are subscribed to now.
        pushes: Pushes that were taken so far.
        last: When the last of them came, in days after 1970; nan for never.
    """

    feeds: int
    subscribed: int
    pushes: int
    last: float = nan


@dataclass(frozen=True, slots=True)
class SiteCoverage:
    """How many pages of a site are expected to exist that are not known.

    Args:
        origin: Of the site.
        sources: How many sources of new pages it has.
        unknown: Pages that they are expected to name by now.
    """

    origin: str
    sources: int
    unknown: UnknownPages


_UNCHANGED = (VisitOutcome.SAME, VisitOutcome.NOT_MODIFIED, VisitOutcome.COSMETIC)
_NO_LEARNING = Learning()


@dataclass(frozen=True, slots=True)
class CrawlStatus:
    """How a crawl stands.

    Args:
        at: The instant, in days after 1970.
        standing: How many pages stand where.
        copies: How many copies there are.
        fresh: Share of them that is expected to be fresh, and its band; nan where there is none.
        age: Expected days since a copy went stale, 0 for a fresh one, on the mean over all.
        looked_at: How many copies the last two rest on.
        overdue: Pages past a set time, or past the longest time between visits.
        next_visit: When a visit may be made next, in days after 1970.
        days: Days that the outcomes are from: a week and today, or all since the first visit.
        outcomes: Visits in these days by what they found.
        spent: Visits by budget.
        outlooks: What to expect of half the budget, of the budget, and of twice as much; none
            before there is a copy.
        tenths: What was forecast of visits against what they found, by the chance forecast.
        learning: Visits of the last week, or since the first, that were made to learn.
        targets: How wishes for freshness stand.
        hosts_that_lie: Hosts whose word on changes is not taken any more.
        listings: Where listings stand.
        policy: What decides on visits, by name and parameters.
        noarchive: Copies of pages that ask for no version to be kept.
        disk: What the store takes on disk; None where nobody looked.
        room: Bytes that it may take.
        feed: How complete the change feed is; None where that is unknown.
        destinations: How far those are who are told of it.
        fresh_by_weight: Expected share of fresh copies by weight; nan where all weigh the same.
        unlisted: Pages that no block of the settings holds any more; they stand nowhere else.
        failed: Pages without a copy whose last visit failed; they stand nowhere else.
        shells: Copies that are empty JavaScript shells.
        failing: Pages whose last visit met something in place of the page, by what it met.
        unknown: Pages expected to exist that are not known; None where no site has sources.
        sites: The same by site, most first.
        refused: Addresses that were found and not taken in, with their hosts, most first.
        pushes: What hubs push; None where the settings let nobody.
        blocks: Sites, single pages and listings that the settings name.
    """

    at: float
    standing: Mapping[PageStatus, int]
    copies: int
    fresh: tuple[float, float, float]
    age: float
    looked_at: int
    overdue: int
    next_visit: float
    days: float
    outcomes: Mapping[VisitOutcome, int]
    spent: Sequence[BudgetUse]
    outlooks: Sequence[BudgetOutlook] = ()
    tenths: Sequence[Tenth] = ()
    learning: Learning = _NO_LEARNING
    targets: Sequence[Target] = ()
    hosts_that_lie: Sequence[HostThatLies] = ()
    listings: Sequence[ListingStanding] = ()
    policy: str = "recrawl"
    noarchive: int = 0
    disk: DiskUsage | None = None
    room: int = 0
    feed: FeedCompleteness | None = None
    destinations: Sequence[DestinationStanding] = ()
    fresh_by_weight: float = nan
    unlisted: int = 0
    failed: int = 0
    shells: int = 0
    failing: Mapping[str, int] = field(default_factory=dict)
    unknown: UnknownPages | None = None
    sites: Sequence[SiteCoverage] = ()
    refused: Sequence[tuple[str, RefusedAddresses]] = ()
    pushes: PushStanding | None = None
    blocks: int = 0

    @property
    def pages(self) -> int:
        """How many pages are known; of erased ones nothing is."""
        known = sum(self.standing.values()) - self.standing.get(PageStatus.ERASED, 0)
        return known + self.unlisted + self.failed

    @property
    def visits(self) -> int:
        """Visits of the last days."""
        return sum(self.outcomes.values())

    @property
    def unchanged(self) -> int:
        """Visits that found what was known already."""
        return sum(self.outcomes.get(each, 0) for each in _UNCHANGED)

    def count(self, outcome: VisitOutcome) -> int:
        """Visits that found one thing."""
        return self.outcomes.get(outcome, 0)

    def share(self, count: int) -> float:
        """Share of the visits of the last days; nan where there were none."""
        return count / self.visits if self.visits else float("nan")


def furthest_off(tenths: Sequence[Tenth], *, least: float) -> Tenth | None:
    """The tenth whose visits found least what was forecast, of those with so many visits.

    >>> near, off = Tenth(0.0, 100, 0.05, 0.06, 0.02), Tenth(0.5, 200, 0.55, 0.45, 0.04)
    >>> furthest_off([near, off, Tenth(0.9, 3, 0.95, 0.0, 0.1)], least=50) is off
    True
    """
    many = [tenth for tenth in tenths if tenth.visits >= least]
    return max(many, key=lambda tenth: abs(tenth.found - tenth.forecast), default=None)
