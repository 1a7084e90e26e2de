"""What our policy has learned, and how its clocks are read.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.equal_keys import distinct

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints
    from recrawl.policies.recrawl.announced import Announced
    from recrawl.policies.recrawl.calibration import Calibration
    from recrawl.policies.recrawl.clocks import Clocks
    from recrawl.policies.recrawl.corrections import Corrections
    from recrawl.policies.recrawl.forecast_bias import ForecastBias
    from recrawl.policies.recrawl.memories import Memories
    from recrawl.policies.recrawl.relatives import Relatives
    from recrawl.policies.recrawl.sections import Sections


@dataclass(slots=True)
class RecrawlState:
    """What the policy has learned.

    Attributes:
        gap: Mean days between visits to a page.
        began: When the crawl began, in days after 1970.
        last: When each page was last visited, in days after 1970.
        worth: Weight of each page over the cost of a visit.
        sections: Which pages are neighbours.
        clocks: How fast time runs for them.
        memories: Facts about each page's rate.
        relatives: What is assumed of each page's rate.
        trust: Log-odds that a site's near clock is right: one row per site.
        announced: What hosts announce of each page.
        forecast_bias: How far forecasts are off.
        calibration: What was forecast of visits, and what they found.
        corrections: What chances are corrected by.
    """

    gap: float
    began: float
    last: Floats
    worth: Floats
    sections: Sections
    clocks: Clocks
    memories: Memories
    relatives: Relatives
    trust: Floats
    announced: Announced
    forecast_bias: ForecastBias
    calibration: Calibration
    corrections: Corrections


def read_clocks(state: RecrawlState, levels: list[Ints]) -> None:
    """Set the clocks of some nodes."""
    state.clocks.read(state.sections, levels, trust_of_nodes(state))


def forecast_clocks(
    state: RecrawlState, nodes: Ints | None = None, levels: list[Ints] | None = None
) -> Floats:
    """Sums of the clocks that forecasts go by: one row per node, of all or of some, rising.

    Args:
        state: What is known.
        nodes: The nodes.
        levels: `Sections.upwards` of them, where it is known already.
    """
    wanted = np.arange(len(state.sections)) if nodes is None else nodes
    way = state.sections.upwards(wanted) if levels is None else levels
    return state.clocks.forecast(state.sections, wanted, trust_of_nodes(state), way)


def clocks_of_pages(
    state: RecrawlState, rows: Ints, levels: list[Ints] | None = None
) -> tuple[Floats, Ints]:
    """Sums of the clocks that forecasts of some pages go by, and the row of each page in them."""
    leaf = state.sections.leaf[rows]
    nodes = distinct(leaf)
    return forecast_clocks(state, nodes, levels), np.searchsorted(nodes, leaf)


def forecast_days(
    state: RecrawlState, clocks: Floats, rows: Ints, now: float, place: Ints
) -> Floats:
    """Days since the last visit to each page, as forecasts count them.

    Args:
        state: What is known.
        clocks: Sums of clocks that forecasts go by.
        rows: The pages.
        now: The instant, in days after 1970.
        place: Row of each page's clock.
    """
    elapsed = state.clocks.elapsed(place, state.last[rows], now, clocks)
    return np.maximum(elapsed, 0.0) * forecast_factor(state, rows)


def forecast_factor(state: RecrawlState, rows: Ints) -> Floats:
    """How much time on the clocks of pages counts for in forecasts."""
    bias = state.forecast_bias.factor(state.sections.leaf[rows])
    return bias * corrections_of(state, rows)


def corrections_of(state: RecrawlState, rows: Ints) -> Floats:
    """What chances of pages are corrected by; 1 where the host is believed to announce changes.

    Visits follow announcements, so what the others find is no fair sample of what changes.
    """
    factor = state.corrections.factor(rows)
    if state.announced.any:
        factor[state.announced.recall[rows] > 0] = 1.0
    return factor


def trust_of_nodes(state: RecrawlState) -> Floats:
    """Weight of the near clock at each node."""
    trust: Floats = (1 / (1 + np.exp(-state.trust)))[state.sections.site_of_node]
    return trust
