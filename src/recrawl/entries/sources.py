r"""Sources of new pages and changes: sitemaps, feeds, hub pages and lists of changed pages.

A *look* at a source shows how many addresses it names that nobody knew; at a list of changed pages,
how many changes it is believed to tell of, too. Looks $i$ with $n_i$ new addresses after gaps of
$g_i$ days give its rate, as a Gamma distribution does that forgets:

$$ rate_s = \frac{a + N}{b_s + T} , \quad N = \sum_i k_i n_i , \quad T = \sum_i k_i g_i , $$

where $k_i$ falls to a third within a week, or within eight looks where these are rarer. The prior
counts for a tenth of an address, $a = 0.1$, in a time $b_s$ that sets its *scale*. A tenth of a day
is right for most sources, and would outweigh an hour of looks at one that has news every minute. So
there are four scales, each ten times as fast and twenty times as rare as the one before, and the
looks decide among them by Bayes' rule:

$$ rate = \sum_s w_s \, rate_s , \quad w_s \propto 20^{-s} \, b_s^a / (b_s + T)^{a + N / \phi} . $$

Sites add pages in batches, so counts scatter more than a Poisson process would have them. How much
more is their *dispersion* $\phi$, the squared deviations from what was expected over the counts.

A source may turn fast or fall silent, and the dates of a feed may say little of its future. A look
that has news, or none, against odds of a hundred to one starts the counts anew.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from hashlib import blake2b
from math import exp, fsum, log, log1p
from typing import TYPE_CHECKING

from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recrawl.entries.entries import PagesFound

# Decisions, not tuned on data.
_PRIOR_NEW = 0.1
_SCALES = tuple((0.1 * 10.0**-scale, scale * log(20.0)) for scale in range(4))  # days, log odds
_SURPRISE = 0.01
_MEMORY_DAYS, _MEMORY_LOOKS = 7.0, 8.0
# Newest entries whose dates count at the first look at a feed: dates say when, not what is new.
_MOST_DATED = 3
_KEY_BYTES = 8


class SourceKind(IntEnum):
    """Kind of a source.

    >>> SourceKind.FEED.label
    'feed'
    """

    SITEMAP = 0
    FEED = 1
    HUB = 2  # an ordinary page whose links have led to new pages
    LIST = 3  # addresses of pages that have changed, which the settings name

    @property
    def label(self) -> str:
        """Its name in tables and files."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Source:
    """What is known of a source.

    Args:
        address: Its address.
        origin: Origin of the site that names it.
        kind: What it is.
        parent: Address of the index of sitemaps that names it; empty if none does.
        tried_at_seconds: When it was last asked for; None for never.
        looked_at_seconds: When it was last seen, whole or by a 304; None for never.
        read_at_seconds: When it last came whole; None for never.
        failures: How many looks in a row have failed.
        new: New addresses that count; see the module.
        exposure: Days that count.
        squares: Squared deviations that count.
        dated: Whether it dates pages, so that looks tell of changes, too.
        listed_at_seconds: Its own date in the index as of the last look; None where it has none.
        follows_index: Whether it is looked at when that date moves: it has one, and never had new
            addresses while the date stood still.
        etag: Its `ETag`; empty where it has none.
        modified: Its `Last-Modified` as the host wrote it; empty where it has none.
        signature: Of its body; empty where none was read.
        size: Bytes of its body.
        listed: Keys of the entries that it had when it was last read, eight bytes each; of a list
            of changed pages, and of a feed with a WebSub hub.
        push_hub: Address of the WebSub hub that a feed names; empty for none.
        push_topic: What to subscribe to there.

    Examples:
        Six new addresses within half a day, and within a minute:

        >>> feed = Source("https://a.org/feed", "https://a.org", SourceKind.FEED)
        >>> feed = feed.after_look(0.0, 20)  # all that it names is new at first
        >>> round(feed.after_look(43_200.0, 6).rate, 1)  # (0.1 + 6) / (0.1 + 0.5), or a bit more
        10.3
        >>> fast = feed.after_look(20.0, 2).after_look(40.0, 2).after_look(60.0, 2)
        >>> round(fast.rate / 1440, 1)
        4.0
    """

    address: str
    origin: str
    kind: SourceKind
    parent: str = ""
    tried_at_seconds: float | None = None
    looked_at_seconds: float | None = None
    read_at_seconds: float | None = None
    failures: int = 0
    new: float = 0.0
    exposure: float = 0.0
    squares: float = 0.0
    dated: bool = False
    listed_at_seconds: float | None = None
    follows_index: bool = False
    etag: str = ""
    modified: str = ""
    signature: bytes = b""
    size: int = 0
    listed: bytes = b""
    push_hub: str = ""
    push_topic: str = ""

    @property
    def rate(self) -> float:
        """New addresses a day that are expected of it."""
        return fsum(weight * rate for weight, rate in self._by_scale())

    def _by_scale(self) -> list[tuple[float, float]]:
        """Weight and rate of each scale of the prior."""
        events, exposure = _PRIOR_NEW + self.new / self.dispersion, self.exposure
        logs = [
            _PRIOR_NEW * log(days) - events * log(days + exposure) - odds for days, odds in _SCALES
        ]
        most = max(logs)
        weights = [exp(each - most) for each in logs]
        total = fsum(weights)
        new = _PRIOR_NEW + self.new
        return [
            (weight / total, new / (days + exposure))
            for weight, (days, _) in zip(weights, _SCALES, strict=True)
        ]

    @property
    def dispersion(self) -> float:
        """Variance of a count over its mean: 1 if addresses come one by one, more in batches."""
        return max((1 + self.squares) / (1 + self.new), 1.0)

    @property
    def counts(self) -> float:
        """Addresses one by one that the rate is as sure as: the shape of its distribution."""
        events, scales = _PRIOR_NEW + self.new / self.dispersion, self._by_scale()
        mean = fsum(weight * rate for weight, rate in scales)
        square = fsum(weight * rate**2 * (1 + 1 / events) for weight, rate in scales)
        return mean**2 / (square - mean**2)

    def expected_new(self, now_seconds: float) -> float:
        """New addresses that it is expected to name by now; 0 before its first look."""
        if self.looked_at_seconds is None:
            return 0.0
        return self.rate * max(now_seconds - self.looked_at_seconds, 0.0) / SECONDS_A_DAY

    def after_look(self, at_seconds: float, new: int) -> Source:
        """The same after a look that showed so many new addresses.

        The first look has no gap, so it teaches nothing. Visits to a hub may be written in another
        order than they were made: one that is no later than the last look adds addresses, and no
        days.
        """
        at, looked = round(at_seconds, 3), self.looked_at_seconds  # as exact as a store keeps it
        if looked is None:
            return replace(self, tried_at_seconds=at, looked_at_seconds=at, failures=0)
        gap = max(at - looked, 0.0) / SECONDS_A_DAY
        kept = exp(-gap / max(_MEMORY_DAYS, _MEMORY_LOOKS * gap))
        square = (new - self.rate * gap) ** 2
        seen = replace(
            self,
            tried_at_seconds=max(at, looked),
            looked_at_seconds=max(at, looked),
            failures=0,
            new=kept * self.new + new,
            exposure=kept * self.exposure + gap,
            squares=kept * self.squares + square,
        )
        if not self._is_surprised(gap, new):
            return seen
        anew = replace(seen, new=float(new), exposure=gap, squares=square)
        choose = max if new else min  # news never slows a source down, nor does silence speed it up
        return choose(seen, anew, key=lambda each: each.rate)

    def _is_surprised(self, gap: float, new: int) -> bool:
        """Whether the rate so far makes it very unlikely that a look has news, or that it has none.

        Whether, not how much: a batch of a hundred addresses is one piece of news. A source that
        never had any counts as if it had had one.
        """
        if not self.exposure or not gap:
            return False
        events = max(self.new / self.dispersion, 1.0)
        none = exp(-events * log1p(gap / self.exposure))
        return (1 - none if new else none) < _SURPRISE

    def after_failure(self, at_seconds: float) -> Source:
        """The same after a look that told nothing."""
        return replace(self, tried_at_seconds=at_seconds, failures=self.failures + 1)

    def with_entries(self, entries: Iterable[tuple[str, float]]) -> Source:
        """The same with the entries that it has now: addresses with their dates, or nan.

        >>> feed = Source("https://a.org/feed", "https://a.org", SourceKind.FEED)
        >>> feed = feed.with_entries([("https://a.org/1", 0.0), ("https://a.org/2", 0.0)])
        >>> keys = feed.listed_keys
        >>> entry_key("https://a.org/1", 0.0) in keys, entry_key("https://a.org/1", 5.0) in keys
        (True, False)
        """
        keys = dict.fromkeys(entry_key(*entry) for entry in entries)
        return replace(self, listed=b"".join(keys))

    @property
    def listed_keys(self) -> set[bytes]:
        """Keys of the entries that it had when it was last read."""
        starts = range(0, len(self.listed), _KEY_BYTES)
        return {self.listed[start : start + _KEY_BYTES] for start in starts}

    def with_dates(self, dates: Sequence[float], at_seconds: float) -> Source:
        """The same with a first idea of its rate, from the dates of what it names.

        Args:
            dates: Epoch seconds.
            at_seconds: When it was read.

        Examples:
            Four entries in two days, of which the newest three count:

            >>> feed = Source("https://a.org/feed", "https://a.org", SourceKind.FEED)
            >>> seen = feed.with_dates([0.0, 43_200.0, 86_400.0, 129_600.0], 172_800.0)
            >>> seen.new, seen.exposure
            (3.0, 1.5)
        """
        newest = sorted((date for date in dates if date < at_seconds), reverse=True)[:_MOST_DATED]
        if not newest:
            return self
        days = (at_seconds - newest[-1]) / SECONDS_A_DAY
        return replace(self, new=float(len(newest)), exposure=days)


