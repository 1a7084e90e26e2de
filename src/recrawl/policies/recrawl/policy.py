r"""Our policy: section clocks, memories of rates, a value a page.

Pages near each other in the address tree change together. So a page's age is read on the clock
of its section, which runs fast while the section is active and slowly while it sleeps, and its
rate is learned in that *clock time*. When a change is found it is spread backwards over the gap
in which it must have happened, so that pages visited since then are not suspected and pages not
visited since then are. How far to trust the neighbours is learned from the crawl.

| part | in |
|---|---|
| which pages are neighbours | `recrawl.policies.recrawl.sections` |
| how fast time runs for them | `recrawl.policies.recrawl.clocks` |
| how often a page changes, in clock time | `recrawl.policies.recrawl.memories` |
| what is assumed of a page that is new | `recrawl.policies.recrawl.relatives` |
| which changes are announced | `recrawl.policies.recrawl.announced` |
| what visits teach | `recrawl.policies.recrawl.learning` |
| how far forecasts are off | `recrawl.policies.recrawl.forecast_bias` |
| how far to believe them | `recrawl.policies.recrawl.calibration` |
| what chances are corrected by | `recrawl.policies.recrawl.corrections` |

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.arrays.blocks import over_blocks
from recrawl.plan.objectives import Harmonic
from recrawl.policies.due import due_at_price
from recrawl.policies.recrawl import checkpoint
from recrawl.policies.recrawl.announced import Announced
from recrawl.policies.recrawl.announcement_learning import effective_elapsed, learn_announced
from recrawl.policies.recrawl.calibration import Calibration
from recrawl.policies.recrawl.clocks import Clocks, Trusting
from recrawl.policies.recrawl.corrections import Corrections
from recrawl.policies.recrawl.forecast_bias import ForecastBias
from recrawl.policies.recrawl.learning import learn_visits
from recrawl.policies.recrawl.memories import Memories
from recrawl.policies.recrawl.prior_sums import AssumedRates
from recrawl.policies.recrawl.relatives import Relatives
from recrawl.policies.recrawl.sections import Sections
from recrawl.policies.recrawl.state import (
    RecrawlState,
    clocks_of_pages,
    corrections_of,
    forecast_days,
    read_clocks,
)
from recrawl.units import SECONDS_A_DAY, epoch_days

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from recrawl.arrays.types import Floats, Instants, Ints
    from recrawl.plan.objectives import Objective
    from recrawl.policies.pages import Outcomes, Pages

_BINS_A_GAP = 16
_LEAST_BIN = 60 / SECONDS_A_DAY
_AT_ONCE = 1e-9
_MINUTES_A_DAY = SECONDS_A_DAY / 60
_FEW = 1 << 13  # values, for which a call of numpy takes longer than its work
_MOST_AT_ONE_MOMENT = 2  # pages found together that may have changed in the same minute


@dataclass(frozen=True, slots=True)
class Recrawl:
    r"""Visit where a visit is worth most, by the clocks of sections.

    With $\tau$ days since the last visit, $\tau^*$ days on the section's clock since then, its pace
    $m$ now, the correction $f$ that such pages have come to, and the weights $w_k$ of the memories
    $\text{Gamma}(a_k, b_k)$, a visit is worth

    $$ \frac{\text{weight}}{\text{cost}} \cdot
       \frac{\sum_k w_k \, \text{EV}(a_k, b_k, f \tau^*) / \sqrt{f}}{1 + (m - 1) (1 - e^{-z}) / z},
       \qquad z = \frac{\tau}{\text{fade} \cdot \text{gap}} , $$

    where EV is the objective's expected value. The root of $f$ stands for the part of a correction
    that lasts beyond the visit. The other divisor is the pace to come, if a burst fades:
    a page that has just gone stale in a burst is worth less while the burst lasts, since a fresh
    copy will not stay fresh.

    Every parameter is a share of the mean gap between visits or a count of changes, pages or
    visits, so the policy has no unit of time. Chosen with benchmarks/policies.py, one set for all
    sources (figures in docs/concepts/recrawl.md); re-run it before changing.

    Args:
        objective: What a fresh copy is for.
        memories: What each memory of a page's rate keeps at a visit.
        trusting: How clocks weigh the evidence of a section.
        kernel: Time over which activity is smoothed, in gaps.
        fade: Time over which a burst fades, in gaps.
        relatives: How many pages the prior of a section or kin group counts for.
        corrections: How many changes count for chances that need no correction.
        site_corrections: How many changes the corrections of a crawl count for on each of its
            sites; inf where they are the same for all.
        assumed: Rates of pages before any is visited.
        deepest: Most nodes above each other; 0 where pages stand alone.
        use_first_age: Whether the age of a page at its first visit counts for an observed change,
            as far as it lies before the crawl. A page that is younger than the crawl may have been
            found because it was new, and then its age says nothing of its rate.

    Examples:
        Four pages in two folders, all copied on the first of the month. On the fifth, one of the
        first folder turns out to have changed. Now its neighbour is worth most, and its namesake
        in the other folder, which is kin, a little more than a page that is neither:

        >>> from recrawl.policies import Outcomes, Pages
        >>> policy = Recrawl()
        >>> first = np.datetime64("2026-01-01T00:00", "us")
        >>> pages = Pages.of(["a/x", "a/y", "b/x", "b/y"], np.full(4, first))
        >>> state = policy.start(pages, first, gap=4.0)
        >>> now = np.array(["2026-01-05T00:00"], "datetime64[us]")
        >>> state = policy.seen(state, np.array([0]), now, Outcomes.existence(np.array([True])))
        >>> policy.value(state, np.arange(4), now[0]).round(2)
        array([0.  , 1.32, 0.93, 0.78])
    """

    objective: Objective = field(default_factory=Harmonic)
    memories: tuple[float, ...] = (1.0, 0.95, 0.8)
    trusting: Trusting = field(default_factory=Trusting)
    kernel: float = 1 / 8
    fade: float = 1 / 4
    relatives: float = 3.0
    corrections: float = 10.0
    site_corrections: float = 20.0
    assumed: AssumedRates = field(default_factory=AssumedRates)
    deepest: int = 16
    use_first_age: bool = True

    def start(self, pages: Pages, now: np.datetime64, gap: float) -> RecrawlState:
        """State of a crawl that begins now with these pages."""
        today, width = float(epoch_days(now)), _width(gap)
        state = RecrawlState(
            gap=gap,
            began=today,
            last=np.empty(0),
            worth=np.empty(0),
            sections=Sections(deepest=self.deepest),
            clocks=Clocks.start(width, self.kernel * gap, self.trusting, today),
            memories=Memories.start(self.memories),
            relatives=Relatives.start(self.relatives, gap, self.assumed),
            trust=np.zeros(1),
            announced=Announced.start(),
            forecast_bias=ForecastBias.start(),
            calibration=Calibration.start(),
            corrections=Corrections.start(self.corrections, self.site_corrections),
        )
        state = self.found(state, pages)
        _relate(state)
        return state

    def found(self, state: RecrawlState, pages: Pages) -> RecrawlState:
        """State with more pages."""
        sections, nodes, first = state.sections, len(state.sections), len(state.last)
        sections.grow(pages.address)
        state.last = np.append(state.last, epoch_days(pages.first_seen))
        state.worth = np.append(state.worth, pages.weight / pages.cost)
        state.memories.grow(sections.site[first:])
        if self.use_first_age:
            _learn_first_ages(state, first, pages)
        state.relatives.grow(len(pages))
        state.corrections.grow(len(pages))
        state.announced.grow(len(pages))
        if len(sections) > nodes:
            state.clocks.grow(len(sections))
            state.forecast_bias.grow(len(sections))
            while sections.parted:
                state.clocks.part(*sections.parted.pop(0))
            state.relatives.read(sections)
            read_clocks(state, sections.upwards(np.arange(nodes, len(sections))))
        state.corrections.put_on_sites(sections.site, sections.sites)
        return state

    def announced(
        self,
        state: RecrawlState,
        rows: Ints,
        named: Floats,
        reliability: tuple[Floats, Floats],
        now: np.datetime64,
    ) -> RecrawlState:
        """State after a host has said which pages changed.

        Args:
            state: The state before.
            rows: Pages that the host would name.
            named: Chance that each page which it names has changed; 0 where it does not.
            reliability: For each page the chance that its host names it when it changes, and the
                false alarms a day.
            now: When it was asked.
        """
        today = float(epoch_days(now))
        _advance(state, today)
        state.announced.believe(rows, *reliability)
        learn_announced(state, rows, named, today)
        state.announced.tell(rows, named, today)
        return state

    def hinted(self, state: RecrawlState, rows: Ints, right: Floats) -> RecrawlState:
        """State after hints that pages have changed.

        Args:
            state: The state before.
            rows: The pages.
            right: Chance that each hint is right.
        """
        state.announced.hint(rows, right)
        return state

    def unannounced_changes(self, state: RecrawlState, rows: Ints) -> Floats:
        """Changes that visits would have met unannounced if the host announced none.

        Without corrections, which pages of hosts that announce do not have: a host is judged by
        the same measure before and after it is believed.
        """
        rates = self.rates(state, rows) / corrections_of(state, rows)
        return state.announced.watched[rows] * rates

    def dump(self, state: RecrawlState) -> dict[str, Any]:
        """Arrays and plain values by name, to be saved; arrays may be the state's own."""
        return checkpoint.dump(state)

    def load(
        self, parts: Mapping[str, Any], addresses: Callable[[], Sequence[str]]
    ) -> RecrawlState:
        """State from what was saved.

        Args:
            parts: What `dump` gave.
            addresses: Gives the addresses of all pages, in the order of their rows.
        """
        return checkpoint.load(self, parts, addresses)

    def check(self, parts: Mapping[str, Any], pages: int) -> None:
        """Raise `LookupError` or `ValueError` unless `load` can go on from these parts."""
        checkpoint.check(parts, pages, len(self.memories))

    def with_mean_gap(self, state: RecrawlState, gap: float) -> RecrawlState:
        """State of a crawl whose mean gap has moved."""
        state.gap = gap
        state.relatives.set_gap(gap)
        state.clocks.rebin(_width(gap), self.kernel * gap)
        read_clocks(state, state.sections.levels)
        return state

    def value(self, state: RecrawlState, rows: Ints, now: np.datetime64) -> Floats:
        """What a visit to each page is worth now, per unit of cost."""
        today = float(epoch_days(now))
        _advance(state, today)
        return self.value_ahead(state, rows, today)

    def value_ahead(self, state: RecrawlState, rows: Ints, now: float) -> Floats:
        """What a visit will be worth at an instant, in days after 1970, if paces stay as they are.

        The state stays as it is.
        """
        values = np.empty(len(rows))

        def work(some: slice) -> None:
            values[some] = self._value(state, rows[some], now, _Known.of(state, rows[some]))

        over_blocks(work, len(rows))
        return values

    def fresh(self, state: RecrawlState, rows: Ints, now: np.datetime64) -> Floats:
        """Chance that the copy of each page is still what the page is."""
        today = float(epoch_days(now))
        _advance(state, today)
        fresh, (clocks, place) = np.empty(len(rows)), clocks_of_pages(state, rows)

        def work(some: slice) -> None:
            which = rows[some]
            elapsed = forecast_days(state, clocks, which, today, place[some])
            states = state.memories.states(which, state.relatives.prior(state.sections, which))
            elapsed = effective_elapsed(state, which, states, elapsed, today)
            fresh[some] = 1 - state.memories.chance(which, states, elapsed)[1]

        over_blocks(work, len(rows))
        return fresh

    def rates(self, state: RecrawlState, rows: Ints) -> Floats:
        """Changes that are expected of each page in a day on the clock of its section."""
        rates = state.memories.rates(rows, state.relatives.prior(state.sections, rows))
        return rates * corrections_of(state, rows)

    def rate_since_visit(self, state: RecrawlState, row: int, now: float) -> float:
        """Changes a day that are expected of a page from its last visit to now."""
        last = float(state.last[row])
        elapsed = state.clocks.elapsed_at(int(state.sections.leaf[row]), last, now)
        rate = state.memories.rate(row, state.relatives.prior_of(state.sections, row))
        if not state.announced.recall[row]:
            rate *= state.corrections.factor_of(row)
        return rate * max(elapsed, 0.0) / max(now - last, _AT_ONCE)

    def due(self, state: RecrawlState, rows: Ints, price: float) -> Instants:
        """When the value of each page reaches the price, if its section keeps its present pace."""
        known = _Known.of(state, rows)

        def value_at(now: Floats, some: Ints) -> Floats:
            return self._value(state, rows[some], now, known.take(some))

        return due_at_price(value_at, state.last[rows], price)

    def seen(
        self, state: RecrawlState, rows: Ints, now: Instants, outcomes: Outcomes
    ) -> RecrawlState:
        """State after visits; nothing is learned from one that is no later than the one before."""
        at = epoch_days(now)
        later = np.flatnonzero(at > state.last[rows])
        if len(later):
            _advance(state, float(at.max()))
            learn_visits(state, rows[later], at[later], outcomes.take(later))
        return state

    def _value(self, state: RecrawlState, rows: Ints, now: float | Floats, known: _Known) -> Floats:
        leaf, last = state.sections.leaf[rows], state.last[rows]
        waited = np.maximum(now - last, 0.0)
        elapsed = np.maximum(state.clocks.elapsed(leaf, last, now), 0.0) * known.factor
        states, doubt = known.states, elapsed
        if known.announced:
            doubt = effective_elapsed(state, rows, states, elapsed, now)
        value = self._expected(state.memories.share.take(rows, axis=1), states, doubt)
        ahead = np.maximum(waited / (self.fade * state.gap), _AT_ONCE)
        burst = (state.clocks.pace_now(leaf) - 1) * (-np.expm1(-ahead) / ahead)
        return np.asarray(state.worth[rows] * value / ((1 + burst) * np.sqrt(known.factor)))

    def _expected(self, share: Floats, states: tuple[Floats, Floats], elapsed: Floats) -> Floats:
        """Expected value of a visit to each page, by all memories together."""
        shape, exposure = states
        each = np.empty(shape.shape)
        each[:] = elapsed
        expected_value = self.objective.expected_value
        if each.size <= _FEW:
            each = expected_value(shape.ravel(), exposure.ravel(), each.ravel()).reshape(each.shape)
        else:  # a memory at a time: more would not stay in the cache
            for memory, columns in enumerate(zip(shape, exposure, each, strict=True)):
                each[memory] = expected_value(*columns)
        each *= share
        return np.asarray(np.add.reduce(each))


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """What is known of pages, whatever the time.

    Args:
        states: Shape and exposure of each, one row per memory.
        factor: What time on its clock counts for.
        announced: Whether anything is announced of any page.
    """

    states: tuple[Floats, Floats]
    factor: Floats
    announced: bool

    @classmethod
    def of(cls, state: RecrawlState, rows: Ints) -> _Known:
        """What is known of some pages."""
        prior = state.relatives.prior(state.sections, rows)
        states = state.memories.states(rows, prior)
        return cls(states, corrections_of(state, rows), state.announced.any)

    def take(self, some: Ints) -> _Known:
        """What is known of some of them."""
        if len(some) == self.states[0].shape[1]:
            return self
        shape, exposure = self.states
        states = shape[:, some], exposure[:, some]
        return _Known(states, self.factor[some], self.announced)


