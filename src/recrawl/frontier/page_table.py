"""What a live crawl knows of each of its pages, in arrays that grow.

Pure.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.growing import append_rows
from recrawl.visits.status import PageStatus

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.arrays.types import Bools, Floats, Ints
    from recrawl.frontier.host_table import HostTable
    from recrawl.settings.terms import VisitTerms

NEVER = inf
# Rows of pages that are not in a frontier: without a copy, and copied a moment ago.
NOT_ADMITTED, ADMITTING = -1, -2


class PageTable:
    """Facts about each page of a crawl: one row per page.

    Args:
        hosts: When each host may be asked.
        terms: On which terms pages are visited.

    Attributes:
        host: Host of each.
        term: Number of its terms.
        factor: What the weight of its terms is multiplied by.
        status: Where it stands in its life.
        failures: How many visits in a row have failed, or found it gone.
        row: Its row in the frontier of its pool.
        set: Its set time.
        called: When its pool looks at its set time, which may have moved further since.
        leased: Whether it is leased.
        withdrawn: Whether it is none of the crawl's for now: nothing leases it.
    """

    def __init__(self, hosts: HostTable, terms: Sequence[VisitTerms]) -> None:
        self.hosts = hosts
        self.terms = tuple(terms)
        self._weight: Floats = np.array([each.weight for each in terms])
        self.host: Ints = np.empty(0, np.int32)
        self.term: Ints = np.empty(0, np.int32)
        self.factor: Floats = np.empty(0)
        self.status: Ints = np.empty(0, np.int8)
        self.failures: Ints = np.empty(0, np.int32)
        self.row: Ints = np.empty(0, np.int64)
        self.set: Floats = np.empty(0)
        self.called: Floats = np.empty(0)
        self.leased: Bools = np.empty(0, np.bool_)
        self.withdrawn: Bools = np.empty(0, np.bool_)

    def __len__(self) -> int:
        """Count the pages."""
        return len(self.host)

    def add(self, host: Ints, term: Ints, factor: Floats | None = None) -> Ints:
        """Write down pages without a copy; returns their numbers."""
        first, count = len(self), len(host)
        self.host = append_rows(self.host, np.asarray(host, np.int32))
        self.term = append_rows(self.term, np.asarray(term, np.int32))
        ones = np.ones(count)
        self.factor = append_rows(self.factor, ones if factor is None else factor)
        self.status = append_rows(self.status, np.full(count, PageStatus.NEW, np.int8))
        self.failures = append_rows(self.failures, np.zeros(count, np.int32))
        self.row = append_rows(self.row, np.full(count, NOT_ADMITTED))
        self.set = append_rows(self.set, np.full(count, NEVER))
        self.called = append_rows(self.called, np.full(count, NEVER))
        self.leased = append_rows(self.leased, np.zeros(count, np.bool_))
        self.withdrawn = append_rows(self.withdrawn, np.zeros(count, np.bool_))
        return np.arange(first, first + count)

    def weight(self, pages: Ints) -> Floats:
        """How much fresh copies of some pages matter."""
        return self._weight[self.term[pages]] * self.factor[pages]

    def terms_of(self, page: int) -> VisitTerms:
        """Terms of a page."""
        return self.terms[int(self.term[page])]
