"""What the default forecaster has learnt of a source: a value of a few kB.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from recrawl.listings.forecast.bands import Band, Window
from recrawl.listings.forecast.experts import DecayExpert, HazardExpert, Mixture
from recrawl.listings.forecast.hazards import AgedCycle, Hazards
from recrawl.listings.forecast.mass import Counts, Flags, Mass
from recrawl.listings.forecast.weekdays import ARRIVALS_PRIOR, DEATHS_PRIOR, WEEK, Week

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats
    from recrawl.listings.data.cycles import Cycle
    from recrawl.listings.forecast.forecast import Outlook

# Largest number of deaths that is compatible with seeing none, at 95 %.
_NONE_SEEN = 3.0


@dataclass(frozen=True, slots=True)
class Rekey:
    """A change of keys that was found.

    Args:
        day: Day of the synchronisation that found it.
        lost: Share of the stock that was gone.
        gained: Newcomers as a share of the stock.
    """

    day: int
    lost: float
    gained: float


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """A cycle as it is looked at: counted once, however often it is learnt.

    Args:
        cycle: What the two synchronisations saw.
        counts: The same in four numbers.
        parted: The same by age and group.
        whole: The same by age.
    """

    cycle: Cycle
    counts: Counts
    parted: AgedCycle
    whole: AgedCycle

    @classmethod
    def of(cls, cycle: Cycle, groups: int) -> Seen:
        """Count a cycle."""
        parted = AgedCycle.of(cycle, groups)
        counts = Counts(cycle.days, parted.listed, parted.deleted, parted.inserted)
        return cls(cycle, counts, parted, parted.whole)


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """What has been learnt of a source.

    Args:
        pooled: Expert with one hazard for all.
        aged: Expert with hazards by age and group.
        deaths_week: Weekdays of deaths.
        arrivals_week: Weekdays of arrivals.
        decays: Rates of decay of precision and recall.
        mixtures: How well the experts do for precision and recall.
        bands: Bands of precision and recall.
        group_arrivals: Arrivals by group.
        first_weekday: Weekday of day 0, Monday is 0.
        mass: Mass events.
        flags: What the last cycle was marked as.
        rekeys: Changes of keys that were found.
        deaths: Deaths seen.
        exposure: Days lived under observation.
        trained: Days of training; 0 as long as it lasts.
    """

    pooled: HazardExpert
    aged: HazardExpert
    deaths_week: Week
    arrivals_week: Week
    decays: tuple[DecayExpert, DecayExpert]
    mixtures: tuple[Mixture, Mixture]
    bands: tuple[Band, Band]
    group_arrivals: Floats
    first_weekday: int = 0
    mass: Mass = field(default_factory=Mass)
    flags: Flags = field(default_factory=Flags)
    rekeys: tuple[Rekey, ...] = ()
    deaths: float = 0.0
    exposure: float = 0.0
    trained: int = 0

    @classmethod
    def empty(cls, groups: int, *, experts: int, miss: float, first_weekday: int) -> State:
        """Nothing learnt yet.

        Args:
            groups: How many groups objects are in.
            experts: How many experts are mixed.
            miss: Share of outcomes that bands may miss.
            first_weekday: Weekday of day 0.
        """
        weak = Band(miss=miss, aim=miss)
        return cls(
            pooled=HazardExpert.empty(Hazards(by_age=False), 1),
            aged=HazardExpert.empty(Hazards(), groups),
            deaths_week=Week.empty(DEATHS_PRIOR),
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

    @property
    def rate_bound(self) -> float:
        """Highest hazard that seeing no death at all leaves likely; nan where some were seen."""
        if self.deaths or not self.exposure:
            return float("nan")
        return _NONE_SEEN / self.exposure

    def weekday(self, day: int) -> int:
        """Weekday of a day."""
        return (self.first_weekday + day) % WEEK

    def ahead(self, day: int, days: int) -> tuple[Floats, Floats]:
        """Factors of deaths and of arrivals on each of the days after a day."""
        weekday = self.weekday(day)
        return self.deaths_week.ahead(weekday, days), self.arrivals_week.ahead(weekday, days)


def with_hazards_of(known: State, state: State) -> State:
    """A state with the ages, groups and weekdays that another has learnt."""
    return replace(
        state,
        pooled=state.pooled.with_tally(known.pooled.tally),
        aged=state.aged.with_tally(known.aged.tally),
        deaths_week=known.deaths_week,
        arrivals_week=known.arrivals_week,
    )


def halved(state: State) -> State:
    """A state whose ages, groups and weekdays count half as much."""
    return replace(
        state,
        pooled=state.pooled.with_tally(state.pooled.tally.times(0.5)),
        aged=state.aged.with_tally(state.aged.tally.times(0.5)),
        deaths_week=state.deaths_week.half,
        arrivals_week=state.arrivals_week.half,
    )


def with_bands_taught(state: State, cycle: Cycle, expected: Outlook) -> State:
    """Bands that have learnt how far off a forecast was, which reached to the cycle's end."""
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
    state: State, seen: Seen, factors: tuple[Floats, Floats], kept: Flags
) -> State:
    """Experts that have learnt from a cycle what is not kept from them.

    Args:
        state: What was known.
        seen: What was seen.
        factors: Factors of deaths and of arrivals on each day of the cycle.
        kept: Sides of the cycle that teach nothing.
    """
    counts, clip = seen.counts, state.trained > 0
    there = counts.stock > 0
    taught = state
    if there and not kept.closure:
        taught = _deaths_taught(taught, seen, factors[0], clip=clip)
    if not kept.load:
        taught = _arrivals_taught(taught, seen, factors, clip=clip)
    return replace(
        taught,
        decays=_decays_taught(state.decays, counts, kept, clip=clip) if there else state.decays,
        deaths=state.deaths + counts.deleted,
        exposure=state.exposure + counts.days * (counts.stock - counts.deleted / 2),
        group_arrivals=state.group_arrivals + seen.cycle.inserted,
    )


def _deaths_taught(state: State, seen: Seen, weekday: Floats, *, clip: bool) -> State:
    counts, start = seen.counts, state.weekday(seen.cycle.start)
    expected = (counts.stock - counts.deleted / 2) * state.rate
    pooled, _ = state.pooled.learn_deaths(seen.whole, weekday, clip=clip)
    aged, scale = state.aged.learn_deaths(seen.parted, weekday, clip=clip)
    week = state.deaths_week.add(start, counts.days, counts.deleted * scale, expected)
    return replace(state, pooled=pooled, aged=aged, deaths_week=week)


def _arrivals_taught(
    state: State, seen: Seen, factors: tuple[Floats, Floats], *, clip: bool
) -> State:
    expected, start = state.pooled.arrivals, state.weekday(seen.cycle.start)
    pooled, inserted = state.pooled.learn_arrivals(seen.whole, *factors, clip=clip)
    aged, _ = state.aged.learn_arrivals(seen.parted, *factors, clip=clip)
    week = state.arrivals_week.add(start, seen.counts.days, inserted, expected)
    return replace(state, pooled=pooled, aged=aged, arrivals_week=week)


def _decays_taught(
    decays: tuple[DecayExpert, DecayExpert], counts: Counts, kept: Flags, *, clip: bool
) -> tuple[DecayExpert, DecayExpert]:
    step = DecayExpert.learn if clip else DecayExpert.train
    first, second = decays
    survived = counts.stock - counts.deleted
    if not kept.closure:
        first = step(first, survived, counts.stock, counts.days)
    if not kept.closure and not kept.load:
        second = step(second, survived, survived + counts.inserted, counts.days)
    return first, second
