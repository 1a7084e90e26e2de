"""What the parts of a divided crawl tell each other of what they have learned, as sums that add up.

Pure.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from recrawl.policies.recrawl.corrections import SUMS
from recrawl.policies.recrawl.prior_sums import PriorSums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.arrays.types import Floats
    from recrawl.policies.recrawl.state import RecrawlState

_OF_PRIOR = len(astuple(PriorSums()))
_DECIMALS = 4  # of changes found and expected: they are sent as text


@dataclass(frozen=True, slots=True, eq=False)
class SharedLearning:
    """Sums over the visits to a part of a crawl.

    Args:
        prior: What its pages say of the crawl's prior.
        corrections: Changes found and expected, by plain facts of pages.

    Examples:
        >>> one = SharedLearning(PriorSums(pages=3.0, rates=0.5))
        >>> both = SharedLearning.read(one.numbers) + one
        >>> both.prior.pages, float(both.corrections.sum())
        (6.0, 0.0)
    """

    prior: PriorSums = field(default_factory=PriorSums)
    corrections: Floats = field(default_factory=lambda: np.zeros(SUMS))

    @classmethod
    def of(cls, state: RecrawlState) -> SharedLearning:
        """What one part has learned."""
        sums = state.relatives.sums(state.sections, state.memories)
        return cls(sums, state.corrections.sums)

    @classmethod
    def read(cls, numbers: Sequence[float]) -> SharedLearning:
        """What another part has said; what is missing there counts for nothing."""
        prior, tables = PriorSums(*numbers[:_OF_PRIOR]), np.array(numbers[_OF_PRIOR:], np.float64)
        return cls(prior, tables.reshape(SUMS)) if tables.size == np.prod(SUMS) else cls(prior)

    @property
    def numbers(self) -> tuple[float, ...]:
        """All sums, one after the other."""
        return (*astuple(self.prior), *self.corrections.round(_DECIMALS).ravel().tolist())

    def __add__(self, other: SharedLearning) -> SharedLearning:
        """Of both parts."""
        return SharedLearning(self.prior + other.prior, self.corrections + other.corrections)

    def teach(self, state: RecrawlState) -> None:
        """Let a part know what all others have learned."""
        state.relatives.others = self.prior
        tables = state.corrections
        tables.elsewhere, tables.pages_elsewhere = self.corrections, self.prior.pages
        tables.put_on_sites(state.sections.site, state.sections.sites)
        tables.read()
