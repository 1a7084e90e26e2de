"""Hints that pages have changed, which wait in a store until a checkpoint knows of them.

Whoever gives a hint leaves it in the store. A crawl *hears* it when it is opened, or within seconds
while it runs, and from then on believes that the page has more likely changed; so does everybody
who only looks at the crawl, by the same hints, read here. A hint stays in the store until what was
heard is saved: a crawl that is killed has it still. The checkpoint says up to which number hints
were heard, so that none counts twice.

A hint stands until a later visit compares its page with the copy. One that waited while its page
was visited says nothing any more.

Touches: a store, through what it is given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.detect.reliability import HINT, NO_RECORD, SignalRecord, precision
from recrawl.parse.addresses import canonical, host_of
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from recrawl.arrays.types import Bools, Floats, Ints
    from recrawl.entries.store import ReadStore
    from recrawl.settings.settings import Settings

HEARD = "hints"  # part of a checkpoint: number of the last hint that was heard
_AT_ONCE = 1000  # hints that count as one where they are of the same page
_MOST_NUMBER = (1 << 53) - 1
_ROUNDED = 1e-3 / SECONDS_A_DAY  # instants in a store are rounded to milliseconds


@dataclass(frozen=True, slots=True, eq=False)
class Hints:
    """Some hints: one row per page that they name, rising.

    Args:
        pages: The pages, counted from 0.
        at: When each was last hinted, in days after 1970.
        right: Chance that each hint is right.
        unknown: Addresses that are no pages of the store.
        last: Number of the last hint.
    """

    pages: Ints
    at: Floats
    right: Floats
    unknown: Sequence[str]
    last: int

    def standing(self, last: Floats) -> Hints:
        """Those of pages that have not been compared with their copies since.

        Args:
            last: When each page was last compared, in days after 1970; nan if never.
        """
        known = np.flatnonzero(self.pages < len(last))
        return self.take(known[stand(self.at[known], last[self.pages[known]])])

    def take(self, rows: Ints | Bools) -> Hints:
        """Some of the pages; addresses that are none are left out."""
        return Hints(self.pages[rows], self.at[rows], self.right[rows], (), self.last)


@dataclass(slots=True)
class HintPosition:
    """How far a crawl has come with the hints of its store.

    Attributes:
        heard: Number of the last hint that the policy knows of.
        taken: Number of the last hint whose page was added where it was not known, too.
        unsaved: Hints that the policy knows of and no checkpoint does.
    """

    heard: int = 0
    taken: int = 0
    unsaved: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class HeardHints:
    """Hints that stand and that no checkpoint knows of.

    Args:
        batches: They, as they were heard.
        saved: Number of the last hint that the checkpoint knows of.
    """

    batches: Sequence[Hints] = ()
    saved: int = 0

    @property
    def last(self) -> int:
        """Number of the last hint that was heard, whether it stands or not."""
        return self.batches[-1].last if self.batches else self.saved

    def __len__(self) -> int:
        """Count them."""
        return sum(len(each.pages) for each in self.batches)

    def hinted_at(self, page: int) -> float:
        """When a page was last hinted, in days after 1970; nan where it was not."""
        found = [float(at) for each in self.batches for at in each.at[each.pages == page]]
        return max(found, default=np.nan)


def stand(at: Floats, last: Floats) -> Bools:
    """Which hints stand that were given at some instants.

    Args:
        at: The instants, in days after 1970.
        last: When the page of each was last compared with its copy; nan if never.

    Examples:
        A page that was never compared has no copy that could be stale:

        >>> stand(np.array([5.0, 5.0, 5.0]), np.array([4.0, 6.0, np.nan])).tolist()
        [True, False, False]
    """
    return np.asarray(at + _ROUNDED >= last)


def read_hints(
    settings: Settings,
    store: ReadStore,
    after: int,
    record_of: Callable[[str], SignalRecord] | None = None,
    *,
    until: int | None = None,
) -> Iterator[Hints]:
    """Hints that wait above a number, some at a time.

    Args:
        settings: What is asked of the crawl.
        store: Where they wait.
        after: The number.
        record_of: How often hints for a host were right; as the store has it, unless given.
        until: Number of the last hint that is wanted; all unless given.
    """
    last = _MOST_NUMBER if until is None else until
    while some := [each for each in store.hints(after, _AT_ONCE) if each[0] <= last]:
        record_of = record_of or _records_in(store)
        given = list(dict.fromkeys(address for *_, address in some))
        found = dict(zip(given, store.find_pages(given), strict=True))
        newest = dict[str, float]()
        for _, at, address in some:
            if found[address] is not None or canonical(address) == address:  # whoever wrote it
                name = settings.admit(address).address
                newest[name] = max(newest.get(name, at), at)
        others = [name for name in newest if name not in found]
        found |= dict(zip(others, store.find_pages(others), strict=True))
        after = some[-1][0]
        yield _hints({name: (found[name], at) for name, at in newest.items()}, record_of, after)


def _hints(
    named: Mapping[str, tuple[int | None, float]],
    record_of: Callable[[str], SignalRecord],
    last: int,
) -> Hints:
    """Hints by the addresses that they name: page of each, or None, and epoch seconds."""
    known = sorted((page, at, name) for name, (page, at) in named.items() if page is not None)
    hosts = [host_of(name) for *_, name in known]
    right = {host: precision(record_of(host)) for host in set(hosts)}
    return Hints(
        np.array([page for page, *_ in known], np.int64),
        np.array([at for _, at, _ in known], np.float64) / SECONDS_A_DAY,
        np.array([right[host] for host in hosts], np.float64),
        [name for name, (page, _) in named.items() if page is None],
        last,
    )


def _records_in(store: ReadStore) -> Callable[[str], SignalRecord]:
    """How often hints for hosts were right, as a store has it."""
    records = {
        host: SignalRecord(*counts) for host, kind, counts in store.signal_records() if kind == HINT
    }
    return lambda host: records.get(host, NO_RECORD)


def heard_in(parts: Mapping[str, Any]) -> int:
    """Number of the last hint that a checkpoint knows of; 0 for none."""
    said = parts.get(HEARD)
    return said if type(said) is int and 0 <= said <= _MOST_NUMBER else 0


def saved_heard(store: ReadStore) -> int:
    """The same of the last checkpoint of a store."""
    found = store.checkpoint((HEARD,))
    return 0 if found is None else heard_in(found.parts)
