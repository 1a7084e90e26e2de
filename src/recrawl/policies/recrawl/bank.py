"""Our policy without neighbours: every page by its own visits alone.

Pure.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from recrawl.policies.recrawl.clocks import Trusting
from recrawl.policies.recrawl.policy import Recrawl

if TYPE_CHECKING:
    from recrawl.plan.objectives import Objective


def bank(objective: Objective) -> Recrawl:
    """`Recrawl` where a day is a day and pages have no relatives: what the neighbours add to.

    >>> from recrawl.plan.objectives import Freshness
    >>> bank(Freshness()).deepest
    0
    """
    alone = Trusting(root=inf, near=inf, far=inf)
    return Recrawl(objective, trusting=alone, deepest=0, corrections=inf, site_corrections=inf)