def entry_key(address: str, modified: float) -> bytes:
    """What an entry of a source is told by: its address and its date, which may be nan."""
    return blake2b(f"{modified} {address}".encode(), digest_size=_KEY_BYTES).digest()


@dataclass(frozen=True, slots=True)
class SourceLooked:
    """A look at a source, with the pages that it names.

    Pages and look are written together: a crawl that is killed knows both, or looks again.

    Args:
        source: The source as it was when the look began, but with the validators of its response.
        found: What it names; the look is of `found.at_seconds`.
        others: New pages that were found because of it elsewhere, in sitemaps of an index; or
            changes and new pages that a list of changed pages is believed to tell of.
        announced: Whether its date in the index had moved.
    """

    source: Source
    found: PagesFound
    others: int = 0
    announced: bool = False

    def learned(self, before: Source | None, new: int) -> Source:
        """The source after the look, of whose pages so many were new.

        Args:
            before: The source as it stands: others may have looked at it in the meantime. None
                where it is not known yet.
            new: How many.
        """
        source = self.source
        silent = new > 0 and not self.announced and source.looked_at_seconds is not None
        source = replace(source, follows_index=source.follows_index and not silent)
        if before is not None and before.looked_at_seconds is not None:
            source = replace(
                source,
                looked_at_seconds=before.looked_at_seconds,
                new=before.new,
                exposure=before.exposure,
                squares=before.squares,
            )
        return source.after_look(self.found.at_seconds, new + self.others)


@dataclass(frozen=True, slots=True)
class SourcesKnown:
    """Sources that a site names, and those that it does no longer.

    Args:
        sources: Sources as they stand.
        dropped: Addresses of sources to forget.
    """

    sources: Sequence[Source] = ()
    dropped: Sequence[str] = ()
