"""A plan for rates in partitions: one price for all of them, found by sums.

A first pass reads the tables and lays their figures down as arrays; a few further passes ask
every partition what it spends at a price; the last one writes the plan. No process ever has the
pages of two partitions.

Touches: files, processes.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import partial
from math import fsum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from recrawl.adapters import places
from recrawl.adapters.tables.columns import TableFile
from recrawl.adapters.tables.inputs import table_of
from recrawl.adapters.tables.outputs import to_file
from recrawl.adapters.tables.rates import read_rates
from recrawl.adapters.tables.table_options import TableOptions
from recrawl.analysis.bulk.runs import BulkRun, failure_sentence, partitions_of
from recrawl.analysis.plan import rates_to_plan
from recrawl.arrays.texts import Texts
from recrawl.errors import PartitionsFailed
from recrawl.plan import Limits, Plan, Rates, allocate, uniform
from recrawl.plan.allocation import pages_to_plan
from recrawl.plan.limits import LimitColumns
from recrawl.plan.solver.exact import most_spending
from recrawl.plan.solver.parts import PartPrice, PartSpending, price_of_parts
from recrawl.report.plans import plan_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from recrawl.adapters.engines import Engine
    from recrawl.analysis.plan import PlanQuestion
    from recrawl.arrays.types import Floats
    from recrawl.plan.solver.spending import PricedPages

_SAMPLE = 16384  # pages of all partitions that give a first price
_PASSES = 8  # about so many, for the progress


class Survey(NamedTuple):
    """What is to be known of a partition before there is a price.

    Attributes:
        uncertain: Whether rates are distributions.
        pages: Its pages.
        unknown: Those without a rate.
        changes: Changes per day of all of them.
        floors: What their least visits cost.
        most: What they would spend if visits were free.
        sample: Figures of a few: rate, shape, exposure, weight; nan where there is none.
    """

    uncertain: bool
    pages: int
    unknown: int
    changes: float
    floors: float
    most: float
    sample: Any


class PlanTotals(NamedTuple):
    """What a plan comes to, of a partition or of all.

    Attributes:
        pages: Pages.
        unknown: Those without a rate.
        starved: Those that are never visited.
        spent: Visits per day.
        weight: Weights of all pages.
        fresh: Weights of pages times their freshness.
        even: The same if all pages were visited equally often.
    """

    pages: int
    unknown: int
    starved: int
    spent: float
    weight: float
    fresh: float
    even: float

    @classmethod
    def together(cls, parts: Iterable[PlanTotals]) -> PlanTotals:
        """All parts added up, in a way that does not depend on their order."""
        every = list(parts)
        return cls(
            pages=sum(each.pages for each in every),
            unknown=sum(each.unknown for each in every),
            starved=sum(each.starved for each in every),
            spent=fsum(each.spent for each in every),
            weight=fsum(each.weight for each in every),
            fresh=fsum(each.fresh for each in every),
            even=fsum(each.even for each in every),
        )


class PricedPartition(NamedTuple):
    """What the last pass is told."""

    price: PartPrice
    budget: float
    evenly: float  # visits per day of each page if all were visited equally often


@dataclass(frozen=True, slots=True)
class PlanJob:
    """How a partition is planned. It can be pickled.

    Args:
        question: What is asked.
        options: How tables are read.
        uncertain: Whether rates are distributions; decided by all partitions together.
    """

    question: PlanQuestion
    options: TableOptions = TableOptions()  # noqa: RUF009 - it cannot be changed
    uncertain: bool = False

    def survey(self, task: tuple[str, str], sample: int) -> Survey:
        """Lay down the figures of a partition.

        Args:
            task: Place of the rates, place of the figures.
            sample: Pages that are sampled.
        """
        source, into = task
        _, rates, weight, unknown = self._rates(source)
        columns = [rates.rate, rates.shape, rates.exposure, weight]
        nothing = np.full(len(rates), np.nan)
        figures = np.stack([nothing if column is None else column for column in columns])
        with places.written(into) as path, path.open("wb") as file:
            np.save(file, figures)
        pages = _Figures(figures).pages(self.question)
        some = np.linspace(0, len(rates) - 1, min(sample, len(rates))).astype(np.int64)
        return Survey(
            rates.shape is not None,
            len(rates),
            unknown,
            float(rates.rate.sum()),
            pages.costs(pages.limits.floors(len(rates))),
            most_spending(pages),
            figures[:, some],
        )

    def spend(self, place: str, price: float) -> PartSpending:
        """What a partition spends at a price, by the place of its figures."""
        return PartSpending.of(_Figures.read(place).pages(self.question), price)

    def write(self, task: tuple[str, str], priced: PricedPartition) -> PlanTotals:
        """Write the plan of a partition: from the place of its rates to another."""
        source, into = task
        names, rates, weight, unknown = self._rates(source)
        limits = Limits(self.question.least, self.question.most)
        pages = pages_to_plan(rates, self.question.objective, limits, weight)
        plan = Plan(
            rates,
            self.question.objective,
            weight,
            None,
            priced.price.visits(pages),
            priced.price.price,
            priced.budget,
            LimitColumns.of(limits, len(rates)),
        )
        columns = plan_columns(plan)
        with places.written(into) as path, to_file(path, ("page", *columns)) as writer:
            writer.write(Texts.of(names), columns)
        even = uniform(rates, priced.evenly * len(rates), weight=weight)
        weights = np.ones(len(rates)) if weight is None else weight
        return PlanTotals(
            len(rates),
            unknown,
            int(plan.starved.sum()),
            plan.spent,
            float(weights.sum()),
            float(weights @ plan.freshness),
            float(weights @ even.freshness),
        )

    def _rates(self, source: str) -> tuple[list[str], Rates, Floats | None, int]:
        """Names, rates and weights of a partition, and how many pages have no rate."""
        with places.copied(source) as copy:
            table = read_rates(table_of([TableFile(copy, source)], self.options))
        rates, unknown = rates_to_plan(table, certain=False, uncertain=self.uncertain)
        return table.pages, rates, table.figures.get("weight"), unknown


@dataclass(frozen=True, slots=True, eq=False)
class _Figures:
    """Rate, shape, exposure and weight of pages, one row each; nan where there is none."""

    figures: Floats

    @classmethod
    def read(cls, place: str) -> _Figures:
        with places.copied(place) as path:
            return cls(np.load(path, allow_pickle=False))

    def rates(self) -> Rates:
        rate, shape, exposure, _ = self.figures
        return Rates(rate) if np.isnan(shape[:1]).any() else Rates(rate, shape, exposure)

    @property
    def weight(self) -> Floats | None:
        weight: Floats = self.figures[3]
        return None if np.isnan(weight).all() else np.where(np.isnan(weight), 1.0, weight)

    def pages(self, question: PlanQuestion) -> PricedPages:
        limits = Limits(question.least, question.most)
        return pages_to_plan(self.rates(), question.objective, limits, self.weight)


@dataclass(frozen=True, slots=True)
class PlanReport:
    """What came of a run.

    Attributes:
        partitions: How many there are.
        done_before: How many an earlier run had finished.
        budget: Visits per day that may be made.
        price: What a visit must be worth.
        passes: How often partitions were asked what they spend.
        totals: What the plan comes to, without partitions that were finished before.
    """

    partitions: int
    done_before: int
    budget: float
    price: float
    passes: int
    totals: PlanTotals


def plan_partitions(
    given: Sequence[str],
    folder: str,
    job: PlanJob,
    *,
    engine: Engine,
    progress: Callable[[float], None] | None = None,
    remark: Callable[[str], None] = lambda _: None,
) -> PlanReport:
    """Plan all partitions within one budget, one file of visits per day for each.

    Args:
        given: Files of rates, patterns and folders, or addresses that fsspec knows.
        folder: Where the plan goes.
        job: What is asked.
        engine: What does the work.
        progress: Called with the share of the work that is done.
        remark: Called with what a user should know at once.
    """
    partitions = partitions_of(given, folder)
    run = BulkRun.begin(engine, folder, partitions, _asked(job), progress)
    if run.done_before:
        remark(f"{len(run.done_before):,} of {len(partitions):,} partitions were finished before.")
    known = run.noted("plan")
    if known is None:
        known, job, passes = _decide(run, job)
        run.note(plan=known)
    else:
        job, passes = replace(job, uncertain=known["uncertain"]), 0
    priced = PricedPartition(PartPrice(*known["price"]), known["budget"], known["evenly"])
    tasks = {each.name: (each.source, each.into) for each in run.left}
    every = run.do(partial(job.write, priced=priced), tasks, (0.8, 1.0)).values()
    run.end()
    return PlanReport(
        len(partitions),
        len(run.done_before),
        priced.budget,
        priced.price.price,
        passes,
        PlanTotals.together(every),
    )


def _decide(run: BulkRun, job: PlanJob) -> tuple[dict[str, Any], PlanJob, int]:
    """Find the price. It is for all pages: a partition that cannot be read ends the run."""
    figures = {each.name: run.scratch(f"{each.name}.npy") for each in run.partitions}
    tasks = {each.name: (each.source, figures[each.name]) for each in run.partitions}
    survey = partial(job.survey, sample=max(_SAMPLE // len(tasks), 1))
    by_name = run.do(survey, tasks, (0.0, 0.3))
    _require_all(run)
    certain = {name: tasks[name] for name, each in by_name.items() if not each.uncertain}
    if certain and len(certain) < len(tasks):  # then all are to be distributions
        job = replace(job, uncertain=True)
        by_name |= run.do(partial(job.survey, **survey.keywords), certain, (0.3, 0.3))
        _require_all(run)
    surveys = list(by_name.values())
    pages = sum(each.pages for each in surveys)
    changes = fsum(each.changes for each in surveys)
    budget = job.question.visits_for(pages, changes)
    job.question.require_longest(budget, pages)
    passes = 0

    def spend(price: float) -> PartSpending:
        nonlocal passes
        begun = 0.3 + 0.5 * min(passes / _PASSES, 1.0)
        passes += 1
        found = run.do(partial(job.spend, price=price), figures, (begun, begun + 0.5 / _PASSES))
        _require_all(run)
        return PartSpending(*map(fsum, zip(*found.values(), strict=True)))

    found = price_of_parts(
        spend,
        budget,
        start=_guess(surveys, job.question, budget / pages),
        floors=fsum(each.floors for each in surveys),
        most=fsum(each.most for each in surveys),
    )
    spent = min(budget, fsum(each.most for each in surveys))
    known = {
        "price": list(found),
        "budget": budget,
        "evenly": spent / pages,
        "uncertain": job.uncertain,
    }
    return known, job, passes


def _guess(surveys: Sequence[Survey], question: PlanQuestion, each: float) -> float:
    """A first price: that of a sample which may spend as much per page."""
    some = _Figures(np.concatenate([survey.sample for survey in surveys], axis=1))
    rates = some.rates()
    limits = Limits(0.0, question.most)
    plan = allocate(
        rates, each * len(rates), objective=question.objective, weight=some.weight, limits=limits
    )
    return plan.price if 0 < plan.price < np.inf else 1.0


def _require_all(run: BulkRun) -> None:
    """Raise if a partition has failed: the price is of all of them."""
    if run.failures:
        rest = "and without all pages there is no price"
        raise PartitionsFailed(failure_sentence(run.failures, len(run.partitions), rest))


def _asked(job: PlanJob) -> dict[str, Any]:
    """What makes two runs the same."""
    question = job.question
    return {
        "verb": "plan",
        "budget": asdict(question.budget),
        "objective": type(question.objective).__name__,
        "least": question.least,
        "most": repr(question.most),
        "columns": dict(job.options.columns),
    }
