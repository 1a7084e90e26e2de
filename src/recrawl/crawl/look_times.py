"""When to look at the sources of each site: what the settings, the budget and the price say.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isnan
from typing import TYPE_CHECKING

from recrawl.frontier.sources import LookTerms, next_look, usual_price
from recrawl.parse.addresses import host_of, origin_of
from recrawl.plan.objectives import OBJECTIVES
from recrawl.settings.pools import terms

if TYPE_CHECKING:
    from recrawl.entries.sources import Source
    from recrawl.frontier.pool import Pool
    from recrawl.settings.terms import VisitTerms
    from recrawl.state.opening import Crawl

SURVEY_DAYS = 1.0  # from one survey of a site to the next


@dataclass(frozen=True, slots=True)
class LookMeasure:
    """What decides on the looks at an origin.

    Args:
        terms: What they are measured by.
        ready: When the budget allows one.
        visits: On which terms its pages are visited.
    """

    terms: LookTerms
    ready: float
    visits: VisitTerms

    def due(self, source: Source) -> float:
        """When to look at a source; the first time it waits for nothing."""
        at = next_look(source, self.terms)
        if source.looked_at_seconds is None or at == inf:
            return at
        at = max(at, self.ready)
        return self.visits.opens(at) if at < inf else inf


class LookTimes:
    """When to look at the sources of each origin.

    Args:
        crawl: The crawl as it stands.

    Attributes:
        origins: Numbers of the rules of each origin.
    """

    def __init__(self, crawl: Crawl) -> None:
        self._crawl = crawl
        self._rules = crawl.settings.rules
        self._visit_terms = terms(crawl.settings)
        self.origins: dict[str, list[int]] = {}
        for number, rule in enumerate(self._rules):
            if rule.listing:
                continue  # its pages are found by syncs
            self.origins.setdefault(origin_of(rule.address), []).append(number)

    def due(self, origin: str, now: float) -> float:
        """When to go round an origin: a survey or a look is due."""
        looks = map(self.measure(origin, now).due, self._crawl.sources.of(origin))
        return min(self.survey_due(origin), min(looks, default=inf))

    def survey_due(self, origin: str) -> float:
        """When to find out again which sources an origin has."""
        addresses = (self._rules[number].address for number in self.origins[origin])
        return min(self._crawl.discovered.get(each, -inf) for each in addresses) + SURVEY_DAYS

    def measure(self, origin: str, now: float) -> LookMeasure:
        """What a look at the sources of an origin is measured by, and when one may be made."""
        crawl, site, pool = self._crawl, self._site(origin), self.pool(origin)
        objective = OBJECTIVES[crawl.settings.objective]
        visits, price = pool.bucket.visits_a_day, pool.price
        if isnan(price):
            gap = pool.copies.frontier.gap or (1 / visits if visits > 0 else inf)
            price = usual_price(objective, gap) if gap < inf else inf
        measured = LookTerms(
            price=price,
            weight=self._rules[site].weight,
            power=objective.power,
            delay=crawl.hosts.delay(crawl.hosts.row(host_of(origin + "/"))),
            visit_every=1 / visits if visits > 0 else inf,
            backlog=pool.new_pages / visits if visits > 0 else inf,
            fixed=self.fixed(origin),
        )
        ready = pool.ready_to_look(now, fixed=measured.fixed is not None)
        return LookMeasure(measured, ready, self._visit_terms[site])

    def fixed(self, origin: str) -> float | None:
        """Days between looks that the settings ask for; infinite where nobody is to look."""
        default = self._crawl.settings.discover
        rules = (self._rules[number] for number in self.origins[origin])
        sites = [rule for rule in rules if not rule.exact]
        asked = [default if rule.discover is None else rule.discover for rule in sites]
        if not asked or min(asked) == inf:
            return inf
        return min((each for each in asked if 0 < each < inf), default=None)

    def _site(self, origin: str) -> int:
        """Number of the rule whose budget and weight hold for looks at an origin."""
        numbers = self.origins[origin]
        sites = [number for number in numbers if not self._rules[number].exact]
        return (sites or numbers)[0]

    def pool(self, origin: str) -> Pool:
        """The budget that pays for looks at an origin."""
        return self._crawl.agenda.pool(self._site(origin))
