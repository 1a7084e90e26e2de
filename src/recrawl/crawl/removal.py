"""Pages taken out of a crawl that does not run, and pages brought back into it.

They are taken out of its WARC files, then out of its store. The files come first, while the store
still knows the pages. So whenever the process is killed, the same call does the rest.

Touches: a store and files, through what it is given.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.adapters.warc.erasing import erase_records
from recrawl.adapters.warc.records import escaped_uri
from recrawl.entries.entries import Erased, PagesErased, PagesFound, PagesRemoved
from recrawl.parse.addresses import canonical, host_of
from recrawl.settings.rules import NO_RULE
from recrawl.state.events import told_event
from recrawl.state.opening import unlearned
from recrawl.state.snapshot import rules_by_address
from recrawl.visits.status import FeedKind, PageStatus, RemovalReason

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from recrawl.arrays.types import Ints
    from recrawl.entries.entries import Entry, PageEvent
    from recrawl.entries.store import ReadStore, WriteStore
    from recrawl.settings.settings import Settings

_TAKEN_OUT = (PageStatus.REMOVED, PageStatus.ERASED)
_WILD = "*"
_NOTHING = Erased()
_PRUNED_AT_A_TIME = 10_000


@dataclass(frozen=True, slots=True)
class PageSelection:
    """Pages that are named by addresses or by patterns, in which `*` stands for any letters.

    Args:
        pages: Numbers of pages by address; None for an address that is no page.
        patterns: Patterns that addresses match as a whole.

    Examples:
        >>> selection = PageSelection({"https://a.org/x": 3}, (re.compile("https://a.org/p/.*"),))
        >>> [selection.holds(f"https://a.org/{path}") for path in ("x", "p/1", "y")]
        [True, True, False]
    """

    pages: Mapping[str, int | None]
    patterns: tuple[re.Pattern[str], ...] = ()

    @classmethod
    def of(cls, reader: ReadStore, named: Sequence[str]) -> PageSelection:
        """Pages of a store; an address that is one's own is no pattern."""
        addresses = [canonical(each) or each for each in named]
        pages = dict(zip(addresses, reader.find_pages(addresses), strict=True))
        wild = [each for each in addresses if _WILD in each and pages[each] is None]
        patterns = tuple(re.compile(".*".join(map(re.escape, each.split(_WILD)))) for each in wild)
        found = {each: page for each, page in pages.items() if each not in wild}
        number = 0
        for some in reader.all_addresses() if patterns else ():
            for address in some:
                if any(pattern.fullmatch(address) for pattern in patterns):
                    found[address] = number
                number += 1
        return cls(found, patterns)

    def holds(self, address: str) -> bool:
        """Whether an address is one of them, known or not."""
        return address in self.pages or any(each.fullmatch(address) for each in self.patterns)

    @property
    def known(self) -> list[tuple[str, int]]:
        """Those that are pages, with their numbers."""
        return [(address, page) for address, page in self.pages.items() if page is not None]


@dataclass(frozen=True, slots=True)
class TakenOut:
    """What was taken out of a page.

    Args:
        address: Its address.
        status: How it stands now.
        erased: What was deleted from the store.
        records: Records that were taken out of WARC files.
    """

    address: str
    status: PageStatus
    erased: Erased = _NOTHING
    records: int = 0


def remove_pages(
    store: WriteStore, reader: ReadStore, chosen: PageSelection, at_seconds: float
) -> list[TakenOut]:
    """Take pages out, and keep what is known of them.

    Args:
        store: The store.
        reader: The same, for reading.
        chosen: The pages.
        at_seconds: The current time.
    """
    pages = _still_there(reader, chosen, _TAKEN_OUT)
    events = _events(reader, pages, RemovalReason.REMOVED, at_seconds)
    _write(store, reader, [PagesRemoved(pages, at_seconds, events)] if pages else [])
    status = reader.pages().status
    return [TakenOut(address, PageStatus(int(status[page]))) for address, page in chosen.known]


def erase_from_files(
    folders: Sequence[Path],
    agent: str,
    chosen: PageSelection,
    on_progress: Callable[[float], object],
) -> tuple[dict[str, int], set[str]]:
    """Take the records of pages out of WARC files.

    Args:
        folders: Folders of WARC files.
        agent: `User-Agent` of the crawl.
        chosen: The pages.
        on_progress: Called now and then with the share of a folder that was looked through.

    Returns:
        Records that were taken out, by address as records write it; addresses that redirects of
        these led to, whose records stay.
    """
    names = {escaped_uri(address) for address in chosen.pages}
    records: dict[str, int] = {}
    targets: set[str] = set()
    for folder in folders:
        found = erase_records(
            folder, agent, lambda name: name in names or chosen.holds(name), on_progress
        )
        targets |= found.targets
        for name, count in found.records.items():
            records[name] = records.get(name, 0) + count
    return records, targets


