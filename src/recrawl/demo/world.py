"""The demo's world: pages of a small site, and all their changes, drawn in advance.

Sections differ in how often and how their pages change: some pages change independently, some
sections alternate between busy and quiet, and some are changed as a whole from time to time. The
changes of all pages lie end to end, ascending within a page, and `offsets` says where each page
begins. Instants are days after 1970.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from recrawl.errors import InvalidParameter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.arrays.types import Bools, Floats, Ints

FEWEST_PAGES = 20
MOST_PAGES = 10_000

# Mean days that a section is busy and quiet, and how much faster it changes while busy.
_AWAKE, _ASLEEP, _FASTER = 2.0, 4.0, 4.0
_SWEEP_TAKES = 1 / 48  # days that a change of a whole section takes
_LONGEST_AGO = 1_000.0  # days before the start at which a page last changed, at most


class Says(Enum):
    """What a section's responses say about changes."""

    TAG_AND_DATE = "ETag, date"
    DATE = "date"
    NOTHING = "nothing"
    WRONG_DATE = "wrong date"
    DENIES = "always 304"  # to every conditional request


@dataclass(frozen=True, slots=True)
class Section:
    """Pages under one folder.

    Args:
        name: Its folder; empty for the home page.
        share: Its part of all pages.
        every: Median days between changes, without sweeps.
        spread: Standard deviation of the logarithm of its pages' rates.
        shape: Shape of a further Gamma distribution of rates; infinite for none.
        sweep: Mean days between changes of the whole section; infinite for never.
        wakes: Whether it alternates between busy and quiet.
        says: What its responses say about changes.
        token: Whether its pages hold an invisible token that is new in every response.
        noise: Whether its pages show a clock, an advertisement and a counter that differ each time.
        host: Which of the site's hosts it is on.
    """

    name: str
    share: float
    every: float
    spread: float
    shape: float = inf
    sweep: float = inf
    wakes: bool = False
    says: Says = Says.TAG_AND_DATE
    token: bool = False
    noise: bool = False
    host: int = 0


SECTIONS = (
    Section("", 0.0, every=0.5, spread=0.0),
    Section("news", 0.14, every=2.0, spread=0.7, wakes=True),
    Section("prices", 0.16, every=25.0, spread=0.5, sweep=15.0, says=Says.DATE),
    Section("forum", 0.16, every=5.0, spread=1.0, says=Says.NOTHING, token=True, noise=True),
    Section("jobs", 0.14, every=10.0, spread=0.3, shape=1.5, says=Says.WRONG_DATE),
    Section("docs", 0.20, every=60.0, spread=1.0, sweep=40.0),
    Section("archive", 0.10, every=200.0, spread=0.6, says=Says.DATE),
    Section("notices", 0.10, every=8.0, spread=0.8, says=Says.DENIES, host=1),
)
HOSTS = 1 + max(section.host for section in SECTIONS)
# The days of every thirty on which a host serves a wall, and which host does.
WALL_DAYS, WALL_EVERY, WALLED_HOST = (12.0, 14.0), 30.0, 1


@dataclass(frozen=True, slots=True, eq=False)
class ExampleWorld:
    """Pages and all their changes.

    Args:
        seed: Seed of the random numbers.
        path: Path of each page.
        section: Number of each page's section, in `SECTIONS`.
        rate: True changes per day of each page, including sweeps of its section.
        before: When each page last changed before the start.
        changes: When pages change, rising within a page.
        offsets: Where each page's changes begin.
        start: First instant.
        end: Last instant for which changes are known.

    Examples:
        A page that changes at noon of the second day and of the third:

        >>> world = ExampleWorld.of([("/a", 0, 1.0)], [[1.5, 2.5]], start=0.0, end=9.0)
        >>> [world.version(0, at) for at in (1.4, 1.5, 3.0)]
        [0, 1, 2]
        >>> world.changed_at(0, 2.0)
        1.5
        >>> world.unchanged(np.array([0, 0]), np.array([1.0, 1.6]), 2.0)
        array([False,  True])
    """

    seed: int
    path: tuple[str, ...]
    section: Ints
    rate: Floats
    before: Floats
    changes: Floats
    offsets: Ints
    start: float
    end: float

    @classmethod
    def of(
        cls,
        pages: Sequence[tuple[str, int, float]],
        changes: Sequence[Sequence[float]],
        *,
        start: float,
        end: float,
    ) -> ExampleWorld:
        """A world from pages as path, section and rate, and the changes of each."""
        counts = [len(each) for each in changes]
        return cls(
            seed=0,
            path=tuple(path for path, _, _ in pages),
            section=np.array([section for _, section, _ in pages]),
            rate=np.array([rate for _, _, rate in pages]),
            before=np.full(len(pages), start - 1.0),
            changes=np.array([at for each in changes for at in sorted(each)], np.float64),
            offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            start=start,
            end=end,
        )

    def __len__(self) -> int:
        """Count the pages."""
        return len(self.path)

    def version(self, page: int, at: float) -> int:
        """Number of changes of a page since the start."""
        return int(np.searchsorted(self._of(page), at, side="right"))

    def changed_at(self, page: int, at: float) -> float:
        """When a page last changed."""
        version = self.version(page, at)
        return float(self._of(page)[version - 1] if version else self.before[page])

    def walled(self, host: int, at: float) -> bool:
        """Whether a host serves a wall.

        >>> world = ExampleWorld.of([("/a", 0, 1.0)], [[]], start=0.0, end=99.0)
        >>> [world.walled(1, at) for at in (11.9, 12.0, 14.0, 43.0)], world.walled(0, 12.0)
        ([False, True, False, True], False)
        """
        first, end = WALL_DAYS
        return host == WALLED_HOST and first <= (at - self.start) % WALL_EVERY < end

    def unchanged(self, pages: Ints, since: Floats, now: float) -> Bools:
        """Which of some pages have not changed since an instant each."""
        reached = self._reached(pages, np.full(len(pages), now))
        return np.asarray(self._reached(pages, since) == reached)

    def _of(self, page: int) -> Floats:
        return self.changes[self.offsets[page] : self.offsets[page + 1]]

    def _reached(self, pages: Ints, at: Floats) -> Ints:
        """Position in all changes that each page has reached at an instant."""
        # One search for all: each page has a range of keys of its own.
        long = self.end - self.start + 1
        row = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        keys = row * long + (self.changes - self.start)
        inside = np.clip(at - self.start, -0.25, self.end - self.start + 0.25)
        reached: Ints = np.searchsorted(keys, pages * long + inside, side="right")
        return reached


