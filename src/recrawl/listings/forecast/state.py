"""What the default forecaster has learned of a source: a value of a few kB.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from recrawl.listings.forecast.bands import QualityBand, Window
from recrawl.listings.forecast.experts import DecayExpert, HazardExpert, Mixture
from recrawl.listings.forecast.hazards import AgedCycle, Hazards
from recrawl.listings.forecast.mass import CycleCounts, Flags, MassEvents
from recrawl.listings.forecast.weekdays import ARRIVALS_PRIOR, REMOVALS_PRIOR, WEEK, Week

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats
    from recrawl.listings.data.cycles import Cycle
    from recrawl.listings.data.day_marks import Rekey
    from recrawl.listings.forecast.forecast import ForecastPath


@dataclass(frozen=True, slots=True, eq=False)
class CountedCycle:
    """A cycle as it is looked at: counted once, however often it is learned.

    Args:
        cycle: What the two syncs saw.
        counts: The same in four numbers.
        parted: The same by age and group.
        whole: The same by age.
    """

    cycle: Cycle
    counts: CycleCounts
    parted: AgedCycle
    whole: AgedCycle

    @classmethod
    def of(cls, cycle: Cycle, groups: int) -> CountedCycle:
        """Count a cycle."""
        parted = AgedCycle.of(cycle, groups)
        counts = CycleCounts(cycle.days, parted.listed, parted.deleted, parted.inserted)
        return cls(cycle, counts, parted, parted.whole)


@dataclass(frozen=True, slots=True, eq=False)
class ForecasterState:
    """What has been learned of a source.

    Args:
        pooled: Expert with one hazard for all.
        aged: Expert with hazards by age and group.
        removals_week: Weekdays of removals.
        arrivals_week: Weekdays of arrivals.
        decays: Rates of decay of precision and recall.
        mixtures: How well the experts do for precision and recall.
        bands: Bands of precision and recall.
        group_arrivals: Arrivals by group.
        first_weekday: Weekday of day 0, Monday is 0.
        mass: Mass events.
        flags: What the last cycle was marked as.
        rekeys: Changes of keys that were found.
        removals: Removals seen.
        trained: Days of training; 0 as long as it lasts.
    """

    pooled: HazardExpert
    aged: HazardExpert
    removals_week: Week
    arrivals_week: Week
    decays: tuple[DecayExpert, DecayExpert]
    mixtures: tuple[Mixture, Mixture]
    bands: tuple[QualityBand, QualityBand]
    group_arrivals: Floats
    first_weekday: int = 0
    mass: MassEvents = field(default_factory=MassEvents)
    flags: Flags = field(default_factory=Flags)
    rekeys: tuple[Rekey, ...] = ()
    removals: float = 0.0
    trained: int = 0

    @classmethod
    def empty(
        cls, groups: int, *, experts: int, miss: float, first_weekday: int
    ) -> ForecasterState:
        """Nothing learned yet.

        Args:
            groups: How many groups objects are in.
            experts: How many experts are mixed.
            miss: Share of outcomes that bands may miss.
            first_weekday: Weekday of day 0.
        """
        weak = QualityBand(miss=miss, aim=miss)
        return cls(
            pooled=HazardExpert.empty(Hazards(by_age=False), 1),
            aged=HazardExpert.empty(Hazards(), groups),
            removals_week=Week.empty(REMOVALS_PRIOR),
            arrivals_week=Week.empty(ARRIVALS_PRIOR),
            decays=(DecayExpert(), DecayExpert()),
            mixtures=(Mixture(np.zeros(experts)), Mixture(np.zeros(experts))),
            bands=(weak, weak),
            group_arrivals=np.zeros(groups),
            first_weekday=first_weekday,
        )

    @property
    def rekeyed(self) -> bool:
        """Whether the keys changed in the last cycle."""
        return self.flags.rekeyed

    @property
    def rate(self) -> float:
        """Mean hazard a day, as the pooled expert has it now."""
        return self.pooled.theta * self.pooled.tally.mean

    def weekday(self, day: int) -> int:
        """Weekday of a day."""
        return (self.first_weekday + day) % WEEK

    def ahead(self, day: int, days: int) -> tuple[Floats, Floats]:
        """Factors of removals and of arrivals on each of the days after a day."""
        weekday = self.weekday(day)
        return self.removals_week.ahead(weekday, days), self.arrivals_week.ahead(weekday, days)


def with_hazards_of(known: ForecasterState, state: ForecasterState) -> ForecasterState:
    """A state with the ages, groups and weekdays that another has learned."""
    return replace(
        state,
        pooled=state.pooled.with_tally(known.pooled.tally),
        aged=state.aged.with_tally(known.aged.tally),
        removals_week=known.removals_week,
        arrivals_week=known.arrivals_week,
    )


def halved(state: ForecasterState) -> ForecasterState:
    """A state whose ages, groups and weekdays count half as much."""
    return replace(
        state,
        pooled=state.pooled.with_tally(state.pooled.tally.times(0.5)),
        aged=state.aged.with_tally(state.aged.tally.times(0.5)),
        removals_week=state.removals_week.half,
        arrivals_week=state.arrivals_week.half,
    )


def with_bands_taught(
    state: ForecasterState, cycle: Cycle, expected: ForecastPath
) -> ForecasterState:
    """Bands that have learned how far off a forecast was, which reached to the cycle's end."""
    there, listed = cycle.survived, cycle.stock.listed
    first = state.bands[0].learn(
        float(expected.precision[-1]), Window(cycle.days, there, listed), listed
    )
    second = state.bands[1].learn(
        float(expected.recall[-1]),
        Window(cycle.days, there, cycle.listed),
        float(expected.listed[-1]),
    )
    return replace(state, bands=(first, second))


