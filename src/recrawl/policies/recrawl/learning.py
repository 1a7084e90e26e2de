"""What our policy learns from visits: of clocks, rates, relatives, and of its own forecasts.

A visit tells whether its page changed in the gap since the visit before. Of a gap in which its host
had announced a change the clocks know already, and a change then says nothing of unannounced ones.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import lgamma
from typing import TYPE_CHECKING

import numpy as np

from recrawl.policies.pages import Outcomes
from recrawl.policies.recrawl.announcement_learning import streams_of
from recrawl.policies.recrawl.memories import chance_of, fold
from recrawl.policies.recrawl.state import clocks_of_pages, corrections_of, read_clocks

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Floats, Ints
    from recrawl.policies.recrawl.announced import Streams
    from recrawl.policies.recrawl.state import RecrawlState

_TRUST_KEPT = 0.999
_MOST_TRUST = 30.0
_WRONG_DATES = 0.01  # of all dates that pages have when they are found


@dataclass(frozen=True, slots=True, eq=False)
class _Gaps:
    """Gaps that end with visits, and what was believed of them: one row per gap.

    Args:
        rows: The pages.
        leaf: Node of each.
        last: When each gap began, in days after 1970.
        now: When it ended.
        overlap: Days that it shares with each bin of the clocks.
        paces: Near and far pace of its section in each bin, one table of each.
        pace: Pace as it is used.
        elapsed: Days of it on the clock of its section.
        prior: What is assumed of the pages.
        states: Facts about them: shape and exposure, one row per memory.
        share: Weight of each memory.
        levels: The nodes from the crawl to their leaves, by depth.
        streams: What the gap can tell of announced and unannounced changes.
        named: Whether its host is believed and had announced a change.
        factor: What time on the clock counts for, by what is known of such pages.
        chance: Chance of an unannounced change.
    """

    rows: Ints
    leaf: Ints
    last: Floats
    now: Floats
    overlap: Floats
    paces: Floats
    pace: Floats
    elapsed: Floats
    prior: tuple[float, Floats]
    states: tuple[Floats, Floats]
    share: Floats
    levels: list[Ints]
    streams: Streams
    named: Bools
    factor: Floats
    chance: Floats

    @property
    def older(self) -> Floats:
        """Days of each gap before the oldest bin."""
        return np.asarray(self.now - self.last - np.add.reduce(self.overlap, axis=1))

    @property
    def doubted(self) -> Floats:
        """Share of the days on the clock that left doubt."""
        return self.streams.doubted / self.elapsed


def learn_visits(state: RecrawlState, rows: Ints, now: Floats, outcomes: Outcomes) -> None:
    """Learn from visits, each later than the one before to its page."""
    _forget_wrong_dates(state, rows, now, outcomes)
    gaps = _gaps(state, rows, now, outcomes)
    real = outcomes.real(gaps.chance)
    real[gaps.streams.was_announced] = 1.0
    _learn_forecasts(state, gaps, outcomes, real)
    _learn_corrections(state, gaps, real)
    ages = _learn_clocks(state, gaps, outcomes, real)
    rates = _learn_rates(state, gaps, Outcomes(outcomes.changed, ages, outcomes.false_changes))
    state.corrections.visited(rows, real, state.gap * rates)
    state.last[rows] = now
    read_clocks(state, gaps.levels)


def _forget_wrong_dates(state: RecrawlState, rows: Ints, now: Floats, outcomes: Outcomes) -> None:
    """Forget how old pages were said to be when they were found, where a change belies it.

    A page that a wrong `Last-Modified` calls years old would be expected not to change for years,
    however often it is then found changed. A change that comes with a date of its own is what the
    dates of its host are for, and belies nothing.
    """
    memories, watched = state.memories, now - state.began
    older = memories.exposure[0].take(rows) - watched  # than the crawl: only a first age is that
    belied = older > watched
    if not np.count_nonzero(belied):
        return
    found = np.flatnonzero(outcomes.changed & np.isnan(outcomes.age) & belied & (watched > 0))
    if not len(found):
        return
    some, older, watched = rows[found], older[found], watched[found]
    shape, days = state.relatives.prior(state.sections, some)
    changes = memories.shape[0].take(some)
    seen = np.maximum(changes, 0.0)  # with this one, and without the one of the first age
    by_date = _log_chance(shape + 1, days + older, seen, watched)
    without = _log_chance(shape, days, seen, watched)
    memories.forget(some[by_date < without + np.log(_WRONG_DATES)])


def _log_chance(shape: float, exposure: Floats, changes: Floats, days: Floats) -> Floats:
    """Log chance of so many changes in some days, up to what is the same for all Gamma priors."""
    rising = np.array([lgamma(shape + each) for each in changes.tolist()]) - lgamma(shape)
    return np.asarray(
        rising + shape * np.log(exposure) - (shape + changes) * np.log(exposure + days)
    )


def _gaps(state: RecrawlState, rows: Ints, now: Floats, outcomes: Outcomes) -> _Gaps:
    clocks, leaf, last = state.clocks, state.sections.leaf[rows], state.last[rows]
    overlap, paces = clocks.overlaps(last, now), clocks.paces_of(leaf)
    pace = clocks.used(leaf, paces)
    elapsed = now - last + np.add.reduce(overlap * (pace - 1), axis=1)
    prior = state.relatives.prior(state.sections, rows)
    states = state.memories.states(rows, prior)
    streams = streams_of(state, rows, now, elapsed, outcomes.changed)
    factor = corrections_of(state, rows)
    share = state.memories.share.take(rows, axis=1)
    chance = chance_of(states, share, factor * streams.unannounced)[1]
    named = (state.announced.count[rows] > 0) & (state.announced.recall[rows] > 0)
    return _Gaps(
        rows=rows,
        leaf=leaf,
        last=last,
        now=now,
        overlap=overlap,
        paces=paces,
        pace=pace,
        elapsed=elapsed,
        prior=prior,
        states=states,
        share=share,
        levels=state.sections.upwards(leaf),
        streams=streams,
        named=named,
        factor=factor,
        chance=chance,
    )


def _learn_forecasts(state: RecrawlState, gaps: _Gaps, outcomes: Outcomes, real: Floats) -> None:
    """Compare what was forecast of visits with what they found, and trust clocks accordingly."""
    # A change that the host had announced was no forecast of ours: it tells nothing of the clocks.
    alone = np.flatnonzero(~gaps.named) if np.count_nonzero(gaps.named) else slice(None)
    rows, leaf = gaps.rows[alone], gaps.leaf[alone]
    shape, exposure = (part[:, None, alone] for part in gaps.states)
    share, doubted = gaps.share[:, alone], gaps.doubted[alone]

    def chance(days: Floats) -> Floats:
        """Of two kinds of days on the clock."""
        return chance_of((shape, exposure), share, doubted * days)[1]

    clocks, some = state.clocks, outcomes.take(alone)
    both = np.add.reduce(gaps.overlap[alone] * gaps.paces[:, alone], axis=2)
    near, far = some.reported(chance(gaps.older[alone] + both))
    learn_trust(state, state.sections.site[rows], some.changed, near, far)
    # Only now, with the trust that was learned, the chances that a forecast would have given.
    levels = gaps.levels if isinstance(alone, slice) else None
    forecast, place = clocks_of_pages(state, rows, levels)
    days = np.maximum(clocks.elapsed(place, gaps.last[alone], gaps.now[alone], forecast), 0.0)
    days *= gaps.factor[alone]
    chances = state.forecast_bias.learn(leaf, real[alone], lambda factor: chance(factor * days))
    state.calibration.learn(chances, real[alone])


def _learn_corrections(state: RecrawlState, gaps: _Gaps, real: Floats) -> None:
    """Compare what was expected of visits with what they found, by plain facts of their pages."""
    alone: Ints | slice = slice(None)
    if state.announced.any:  # as in `corrections_of`
        alone = np.flatnonzero(state.announced.recall[gaps.rows] == 0)
        if not len(alone):
            return
    rows, days = gaps.rows[alone], gaps.streams.unannounced[alone]
    shape, exposure = (part[:, None, alone] for part in gaps.states)
    share = gaps.share[:, alone]

    def chance(factor: Floats) -> Floats:
        return chance_of((shape, exposure), share, factor * days)[1]

    state.corrections.learn(rows, real[alone], chance)


def learn_trust(state: RecrawlState, site: Ints, changed: Bools, near: Floats, far: Floats) -> None:
    """Trust the clock that forecast better, by the chances that both gave to a change."""
    gain = np.log(np.where(changed, near / far, (1 - near) / (1 - far)))
    fold(state.trust[:, None], site, gain[:, None], (_TRUST_KEPT,))
    state.trust = np.minimum(np.maximum(state.trust, -_MOST_TRUST), _MOST_TRUST)


def _learn_clocks(state: RecrawlState, gaps: _Gaps, outcomes: Outcomes, real: Floats) -> Floats:
    """Let clocks learn when changes happened; returns days since them, as far as they count."""
    clocks = state.clocks
    counts = np.empty((2, *gaps.overlap.shape))
    found, spread = counts
    np.divide(gaps.overlap, gaps.elapsed[:, None], out=spread)
    np.multiply(spread * gaps.pace, real[:, None], out=found)
    ages = np.full(len(gaps.rows), np.nan)
    dated = np.flatnonzero(outcomes.changed & ~np.isnan(outcomes.age))
    if len(dated):
        now = gaps.now[dated]
        happened = np.clip(now - outcomes.age[dated], gaps.last[dated], now)
        found[dated] = clocks.holds(happened) * real[dated, None]
        ages[dated] = clocks.elapsed(gaps.leaf[dated], happened, now)
        ages = gaps.streams.ages(ages, gaps.elapsed)
    spread *= gaps.chance[:, None]
    if np.count_nonzero(gaps.named):
        counts[:, gaps.named] = 0.0
    clocks.learn(state.sections, gaps.leaf, counts)
    return ages


def _learn_rates(state: RecrawlState, gaps: _Gaps, outcomes: Outcomes) -> Floats:
    """Let memories learn rates, and relatives from them; returns the rates."""
    rows, streams, memories = gaps.rows, gaps.streams, state.memories
    memories.learn(rows, state.sections.site[rows], gaps.prior, streams, outcomes)
    rates = memories.rates(rows, gaps.prior)
    state.announced.watch(rows, gaps.elapsed, rates, outcomes.changed)
    state.announced.forget(rows)
    state.relatives.learn(state.sections, rows, rates)
    return rates
