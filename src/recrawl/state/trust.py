"""What a crawl believes: the word of hosts, and that a page which differs has changed.

Every visit may teach something here; what it does teach is counted in `recrawl.detect.reliability`.
Counts are written down now and then, host by host, and read again when a crawl is taken up.

Touches: nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.growing import append_rows
from recrawl.detect.masks.host_masks import HostMasks
from recrawl.detect.masks.json_text import as_json, read_masks
from recrawl.detect.masks.masks import NO_MASKS
from recrawl.detect.reliability import (
    KINDS,
    MODIFIED,
    NO_RECORD,
    NOISE,
    NOT_MODIFIED,
    SignalRecord,
    audit_chance,
    check_chance,
    dates_changes,
    denies,
    false_changes,
    sample_chance,
)
from recrawl.entries.entries import HostBelieved

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from recrawl.arrays.types import Floats, Ints, Statuses
    from recrawl.detect.masks.masks import Masks
    from recrawl.frontier.host_table import HostTable

PAIRS = CHECKED, DIFFERED = "checked", "differed"  # what a store calls them
_MOST_PAIRS = 255
_ASKED_ALL_THE_SAME = 0.02  # of visits to a host that denies changes: it may have been put right


class Trust:
    """How far hosts and pages are believed.

    Args:
        hosts: Hosts by name.
        random: Draws the visits that are checked.

    Attributes:
        checked: How often each page was fetched twice at once, with the masks that it has.
        differed: How often it differed by itself all the same.
        audited: Whether anything is ever checked; a crawl that never does believes everybody.
    """

    def __init__(self, hosts: HostTable, random: np.random.Generator) -> None:
        self.checked: Statuses = np.empty(0, np.uint8)
        self.differed: Statuses = np.empty(0, np.uint8)
        self.audited = True
        self._hosts = hosts
        self._random = random
        self._words: dict[int, dict[str, SignalRecord]] = {}
        self._masks: dict[int, Masks] = {}  # of all pages of a host
        self._pages: dict[int, HostMasks] = {}  # what they are learnt from
        self._noise = NO_RECORD  # of all hosts together
        self._moved: set[int] = set()

    def grow(self, pages: int) -> None:
        """Make room for pages that were never fetched."""
        self.checked = append_rows(self.checked, np.zeros(pages, np.uint8))
        self.differed = append_rows(self.differed, np.zeros(pages, np.uint8))

    def resume(
        self,
        words: Iterable[tuple[str, str, tuple[float, ...]]],
        masks: Mapping[str, str],
        pairs: tuple[Statuses, Statuses] | None,
    ) -> None:
        """Take up what was written down.

        Args:
            words: Host, kind of word and counts.
            masks: What differs by itself on the pages of hosts.
            pairs: How often the first pages were fetched twice, and differed.
        """
        for name, kind, counts in words:
            if kind in KINDS:
                self._hear(self._hosts.row(name), kind, SignalRecord(*counts))
        for name, text in masks.items():
            self._masks[self._hosts.row(name)] = read_masks(text)
        self._moved.clear()
        if pairs is not None:
            for mine, other in zip((self.checked, self.differed), pairs, strict=True):
                rows = min(len(mine), len(other))
                mine[:rows] = other[:rows]

    def entries(self) -> list[HostBelieved]:
        """What is to be written down since the last time."""
        moved, self._moved = sorted(self._moved), set()
        return [
            HostBelieved(
                self._hosts.names[host],
                {
                    kind: (word.right, word.wrong, word.silent, word.quiet_days)
                    for kind, word in self._words.get(host, {}).items()
                },
                as_json(self.masks(host)),
            )
            for host in moved
        ]

    # What follows from it.

    def word(self, host: int, kind: str) -> SignalRecord:
        """What is known of one kind of word of a host."""
        return self._words.get(host, {}).get(kind, NO_RECORD)

    def words(self, kind: str) -> dict[int, SignalRecord]:
        """What is known of one kind of word, by host."""
        return {host: words[kind] for host, words in self._words.items() if kind in words}

    def asks(self, host: int) -> bool:
        """Whether to ask a host for a page only if it was modified."""
        return not denies(self.word(host, NOT_MODIFIED)) or self._lot(_ASKED_ALL_THE_SAME)

    def audits(self, host: int) -> bool:
        """Whether to fetch a page that its host calls unmodified all the same."""
        word = self.word(host, NOT_MODIFIED)
        return self.audited and (denies(word) or self._lot(audit_chance(word)))

    def checks(self, host: int, page: int, *, doubtful: bool = False) -> bool:
        """Whether to fetch a page that seems to have changed twice; always if that is doubtful."""
        chance = check_chance(int(self.checked[page]), self.word(host, NOISE))
        return self._lot(1.0 if doubtful else chance)

    def samples(self, host: int) -> bool:
        """Whether to fetch a page twice whatever was found."""
        return self._lot(sample_chance(self.word(host, NOISE)))

    def dates(self, host: int) -> bool:
        """Whether the host's dates of changes are worth anything."""
        return dates_changes(self.word(host, MODIFIED))

    def false_changes(self, host: int, page: int) -> float:
        """Chance that a visit to the unchanged page would show a change."""
        pairs = float(self.checked[page]), float(self.differed[page])
        return false_changes(self.word(host, NOISE), self._noise, *pairs)

    def false_changes_of(self, hosts: Ints, pages: Ints) -> Floats:
        """The same of many pages."""
        each = zip(hosts.tolist(), pages.tolist(), strict=True)
        return np.array([self.false_changes(*one) for one in each])

    def masks(self, host: int) -> Masks:
        """What differs by itself on all pages of a host."""
        return self._masks.get(host, NO_MASKS)

    # What it is learnt from.

    def heard(self, host: int, kind: str, **counts: float) -> None:
        """Note that a word of a host was right, wrong or missing."""
        self._hear(host, kind, SignalRecord(**counts))

    def pair(self, host: int, page: int, *, differed: bool, taught: bool, sampled: bool) -> None:
        """Note a page that was fetched twice at once.

        Args:
            host: Its host.
            page: The page.
            differed: Whether it differed though what is known to differ was left out.
            taught: Whether what differed is masked from now on: with these masks the page was
                never seen.
            sampled: Whether it was drawn by lot, not for what a visit found.
        """
        if differed and taught:
            self.checked[page] = self.differed[page] = 0
        elif self.checked[page] < _MOST_PAIRS:
            self.checked[page] += 1
            self.differed[page] += differed
        if sampled:
            self.heard(host, NOISE, right=float(not differed), wrong=float(differed))

    def masked(self, host: int, address: str, masks: Masks) -> None:
        """Note what was found to differ by itself on a page: its neighbours may do likewise."""
        pages = self._pages.setdefault(host, HostMasks())
        pages.learn(address, masks)
        self._share(host, pages)

    def _share(self, host: int, pages: HostMasks) -> None:
        """Let what several pages have in common hold for all of their host."""
        found = self.masks(host).joined(pages.shared())
        if found != self.masks(host):
            self._masks[host] = found
            self._moved.add(host)

    def _hear(self, host: int, kind: str, more: SignalRecord) -> None:
        counts = more.counts
        words = self._words.setdefault(host, {})
        words[kind] = words.get(kind, NO_RECORD).plus(**counts)
        if kind == NOISE:
            self._noise = self._noise.plus(**counts)
        self._moved.add(host)

    def _lot(self, chance: float) -> bool:
        return self.audited and self._random.random() < chance