def _learn_first_ages(state: RecrawlState, first: int, pages: Pages) -> None:
    """Learn how old pages were when they were found, numbered from `first`.

    Pages that are dated at one moment were written at that moment, by a build of their site, and
    may be as they were before.
    """
    found = epoch_days(pages.first_seen)
    days = pages.first_age - (found - state.began)
    known = np.flatnonzero(days > _AT_ONCE)
    minute = np.floor((found - pages.first_age)[known] * _MINUTES_A_DAY)
    _, place, count = np.unique(minute, return_inverse=True, return_counts=True)
    known = known[count[place] <= _MOST_AT_ONE_MOMENT]
    state.memories.shape[:, first + known] += 1.0
    state.memories.exposure[:, first + known] += days[known]


def _advance(state: RecrawlState, now: float) -> None:
    """Begin a new bin of the clocks where it is time for one, and fit the priors anew."""
    if state.clocks.advance(now):
        _relate(state)
        state.relatives.refit(state.sections, state.memories)
        read_clocks(state, state.sections.levels)


def _relate(state: RecrawlState) -> None:
    """Find out which pages are kin, and which sites are large enough to learn alone."""
    if state.sections.relate():
        sites = state.sections.sites
        state.memories.grow_sites(sites)
        state.trust = np.append(state.trust, np.full(sites - len(state.trust), state.trust[0]))
        state.relatives.read(state.sections)
        state.corrections.put_on_sites(state.sections.site, sites)


def _width(gap: float) -> float:
    return max(gap / _BINS_A_GAP, _LEAST_BIN)
