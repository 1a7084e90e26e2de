"""What sitemaps and feeds say of changes, and how right they turn out to be.

A page is *announced* when the date that its host gives it moves on, past our last visit. What
visits find then tells how far such dates are to be believed, host by host
(`recrawl.detect.honesty`), and that decides how much the next announcement is worth
(`recrawl.policies.announced`).

Touches: a store, through what it is given.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.detect.honesty import FEED, SITEMAP, false_alarms, recall
from recrawl.policies.growing import longer
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recrawl.crawl.opening import Crawl
    from recrawl.store.reader import Reader
    from recrawl.visits.arrays import Bools, Floats, Ints, Statuses

_KINDS = ("", SITEMAP, FEED)
_AT_ONCE = 5_000  # addresses looked up before others have their turn
_MOST = 3
_PARTS = ("dated", "told", "kind", "found")
ANNOUNCED = tuple(f"announcements.{name}" for name in _PARTS)


class Announcements:
    """What hosts say of pages: a row a page.

    Attributes:
        dated: Epoch seconds at which it last changed, by its host's word; 0 where that is unsaid.
        told: Announcements since its last visit.
        kind: Where its host dates it: 0 nowhere, 1 in a sitemap, 2 in a feed.
        found: Epoch seconds of the last visit that found a change before it was announced; 0 for
            none that is still to be.
    """

    def __init__(self) -> None:
        self.dated: Floats = np.empty(0)
        self.told: Statuses = np.empty(0, np.uint8)
        self.kind: Statuses = np.empty(0, np.uint8)
        self.found: Floats = np.empty(0)

    def grow(self, pages: int) -> None:
        """Make room for pages of which nothing was said."""
        for name in _PARTS:
            array = getattr(self, name)
            setattr(self, name, longer(array, np.zeros(pages, array.dtype)))

    def kept(self) -> dict[str, Any]:
        """What is to be saved; nothing where nothing was ever said."""
        if not self.kind.any():
            return {}
        arrays = (getattr(self, name).copy() for name in _PARTS)
        return dict(zip(ANNOUNCED, arrays, strict=True))

    def resume(self, parts: Mapping[str, Any]) -> None:
        """Take up what was saved."""
        for name, part in zip(_PARTS, ANNOUNCED, strict=True):
            array, had = getattr(self, name), parts.get(part)
            if had is not None:
                rows = min(len(array), len(had))
                array[:rows] = had[:rows]

    def visited(self, page: int, at: float, *, changed: bool) -> tuple[str, dict[str, float]]:
        """What a visit says of its host's word: the kind, and what to count.

        Args:
            page: Number of the page.
            at: Epoch seconds of the visit.
            changed: Whether it had changed.
        """
        kind, told = _KINDS[self.kind[page]], float(self.told[page])
        self.told[page] = 0
        if changed:
            self.found[page] = at if kind and not told else 0.0
            return kind, {"right": 1.0} if told else {"silent": 1.0}
        return kind, {"wrong": told}

    def moved(self, pages: Ints, dates: Floats, kind: int, last: Floats) -> tuple[Bools, Bools]:
        """Take in dates; says which pages are announced, and which were, after all.

        A date without a time of day stands for any instant of its day. A change that a visit found
        before it was announced is no news.

        Args:
            pages: The pages.
            dates: Epoch seconds.
            kind: Where they stand.
            last: Epoch seconds of the last visit to each; nan where there was none.
        """
        had = self.dated[pages]
        until = np.where(dates % SECONDS_A_DAY == 0, dates + SECONDS_A_DAY, dates)
        moved = dates > had
        late = moved & (self.found[pages] > 0) & (dates <= self.found[pages])
        # Of a page that is dated for the first time nobody knows on which day it was dated.
        news = moved & np.where(had > 0, until > last, dates > last) & ~late
        self.dated[pages] = np.maximum(dates, had)
        self.kind[pages] = np.where(self.kind[pages] == 0, kind, self.kind[pages])
        ours = self.kind[pages] == kind
        self.found[pages[late & ours]] = 0.0
        self.told[pages] = np.minimum(self.told[pages] + (news & ours), _MOST)
        return news & ours, late & ours


async def hear(
    crawl: Crawl, reader: Reader, dates: Mapping[str, tuple[str, float]], now: float
) -> None:
    """Take in what sitemaps and feeds say.

    Args:
        crawl: The crawl as it stands.
        reader: Its store.
        dates: Where each address is dated, and when it changed last, in epoch seconds.
        now: The instant.
    """
    addresses = list(dates)
    for start in range(0, len(addresses), _AT_ONCE):
        some = addresses[start : start + _AT_ONCE]
        numbers = reader.numbers(some)
        for kind in (SITEMAP, FEED):
            named = [
                (number - 1, dates[address][1])
                for number, address in zip(numbers, some, strict=True)
                if number and dates[address][0] == kind
            ]
            if named:
                pages, instants = (np.array(each) for each in zip(*named, strict=True))
                _hear(crawl, kind, pages, instants, now)
        await asyncio.sleep(0)


def _hear(crawl: Crawl, kind: str, pages: Ints, dates: Floats, now: float) -> None:
    """Take in what one kind of source says of pages that are known."""
    heard = crawl.announcements
    known = (pages < len(crawl.last)) & (dates <= (now + 1) * SECONDS_A_DAY)
    pages, dates = pages[known], dates[known]
    if not len(pages):
        return
    last = crawl.last[pages] * SECONDS_A_DAY
    hosts = crawl.agenda.hosts_of(pages)
    news, late = heard.moved(pages, dates, _KINDS.index(kind), last)
    for host in hosts[late].tolist():
        crawl.trust.heard(host, kind, right=1.0, silent=-1.0)
    copied = ~np.isnan(last)
    word = _word(crawl, kind, pages, hosts)
    each = word[0][copied], word[1][copied]
    crawl.agenda.told(pages[copied], news[copied].astype(np.float64), each, now)


def _word(crawl: Crawl, kind: str, pages: Ints, hosts: Ints) -> tuple[Floats, Floats]:
    """How far the host of each page is believed: recall, and false alarms a day."""
    trust, (of_hosts, row) = crawl.trust, np.unique(hosts, return_inverse=True)
    # A visit that finds an announced change cannot show that there was another.
    missed = np.bincount(row, crawl.agenda.missed(pages)).tolist()
    words = [
        trust.word(host, kind).plus(silent=more)
        for host, more in zip(of_hosts.tolist(), missed, strict=True)
    ]
    shares = np.array([recall(word, trust.of_telling(kind)) for word in words])
    alarms = np.array([false_alarms(word) for word in words])
    return shares[row], alarms[row]
