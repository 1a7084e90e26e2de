"""What the default forecaster has learnt of a source: a value of a few kB.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from recrawl.listings.bands import Band, Window
from recrawl.listings.direct import Decay
from recrawl.listings.experts import HazardExpert
from recrawl.listings.hazards import Hazards
from recrawl.listings.mass import Flags, Mass
from recrawl.listings.mixture import Mixture
from recrawl.listings.weekdays import ARRIVALS_PRIOR, DEATHS_PRIOR, WEEK, Week

if TYPE_CHECKING:
    from recrawl.listings.cycles import Cycle
    from recrawl.listings.forecast import Outlook
    from recrawl.visits.arrays import Floats

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
    decays: tuple[Decay, Decay]
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
            pooled=HazardExpert.empty(Hazards(by_age=False), groups),
            aged=HazardExpert.empty(Hazards(), groups),
            deaths_week=Week.empty(DEATHS_PRIOR),
            arrivals_week=Week.empty(ARRIVALS_PRIOR),
            decays=(Decay(), Decay()),
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
        pooled=replace(state.pooled, tally=known.pooled.tally),
        aged=replace(state.aged, tally=known.aged.tally),
        deaths_week=known.deaths_week,
        arrivals_week=known.arrivals_week,
    )


def halved(state: State) -> State:
    """A state whose ages, groups and weekdays count half as much."""
    return replace(
        state,
        pooled=replace(state.pooled, tally=state.pooled.tally.half),
        aged=replace(state.aged, tally=state.aged.tally.half),
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


def with_experts_taught(state: State, cycle: Cycle, kept: Flags) -> State:
    """Experts that have learnt from a cycle what is not kept from them.

    Args:
        state: What was known.
        cycle: What was seen.
        kept: Sides of the cycle that teach nothing.
    """
    factors = state.ahead(cycle.start, cycle.days)
    clip, there = state.trained > 0, cycle.stock.listed > 0
    deleted = float(np.sum(cycle.deleted))
    taught = state
    if there and not kept.closure:
        taught = _deaths_taught(taught, cycle, factors[0], clip=clip)
    if not kept.load:
        taught = _arrivals_taught(taught, cycle, factors, clip=clip)
    return replace(
        taught,
        decays=_decays_taught(state.decays, cycle, kept, clip=clip) if there else state.decays,
        deaths=state.deaths + deleted,
        exposure=state.exposure + cycle.days * (cycle.stock.listed - deleted / 2),
        group_arrivals=state.group_arrivals + cycle.inserted,
    )


def _deaths_taught(state: State, cycle: Cycle, weekday: Floats, *, clip: bool) -> State:
    deleted = float(np.sum(cycle.deleted))
    expected = (cycle.stock.listed - deleted / 2) * state.rate
    week, start = state.deaths_week, state.weekday(cycle.start)
    pooled, _ = state.pooled.learn_deaths(cycle, weekday, clip=clip)
    aged, scale = state.aged.learn_deaths(cycle, weekday, clip=clip)
    week = week.add(start, cycle.days, deleted * scale, expected)
    return replace(state, pooled=pooled, aged=aged, deaths_week=week)


def _arrivals_taught(
    state: State, cycle: Cycle, factors: tuple[Floats, Floats], *, clip: bool
) -> State:
    expected, start = state.pooled.arrivals, state.weekday(cycle.start)
    pooled, inserted = state.pooled.learn_arrivals(cycle, *factors, clip=clip)
    aged, _ = state.aged.learn_arrivals(cycle, *factors, clip=clip)
    week = state.arrivals_week.add(start, cycle.days, inserted, expected)
    return replace(state, pooled=pooled, aged=aged, arrivals_week=week)


def _decays_taught(
    decays: tuple[Decay, Decay], cycle: Cycle, kept: Flags, *, clip: bool
) -> tuple[Decay, Decay]:
    step = Decay.learn if clip else Decay.train
    first, second = decays
    if not kept.closure:
        first = step(first, cycle.survived, cycle.stock.listed, cycle.days)
    if not kept.closure and not kept.load:
        second = step(second, cycle.survived, cycle.listed, cycle.days)
    return first, second
