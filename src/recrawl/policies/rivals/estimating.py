"""Rules of crawlers that estimate the interval from counted changes, or from the age of a page.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from recrawl.checks import check_at_least, check_choice, check_positive

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints
    from recrawl.policies.rivals.interval import VisitRows


@dataclass(slots=True)
class Counts:
    """Gaps of each page, those of them that changed, and the days they took together."""

    gaps: Ints
    changes: Ints
    days: Floats

    @classmethod
    def none(cls, pages: int) -> Counts:
        """Pages before their second visit."""
        return cls(np.zeros(pages, np.int64), np.zeros(pages, np.int64), np.zeros(pages))

    def add(self, rows: Ints, visits: VisitRows) -> None:
        """Count visits; a second look at once is none."""
        later = visits.gaps > 0
        self.gaps[rows] += later
        self.changes[rows] += later & visits.changed
        self.days[rows] += visits.gaps


@dataclass(frozen=True, slots=True)
class Aduana:
    r"""Visit as often as a page was seen to change, and one change more.

    $$ I = \frac{1}{\text{scale} \cdot r} , \qquad r = \frac{X + 1}{T} $$

    with $X$ changes found in the $T$ days from the first visit to the last. Before the second
    visit the page waits for the mean gap.

    Args:
        scale: Visits a change.

    References:
        Aduana (Scrapinghub), frequency scheduler with page rates; stride scheduling.

    Examples:
        One change in ten days counts as two:

        >>> from recrawl.policies.rivals.interval import VisitRows
        >>> rule, row = Aduana(), np.array([0])
        >>> _, counts = rule.begin(np.array([0.0]))
        >>> now = np.array([10.0])
        >>> rule.after(counts, row, VisitRows(now, now, now, np.array([True]), now, gap=7.0))
        array([5.])
    """

    scale: float = 1.0

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_positive(scale=self.scale)

    def begin(self, found: Floats) -> tuple[Floats, Counts]:
        """The mean gap, and nothing counted."""
        return np.full(len(found), np.nan), Counts.none(len(found))

    def after(self, memory: Counts, rows: Ints, visits: VisitRows) -> Floats:
        """Days to wait after visits."""
        memory.add(rows, visits)
        wait = memory.days[rows] / (self.scale * (memory.changes[rows] + 1))
        return np.where(memory.gaps[rows] > 0, wait, np.nan)


Form = Literal["changes", "nochanges"]
Counted = Literal["hashes", "changes"]


@dataclass(frozen=True, slots=True)
class C01:
    r"""After five visits, wait for a change by the plain or the corrected estimate.

    With $n$ visits, on average $m$ days apart, and $X$ different contents among them,

    $$ I = m n / X \text{ (changes)}, \qquad
       I = m \Big/ {-\ln \frac{n - X + \frac12}{n + \frac12}} \text{ (nochanges)} . $$

    As coded, $X$ counts the first content as well, so that a page that never changed has $X = 1$:
    `"hashes"`. `"changes"` counts the changes from one visit to the next, over the gaps between
    them; a page without any then counts as having one. Before that the page waits for the mean
    gap.

    Args:
        form: `"changes"` or `"nochanges"`.
        counted: `"hashes"` or `"changes"`.
        warm_up: Visits before the rule begins.

    References:
        C01, crawler on Frontera and Aduana; its estimates are those of Cho and Garcia-Molina.

    Examples:
        Two changes, so three contents, in five visits a day apart:

        >>> from recrawl.policies.rivals.interval import VisitRows
        >>> rule, row = C01("changes"), np.array([0])
        >>> _, counts = rule.begin(np.array([0.0]))
        >>> for flag in (True, False, True, False):
        ...     day = np.ones(1)
        ...     wait = rule.after(counts, row, VisitRows(day, day, day, np.array([flag]), day, 7.0))
        >>> wait.round(4)
        array([1.6667])
    """

    form: Form = "changes"
    counted: Counted = "hashes"
    warm_up: int = 5

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_choice(("changes", "nochanges"), form=self.form)
        check_choice(("hashes", "changes"), counted=self.counted)
        check_at_least(2, warm_up=self.warm_up)

    def begin(self, found: Floats) -> tuple[Floats, Counts]:
        """The mean gap, and nothing counted."""
        return np.full(len(found), np.nan), Counts.none(len(found))

    def after(self, memory: Counts, rows: Ints, visits: VisitRows) -> Floats:
        """Days to wait after visits."""
        memory.add(rows, visits)
        gaps, changes = memory.gaps[rows], memory.changes[rows]
        warm = gaps + 1 >= self.warm_up
        mean = memory.days[rows] / np.maximum(gaps, 1)
        seen, number = (changes + 1, gaps + 1) if self.counted == "hashes" else (changes, gaps)
        seen, number = np.maximum(seen, 1), np.maximum(number, 1)
        if self.form == "changes":
            wait = mean * number / seen
        else:
            wait = mean / np.log((number + 0.5) / (number - seen + 0.5))
        return np.where(warm, wait, np.nan)


@dataclass(slots=True)
class ScrapyMemory:
    """When each page last changed by its Last-Modified, in days after 1970; nan where unknown."""

    modified: Floats


@dataclass(frozen=True, slots=True)
class Scrapy:
    r"""Take a page for fresh for a tenth of its age.

    $$ I = \text{clip}(0.1 \, (\text{visit} - \text{Last-Modified}),
       \text{shortest}, \text{longest}) . $$

    A page that does not say when it last changed is stale at once: the shortest. Explicit
    lifetimes (max-age, Expires) are not part of a history and left out.

    Args:
        share: Of the age.
        shortest: Fewest days to wait.
        longest: Most days to wait.

    References:
        Scrapy 2.x, class RFC2616Policy; RFC 2616, section 13.2.4.

    Examples:
        Modified 20 days before the visit:

        >>> from recrawl.policies.rivals.interval import VisitRows
        >>> rule, row, yes = Scrapy(), np.array([0]), np.array([True])
        >>> _, memory = rule.begin(np.array([0.0]))
        >>> now, age = np.array([30.0]), np.array([20.0])
        >>> rule.after(memory, row, VisitRows(now, now, now, yes, age, gap=7.0))
        array([2.])
    """

    share: float = 0.1
    shortest: float = 0.0
    longest: float = 365.0

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_positive(share=self.share, longest=self.longest)
        check_at_least(0, shortest=self.shortest)
        check_at_least(self.shortest, longest=self.longest)

    def begin(self, found: Floats) -> tuple[Floats, ScrapyMemory]:
        """The shortest interval; no dates yet."""
        return np.full(len(found), self.shortest), ScrapyMemory(np.full(len(found), np.nan))

    def after(self, memory: ScrapyMemory, rows: Ints, visits: VisitRows) -> Floats:
        """Days to wait after visits."""
        told = visits.now - visits.age
        kept = np.where(visits.changed, np.nan, memory.modified[rows])
        modified = np.where(np.isnan(told), kept, told)
        memory.modified[rows] = modified
        age = np.where(np.isnan(modified), 0.0, visits.now - modified)
        return np.clip(self.share * age, self.shortest, self.longest)
