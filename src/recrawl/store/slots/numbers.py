"""Numbers of pages, hosts and rules in a slot, and in the whole store.

Pages of a slot are numbered from 0 in the order in which they were found, as those of the store
are: so one array of rising numbers leads there, and a search in it leads back.

Touches: a database, through what it is given.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from recrawl.errors import InvalidParameter
from recrawl.settings.rules import NO_RULE
from recrawl.store.rows.columns import whole_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.arrays.types import Ints
    from recrawl.settings.slots import SlotScope
    from recrawl.store.rows.database import Database

_NOBODY = -1
_HOSTS = """
    select host - 1 as number from slot_hosts where slot = ? and host > ? order by host
"""
_PAGES = """
    select pages.id - 1 as number from slot_hosts join pages on pages.host = slot_hosts.host
    where slot_hosts.slot = ?
"""
_SINCE = " and pages.id > ?"


class SlotNumbers:
    """Which pages, hosts and rules a slot has; shared by its writer and its readers.

    Args:
        scope: The slot.
    """

    def __init__(self, scope: SlotScope) -> None:
        self.scope = scope
        self._rules = np.array(scope.rules, np.int64)
        self._pages = np.empty(0, np.int64)
        self._hosts = np.empty(0, np.int64)
        self._lock = Lock()

    def grow(self, connection: Database) -> None:
        """Take in pages and hosts of the slot that were added since."""
        with self._lock:
            self._grow_hosts(connection)
            query, values = _PAGES, [self.scope.slot]
            if len(self._pages):  # else an index alone tells, as long as nothing else is asked
                query, values = _PAGES + _SINCE, [*values, _last(self._pages) + 1]
            self._pages = np.append(
                self._pages, np.sort(whole_numbers(connection, query, tuple(values)))
            )

    def add(self, connection: Database, pages: range) -> None:
        """Take in pages of the slot that were just added, with their hosts."""
        with self._lock:
            self._grow_hosts(connection)
            self._pages = np.append(self._pages, np.array(pages, np.int64))

    def _grow_hosts(self, connection: Database) -> None:
        values = self.scope.slot, _last(self._hosts) + 1
        self._hosts = np.append(self._hosts, whole_numbers(connection, _HOSTS, values))

    @property
    def pages(self) -> Ints:
        """Numbers in the store of all pages of the slot, rising."""
        return self._pages

    @property
    def hosts(self) -> Ints:
        """The same of its hosts."""
        return self._hosts

    @property
    def rules(self) -> Ints:
        """Numbers of its rules in the settings of the crawl."""
        return self._rules

    def page(self, number: int) -> int:
        """Number in the store of one of its pages."""
        return int(self.pages_of([number])[0])

    def pages_of(self, numbers: Sequence[int] | Ints) -> Ints:
        """The same of several.

        Raises:
            InvalidParameter: One of the numbers is not that of a page.
        """
        wanted = np.asarray(numbers, np.int64)
        if len(wanted) and not (wanted.min() >= 0 and wanted.max() < len(self._pages)):
            raise InvalidParameter(
                f"slot {self.scope.slot} has {len(self._pages)} pages (got {wanted.tolist()[:9]})"
            )
        return self._pages[wanted]

    def own_pages(self, numbers: Ints) -> Ints:
        """Numbers in the slot of pages of the store; -1 for those of other slots."""
        return _places(self._pages, numbers)

    def own_page(self, number: int | None) -> int | None:
        """The same of one page; None for one of another slot, or none."""
        if number is None:
            return None
        found = int(self.own_pages(np.array([number]))[0])
        return None if found == _NOBODY else found

    def own_hosts(self, numbers: Ints) -> Ints:
        """Numbers in the slot of hosts of the store; -1 for those of other slots."""
        return _places(self._hosts, numbers)

    def own_rules(self, numbers: Ints) -> Ints:
        """Numbers of rules in the settings of the slot; `NO_RULE` for those of other slots."""
        return np.where(numbers == NO_RULE, NO_RULE, _places(self._rules, numbers))

    def rules_of(self, numbers: Sequence[int]) -> list[int]:
        """Numbers of rules in the settings of the crawl."""
        return [NO_RULE if each == NO_RULE else int(self._rules[each]) for each in numbers]


def _last(numbers: Ints) -> int:
    return int(numbers[-1]) if len(numbers) else -1


def _places(known: Ints, wanted: Ints) -> Ints:
    """Place of each wanted number among the known ones, which rise; -1 where it is not there."""
    if not len(known):
        return np.full(len(wanted), _NOBODY)
    places = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return np.where(known[places] == wanted, places, _NOBODY)
