"""The pages of a pool that have a copy: what its frontier learns of them, and who decides on each.

A page is *held* while it is leased, put off or visited at a fixed interval; otherwise the policy of
the frontier decides when it is visited. Pages that were copied a moment ago come into the frontier
together, when it is next asked.

Pure.
"""

from __future__ import annotations

from math import inf, nan
from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.growing import append_rows
from recrawl.errors import InvalidParameter
from recrawl.frontier.page_table import ADMITTING, NEVER, NOT_ADMITTED
from recrawl.policies.pages import Pages
from recrawl.settings.terms import JITTER
from recrawl.units import instant_after_epoch, instants_after_epoch
from recrawl.visits.status import PageStatus

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints
    from recrawl.frontier.frontier import Frontier, ObservedChange
    from recrawl.frontier.page_table import PageTable
    from recrawl.frontier.queue import Queue

_COPIED = int(PageStatus.COPIED)  # a plain number: looked up at every visit


class CopiedPages:
    """Pages that have a copy.

    Args:
        frontier: What orders them.
        table: Status, host and set time of each.
        new: Pages without a copy, of which the frontier is told how many there are.

    Attributes:
        page: Number of the page in each row of the frontier.
    """

    def __init__(self, frontier: Frontier, table: PageTable, new: Queue) -> None:
        self.frontier = frontier
        self.page: Ints = np.empty(0, np.int64)
        self._table = table
        self._new = new
        # Pages copied for the first time and not yet in the frontier: page, address, instant, age.
        self._copied: list[tuple[int, str, float, float]] = []
        self._told: set[int] = set()  # rows of visits that the policy may not have learned from

    def __len__(self) -> int:
        """Count the pages, in the frontier or on their way."""
        return len(self.page) + len(self._copied)

    # Pages come.

    def resume(self, pages: Ints) -> None:
        """Take in the pages in the rows of a frontier that knows them already, in order."""
        self.page = np.array(pages, np.int64)
        self._table.row[self.page] = np.arange(len(pages))

    def enter(self, page: int, address: str, now: float, age: float) -> bool:
        """Take in a page of which there is a first copy; False where it is in already."""
        table = self._table
        if table.row[page] != NOT_ADMITTED:
            return False
        table.row[page] = ADMITTING
        self._copied.append((page, address, now, age))
        return True

    def admit(self) -> None:
        """Let the frontier know of pages that have a copy since the last time."""
        if not self._copied:
            return
        table = self._table
        numbers, addresses, when, ages = zip(*self._copied, strict=True)
        self._copied = []
        pages, at = np.array(numbers), instants_after_epoch(np.array(when))
        weight = table.weight(pages)
        found = Pages.of(addresses, at, weight=weight, first_age=np.array(ages))
        self.frontier.expect(len(self._new))
        table.row[pages] = self.frontier.add(found, at.max())
        self.page = append_rows(self.page, pages)
        self.place_many(pages, np.array(when))

    # What visits show.

    def learn(self, page: int, now: float, outcome: ObservedChange) -> None:
        """Let the policy learn from a visit to a page that has a copy."""
        if self._table.row[page] == ADMITTING:
            self.admit()
        row = int(self._table.row[page])
        if row < 0:
            raise InvalidParameter(f"page {page}: must have a copy before it is seen again")
        if row in self._told:  # a policy learns from one visit to a page at a time
            self.learn_all()
        self._told.add(row)
        self.frontier.seen_one(row, now, outcome)

    def announced(
        self, pages: Ints, named: Floats, reliability: tuple[Floats, Floats], now: float
    ) -> None:
        """Let the policy know what a host announces; pages without a copy do not count."""
        self.admit()
        self.learn_all()
        row = self._table.row[pages]
        some = np.flatnonzero(row >= 0)
        words = reliability[0][some], reliability[1][some]
        self.frontier.announced(row[some], named[some], words, instant_after_epoch(now))

    def hinted(self, pages: Ints, right: Floats) -> None:
        """Let the policy know of hints that pages changed; pages without a copy do not count."""
        self.admit()
        self.learn_all()
        row = self._table.row[pages]
        some = np.flatnonzero(row >= 0)
        self.frontier.hinted(row[some], right[some])

    def unannounced_changes(self, pages: Ints) -> Floats:
        """Changes that visits would have met unannounced if hosts announced none."""
        row = self._table.row[pages]
        unannounced_changes = np.zeros(len(pages))
        unannounced_changes[row >= 0] = self.frontier.unannounced_changes(row[row >= 0])
        return unannounced_changes

    def rate(self, page: int, now: float) -> float:
        """Changes a day that are expected of a page since its last visit; nan if unknown.

        By what the policy learned at its last tick: nothing is learned for the sake of the answer.
        """
        row = int(self._table.row[page])
        return self.frontier.rate(row, now) if row >= 0 else nan

    def learn_all(self) -> None:
        """Let the policy learn from all visits that it was told of."""
        _ = self.frontier.state  # it has learned from all visits when it tells
        self._told.clear()

    def waiting(self, now: float) -> Ints:
        """Rows that the policy decides on at an instant, but for those that it has yet to learn of.

        Of these it would say what they were worth before they were visited.
        """
        rows = self.frontier.waiting(now)
        return rows[~np.isin(rows, np.fromiter(self._told, np.int64, len(self._told)))]

    # Who decides.

    def hold(self, page: int) -> None:
        """Let nobody but a set time decide on a page; one without a copy is left alone."""
        row = int(self._table.row[page])
        if row >= 0:
            self.frontier.hold(row)

    def hand_to_policy(self, page: int, last: float) -> None:
        """Let the policy decide on a page again, on its terms, after a visit on the day `last`."""
        terms, row = self._table.terms_of(page), int(self._table.row[page])
        if terms.interval:
            self.frontier.hold(row)
        else:
            self.frontier.release(row, last + terms.minimum if terms.minimum else -inf)

    def place(self, page: int, last: float) -> None:
        """Say of a page who decides on it, after a visit on the day `last`."""
        table = self._table
        schedule_at = table.set[page] < last + table.terms_of(page).maximum * (1 - JITTER)
        elsewhere = table.failures[page] > 0 or table.status[page] != _COPIED
        elsewhere = elsewhere or table.withdrawn[page]
        if table.leased[page] or elsewhere or schedule_at:
            self.hold(page)
        else:
            self.hand_to_policy(page, last)

    def place_many(self, pages: Ints, last: Floats) -> None:
        """Say of pages who decides on each, after visits on the days `last`."""
        table = self._table
        bound = np.array([bool(each.interval or each.minimum) for each in table.terms])
        special = bound[table.term[pages]] | (table.failures[pages] > 0) | table.leased[pages]
        special |= (table.status[pages] != _COPIED) | (table.set[pages] < NEVER)
        special |= table.withdrawn[pages]
        # The policy decides on all others as they come in.
        for each in zip(pages[special].tolist(), last[special].tolist(), strict=True):
            self.place(*each)
