"""Pages that a method has no answer for get the figures of `gamma`, and a flag that says so.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.rates.gamma import Gamma
from recrawl.visits.visit import Flag

if TYPE_CHECKING:
    from recrawl.arrays.types import Ints
    from recrawl.rates.estimates import Estimates
    from recrawl.rates.priors import Priors
    from recrawl.visits.histories import Histories


def with_fallback(
    estimates: Estimates, histories: Histories, pages: Ints, priors: Priors, level: float
) -> Estimates:
    """The same estimates, with those of `gamma` for the named pages."""
    if not len(pages):
        return estimates
    priors.of_pages(len(histories))  # refuses those made for other pages
    instead = Gamma(priors.take(pages), level=level).estimate(histories.take(pages))
    instead.flags[:] |= np.uint32(Flag.FALLBACK)
    return estimates.with_rows(pages, instead)
