"""Results of the demo: freshness, estimates and costs of its crawl, beside the truth.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from recrawl.demo.caught import caught
from recrawl.demo.truth import calibration, tenths, truly_fresh
from recrawl.demo.virtual import virtual_crawl
from recrawl.demo.world import SECTIONS
from recrawl.plan.budget import Budget
from recrawl.policies.rivals.uniform import uniform
from recrawl.report.words import every, percent
from recrawl.visits.status import VisitOutcome

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Floats
    from recrawl.demo.caught import Caught
    from recrawl.demo.crawl import ExampleRun
    from recrawl.demo.jobs import ExampleJobs
    from recrawl.demo.truth import BeliefComparison
    from recrawl.demo.world import ExampleWorld

Table: TypeAlias = tuple[list[str], list[list[str]]]

SECTION_HEADER = ("section", "signals", "pages", "visits", "changed", "same", "true", "estimate")
SECTION_LEFT = (0, 1)

_KILO = 1000.0


@dataclass(frozen=True, slots=True, eq=False)
class ExampleResult:
    """Figures of a crawl of the demo's site, beside the truth.

    Args:
        days: Duration of the crawl.
        freshness: Share of fresh copies in each tenth of the crawl, expected and true.
        uniform: What would have been true if all pages had been visited in turn.
        calibration: Probabilities of freshness after the first tenth, by tenths, and how often
            they came true.
        sections: One row per section, under `SECTION_HEADER`.
        costs: Visits and traffic of the crawl.
        caught: What misled it.
        outdated: Copies that are truly outdated in the end.
    """

    days: float
    freshness: BeliefComparison
    uniform: Floats
    calibration: BeliefComparison
    sections: list[list[str]]
    costs: Costs
    caught: Caught
    outdated: int

    def conclusion(self) -> str:
        """What the crawl achieved, in a sentence or two."""
        true, expected = _mean(self.freshness.true), _mean(self.freshness.expected)
        said = f"In {self.days:.0f} days {percent(true)} of the copies were fresh on average"
        return (
            f"{said}; the crawl expected {percent(expected)}. With as many visits to all pages in "
            f"turn, {percent(_mean(self.uniform))} would have been fresh."
        )

    def freshness_table(self) -> Table:
        """Freshness by tenths of the crawl; the last column is the mean."""
        ends = np.linspace(0, self.days, len(self.uniform) + 1)[1:]
        lines = {
            "expected": self.freshness.expected,
            "true": self.freshness.true,
            "uniform": self.uniform,
        }
        rows = [[name, *map(percent, each), percent(_mean(each))] for name, each in lines.items()]
        return ["until day", *(f"{end:.3g}" for end in ends), "all"], rows

    def calibration_table(self) -> Table:
        """How often copies were fresh, by the probability that the crawl gave them."""
        header = ["expected fresh", *map(percent, self.calibration.expected)]
        return header, [["truly fresh", *map(percent, self.calibration.true)]]


def _mean(shares: Floats) -> float:
    known = shares[~np.isnan(shares)]
    return float(known.mean()) if len(known) else np.nan


def _median(days: Floats) -> float:
    known = days[~np.isnan(days)]
    return float(np.median(known)) if len(known) else np.nan


def result_of(world: ExampleWorld, jobs: ExampleJobs, run: ExampleRun) -> ExampleResult:
    """Results of a run with at least one belief."""
    fresh = truly_fresh(world, run.visits.of_copies, run.beliefs)
    return ExampleResult(
        days=run.end - world.start,
        freshness=tenths(run.beliefs, fresh, start=world.start, end=run.end),
        uniform=visited_in_turn(world, run),
        calibration=_settled(world, run, fresh),
        sections=_sections(world, run),
        costs=_costs(world, run),
        caught=caught(world, jobs, run),
        outdated=_outdated(world, run),
    )


def _outdated(world: ExampleWorld, run: ExampleRun) -> int:
    """Copies that are truly outdated in the end."""
    (fresh,) = truly_fresh(world, run.visits.of_copies, [replace(run.beliefs[-1], at=run.end)])
    return int(np.count_nonzero(~fresh))


def _settled(world: ExampleWorld, run: ExampleRun, fresh: list[Bools]) -> BeliefComparison:
    """Calibration after the first tenth; before, little is known of any page."""
    from_here = world.start + (run.end - world.start) / 10
    first = sum(belief.at < from_here for belief in run.beliefs[:-1])
    return calibration(run.beliefs[first:], fresh[first:])


def visited_in_turn(world: ExampleWorld, run: ExampleRun) -> Floats:
    """Freshness in each tenth if as many visits had gone to all pages in turn, simulated."""
    budget = Budget(len(run.visits.page) / (run.end - world.start))
    looks = np.array([belief.at for belief in run.beliefs])
    random = np.random.default_rng(world.seed)
    visits, beliefs = virtual_crawl(world, uniform(), budget, looks=looks, random=random)
    fresh = truly_fresh(world, visits, beliefs)
    return tenths(beliefs, fresh, start=world.start, end=run.end).true


def _sections(world: ExampleWorld, run: ExampleRun) -> list[list[str]]:
    visits = run.visits
    section = np.where(visits.page >= 0, world.section[visits.page], -1)
    rows = []
    for number, each in enumerate(SECTIONS):
        pages, ours = world.section == number, section == number
        changed, same = visits.outcome == VisitOutcome.CHANGED, visits.found_nothing_new
        counts = (pages, ours, ours & changed, ours & same)
        rows.append(
            [
                f"/{each.name}/" if each.name else "/",
                each.says.value,
                *(f"{np.count_nonzero(some):,}" for some in counts),
                every(float(np.median(1 / world.rate[pages]))),
                every(_median(1 / run.rates[1, pages])),
            ]
        )
    return rows


@dataclass(frozen=True, slots=True)
class HeldBands:
    """How many of some pages have their true rate in the band of its estimate.

    Args:
        held: These.
        rated: All that have a copy, and so an estimate.
    """

    held: int
    rated: int

    def __str__(self) -> str:
        return f"{self.held:,} of {self.rated:,}"


@dataclass(frozen=True, slots=True)
class Costs:
    """Visits and traffic of a crawl.

    Args:
        visits: All visits.
        first: Visits that made the first copy of a page.
        changed: Visits that found a change.
        nothing_new: Visits that found no change.
        cosmetic: How many of them found differences that are not visible.
        elsewhere: Visits that found a page gone or moved.
        not_modified: Responses with status 304.
        saved_bytes: Bytes that these saved.
        sent_bytes: Bytes of bodies that were sent.
        forbidden: Requests for what robots.txt forbids.
        alone: Bands of pages that change independently.
        together: Bands of pages of sections that also change all at once.
    """

    visits: int
    first: int
    changed: int
    nothing_new: int
    cosmetic: int
    elsewhere: int
    not_modified: int
    saved_bytes: int
    sent_bytes: int
    forbidden: int
    alone: HeldBands
    together: HeldBands

    def sentences(self) -> list[str]:
        """The figures in sentences."""
        found = f"{self.first:,} first copies, {self.changed:,} changed, {self.nothing_new:,} same"
        sizes = f"{_size(self.saved_bytes)} saved, {_size(self.sent_bytes)} sent"
        return [
            f"{self.visits:,} visits: {found}, {self.elsewhere:,} gone or moved.",
            f"{self.cosmetic:,} of the unchanged pages differed in bytes, but not visibly.",
            f"{self.not_modified:,} responses were 304 (not modified): {sizes}.",
            f"Requests that robots.txt forbids: {self.forbidden or 'none'}.",
            f"The 90 % band holds the true rate of {self.alone} pages that change independently,",
            f"and of {self.together} in sections that also change all at once every few weeks.",
        ]


def _costs(world: ExampleWorld, run: ExampleRun) -> Costs:
    visits = run.visits
    swept = np.array([np.isfinite(each.sweep) for each in SECTIONS])[world.section]
    return Costs(
        visits=len(visits.page),
        first=visits.count(VisitOutcome.FIRST),
        changed=visits.count(VisitOutcome.CHANGED),
        nothing_new=int(np.count_nonzero(visits.found_nothing_new)),
        cosmetic=visits.count(VisitOutcome.COSMETIC),
        elsewhere=visits.count(VisitOutcome.GONE) + visits.count(VisitOutcome.MOVED),
        not_modified=visits.count(VisitOutcome.NOT_MODIFIED),
        saved_bytes=visits.saved_bytes,
        sent_bytes=run.requests.sent_bytes,
        forbidden=run.requests.forbidden,
        alone=_held(world, run, ~swept),
        together=_held(world, run, swept),
    )


def _held(world: ExampleWorld, run: ExampleRun, pages: Bools) -> HeldBands:
    low, _, high = run.rates
    held = (low <= world.rate) & (world.rate <= high)
    return HeldBands(*(int(np.count_nonzero(some & pages)) for some in (held, ~np.isnan(low))))


def _size(count: int) -> str:
    """Bytes with a decimal prefix.

    >>> _size(1_234_567)
    '1.2 MB'
    """
    amount, units = float(count), iter(("bytes", "kB", "MB", "GB"))
    unit = next(units)
    while amount >= _KILO and unit != "GB":
        amount, unit = amount / _KILO, next(units)
    return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