def erase_pages(
    store: WriteStore,
    reader: ReadStore,
    chosen: PageSelection,
    at_seconds: float,
    records: Mapping[str, int],
) -> list[TakenOut]:
    """Delete all that a store knows of pages but their visits, and leave tombstones.

    Args:
        store: The store.
        reader: The same, for reading.
        chosen: The pages.
        at_seconds: The current time.
        records: Records that were taken out of WARC files, by address as they write it.
    """
    pages = _still_there(reader, chosen, (PageStatus.ERASED,))
    events = _events(reader, pages, RemovalReason.ERASED, at_seconds)
    entries = [
        PagesErased([page], at_seconds, [event]) for page, event in zip(pages, events, strict=True)
    ]
    receipts = _write(store, reader, entries)
    erased = dict(zip(pages, receipts, strict=True))
    left = dict(records)
    rows = []
    for address, page in chosen.pages.items():
        receipt = _NOTHING if page is None else erased.get(page, _NOTHING)
        count = left.pop(escaped_uri(address), 0)
        rows.append(TakenOut(address, PageStatus.ERASED, receipt, count))
    return rows + [TakenOut(name, PageStatus.ERASED, records=count) for name, count in left.items()]


def taken_out(reader: ReadStore, addresses: Sequence[str]) -> dict[str, PageStatus]:
    """Those of some canonical addresses whose pages were removed or erased, and which it was.

    Args:
        reader: The store.
        addresses: The addresses.
    """
    status = reader.pages().status
    found = zip(addresses, reader.find_pages(addresses), strict=True)
    named = {each: PageStatus(int(status[page])) for each, page in found if page is not None}
    return {each: status for each, status in named.items() if status in _TAKEN_OUT}


def bring_back(
    store: WriteStore,
    reader: ReadStore,
    settings: Settings,
    addresses: Sequence[str],
    at_seconds: float,
) -> None:
    """Let pages that were removed or erased be pages of the crawl again.

    One that was removed has its copy still, and what its visits taught is learned again; one that
    was erased is a new page.

    Args:
        store: The store.
        reader: The same, for reading.
        settings: What is asked of the crawl now.
        addresses: Canonical addresses of such pages.
        at_seconds: The current time.
    """
    copies = reader.copies([page for page in reader.find_pages(addresses) if page is not None])
    back = told_event(FeedKind.BACK, at_seconds)
    found = PagesFound(
        addresses,
        [host_of(address) for address in addresses],
        settings.rules_of(addresses),
        at_seconds,
        again=True,
        events=[None if copy is None else back for copy in copies],
    )
    _write(store, reader, [found])


def unlisted_pages(settings: Settings, reader: ReadStore) -> Ints:
    """Pages that are no site's and no listing's by these settings, rising; erased ones are not.

    Args:
        settings: What is asked of the crawl now.
        reader: Its store.
    """
    status = reader.pages().status
    # Pages that were taken out of a site are still its own, so that they are not added again.
    rules = rules_by_address(settings, reader, len(status))
    return np.flatnonzero((rules == NO_RULE) & (status != PageStatus.ERASED))


def prune_pages(
    store: WriteStore, reader: ReadStore, pages: Sequence[int], at_seconds: float
) -> Erased:
    """Delete all that a store knows of pages but their visits; found again, they are new pages.

    Args:
        store: The store.
        reader: The same, for reading.
        pages: Numbers of the pages.
        at_seconds: The current time.
    """
    found = _NOTHING
    for start in range(0, len(pages), _PRUNED_AT_A_TIME):
        some = pages[start : start + _PRUNED_AT_A_TIME]
        events = _events(reader, some, RemovalReason.ERASED, at_seconds)
        entry = PagesErased(some, at_seconds, events, forgotten=True)
        found = sum(_write(store, reader, [entry]), found)
    return found


def _still_there(
    reader: ReadStore, chosen: PageSelection, done: tuple[PageStatus, ...]
) -> list[int]:
    """Numbers of the pages that do not stand so already."""
    status = reader.pages().status
    return [page for _, page in chosen.known if not np.isin(status[page], done)]


def _events(
    reader: ReadStore, pages: Sequence[int], reason: RemovalReason, at_seconds: float
) -> list[PageEvent | None]:
    """What readers of the change feed are told of pages.

    One that was removed is told again when it is erased: what was kept of it must go then, too.
    """
    columns = reader.pages()
    event = told_event(FeedKind.REMOVED, at_seconds, reason)
    told = columns.listed | (columns.status == PageStatus.REMOVED)
    return [event if told[page] else None for page in pages]


def _write(store: WriteStore, reader: ReadStore, entries: Sequence[Entry]) -> list[Erased]:
    """Write entries with a checkpoint that knows nothing of their pages any more."""
    if not entries:
        return []
    receipts = store.write([*entries, unlearned(reader)])
    return [each for each in receipts if isinstance(each, Erased)]
