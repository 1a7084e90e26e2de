"""Whether the targets of a crawl are met, and what they cost.

A target is a share of fresh copies that is wanted of a site or page. It is met or missed now, and
has a cost in the long run: the visits a day at which a plan for its pages alone is as fresh as
that, within the bounds of the rule and what its hosts can be asked.

Touches: a store.
"""

from __future__ import annotations

from dataclasses import replace
from math import nan
from typing import TYPE_CHECKING

import numpy as np

from recrawl.inspect.status.plans import thinned, within_hosts
from recrawl.inspect.status.values import Target, VisitCount
from recrawl.plan.limits import Limits
from recrawl.plan.objectives import OBJECTIVES
from recrawl.plan.required_budget import visits_needed
from recrawl.state.sampled import with_target
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recrawl.entries.store import ReadStore
    from recrawl.inspect.status.copies import CopySample
    from recrawl.inspect.status.plans import Planner
    from recrawl.plan.required_budget import Needed
    from recrawl.settings.settings import Settings

_MOST_COSTS = 20  # that are worked out, those of the furthest missed
_COUNTED = 100  # pages of a target whose visits are counted
_PLANNED = 500  # pages of a target that are planned for
_NEAR = 1e-3  # share of the visits by which a cost may be off
_NOTHING = nan, nan, nan


def targets(
    settings: Settings,
    reader: ReadStore,
    samples: Mapping[int, CopySample],
    planner: Planner,
    now: float,
    days: float,
) -> list[Target]:
    """How each target stands.

    Args:
        settings: What is asked of the crawl.
        reader: Its store.
        samples: Copies of each rule that has a target.
        planner: Plans for copies.
        now: The instant, in days after 1970.
        days: How many of the last days visits are counted of.
    """
    visits = _visits(reader, samples, now, days) if samples else {}
    found = {}
    for number in with_target(settings):
        rule = settings.rules[number]
        wanted = rule.target or nan
        if number not in samples:
            found[number] = Target(rule.address, wanted, 0, _NOTHING, VisitCount(0, days))
            continue
        sample = samples[number]
        fresh = sample.freshness(now)
        share = fresh.fresh / fresh.copies, *fresh.band()
        found[number] = Target(
            rule.address, wanted, sample.of, share, VisitCount(visits[number], days)
        )
    short = sorted(samples, key=lambda number: found[number].fresh[0] - found[number].wanted)
    for number in short[:_MOST_COSTS]:
        cost = needed(settings, samples[number], planner, found[number].wanted)
        if cost.suffices:
            found[number] = replace(found[number], needed=cost.visits)
        else:
            found[number] = replace(found[number], most=cost.freshness)
    return list(found.values())


def _visits(
    reader: ReadStore, samples: Mapping[int, CopySample], now: float, days: float
) -> dict[int, float]:
    """Visits that the pages of each rule had in the last days."""
    counted = {}
    for number, sample in samples.items():
        some = thinned(sample, _COUNTED, len(sample.rows))
        counted[number] = some.pages[some.rows]
    everything = np.concatenate(list(counted.values()))
    since = (now - days) * SECONDS_A_DAY
    visits = reader.recent_visit_counts(everything, since)
    cuts = np.cumsum([len(pages) for pages in counted.values()])[:-1]
    return {
        number: float(some.mean()) * samples[number].of
        for number, some in zip(counted, np.split(visits, cuts), strict=True)
    }


def needed(settings: Settings, sample: CopySample, planner: Planner, wanted: float) -> Needed:
    """What a plan for the pages of one rule alone takes to be as fresh as is wanted."""
    pages = planner.pages(thinned(sample, _PLANNED, len(sample.rows)), sample.of)
    objective = OBJECTIVES[settings.objective]

    def found(limits: Limits) -> Needed:
        return visits_needed(
            *(pages.rates, wanted),
            objective=objective,
            weight=pages.weight,
            limits=limits,
            near=_NEAR,
        )

    limits = Limits(least=pages.least, most=pages.most)
    cost = found(limits)
    _, host, caps = planner.caps(pages, {})
    if cost.visits > caps.min():  # else no host is asked more than it can be
        cost = found(within_hosts(limits, host, caps))
    return cost._replace(visits=cost.visits / pages.share)
