"""A crawl as plain values, from which what it does next can be worked out, as it is or otherwise.

Of a large crawl some pages are drawn at random, with as large a part of the budget and of what
hosts have room for: then a page is next visited when it would be among all, within a little.

Touches: nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.plan.budget import Budget
from recrawl.policies.recrawl.state import RecrawlState

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints
    from recrawl.frontier.agenda import KnownPages
    from recrawl.policies.policy import Policy
    from recrawl.settings.terms import VisitTerms
    from recrawl.state.pages import RecentVisits


@dataclass(frozen=True, slots=True)
class HostScenario:
    """A host.

    Args:
        delay: Days between two requests to it.
        after: Instant before which it must not be asked, in days after 1970.
        wait: Days that it takes to answer.
    """

    delay: float
    after: float
    wait: float


@dataclass(frozen=True, slots=True, eq=False)
class PoolScenario:
    """Pages that share a budget.

    Args:
        budget: What all of them may cost.
        learned: What the policy has learned of the whole pool; None where it is nothing.
        pages: Pages of the scenario that it has learned of.
        rows: Their rows in what it has learned.
        spent: What they have cost lately.
    """

    budget: Budget
    learned: Any
    pages: Ints
    rows: Ints
    spent: RecentVisits

    @property
    def state(self) -> RecrawlState | None:
        """What our policy has learned; None where it is nothing, or another policy decides."""
        return self.learned if isinstance(self.learned, RecrawlState) else None


@dataclass(frozen=True, slots=True, eq=False)
class Scenario:
    """A crawl at an instant; pages are numbered from 0 in the scenario.

    Args:
        policy: What decides when pages are visited.
        now: The instant, in days after 1970.
        page: The page that is asked about.
        share: How large a part of the crawl's pages take part.
        terms: On which terms pages are visited.
        known: Facts about each page.
        last: When each page was last compared with its copy; nan if never.
        asked_at: When the page was last visited, whatever came of it; nan if never.
        pools: Pages by budget; the last pays for nothing.
        hosts: The hosts.
        together: Most requests to a host at a time.
    """

    policy: Policy[Any]
    now: float
    page: int
    share: float
    terms: tuple[VisitTerms, ...]
    known: KnownPages
    last: Floats
    asked_at: float
    pools: tuple[PoolScenario, ...]
    hosts: tuple[HostScenario, ...]
    together: int

    @property
    def own_terms(self) -> VisitTerms:
        """Terms of the page that is asked about."""
        return self.terms[int(self.known.term[self.page])]

    @property
    def own_weight(self) -> float:
        """How much a fresh copy of the page that is asked about matters."""
        factor = 1.0 if self.known.factor is None else float(self.known.factor[self.page])
        return self.own_terms.weight * factor

    @property
    def pool(self) -> PoolScenario:
        """The pool of the page that is asked about."""
        return self.pools[self.own_terms.pool]

    @property
    def host(self) -> HostScenario:
        """The host of the page that is asked about."""
        return self.hosts[int(self.known.host[self.page])]

    @property
    def row(self) -> int | None:
        """Row of the page that is asked about in the state of its pool; None where it has none."""
        found = np.flatnonzero(self.pool.pages == self.page)
        return int(self.pool.rows[found[0]]) if len(found) else None

    @property
    def pool_size(self) -> int:
        """How many pages of the scenario share the budget of the page that is asked about."""
        pool_of = np.array([each.pool for each in self.terms])[self.known.term]
        return int(np.count_nonzero(pool_of == self.own_terms.pool))

    @property
    def visits_a_day(self) -> float:
        """Visits a day that the budget of the page's pool allows the pages of the scenario."""
        return self.pool.budget.visits_a_day(self.pool_size)

    @property
    def gap(self) -> float:
        """Mean days between visits to a page of the pool; infinite where there are none."""
        visits = self.visits_a_day
        return self.pool_size / visits if visits > 0 else inf

    # The same scenario, otherwise.

    def with_pool(self, pool: PoolScenario) -> Scenario:
        """Another pool in place of the page's."""
        number = self.own_terms.pool
        return replace(self, pools=(*self.pools[:number], pool, *self.pools[number + 1 :]))

    def with_terms(self, terms: VisitTerms) -> Scenario:
        """Terms of its own for the page, which its pool must be part of."""
        known = replace(self.known, term=_with(self.known.term, self.page, len(self.terms)))
        return replace(self, terms=(*self.terms, terms), known=known)

    def with_host(self, host: HostScenario) -> Scenario:
        """Another host in place of the page's."""
        number = int(self.known.host[self.page])
        return replace(self, hosts=(*self.hosts[:number], host, *self.hosts[number + 1 :]))

    def with_set_time(self, at: float) -> Scenario:
        """Another set time for the page."""
        known = replace(self.known, set=_with(self.known.set, self.page, at))
        return replace(self, known=known)

    def with_status(self, status: int) -> Scenario:
        """Another place in its life for the page, where no visit has failed."""
        known, page = self.known, self.page
        failures = _with(known.failures, page, 0)
        return replace(
            self, known=replace(known, status=_with(known.status, page, status), failures=failures)
        )


def thinned(budget: Budget, share: float) -> Budget:
    """The budget for a share of the pages.

    >>> thinned(Budget(500.0), 0.1), thinned(Budget(2.0, "page"), 0.1)
    (Budget(visits=50.0, each='crawl'), Budget(visits=2.0, each='page'))
    """
    return budget if budget.each == "page" else Budget(budget.visits * share, budget.each)


def _with(values: np.ndarray, row: int, value: float) -> np.ndarray:
    changed = np.array(values)
    changed[row] = value
    return changed
