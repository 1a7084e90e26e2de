"""The two rules of the C01 crawler.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from recrawl.checks import check_at_least, check_choice
from recrawl.policies.rivals.counts import Counts

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints
    from recrawl.policies.rivals.interval import VisitRows

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