def with_experts_taught(
    state: ForecasterState, seen: CountedCycle, factors: tuple[Floats, Floats], kept: Flags
) -> ForecasterState:
    """Experts that have learned from a cycle what is not kept from them.

    Args:
        state: What was known.
        seen: What was seen.
        factors: Factors of removals and of arrivals on each day of the cycle.
        kept: Sides of the cycle that teach nothing.
    """
    counts, clip = seen.counts, state.trained > 0
    there = counts.stock > 0
    taught = state
    if there and not kept.closure:
        taught = _removals_taught(taught, seen, factors[0], clip=clip)
    if not kept.load:
        taught = _arrivals_taught(taught, seen, factors, clip=clip)
    return replace(
        taught,
        decays=_decays_taught(state.decays, counts, kept, clip=clip) if there else state.decays,
        removals=state.removals + counts.deleted,
        group_arrivals=state.group_arrivals + seen.cycle.inserted,
    )


def _removals_taught(
    state: ForecasterState, seen: CountedCycle, weekday: Floats, *, clip: bool
) -> ForecasterState:
    counts, start = seen.counts, state.weekday(seen.cycle.start)
    expected = (counts.stock - counts.deleted / 2) * state.rate
    pooled, _ = state.pooled.learn_removals(seen.whole, weekday, clip=clip)
    aged, scale = state.aged.learn_removals(seen.parted, weekday, clip=clip)
    week = state.removals_week.add(start, counts.days, counts.deleted * scale, expected)
    return replace(state, pooled=pooled, aged=aged, removals_week=week)


def _arrivals_taught(
    state: ForecasterState, seen: CountedCycle, factors: tuple[Floats, Floats], *, clip: bool
) -> ForecasterState:
    expected, start = state.pooled.arrivals, state.weekday(seen.cycle.start)
    pooled, inserted = state.pooled.learn_arrivals(seen.whole, *factors, clip=clip)
    aged, _ = state.aged.learn_arrivals(seen.parted, *factors, clip=clip)
    week = state.arrivals_week.add(start, seen.counts.days, inserted, expected)
    return replace(state, pooled=pooled, aged=aged, arrivals_week=week)


def _decays_taught(
    decays: tuple[DecayExpert, DecayExpert], counts: CycleCounts, kept: Flags, *, clip: bool
) -> tuple[DecayExpert, DecayExpert]:
    step = DecayExpert.learn if clip else DecayExpert.train
    first, second = decays
    survived = counts.stock - counts.deleted
    if not kept.closure:
        first = step(first, survived, counts.stock, counts.days)
    if not kept.closure and not kept.load:
        second = step(second, survived, survived + counts.inserted, counts.days)
    return first, second
