"""What the demo's site does to mislead its crawl, and what came of it.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.demo.crawl import RECALL
from recrawl.demo.world import SECTIONS, Says
from recrawl.report.words import counted, percent
from recrawl.units import SECONDS_A_DAY
from recrawl.visits.status import VisitOutcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.arrays.types import Bools
    from recrawl.demo.crawl import ExampleRun
    from recrawl.demo.jobs import ExampleJobs
    from recrawl.demo.world import ExampleWorld

CAUGHT_HEADER = ("what the site does", "how often", "result")
CAUGHT_LEFT = (0, 2)

_FETCHED = (VisitOutcome.SAME, VisitOutcome.COSMETIC, VisitOutcome.CHANGED)
_LOOKS_A_DAY = 24


@dataclass(frozen=True, slots=True)
class Caught:
    """How often a crawl was misled, and by what.

    Args:
        noisy: Visits to pages with clocks, offers and counters that differ on each visit.
        noisy_false: How many of them reported a change that was none.
        found_though_denied: Changes found on the host that denies them.
        walled: Responses that were a wall.
        taken_for_walls: Visits that recognised a wall.
        syncs: Accepted syncs of the job board.
        recall: Mean share of its jobs in the copy, over time.
    """

    noisy: int
    noisy_false: int
    found_though_denied: int
    walled: int
    taken_for_walls: int
    syncs: int
    recall: float

    def rows(self) -> list[list[str]]:
        """One row per trick of the site, under `CAUGHT_HEADER`."""
        recall = f"{percent(self.recall)} of its jobs in the copy, target {percent(RECALL)}"
        return [
            [
                "clocks, offers, counters",
                counted(self.noisy, "visit"),
                counted(self.noisy_false, "false change"),
            ],
            [
                *("denies its changes", "always"),
                f"{counted(self.found_though_denied, 'change')} found",
            ],
            [
                "a wall for two days",
                counted(self.walled, "response"),
                f"{counted(self.taken_for_walls, 'visit')} postponed",
            ],
            ["a job board", counted(self.syncs, "sync"), recall],
        ]


def caught(world: ExampleWorld, jobs: ExampleJobs, run: ExampleRun) -> Caught:
    """How often the crawl of a world was misled."""
    visits = run.visits
    changed = visits.outcome == VisitOutcome.CHANGED
    noisy = _visits_to(world, run, [section.noise for section in SECTIONS])
    denying = _visits_to(world, run, [section.says is Says.DENIES for section in SECTIONS])
    syncs = [sync.at_seconds / SECONDS_A_DAY for sync in run.syncs if sync.outcome.accepted]
    return Caught(
        noisy=int(np.count_nonzero(noisy & np.isin(visits.outcome, _FETCHED))),
        noisy_false=int(np.count_nonzero(noisy & changed & ~_really_changed(world, run))),
        found_though_denied=int(np.count_nonzero(denying & changed)),
        walled=run.requests.walled,
        taken_for_walls=visits.count(VisitOutcome.WALLED),
        syncs=len(syncs),
        recall=_mean_recall(jobs, np.array(syncs), run.end),
    )


def _visits_to(world: ExampleWorld, run: ExampleRun, sections: Sequence[bool]) -> Bools:
    """Which visits are to pages of some sections."""
    page = run.visits.page
    return np.asarray((page >= 0) & np.array(sections)[world.section[np.maximum(page, 0)]])


def _really_changed(world: ExampleWorld, run: ExampleRun) -> Bools:
    """Which visits came after a change that the copy did not have yet."""
    visits = run.visits
    changed = np.zeros(len(visits.page), np.bool_)
    asked: dict[int, float] = {}
    for row, (page, outcome) in enumerate(zip(visits.page.tolist(), visits.outcome, strict=True)):
        if page < 0 or outcome not in (VisitOutcome.FIRST, VisitOutcome.CHANGED):
            continue
        now = float(visits.at[row])
        if page in asked:
            changed[row] = not world.unchanged(np.array([page]), np.array([asked[page]]), now)[0]
        asked[page] = float(visits.asked[row])
    return changed


def _mean_recall(jobs: ExampleJobs, syncs: np.ndarray, end: float) -> float:
    """Share of the jobs that was in the copy, averaged over the time from the first sync on."""
    if not len(syncs):
        return np.nan
    looks = np.arange(syncs[0], end, 1 / _LOOKS_A_DAY)
    last = np.searchsorted(syncs, looks, side="right") - 1
    return float(np.mean([jobs.recall(*pair) for pair in zip(syncs[last], looks, strict=True)]))
