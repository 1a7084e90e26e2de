"""What the example site did to mislead its crawl, and what came of it.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.demo.caught_report import Board, Caught
from recrawl.demo.crawl import RECALL
from recrawl.demo.world import SECTIONS, Says
from recrawl.detect.reliability import NOT_MODIFIED, SITEMAP
from recrawl.units import SECONDS_A_DAY
from recrawl.visits.status import Audit, VisitOutcome

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Floats, Ints
    from recrawl.demo.crawl import ExampleRun
    from recrawl.demo.jobs import ExampleJobs
    from recrawl.demo.world import ExampleWorld

_WHOLE = (VisitOutcome.SAME, VisitOutcome.COSMETIC, VisitOutcome.CHANGED)
_LOOKS_A_DAY = 24


def caught(world: ExampleWorld, jobs: ExampleJobs, run: ExampleRun) -> Caught:
    """What misled the crawl of a world, and what did not."""
    visits = run.visits
    known = visits.page >= 0
    false = known & (visits.outcome == VisitOutcome.CHANGED) & ~_really_changed(world, run)
    noisy, denying = (_on(world, run, says) for says in (_is_noisy, _denies))
    differing = noisy & np.isin(visits.outcome, _WHOLE)
    denied = run.words[1][NOT_MODIFIED]
    return Caught(
        noisy=int(np.count_nonzero(differing)),
        noisy_false=int(np.count_nonzero(false & noisy)),
        other_false=int(np.count_nonzero(false & ~noisy)),
        found_though_denied=int(
            np.count_nonzero(denying & (visits.outcome == VisitOutcome.CHANGED))
        ),
        denied=denied.band(),
        announced=tuple((word[SITEMAP].right, word[SITEMAP].wrong) for word in run.words),
        walled=run.requests.walled,
        taken_for_walls=int(np.count_nonzero(visits.outcome == VisitOutcome.WALLED)),
        second_requests=int(np.count_nonzero(visits.audit != Audit.NONE)),
        board=_board(jobs, run),
    )


def _is_noisy(section: int) -> bool:
    return SECTIONS[section].noise


def _denies(section: int) -> bool:
    return SECTIONS[section].says is Says.DENIES


def _on(world: ExampleWorld, run: ExampleRun, wanted: object) -> Bools:
    """Which visits are to pages of sections of a kind."""
    assert callable(wanted)  # noqa: S101 - one of those above
    which = np.array([wanted(section) for section in range(len(SECTIONS))])
    page = run.visits.page
    return np.asarray((page >= 0) & which[world.section[np.maximum(page, 0)]])


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


def _board(jobs: ExampleJobs, run: ExampleRun) -> Board:
    """How well the copy of the job board was kept."""
    accepted = [sync for sync in run.syncs if sync.outcome.accepted]
    judged = [sync.quality for sync in accepted if sync.quality is not None]
    bands = [each for each in judged if each.recall_forecast is not None]
    held = sum(each.recall_forecast.holds(each.recall) for each in bands if each.recall_forecast)
    done: Floats = np.array([sync.at_seconds / SECONDS_A_DAY for sync in accepted])
    looks = np.arange(jobs.start, run.end, 1 / _LOOKS_A_DAY)
    looks = looks[looks > done[0]] if len(done) else looks[:0]
    last: Ints = np.searchsorted(done, looks, side="right") - 1
    recall = np.array(
        [jobs.recall(float(done[row]), now) for row, now in zip(last, looks.tolist(), strict=True)]
    )
    return Board(
        target=RECALL,
        syncs=len(accepted),
        mean=float(recall.mean()) if len(recall) else np.nan,
        kept=float(np.mean(recall >= RECALL)) if len(recall) else np.nan,
        held=held,
        foretold=len(bands),
    )
