"""What `recrawl demo` shows in the end: how fresh the copy was, what was believed, what it cost.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from recrawl.report.words import every, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.arrays.types import Floats

SECTION_HEADER = (
    *("section", "it tells", "pages", "visits", "changed", "same"),
    *("truly every", "estimate"),
)
SECTION_LEFT = (0, 1)

_KILO = 1000.0


@dataclass(frozen=True, slots=True, eq=False)
class FreshnessByTenth:
    """Share of copies that were fresh, in each tenth of a crawl; nan where nobody looked.

    Args:
        days: How long the crawl took.
        expected: What the crawl expected.
        true: What was true.
        uniform: What would have been true if all pages had been visited in turn.
    """

    title: ClassVar[str] = (
        "Share of copies that are fresh (uniform: all pages visited in turn, simulated)"
    )

    days: float
    expected: Floats
    true: Floats
    uniform: Floats

    @property
    def header(self) -> list[str]:
        """The day with which each tenth ends.

        >>> none = np.full(10, np.nan)
        >>> FreshnessByTenth(60.0, none, none, none).header[:3]
        ['until day', '6', '12']
        """
        ends = np.linspace(0, self.days, len(self.true) + 1)[1:]
        return ["until day", *(f"{end:.3g}" for end in ends), "all"]

    @property
    def rows(self) -> list[list[str]]:
        """What was expected, what was true, and what it is compared with."""
        lines = (("expected", self.expected), ("true", self.true), ("uniform", self.uniform))
        return [[name, *map(percent, shares), percent(_mean(shares))] for name, shares in lines]


def _mean(shares: Floats) -> float:
    known = shares[~np.isnan(shares)]
    return float(known.mean()) if len(known) else np.nan


def calibration_rows(expected: Floats, true: Floats) -> tuple[list[str], list[list[str]]]:
    """Header and row of how often beliefs came true.

    Args:
        expected: Mean chance in groups of equal size, rising.
        true: Share of each group that was fresh.

    Examples:
        >>> calibration_rows(np.array([0.5, 0.9]), np.array([0.48, 0.91]))
        (['given a chance of', '50 %', '90 %'], [['truly fresh', '48 %', '91 %']])
    """
    header = ["given a chance of", *map(percent, expected)]
    return header, [["truly fresh", *map(percent, true)]]


@dataclass(frozen=True, slots=True)
class SectionFigures:
    """One section of the site.

    Args:
        name: Its folder.
        says: What its answers say of changes.
        pages: How many pages it has.
        visits: Visits to them.
        changed: Visits that found a change.
        nothing_new: Visits that found a page as it was.
        true: Days between changes of the page in its middle.
        estimated: The same as it was worked out from the visits.
    """

    name: str
    says: str
    pages: int
    visits: int
    changed: int
    nothing_new: int
    true: float
    estimated: float


def section_rows(sections: Sequence[SectionFigures]) -> list[list[str]]:
    """Rows for people.

    >>> section_rows([SectionFigures("news", "ETag", 42, 900, 300, 558, 1.5, 1.6)])
    [['/news/', 'ETag', '42', '900', '300', '558', '1.5d', '1.6d']]
    """
    return [
        [
            f"/{each.name}/" if each.name else "/",
            each.says,
            *(f"{n:,}" for n in (each.pages, each.visits, each.changed, each.nothing_new)),
            every(each.true),
            every(each.estimated),
        ]
        for each in sections
    ]


@dataclass(frozen=True, slots=True)
class Costs:
    """What a crawl did, in numbers.

    Args:
        visits: All visits.
        first: Visits that made the first copy of a page.
        changed: Visits that found a change.
        nothing_new: Visits that found a page as it was.
        cosmetic: How many of them found other bytes that no reader sees.
        elsewhere: Visits that found no page, or one that has moved.
        not_modified: Answers that said "not modified".
        saved_bytes: Bytes that were not sent for that reason.
        sent_bytes: Bytes of bodies that were sent.
        forbidden: Requests for what robots.txt forbids.
        held: Pages whose rate lies in its band.
        rated: Pages that have a rate.
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
    held: int
    rated: int

    def sentences(self) -> list[str]:
        """The numbers in words."""
        found = f"{self.first:,} first copies, {self.changed:,} changed, {self.nothing_new:,} same"
        sizes = f"{_size(self.sent_bytes)} came, {_size(self.saved_bytes)} need not"
        held = f"{self.held:,} of {self.rated:,} pages"
        return [
            f"{self.visits:,} visits: {found}, {self.elsewhere:,} gone or moved.",
            f"{self.cosmetic:,} of the same differed in bytes that no reader sees.",
            f'{self.not_modified:,} answers were only "not modified": {sizes}.',
            f"Requests for what robots.txt forbids: {self.forbidden or 'none'}.",
            f"The 90 % band of the estimate holds the true rate of {held}.",
        ]


def _size(count: int) -> str:
    """Bytes as people read them.

    >>> _size(1_234_567)
    '1.2 MB'
    """
    amount, units = float(count), iter(("bytes", "kB", "MB", "GB"))
    unit = next(units)
    while amount >= _KILO and unit != "GB":
        amount, unit = amount / _KILO, next(units)
    return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
