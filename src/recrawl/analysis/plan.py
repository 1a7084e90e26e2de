"""`plan`: rates and a budget in, visits per day for each page out.

Touches: files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from recrawl.adapters.pictures import DrawnChart
from recrawl.adapters.tables.rates import NEEDED, OPTIONAL, RateTable, hosts_of, read_rates
from recrawl.adapters.tables.table_options import TableOptions
from recrawl.adapters.tables.text_files import TextCells
from recrawl.adapters.tables.weights import NEEDED as WEIGHT_COLUMNS
from recrawl.adapters.tables.weights import read_weights, weights_of
from recrawl.analysis.estimate import EstimateResult
from recrawl.analysis.results import ResultTable
from recrawl.analysis.sources import whole_input
from recrawl.arrays.texts import Texts
from recrawl.checks import check_choice
from recrawl.errors import InvalidParameter, InvalidTable
from recrawl.plan import (
    OBJECTIVES,
    Budget,
    Limits,
    Rates,
    allocate,
    allocate_randomised,
    budget_curve,
)
from recrawl.plan.solver.exact import ROUNDING
from recrawl.report.plans import HEADER, budget_words, curve_chart, plan_columns, plan_words
from recrawl.report.words import counted, tenths
from recrawl.units import days, duration

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from recrawl.plan import BudgetCurve, Objective, Plan
    from recrawl.settings.page_weights import PageWeights

RANDOMISED = "randomised"
_FORMS = ("periodic", RANDOMISED)
_CURVE_STEPS = 17  # budgets, from a sixteenth of the one given to sixteen times as much
_CURVE_SPAN = 16.0

# A page without a rate is treated as never visited: half a change in 15 days.
UNSEEN = (0.5, 15.0)
_SURE = 1e5  # shape of a rate that is known, where other pages have distributions
_LEAST_RATE = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class PlanAnswer:
    """A plan, and what it was made from."""

    plan: Plan
    limits: Limits
    hosts: Sequence[str]
    unknown: int


@dataclass(frozen=True, slots=True)
class PlanQuestion:
    """What is asked of a plan.

    Args:
        budget: The visits.
        objective: What to optimise.
        per_host: Most visits to one host; None for any number.
        least: Fewest visits per day to a page.
        most: Most visits per day to a page.
        randomised: Whether visits are at random instants.
    """

    budget: Budget
    objective: Objective
    per_host: Budget | None
    least: float
    most: float
    randomised: bool

    @classmethod
    def of(
        cls,
        budget: str | float,
        objective: str,
        per_host: str,
        intervals: tuple[str, str],
        form: str,
    ) -> PlanQuestion:
        """Check what people wrote before anything is read; `intervals` are longest and shortest."""
        check_choice(OBJECTIVES, objective=objective)
        check_choice(_FORMS, form=form)
        whole, host = Budget.read(budget), None
        if per_host:
            host = Budget.read(per_host, name="per-host", kinds=("crawl",))
        longest, shortest = (days(word) if word else 0.0 for word in intervals)
        if longest and shortest > longest:
            said = f"min-interval must be at most max-interval, {intervals[0]}"
            raise InvalidParameter(f"{said} (got {intervals[1]!r})")
        return cls(
            budget=whole,
            objective=OBJECTIVES[objective],
            per_host=host,
            least=1 / longest if longest else 0.0,
            most=1 / shortest if shortest else float("inf"),
            randomised=form == RANDOMISED,
        )

    def answer(self, file: str, table: RateTable) -> PlanAnswer:
        """A plan for the pages of a table, which errors call `file`."""
        hosts: Sequence[str] = ()
        limits = Limits(self.least, self.most)
        if self.per_host is not None:
            coded = TextCells(table.host or hosts_of(file, table.pages)).coded()
            hosts = coded.words
            limits = Limits(self.least, self.most, coded.codes, self.per_host.visits)
        rates, unknown = rates_to_plan(table, certain=self.randomised)
        budget = self.visits_for(len(rates), float(rates.rate.sum()))
        self.require_longest(budget, len(rates))
        if self.per_host is not None:
            of_host = np.bincount(coded.codes)
            most = int(np.argmax(of_host))
            where = f" of {hosts[most]}"
            self.require_longest(self.per_host.visits, int(of_host[most]), "per-host", where)
        spend = allocate_randomised if self.randomised else allocate
        found = spend(
            rates,
            budget,
            objective=self.objective,
            weight=table.figures.get("weight"),
            limits=limits,
        )
        return PlanAnswer(found, limits, hosts, unknown)

    def require_longest(
        self, budget: float, pages: int, name: str = "budget", where: str = ""
    ) -> None:
        """Raise where a budget does not pay for the longest interval.

        Args:
            budget: Visits per day.
            pages: Pages that it is for.
            name: What errors call it.
            where: Which pages they are, where they are not all.
        """
        least = self.least * pages
        if least > budget * ROUNDING:
            longest = duration(1 / self.least)
            raise InvalidParameter(
                f"{name} must be at least {least:g} visits per day, for max-interval asks for one "
                f"to each of {counted(pages, 'page')}{where} every {longest} (got {budget:g})"
            )

    def visits_for(self, pages: int, changes: float) -> float:
        """Visits per day that the budget allows for so many pages and changes per day."""
        if self.budget.each == "change":
            return self.budget.visits * changes
        return self.budget.visits_a_day(pages)

    def curve(self, answer: PlanAnswer) -> BudgetCurve:
        """What other budgets would buy, if they suffice for all minimum rates."""
        plan = answer.plan
        budgets = plan.budget * np.geomspace(1 / _CURVE_SPAN, _CURVE_SPAN, _CURVE_STEPS)
        floors = self.least * len(plan)
        return budget_curve(
            plan.rates,
            budgets[budgets >= floors],
            objective=plan.objective,
            weight=plan.weight,
            limits=answer.limits,
        )


def rates_to_plan(table: RateTable, *, certain: bool, uncertain: bool = False) -> tuple[Rates, int]:
    """Rates of all pages, as distributions if the file has some, and how many pages have none.

    Args:
        table: The file.
        certain: Whether rates are taken for known in any case.
        uncertain: Whether they are distributions in any case, because those of other files are.
    """
    rate = table.figures["rate_per_day"]
    nothing = np.full(len(rate), np.nan)
    # A page that changed in every gap may have no rate, but a lower end of its band.
    low = table.figures.get("low", nothing)
    rate = np.where(np.isnan(rate) & (low > 0), low, rate)
    shape = table.figures.get("shape", nothing)
    exposure = table.figures.get("exposure_days", nothing)
    spread = (shape > 0) & (exposure > 0)
    unknown = np.isnan(rate) & ~spread
    if certain or not (uncertain or (spread | unknown).any()):
        mean = np.divide(shape, exposure, out=nothing, where=spread)
        filled = np.where(np.isnan(rate), mean, rate)
        return Rates.known(np.where(unknown, UNSEEN[0] / UNSEEN[1], filled)), int(unknown.sum())
    sure = np.maximum(np.where(np.isnan(rate), 1.0, rate), _LEAST_RATE)
    events = np.where(spread, shape, np.where(unknown, UNSEEN[0], _SURE))
    elapsed = np.where(spread, exposure, np.where(unknown, UNSEEN[1], _SURE / sure))
    return Rates.gamma(events, elapsed), int(unknown.sum())


@dataclass(frozen=True, eq=False, repr=False)
class PlanResult(ResultTable):
    """How often to visit each page, with the columns that `recrawl plan` writes.

    Attributes:
        question: What was asked.
        answer: The plan as arrays, with its price and what it spends (`answer.plan`).
    """

    question: PlanQuestion
    answer: PlanAnswer

    def chart(self) -> DrawnChart:
        """Expected freshness over the budget, from a sixteenth to sixteen times of it."""
        curve = self.question.curve(self.answer)
        return DrawnChart(curve_chart(curve, budget=self.answer.plan.budget))

    def _words(self, most: int) -> tuple[Sequence[str], list[list[str]], Collection[int]]:
        return HEADER, plan_words(self.names[:most], self.columns), (0,)

    def _said(self) -> str:
        plan = self.answer.plan
        fresh = tenths(plan.mean_freshness)
        spent = budget_words(plan.spent)
        some = f"{len(self):,} of " if len(self) < len(plan) else ""
        return f"{some}{counted(len(plan), 'page')}, {spent}, expected freshness {fresh}"


def plan(  # noqa: PLR0913 - the options of the verb
    source: object,
    *,
    budget: str | float,
    objective: str = "harmonic",
    per_host: str = "",
    max_interval: str = "",
    min_interval: str = "",
    weights: object = None,
    columns: Mapping[str, str] | None = None,
    delimiter: str = "",
) -> PlanResult:
    """Plan how often to visit each page within a budget.

    The same as `recrawl plan`: one row per page, in the order of the source.

    Args:
        source: What `estimate` returned; or one row per page in a path, a frame or a mapping of
            columns: `page`, `rate_per_day` and, optionally, `shape` and `exposure_days`, `weight`
            and `host`; or the path of a crawl's store.
        budget: Visits to all pages together: 5000/1d, 0.1/page/1d or 4/change; a number is visits
            per day.
        objective: What to optimise: harmonic, freshness, age, missed or detected.
        per_host: Maximum visits to one host, e.g. 60/1h.
        max_interval: Visit every page at least this often, e.g. 90d.
        min_interval: Visit no page more often than this, e.g. 1h.
        weights: How much each page matters, instead of the column `weight`: a mapping of pages to
            weights, or one row per page or view in a path or a frame: `page`, `weight`. Rows of one
            page add up; pages that are not named weigh as the least that is.
        columns: Your names of the columns, where they differ.
        delimiter: What separates cells of CSV; what the header tells if empty.

    Examples:
        >>> import recrawl
        >>> rates = {"page": ["/news", "/about"], "rate_per_day": [1.0, 0.01]}
        >>> plan = recrawl.plan(rates, budget="2/1d", objective="freshness")
        >>> plan.column("visits_per_day").round(2)
        array([1.79, 0.21])
        >>> plan
        page    visit every  visits per day  fresh  value
        /news           13h            1.79   77 %  0.109
        /about         4.7d           0.211   98 %  0.109
        2 pages, 2/1d, expected freshness 87.1 %
    """
    intervals = max_interval, min_interval
    question = PlanQuestion.of(budget, objective, per_host, intervals, _FORMS[0])
    options = TableOptions.of(columns, delimiter=delimiter)
    if isinstance(source, EstimateResult):
        file, table = "estimates", _rate_table(source)
    else:
        with whole_input(source, (*NEEDED, *OPTIONAL), options) as known:
            file, table = known.names, read_rates(known)
    if weights is not None:
        table = weighted(table, _weights_of(weights))[0]
    answer = question.answer(file, table)
    names, rows = Texts.of(table.pages), plan_columns(answer.plan)
    return PlanResult(names, rows, "page", question=question, answer=answer)


def _rate_table(source: EstimateResult) -> RateTable:
    if not len(source):
        raise InvalidTable("estimates: must hold rates (got no rows)")
    figures = ("rate_per_day", "low", "shape", "exposure_days")
    return RateTable(source.names, {name: source.column(name) for name in figures})


def _weights_of(source: object) -> PageWeights:
    """Weights of a mapping of pages to weights, of a path or a frame."""
    if isinstance(source, Mapping) and all(isinstance(each, Real) for each in source.values()):
        return weights_of(source)
    with whole_input(source, WEIGHT_COLUMNS, TableOptions(), name="weights") as table:
        return read_weights(table)


def weighted(table: RateTable, weights: PageWeights) -> tuple[RateTable, int]:
    """Rates with the weights of a file, and how many of its pages are among theirs."""
    pages = Texts.of(table.pages)
    weight = weights.or_least(weights.find(pages))
    return replace(table, figures={**table.figures, "weight": weight}), weights.count_named(pages)