def draw_world(pages: int, *, start: float, days: float, seed: int) -> ExampleWorld:
    """Draw a world at random; a seed always gives the same one.

    Examples:
        >>> world = draw_world(100, start=20_000.0, days=30.0, seed=1)
        >>> len(world), world.path[:2]
        (100, ('/', '/news/1'))
    """
    if not FEWEST_PAGES <= pages <= MOST_PAGES:
        raise InvalidParameter(f"pages must be from {FEWEST_PAGES} to {MOST_PAGES} (got {pages})")
    random = np.random.default_rng(seed)
    sizes = _sizes(pages)
    drawn = [
        _draw(section, size, days, random) for section, size in zip(SECTIONS, sizes, strict=True)
    ]
    rate = np.concatenate([rates for rates, _ in drawn])
    changes = [np.sort(each) for _, pages_of in drawn for each in pages_of]
    ago = np.minimum(random.exponential(1 / rate), _LONGEST_AGO)
    return ExampleWorld(
        seed=seed,
        path=tuple(
            f"/{section.name}/{number + 1}" if section.name else "/"
            for section, size in zip(SECTIONS, sizes, strict=True)
            for number in range(size)
        ),
        section=np.repeat(np.arange(len(SECTIONS)), sizes),
        rate=rate,
        before=start - ago,
        changes=start + np.concatenate(changes),
        offsets=np.concatenate([[0], np.cumsum([len(each) for each in changes])]),
        start=start,
        end=start + days,
    )


def _sizes(pages: int) -> list[int]:
    """Pages of each section: one home page, the rest by their shares."""
    ends = np.rint(np.cumsum([section.share for section in SECTIONS]) * (pages - 1)).astype(int)
    return [1, *np.diff(ends).tolist()]


def _draw(
    section: Section, pages: int, days: float, random: np.random.Generator
) -> tuple[Floats, list[Floats]]:
    """True rates of the pages of a section, and the changes of each, in days after the start."""
    rates = np.exp(section.spread * random.standard_normal(pages)) / section.every
    if section.shape < inf:
        rates *= random.gamma(section.shape, 1 / section.shape, pages)
    edges, passed = _clock(days, random) if section.wakes else ([0.0, days], [0.0, days])
    counts = random.poisson(rates * passed[-1]).tolist()
    alone = [np.interp(random.uniform(0, passed[-1], count), passed, edges) for count in counts]
    sweeps = random.uniform(0, days, random.poisson(days / section.sweep))
    together = [sweeps + random.uniform(0, _SWEEP_TAKES, len(sweeps)) for _ in alone]
    changes = [np.concatenate(both) for both in zip(alone, together, strict=True)]
    return rates + 1 / section.sweep, changes


def _clock(days: float, random: np.random.Generator) -> tuple[Floats, Floats]:
    """Instants at which a section becomes busy or quiet, and its activity time at each.

    Activity time runs at speed 1 on average.
    """
    spells = int(2 * days / (_AWAKE + _ASLEEP)) + 10
    awake = np.arange(2 * spells) % 2 == 1
    lengths = random.exponential(np.where(awake, _AWAKE, _ASLEEP))
    calm = (_AWAKE + _ASLEEP) / (_FASTER * _AWAKE + _ASLEEP)
    edges = np.concatenate([[0.0], np.cumsum(lengths)])
    passed = np.concatenate([[0.0], np.cumsum(lengths * np.where(awake, _FASTER, 1.0) * calm)])
    kept = np.append(edges[edges < days], days)
    return kept, np.interp(kept, edges, passed)
