"""The copies of a crawl as `recrawl status` sees them: all of a small crawl, some of a large one.

Touches: a store.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.policies.recrawl.beliefs import Beliefs, ExpectedFreshness, freshness
from recrawl.policies.recrawl.calibration import Calibration
from recrawl.policies.recrawl.checkpoint import calibration_kept
from recrawl.policies.recrawl.state import forecast_clocks
from recrawl.settings.pools import budgets, terms, weights_file
from recrawl.state.checkpoint import PAGES, pool_parts
from recrawl.state.false_changes import FalseChangeModel
from recrawl.state.pages import ruled
from recrawl.state.sampled import SampledSnapshot
from recrawl.state.snapshot import load_snapshot
from recrawl.state.weights import look_up, saved_factors
from recrawl.units import epoch_days
from recrawl.visits.status import WITH_A_COPY, PageStatus, VisitOutcome

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recrawl.arrays.types import Bools, Floats, Ints
    from recrawl.entries.records import SavedCheckpoint
    from recrawl.entries.store import ReadStore
    from recrawl.policies.recrawl.state import RecrawlState
    from recrawl.settings.settings import Settings
    from recrawl.state.snapshot import Snapshot

HERE = (PageStatus.NEW, *WITH_A_COPY)
# Copies of all rules with a target that are looked at, whatever the sample says.
_FOR_TARGETS, _MOST_A_TARGET, _FEWEST_A_TARGET = 10_000, 500, 20


@dataclass(frozen=True, slots=True, eq=False)
class CopySample:
    """Copies that share a budget and were looked at.

    Args:
        pool: Number of the budget.
        state: What the policy knows of them, and perhaps of others.
        clocks: What `forecast_clocks` gives for it.
        pages: Page in each row of the state, counted from 0.
        rows: Rows of the copies.
        of: How many copies they stand for.
    """

    pool: int
    state: RecrawlState
    clocks: Floats
    pages: Ints
    rows: Ints
    of: int

    @classmethod
    def drawn(cls, pool: int, state: RecrawlState, pages: Ints, rows: Ints, of: int) -> CopySample:
        """Copies in some rows of a state, whose clocks have run."""
        return cls(pool, state, forecast_clocks(state), pages, rows, of)

    def freshness(self, now: float) -> ExpectedFreshness:
        """How fresh the copies are that they stand for."""
        return freshness(self.state, now, rows=self.rows, of=self.of, clocks=self.clocks)

    def rows_of(self, pages: Ints) -> Ints:
        """Rows of those of some pages, rising, that the state knows; its own must rise, too."""
        place = np.minimum(np.searchsorted(self.pages, pages), len(self.pages) - 1)
        return np.asarray(place[self.pages[place] == pages])

    def beliefs(self, now: float) -> Beliefs:
        """What is believed of each."""
        return Beliefs.of(self.state, self.rows, now, self.clocks)


@dataclass(frozen=True, slots=True, eq=False)
class CopiesFound:
    """What was found out about the copies of a crawl.

    Args:
        freshness: How fresh they are.
        looked_at: How many were looked at.
        late: How many are past the longest time between visits.
        samples: Those looked at, by budget.
        of_rules: Those of each rule that has a target.
        calibration: What was forecast of visits, and what they found.
        here: Pages of each budget that are there, with or without a copy; None where the store
            is to be asked.
        rule: Rule of each page; None where the store is to be asked.
        next_visit: When the next visit is made, in days after 1970; None where only some copies
            were looked at.
        without_rates: Copies of which a policy decides that knows no rates.
        factor: What the weight of each page's block is multiplied by; None where pages are to be
            looked up.
    """

    freshness: ExpectedFreshness
    looked_at: int
    late: int
    samples: list[CopySample]
    of_rules: Mapping[int, CopySample]
    calibration: Calibration
    here: list[int] | None = None
    rule: Ints | None = None
    next_visit: float | None = None
    without_rates: int = 0
    factor: Floats | None = None

    def weights(self, settings: Settings, reader: ReadStore, pages: Ints, rule: Ints) -> Floats:
        """How much fresh copies of some pages, counted from 0, with these rules matter."""
        if self.factor is None:
            factor = look_up(settings, reader.addresses(pages.tolist())).factor
        else:
            factor = self.factor[pages]
        return np.array([each.weight for each in terms(settings)])[rule] * factor

    def fresh_by_weight(self, settings: Settings, reader: ReadStore, now: float) -> float:
        """Expected share of fresh copies by weight; nan where all weigh the same."""
        of_blocks = {rule.weight for rule in settings.rules}
        if weights_file(settings) is None and len(of_blocks) <= 1:
            return nan
        fresh, whole = 0.0, 0.0
        for sample in self.samples:
            pages = sample.pages[sample.rows]
            rule = ruled(settings, self.rules_and_hosts(reader, pages)[0])
            weight = self.weights(settings, reader, pages, rule) * (sample.of / len(pages))
            fresh += float(weight @ sample.beliefs(now).fresh)
            whole += float(weight.sum())
        return fresh / whole if whole else nan

    def rules_and_hosts(self, reader: ReadStore, pages: Ints) -> tuple[Ints, Ints]:
        """Rule and host of some pages, counted from 0."""
        rule, host = reader.rules_and_hosts(pages)
        return (rule if self.rule is None else self.rule[pages]), host


def with_target(settings: Settings) -> list[int]:
    """Numbers of the rules that have a target."""
    return [number for number, rule in enumerate(settings.rules) if rule.target is not None]


def all_copies(settings: Settings, reader: ReadStore, now: float) -> CopiesFound:
    """Look at all copies."""
    from recrawl.inspect.next_visits import next_visit_of_any  # slow to load: see `some_copies`

    snapshot = load_snapshot(settings, reader, now)
    found, calibration, samples = ExpectedFreshness(), Calibration.start(), []
    without_rates = 0
    for number, pool in enumerate(snapshot.pools):
        # A detail page whose object vanished has a row and no rule.
        ours = snapshot.rule[pool.pages] < len(settings.rules)
        rows = np.flatnonzero(ours & np.isin(snapshot.columns.status[pool.pages], WITH_A_COPY))
        if pool.state is None:
            without_rates += len(rows)
        else:
            calibration += pool.state.calibration
            samples.append(CopySample.drawn(number, pool.state, pool.pages, rows, len(rows)))
            found += samples[-1].freshness(now)
    late = _late(settings, snapshot.rule, snapshot.last, now)
    stands = np.isin(snapshot.columns.status, WITH_A_COPY) & np.isnat(snapshot.columns.next_at)
    of_rules = {}
    for rule in with_target(settings):
        for sample in samples:
            rows = sample.rows[snapshot.rule[sample.pages[sample.rows]] == rule]
            if len(rows):
                of_rules[rule] = replace(sample, rows=rows, of=len(rows))
    return CopiesFound(
        freshness=found,
        looked_at=found.copies,
        late=int(np.count_nonzero(late & stands)),
        samples=[sample for sample in samples if len(sample.rows)],
        of_rules=of_rules,
        calibration=calibration,
        here=_here(settings, snapshot),
        rule=snapshot.rule,
        next_visit=next_visit_of_any(snapshot, reader),
        without_rates=without_rates,
        factor=snapshot.factors.factor,
    )


def _here(settings: Settings, snapshot: Snapshot) -> list[int]:
    """Pages that are there by budget, whatever the store says of their rules."""
    pool_of = np.array([each.pool for each in terms(settings)])
    here = np.isin(snapshot.columns.status, HERE)
    count = len(budgets(settings))
    found: list[int] = np.bincount(pool_of[snapshot.rule[here]], minlength=count)[:count].tolist()
    return found


def some_copies(
    settings: Settings, reader: ReadStore, saved: SavedCheckpoint, now: float, most: int
) -> CopiesFound:
    """Look at some copies, drawn at random from what was learned of all of them."""
    parts, visit = saved
    pools = [pool_parts(parts, number) for number in range(len(budgets(settings)))]
    rows = sum(len(pool[PAGES]) for pool in pools if pool)
    share = min(most / max(rows, 1), 1.0)
    without = reader.pages_without_content()
    wanted = _Wanted.drawn(settings, reader)
    snapshots: dict[int, SampledSnapshot] = {}
    for number, pool in enumerate(pools):
        if pool:
            drawn = SampledSnapshot.draw(
                settings, reader, pool, share=share, without=without, wanted=wanted.everything
            )
            if drawn is not None:
                snapshots[number] = drawn
    last = np.full(reader.page_count(), np.nan)
    for pool in pools:
        if pool:
            last[pool[PAGES]] = pool["last"]
    saved_by_file = saved_factors(settings, parts, reader.page_count())
    young = _learn_since(reader, list(snapshots.values()), visit, last)
    samples = {}
    for number, each in snapshots.items():
        each.run(now)
        samples[number] = CopySample.drawn(number, each.state, each.pages, each.drawn, each.of)
    found = sum((sample.freshness(now) for sample in samples.values()), ExpectedFreshness())
    if snapshots:
        found += next(iter(snapshots.values())).freshness_of_young(last[young], now)
    return CopiesFound(
        freshness=found,
        looked_at=sum(len(each.drawn) for each in snapshots.values()) + len(young),
        late=_late_of_all(settings, reader, last, without, now),
        samples=list(samples.values()),
        of_rules=wanted.samples(samples, settings),
        calibration=_calibration(pools, list(snapshots.values())),
        factor=None if saved_by_file is None else saved_by_file.factor,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Wanted:
    """Some copies of each rule that has a target.

    Args:
        pages: Some pages of each rule, counted from 0.
        copies: How many copies it has.
    """

    pages: Mapping[int, Ints]
    copies: Mapping[int, int]

    @classmethod
    def drawn(cls, settings: Settings, reader: ReadStore) -> _Wanted:
        """Draw them at random, the same for the same crawl."""
        rules = with_target(settings)
        if not rules:
            return cls({}, {})
        most = min(max(_FOR_TARGETS // len(rules), _FEWEST_A_TARGET), _MOST_A_TARGET)
        number, rule = reader.pages_with_copy(rules)
        order = np.argsort(rule, kind="stable")
        number, rule = number[order], rule[order]
        pages, copies = {}, {}
        for each in rules:
            ours = number[slice(*np.searchsorted(rule, (each, each + 1)))]
            random = np.random.default_rng(len(ours))
            few = len(ours) <= most
            pages[each] = ours if few else np.sort(random.choice(ours, most, replace=False))
            copies[each] = len(ours)
        return cls(pages, copies)

    @property
    def everything(self) -> Ints:
        """The pages of all rules."""
        return np.concatenate([np.empty(0, np.int64), *self.pages.values()])

    def samples(
        self, samples: Mapping[int, CopySample], settings: Settings
    ) -> dict[int, CopySample]:
        """The copies of each rule, as they were looked at."""
        every, found = terms(settings), {}
        for rule, pages in self.pages.items():
            sample = samples.get(every[rule].pool)
            if sample is not None:
                rows = sample.rows_of(pages)
                if len(rows):
                    found[rule] = replace(sample, rows=rows, of=self.copies[rule])
        return found


def _calibration(
    pools: Sequence[dict[str, Any]], snapshots: Sequence[SampledSnapshot]
) -> Calibration:
    """What was saved, and what the copies that are looked at have shown since."""
    tables = [calibration_kept(pool) for pool in pools if pool]
    tables += [each.state.calibration for each in snapshots]
    return sum(tables, Calibration.start())


def _learn_since(
    reader: ReadStore, snapshots: Sequence[SampledSnapshot], visit: int, last: Floats
) -> Ints:
    """Learn from visits made since the crawl was saved; returns the pages copied since then."""
    young: list[Ints] = [np.empty(0, np.int64)]
    false_changes = FalseChangeModel.load(reader)
    for visits in reader.outcomes(after=visit):
        known = visits.page < len(last)
        page, outcome = visits.page[known], visits.outcome[known]
        first = page[(outcome == VisitOutcome.FIRST) & np.isnan(last[page])]
        young.append(first)
        for each in snapshots:
            each.learn(visits, false_changes)
        compared = np.isin(outcome, [each for each in VisitOutcome if each.compared])
        told = compared | (outcome == VisitOutcome.FIRST)
        last[page[told]] = epoch_days(visits.at[known])[told]
    return np.unique(np.concatenate(young))


def _late_of_all(
    settings: Settings, reader: ReadStore, last: Floats, without: Ints, now: float
) -> int:
    """How many of all pages are past the longest time between visits."""
    if not any(each.interval or each.maximum < inf for each in terms(settings)):
        return 0
    counted_already = np.concatenate([reader.appointed_pages(), without])
    last = last.copy()
    last[counted_already[counted_already < len(last)]] = np.nan
    rule = reader.rules()[: len(last)]
    return int(np.count_nonzero(_late(settings, rule, last[: len(rule)], now)))


def _late(settings: Settings, rule: Ints, last: Floats, now: float) -> Bools:
    """Which pages are past the longest time between visits."""
    longest = np.array([each.interval or each.maximum for each in terms(settings)])
    return np.asarray(last + longest[ruled(settings, rule)] < now)
