"""What a crawl of the example site comes to, beside the truth, which is known here.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.demo.caught import caught
from recrawl.demo.report import Costs, FreshnessByTenth, SectionFigures
from recrawl.demo.truth import calibration, tenths, truly_fresh
from recrawl.demo.virtual import virtual_crawl
from recrawl.demo.world import SECTIONS
from recrawl.plan.budget import Budget
from recrawl.policies.rivals.uniform import uniform
from recrawl.visits.status import VisitOutcome

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Floats
    from recrawl.demo.caught_report import Caught
    from recrawl.demo.crawl import ExampleRun
    from recrawl.demo.jobs import ExampleJobs
    from recrawl.demo.truth import CalibrationByTenth
    from recrawl.demo.world import ExampleWorld


@dataclass(frozen=True, slots=True, eq=False)
class ExampleResult:
    """What there is to show.

    Args:
        freshness: How fresh the copies were, beside what was expected and what is compared.
        calibration: How often beliefs came true after the first tenth.
        sections: Each section of the site.
        costs: What the crawl did.
        caught: What misled it, and what did not.
    """

    freshness: FreshnessByTenth
    calibration: CalibrationByTenth
    sections: list[SectionFigures]
    costs: Costs
    caught: Caught


def result_of(world: ExampleWorld, jobs: ExampleJobs, run: ExampleRun) -> ExampleResult:
    """What a run comes to; it must have been looked at."""
    fresh = truly_fresh(world, run.visits.of_copies, run.beliefs)
    ours = tenths(run.beliefs, fresh, start=world.start, end=run.end)
    days = run.end - world.start
    return ExampleResult(
        freshness=FreshnessByTenth(days, ours.expected, ours.true, visited_in_turn(world, run)),
        calibration=_settled(world, run, fresh),
        sections=_sections(world, run),
        costs=_costs(world, run),
        caught=caught(world, jobs, run),
    )


def _settled(world: ExampleWorld, run: ExampleRun, fresh: list[Bools]) -> CalibrationByTenth:
    """How often beliefs came true after the first tenth; before, little is known of any page."""
    from_here = world.start + (run.end - world.start) / 10
    first = sum(belief.at < from_here for belief in run.beliefs[:-1])
    return calibration(run.beliefs[first:], fresh[first:])


def visited_in_turn(world: ExampleWorld, run: ExampleRun) -> Floats:
    """Freshness in each tenth if as many visits had gone to all pages in turn, in no time."""
    budget = Budget(len(run.visits.page) / (run.end - world.start))
    looks = np.array([belief.at for belief in run.beliefs])
    random = np.random.default_rng(world.seed)
    visits, beliefs = virtual_crawl(world, uniform(), budget, looks=looks, random=random)
    fresh = truly_fresh(world, visits, beliefs)
    return tenths(beliefs, fresh, start=world.start, end=run.end).true


def _sections(world: ExampleWorld, run: ExampleRun) -> list[SectionFigures]:
    visits = run.visits
    section = np.where(visits.page >= 0, world.section[visits.page], -1)
    found = []
    for number, each in enumerate(SECTIONS):
        pages, ours = world.section == number, section == number
        changed = int(np.count_nonzero(ours & (visits.outcome == VisitOutcome.CHANGED)))
        found.append(
            SectionFigures(
                name=each.name,
                says=each.says.value,
                pages=int(np.count_nonzero(pages)),
                visits=int(np.count_nonzero(ours)),
                changed=changed,
                nothing_new=int(np.count_nonzero(ours & visits.found_nothing_new)),
                true=float(np.median(1 / world.rate[pages])),
                estimated=float(np.nanmedian(1 / run.rates[1, pages])),
            )
        )
    return found


def _costs(world: ExampleWorld, run: ExampleRun) -> Costs:
    visits = run.visits
    low, _, high = run.rates
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
        held=int(np.count_nonzero((low <= world.rate) & (world.rate <= high))),
        rated=len(world),
    )
