"""What sitemaps and feeds say of changes, and how right they turn out to be.

A page is *announced* when the date that its host gives it moves on, past our last visit. What
visits find then tells how far such dates are to be believed, host by host
(`recrawl.detect.reliability`), and that decides how much the next announcement is worth
(`recrawl.policies.recrawl.announced`).

Touches: a store, through what it is given.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.arrays.growing import append_rows
from recrawl.detect.reliability import (
    FEED,
    SITEMAP,
    false_alarms,
    is_heeded,
    precision,
    recall,
)
from recrawl.entries.sources import SourceKind
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping

    from recrawl.arrays.types import Bools, Floats, Ints, Statuses
    from recrawl.entries.sources import Source
    from recrawl.entries.store import ReadStore
    from recrawl.state.hints import Hints
    from recrawl.state.opening import Crawl

_KINDS = ("", SITEMAP, FEED)
_AT_ONCE = 5_000  # addresses looked up before others have their turn
_MOST = 3
_PARTS = ("dated", "unvisited", "kind", "found", "hints", "hinted_at")
ANNOUNCED = tuple(f"announcements.{name}" for name in _PARTS)
HINTED_AT = "announcements.hinted_at"


@dataclass(frozen=True, slots=True, eq=False)
class _Reading:
    """What a source was found to date.

    Args:
        last: Epoch seconds at which it was last read and had left nothing out.
        pages: All pages that it dates, sorted.
        whole: Whether it had left nothing out when it was last read.
    """

    last: float
    pages: Ints
    whole: bool = True


class Announcements:
    """What hosts say of pages: one row per page.

    Attributes:
        dated: Epoch seconds at which it last changed, by its host's word; 0 where that is unsaid.
        unvisited: Announcements since its last visit.
        kind: Where its host dates it: 0 nowhere, 1 in a sitemap, 2 in a feed.
        found: Epoch seconds of the last visit that found a change before it was announced; 0 for
            none that is still to be.
        hints: Hints since its last visit.
        hinted_at: Epoch seconds of the newest hint; 0 before the first.
    """

    def __init__(self) -> None:
        self.dated: Floats = np.empty(0)
        self.unvisited: Statuses = np.empty(0, np.uint8)
        self.kind: Statuses = np.empty(0, np.uint8)
        self.found: Floats = np.empty(0)
        self.hints: Statuses = np.empty(0, np.uint8)
        self.hinted_at: Floats = np.empty(0)
        # By the address of a source, since this crawl was opened.
        self._readings: dict[str, _Reading] = {}
        # Of hosts that are heeded, changes awaited and met without an announcement, and their sums.
        self._heeded: dict[tuple[int, str], tuple[float, float]] = {}
        self._of_all: Floats = np.zeros(2)

    def grow(self, pages: int) -> None:
        """Make room for pages of which nothing was said."""
        for name in _PARTS:
            array = getattr(self, name)
            setattr(self, name, append_rows(array, np.zeros(pages, array.dtype)))

    def dump(self) -> dict[str, Any]:
        """What is to be saved; nothing where nothing was ever said."""
        if not self.kind.any() and not self.hints.any():
            return {}
        arrays = (getattr(self, name).copy() for name in _PARTS)
        return dict(zip(ANNOUNCED, arrays, strict=True))

    def resume(self, parts: Mapping[str, Any]) -> None:
        """Take up what was saved."""
        for name, part in zip(_PARTS, ANNOUNCED, strict=True):
            array, had = getattr(self, name), parts.get(part)
            if had is not None and had.dtype == array.dtype:
                rows = min(len(array), len(had))
                array[:rows] = had[:rows]
        self.kind[self.kind >= len(_KINDS)] = 0  # of a source that nobody knows

    def repeat_all(self) -> None:
        """Let hosts announce once more what they have: for a policy that begins anew."""
        self.dated[self.unvisited > 0] = 0.0

    def visited(self, page: int, at: float, *, changed: bool) -> tuple[str, dict[str, float]]:
        """What a visit says of its host's word: the kind, and what to count.

        Args:
            page: Number of the page.
            at: Epoch seconds of the visit.
            changed: Whether it had changed.
        """
        kind, announced = _KINDS[self.kind[page]], float(self.unvisited[page])
        self.unvisited[page] = 0
        if not changed:
            return kind, {"wrong": announced}
        self.found[page] = at if kind and not announced else 0.0
        return kind, {"right": 1.0} if announced else {"silent": 1.0}

    def hinted(self, pages: Ints, at: Floats) -> None:
        """Note hints that pages have changed.

        Args:
            pages: The pages, each once.
            at: When each was hinted, in days after 1970.
        """
        self.hints[pages] = np.minimum(self.hints[pages] + 1, _MOST)
        self.hinted_at[pages] = np.maximum(self.hinted_at[pages], at * SECONDS_A_DAY)

    def take_hints(self, page: int) -> bool:
        """Whether somebody said since its last visit that a page had changed; they are forgotten.

        Args:
            page: Number of the page, which was visited.
        """
        hinted, self.hints[page] = bool(self.hints[page]), 0
        return hinted

    def of_kind(self, pages: Ints, kind: int) -> Bools:
        """Which pages are dated by this kind of source; the first that dates a page has it."""
        self.kind[pages] = np.where(self.kind[pages] == 0, kind, self.kind[pages])
        return np.asarray(self.kind[pages] == kind)

    def moved(self, pages: Ints, dates: Floats, last: Floats) -> tuple[Bools, Bools]:
        """Take in dates; says which pages are announced, and which were, after all.

        A date without a time of day stands for any instant of its day. A change that a visit found
        before it was announced is no news.

        Args:
            pages: The pages.
            dates: Epoch seconds.
            last: Epoch seconds of the last visit to each; nan where there was none.
        """
        had, found = self.dated[pages], self.found[pages]
        until = np.where(dates % SECONDS_A_DAY == 0, dates + SECONDS_A_DAY, dates)
        moved = dates > had
        late = moved & (found > 0) & (dates <= found)
        # Of a page that is dated for the first time nobody knows on which day it was dated.
        news = moved & np.where(had > 0, until > last, dates > last) & ~late
        self.dated[pages] = np.maximum(dates, had)
        self.found[pages[late]] = 0.0
        self.unvisited[pages] = np.minimum(self.unvisited[pages] + news, _MOST)
        return news, late

    def read(self, source: str, pages: Ints, now: float, oldest: float = -inf) -> Ints:
        """Note which pages a source dates; returns those that it is silent about.

        A sitemap names all of its pages. A feed names those that changed last: where its oldest
        entry is older than the last time it was read, it is silent about all others that it has
        named.

        Args:
            source: Its address.
            pages: The pages, sorted.
            now: Epoch seconds.
            oldest: Epoch seconds of the oldest entry of a feed.
        """
        before = self._readings.get(source)
        if before is None or oldest == -inf:
            self._readings[source] = _Reading(now, pages)
            return pages[:0]
        # Until a feed that has left something out reaches back so far again, nothing is silent.
        whole = oldest <= before.last
        named = np.union1d(before.pages, pages)
        self._readings[source] = _Reading(now if whole else before.last, named, whole)
        return np.setdiff1d(before.pages, pages) if whole else pages[:0]

    def read_again(self, source: str, now: float) -> Ints:
        """Note that a source is as it was; returns the pages that it is silent about.

        Args:
            source: Its address.
            now: Epoch seconds.
        """
        before = self._readings.get(source)
        if before is None or not before.whole:
            return np.empty(0, np.int64)
        self._readings[source] = replace(before, last=now)
        return before.pages

    def forget(self, source: str) -> None:
        """Forget a source that is none any more, by its address."""
        self._readings.pop(source, None)

    def share_of_others(self, host: int, kind: str, awaited: float, silent: float) -> float:
        """Share of their changes that all hosts announce which announce any.

        Args:
            host: One of them.
            kind: How it announces them.
            awaited: Changes that visits would have met there without an announcement.
            silent: Those that they met.
        """
        before = self._heeded.get((host, kind), (0.0, 0.0))
        self._heeded[host, kind] = after = awaited, max(silent, 0.0)
        self._of_all += np.subtract(after, before)
        share = 1 - (self._of_all[1] + 1) / (self._of_all[0] + 2)
        return min(max(float(share), 0.0), 1.0)


def hear(
    crawl: Crawl,
    reader: ReadStore,
    source: Source,
    dates: Mapping[str, float] | None,
    now: float,
) -> Iterator[None]:
    """Take in what a sitemap or feed says; yields now and then, so that others may have a turn.

    Args:
        crawl: The crawl as it stands.
        reader: Its store.
        source: The sitemap or feed.
        dates: When each address changed last, in epoch seconds; None if the source is as it was.
        now: The instant.
    """
    heard, kind = crawl.announcements, FEED if source.kind is SourceKind.FEED else SITEMAP
    if dates is None:
        silent = heard.read_again(source.address, now * SECONDS_A_DAY)
        yield from _hear(crawl, kind, silent, heard.dated[silent], now)
        return
    found, addresses = dict[int, float](), list(dates)
    for start in range(0, len(addresses), _AT_ONCE):
        some = addresses[start : start + _AT_ONCE]
        for page, address in zip(reader.find_pages(some), some, strict=True):
            if page is not None:
                found[page] = dates[address]
        yield
    pages = np.array(sorted(found), np.int64)
    instants = np.array([found[page] for page in pages.tolist()], np.float64)
    known = (pages < len(crawl.last)) & (instants <= (now + 1) * SECONDS_A_DAY)
    known[known] = heard.of_kind(pages[known], _KINDS.index(kind))
    pages, instants = pages[known], instants[known]
    oldest = float(instants.min(initial=inf)) if kind == FEED else -inf
    silent = heard.read(source.address, pages, now * SECONDS_A_DAY, oldest)
    both = np.append(pages, silent), np.append(instants, heard.dated[silent])
    yield from _hear(crawl, kind, *both, now)


def hear_hints(crawl: Crawl, hints: Hints) -> None:
    """Take in hints that pages have changed, as far as they stand.

    Args:
        crawl: The crawl as it stands.
        hints: Hints above those that it has heard.
    """
    standing = hints.standing(crawl.last)
    crawl.announcements.hinted(standing.pages, standing.at)
    crawl.agenda.hinted(standing.pages, standing.right)
    crawl.hints.heard = hints.last
    crawl.hints.unsaved += len(standing.pages)


def _hear(crawl: Crawl, kind: str, pages: Ints, dates: Floats, now: float) -> Iterator[None]:
    """Take in what one kind of source says of pages that it dates."""
    if not len(pages):
        return
    hosts = crawl.agenda.hosts_of(pages)
    news, late = crawl.announcements.moved(pages, dates, crawl.last[pages] * SECONDS_A_DAY)
    for host in hosts[late].tolist():
        crawl.trust.count_signal(host, kind, right=1.0, silent=-1.0)
    named, word = yield from _word(crawl, kind, hosts)
    named *= news
    copied = np.flatnonzero(~np.isnan(crawl.last[pages]))
    for start in range(0, len(copied), _AT_ONCE):
        some = copied[start : start + _AT_ONCE]
        crawl.agenda.announced(pages[some], named[some], (word[0][some], word[1][some]), now)
        yield


def _word(
    crawl: Crawl, kind: str, hosts: Ints
) -> Generator[None, None, tuple[Floats, tuple[Floats, Floats]]]:
    """How far each of some hosts is believed: precision, and recall with false alarms a day.

    What counts are all pages that a host dates, whichever of its sitemaps has just been read: the
    unannounced changes that visits have found are of all of them, too.
    """
    of_hosts, row = np.unique(hosts, return_inverse=True)
    dated = np.flatnonzero(crawl.announcements.kind == _KINDS.index(kind))
    of_dated = crawl.agenda.hosts_of(dated)
    theirs = np.isin(of_dated, of_hosts)
    dated, of_dated = dated[theirs], np.searchsorted(of_hosts, of_dated[theirs])
    awaited = np.zeros(len(of_hosts))
    for start in range(0, len(dated), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        changes = crawl.agenda.unannounced_changes(dated[some])
        awaited += np.bincount(of_dated[some], changes, len(of_hosts))
        yield
    found = []
    for host, expected in zip(of_hosts.tolist(), awaited.tolist(), strict=True):
        word, share = crawl.trust.record(host, kind), 0.0
        if is_heeded(word):
            of_all = crawl.announcements.share_of_others(host, kind, expected, word.silent)
            share = recall(word.silent, expected, of_all)
        found.append((precision(word), share, false_alarms(word)))
    right, shares, alarms = np.array(found).T[:, row]
    return right, (shares, alarms)
