"""The copies of a crawl as `recrawl status` sees them: all of a small crawl, some of a large one.

Touches: a store.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.arrays.equal_keys import distinct
from recrawl.policies.recrawl.beliefs import Beliefs, ExpectedFreshness, freshness
from recrawl.policies.recrawl.calibration import Calibration
from recrawl.policies.recrawl.checkpoint import calibration_kept
from recrawl.policies.recrawl.state import forecast_clocks
from recrawl.settings.pools import budgets, terms, weights_file
from recrawl.settings.rules import NO_RULE
from recrawl.state.checkpoint import LAST, PAGES, may_be_late, pool_parts, samples_in
from recrawl.state.false_changes import FalseChangeModel
from recrawl.state.hints import heard_in, read_hints
from recrawl.state.pages import ruled
from recrawl.state.replay import COMPARED
from recrawl.state.sampled import SampledSnapshot, draw_samples, with_target
from recrawl.state.snapshot import load_snapshot
from recrawl.state.weights import look_up, saved_factors
from recrawl.units import epoch_days
from recrawl.visits.status import WITH_A_COPY, PageStatus, VisitOutcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from recrawl.arrays.types import Bools, Floats, Ints
    from recrawl.entries.records import SavedCheckpoint
    from recrawl.entries.store import ReadStore
    from recrawl.policies.recrawl.state import RecrawlState
    from recrawl.settings.settings import Settings
    from recrawl.state.snapshot import Snapshot

HERE = (PageStatus.NEW, *WITH_A_COPY)


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
    settings: Settings, reader: ReadStore, saved: SavedCheckpoint, now: float
) -> CopiesFound:
    """Look at some copies, drawn at random.

    Args:
        settings: What is asked of the crawl.
        reader: Its store.
        saved: What its last checkpoint has of them, or the whole checkpoint.
        now: The instant, in days after 1970.
    """
    parts, visit = saved
    pools = {number: pool_parts(parts, number) for number in range(len(budgets(settings)))}
    pools = {number: pool for number, pool in pools.items() if pool}
    content = np.ones(reader.page_count(), np.bool_)
    without = reader.pages_without_content()
    content[without[without < len(content)]] = False
    drawn = samples_in(parts) or draw_samples(
        settings, pools, content.__getitem__, lambda pages: reader.rules_and_hosts(pages)[0]
    )
    snapshots = {
        number: SampledSnapshot.load(settings, reader, each) for number, each in drawn.items()
    }
    known, last = np.zeros(len(content), np.bool_), np.full(len(content), np.nan)
    for pool in pools.values():
        known[pool[PAGES]] = True
    saved_by_file = saved_factors(settings, parts, len(content))
    young = _learn_since(reader, list(snapshots.values()), visit, known, last)
    for hints in read_hints(settings, reader, heard_in(parts)):
        for each in snapshots.values():
            each.hear(hints)
    samples: dict[int, CopySample] = {}
    targets: dict[int, CopySample] = {}
    for number, each in snapshots.items():
        each.run(now)
        of = int(np.count_nonzero(content[pools[number][PAGES]]))
        sample = CopySample.drawn(number, each.state, each.pages, each.drawn, of)
        sample = replace(sample, rows=sample.rows[content[each.pages[sample.rows]]])
        if len(sample.rows):
            samples[number] = sample
            targets |= _of_targets(settings, reader, sample, content)
    found = sum((sample.freshness(now) for sample in samples.values()), ExpectedFreshness())
    if snapshots:
        found += next(iter(snapshots.values())).freshness_of_young(last[young], now)
    return CopiesFound(
        freshness=found,
        looked_at=sum(len(each.rows) for each in samples.values()) + len(young),
        late=_late_of_all(settings, reader, pools.values(), last, without, now),
        samples=list(samples.values()),
        of_rules=targets,
        calibration=_calibration(list(pools.values()), list(snapshots.values())),
        factor=None if saved_by_file is None else saved_by_file.factor,
    )


def _of_targets(
    settings: Settings, reader: ReadStore, sample: CopySample, content: Bools
) -> dict[int, CopySample]:
    """Those of a sample's copies that are of each rule with a target."""
    targets = with_target(settings)
    if not targets:
        return {}
    copies = Counter(reader.pages_with_copy(targets)[1].tolist())
    rule = np.where(content[sample.pages], reader.rules_and_hosts(sample.pages)[0], NO_RULE)
    rows = {each: np.flatnonzero(rule == each) for each in targets}
    return {
        each: replace(sample, rows=ours, of=max(copies[each], len(ours)))
        for each, ours in rows.items()
        if len(ours)
    }


def _calibration(
    pools: Sequence[dict[str, Any]], snapshots: Sequence[SampledSnapshot]
) -> Calibration:
    """What was saved, and what the copies that are looked at have shown since."""
    tables = [calibration_kept(pool) for pool in pools]
    tables += [each.state.calibration for each in snapshots]
    return sum(tables, Calibration.start())


def _learn_since(
    reader: ReadStore,
    snapshots: Sequence[SampledSnapshot],
    visit: int,
    known: Bools,
    last: Floats,
) -> Ints:
    """Learn from visits made since the crawl was saved; returns the pages copied since then.

    Args:
        reader: The store.
        snapshots: Copies that are looked at.
        visit: Number of the last visit before.
        known: Which pages had a copy then.
        last: Where to note when pages were visited since.
    """
    young: list[Ints] = [np.empty(0, np.int64)]
    false_changes = FalseChangeModel.load(reader)
    for visits in reader.outcomes(after=visit):
        here = visits.page < len(known)
        page, outcome = visits.page[here], visits.outcome[here]
        first = outcome == VisitOutcome.FIRST
        young.append(page[first & ~known[page]])
        for each in snapshots:
            each.learn(visits, false_changes)
        told = COMPARED[outcome] | first
        last[page[told]] = epoch_days(visits.at[here])[told]
    return distinct(np.concatenate(young))


def _late_of_all(
    settings: Settings,
    reader: ReadStore,
    pools: Iterable[Mapping[str, Any]],
    since: Floats,
    without: Ints,
    now: float,
) -> int:
    """How many of all pages are past the longest time between visits.

    Args:
        settings: What is asked of the crawl.
        reader: Its store.
        pools: What the checkpoint has of each pool.
        since: When each page was visited since the checkpoint; nan where it was not.
        without: Pages of which no copy counts.
        now: The instant, in days after 1970.
    """
    if not may_be_late(settings):
        return 0
    last = np.full(len(since), np.nan)
    for pool in pools:
        last[pool[PAGES]] = pool[LAST]
    last = np.where(np.isnan(since), last, since)
    counted_already = np.concatenate([reader.appointed_pages(), without])
    last[counted_already[counted_already < len(last)]] = np.nan
    rule = reader.rules()[: len(last)]
    return int(np.count_nonzero(_late(settings, rule, last[: len(rule)], now)))


def _late(settings: Settings, rule: Ints, last: Floats, now: float) -> Bools:
    """Which pages are past the longest time between visits."""
    longest = np.array([each.interval or each.maximum for each in terms(settings)])
    return np.asarray(last + longest[ruled(settings, rule)] < now)
