"""The demo's job board: when each job is posted and removed.

Jobs arrive by a Poisson process that is busy on working days and quiet at weekends, and stay for
exponential times: some for days, most for weeks. Listed jobs are served newest first, 25 per page,
with a link to the next page.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints

PATH = "/board"
A_PAGE = 25
_BY_WEEKDAY = np.array([1.4, 1.4, 1.4, 1.3, 1.1, 0.2, 0.2])  # from Monday on; 1 on average
_FIRST_MONDAY = 4  # 1970 began on a Thursday
_BEFORE = 120.0  # days of arrivals before the world begins, so that it begins in balance
# Two kinds of jobs: their share, and the mean of how many days they are listed.
_BRIEF, _LASTING = (0.3, 6.0), (0.7, 24.0)
_TITLES = ("Baker", "Carpenter", "Gardener", "Librarian", "Nurse", "Pilot", "Teacher", "Welder")
_CITIES = ("Basel", "Bern", "Geneva", "Lugano", "Zurich")


@dataclass(frozen=True, slots=True, eq=False)
class ExampleJobs:
    """Jobs in the order in which they are posted.

    Args:
        start: Start of the world, in days after 1970.
        up: When each job is posted.
        down: When it is removed.

    Examples:
        >>> jobs = ExampleJobs.made(20_000.0, days=30.0, seed=1)
        >>> int(jobs.listed(20_010.0).size) > 100
        True
        >>> early, late = jobs.listed(20_010.0), jobs.listed(20_011.0)
        >>> jobs.precision(20_010.0, 20_011.0) == float(np.isin(early, late).mean())
        True
    """

    start: float
    up: Floats
    down: Floats

    @classmethod
    def made(
        cls, start: float, *, days: float, seed: int = 0, arrivals: float = 10.0
    ) -> ExampleJobs:
        """Draw a job board at random.

        Args:
            start: Its start, in days after 1970.
            days: Its duration.
            seed: Seed of the random numbers.
            arrivals: Mean number of jobs posted per day.
        """
        random = np.random.default_rng(seed)
        begin, span = start - _BEFORE, _BEFORE + days
        most = arrivals * _BY_WEEKDAY.max()
        at = np.sort(begin + span * random.random(random.poisson(most * span)))
        weekday = (np.floor(at).astype(np.int64) - _FIRST_MONDAY) % 7
        kept = random.random(len(at)) * _BY_WEEKDAY.max() < _BY_WEEKDAY[weekday]
        up = at[kept]
        brief = random.random(len(up)) < _BRIEF[0]
        stays = random.exponential(np.where(brief, _BRIEF[1], _LASTING[1]))
        return cls(start, up, up + stays)

    def listed(self, now: float) -> Ints:
        """Jobs listed at an instant, newest first."""
        return np.flatnonzero((self.up <= now) & (now < self.down))[::-1]

    def precision(self, copied: float, now: float) -> float:
        """Share of a copy that is still listed; 1 for an empty one."""
        copy = self.listed(copied)
        return float(np.mean(self.down[copy] > now)) if len(copy) else 1.0

    def recall(self, copied: float, now: float) -> float:
        """Share of the listed jobs that is in a copy; 1 if nothing is listed."""
        there = self.listed(now)
        return float(np.mean(self.up[there] <= copied)) if len(there) else 1.0

    def page(self, now: float, number: int) -> str:
        """One page of the board as HTML, counted from 1."""
        jobs = self.listed(now)
        shown = jobs[(number - 1) * A_PAGE : number * A_PAGE]
        items = "\n".join(map(_item, shown.tolist()))
        more = len(jobs) > number * A_PAGE
        link = f'<a class="next" href="{PATH}?page={number + 1}">Next</a>' if more else ""
        return (
            "<!doctype html><html><head><title>Jobs</title></head><body>"
            f"<h1>{len(jobs)} jobs</h1>\n<ul>\n{items}\n</ul>\n{link}</body></html>"
        )


def _item(job: int) -> str:
    title, city = _TITLES[job % len(_TITLES)], _CITIES[job // 3 % len(_CITIES)]
    return (
        f'<li class="job" id="{job}"><h3><a href="{PATH}/{job}">{escape(title)}</a></h3>'
        f'<span class="city">{escape(city)}</span></li>'
    )
