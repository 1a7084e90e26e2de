"""How far hosts are believed: their validators and dates, and that a page which differs changed.

Every visit may teach something here; `recrawl.detect.reliability` says what follows from the
counts. They are written down now and then, host by host, and read again when a crawl is opened.

Touches: a store, through what it is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    sample_chance,
)
from recrawl.entries.entries import HostBelieved
from recrawl.state.checkpoint import some_parts
from recrawl.state.false_changes import PAIRS, FalseChangeModel
from recrawl.state.page_validators import VALIDATED, PageValidators

if TYPE_CHECKING:
    import numpy as np

    from recrawl.detect.masks.masks import Masks
    from recrawl.entries.store import ReadStore
    from recrawl.frontier.host_table import HostTable

# Conditional requests to a host or for a page that denies changes: it may have been mended.
_CONDITIONAL_ALL_THE_SAME = 0.02


class Trust:
    """Reliability of what hosts say, and of the changes that visits find.

    Args:
        hosts: Hosts by name.
        random: Draws the visits that are checked.

    Attributes:
        false_changes: How likely visits are to find unchanged pages changed.
        validators: How far single pages are believed that are called unmodified.
        audited: Whether anything is ever checked; a crawl that never does believes everybody.
    """

    def __init__(self, hosts: HostTable, random: np.random.Generator) -> None:
        self.false_changes = FalseChangeModel()
        self.validators = PageValidators()
        self.audited = True
        self._hosts = hosts
        self._random = random
        self._records: dict[int, dict[str, SignalRecord]] = {}
        self._masks: dict[int, Masks] = {}  # of all pages of a host
        self._masks_of_pages: dict[int, HostMasks] = {}  # what they are learned from
        self._unsaved: set[int] = set()  # hosts

    def grow(self, pages: int) -> None:
        """Make room for pages that were never fetched."""
        self.false_changes.grow(pages)
        self.validators.grow(pages)

    def load(self, store: ReadStore) -> None:
        """Read what was written down."""
        for name, kind, counts in store.signal_records():
            if kind in KINDS:
                record = SignalRecord(*counts)
                self.count_signal(self._hosts.row(name), kind, **record.counts)
        for name, text in store.host_masks().items():
            self._masks[self._hosts.row(name)] = read_masks(text)
        self.false_changes.resume(some_parts(store, *PAIRS))
        self.validators.resume(some_parts(store, *VALIDATED))
        self._unsaved.clear()

    def entries(self) -> list[HostBelieved]:
        """What is to be written down since the last time."""
        hosts, self._unsaved = sorted(self._unsaved), set()
        return [
            HostBelieved(
                self._hosts.names[host],
                {
                    kind: (record.right, record.wrong, record.silent, record.quiet_days)
                    for kind, record in self._records.get(host, {}).items()
                },
                as_json(self.masks(host)),
            )
            for host in hosts
        ]

    # What follows from it.

    def record(self, host: int, kind: str) -> SignalRecord:
        """How often one kind of signal of a host was right."""
        return self._records.get(host, {}).get(kind, NO_RECORD)

    def records(self, kind: str) -> dict[int, SignalRecord]:
        """How often one kind of signal was right, by host."""
        return {host: kinds[kind] for host, kinds in self._records.items() if kind in kinds}

    def use_conditional(self, host: int, page: int) -> bool:
        """Whether to ask a host for a page only if it was modified."""
        if self.must_be_whole(page):
            return False
        return not self._denies(host, page) or self._bernoulli(_CONDITIONAL_ALL_THE_SAME)

    def must_be_whole(self, page: int) -> bool:
        """Whether a page was called unmodified so often in a row that it is fetched in full."""
        return self.audited and self.validators.must_be_whole(page)

    def audit_304(self, host: int, page: int) -> bool:
        """Whether to fetch a page in full that its host calls unmodified."""
        chance = audit_chance(self.record(host, NOT_MODIFIED))
        return self.audited and (self._denies(host, page) or self._bernoulli(chance))

    def _denies(self, host: int, page: int) -> bool:
        """Whether a host's "not modified" is worth nothing, of this page or of all."""
        return bool(self.validators.caught[page]) or denies(self.record(host, NOT_MODIFIED))

    def refetch_changed(self, host: int, page: int, *, doubtful: bool = False) -> bool:
        """Whether to fetch a page that seems to have changed twice; always if that is doubtful."""
        checked = int(self.false_changes.checked[page])
        chance = 1.0 if doubtful else check_chance(checked, self.record(host, NOISE))
        return self._bernoulli(chance)

    def draw_sample(self, host: int) -> bool:
        """Whether to fetch a page twice whatever was found."""
        return self._bernoulli(sample_chance(self.record(host, NOISE)))

    def believes_dates(self, host: int) -> bool:
        """Whether the host's dates of changes are worth anything."""
        return dates_changes(self.record(host, MODIFIED))

    def masks(self, host: int) -> Masks:
        """What differs by itself on all pages of a host."""
        return self._masks.get(host, NO_MASKS)

    # What it is learned from.

    def count_signal(self, host: int, kind: str, **counts: float) -> None:
        """Count a signal of a host that was right, wrong or missing."""
        kinds = self._records.setdefault(host, {})
        kinds[kind] = kinds.get(kind, NO_RECORD).plus(**counts)
        if kind == NOISE:
            self.false_changes.count_host(host, SignalRecord(**counts))
        self._unsaved.add(host)

    def count_denied(self, host: int, page: int) -> None:
        """Count a page that had changed though its host called it unmodified."""
        if not self.validators.caught[page]:  # what one page does again says nothing of others
            self.count_signal(host, NOT_MODIFIED, wrong=1)
        self.validators.catch(page)

    def count_told(self, host: int, page: int) -> None:
        """Count a change that a host told of when it was asked whether a page was modified."""
        self.count_signal(host, NOT_MODIFIED, right=1)
        self.validators.clear(page)

    def count_pair(
        self, host: int, page: int, *, differed: bool, masked: bool, sampled: bool
    ) -> None:
        """Count a page that was fetched twice at once.

        Args:
            host: Its host.
            page: The page.
            differed: Whether it differed though what is known to differ was left out.
            masked: Whether what differed is left out from now on.
            sampled: Whether it was drawn at random, not for what a visit found.
        """
        self.false_changes.count_page(page, differed=differed, masked=masked)
        if sampled:
            self.count_signal(host, NOISE, right=float(not differed), wrong=float(differed))

    def learn_masks(self, host: int, address: str, masks: Masks) -> None:
        """Learn what differs by itself on a page: its neighbours may do likewise."""
        pages = self._masks_of_pages.setdefault(host, HostMasks())
        pages.learn(address, masks)
        found = self.masks(host).joined(pages.shared())
        if found != self.masks(host):
            self._masks[host] = found
            self._unsaved.add(host)

    def _bernoulli(self, chance: float) -> bool:
        return self.audited and self._random.random() < chance
