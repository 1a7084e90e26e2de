"""What our policy has learned, as a copy with some of its pages: enough to go on with these alone.

Sections without one of the pages are left out, and what other pages tell of sections and kin stays:
the pages go on as they would among all, and a virtual crawl costs no more than its own pages.

Pure.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.equal_keys import distinct
from recrawl.policies.recrawl.announced import NAMES, Announced
from recrawl.policies.recrawl.forecast_bias import ForecastBias
from recrawl.policies.recrawl.sections import Sections
from recrawl.policies.recrawl.state import RecrawlState

if TYPE_CHECKING:
    from recrawl.arrays.types import Ints
    from recrawl.policies.recrawl.clocks import Clocks
    from recrawl.policies.recrawl.memories import Memories
    from recrawl.policies.recrawl.relatives import Relatives

_OF_MEMORIES = ("shape", "exposure", "score", "share")


def some_pages(state: RecrawlState, rows: Ints) -> RecrawlState:
    """A copy with some of the pages, in this order; no page can be added to it."""
    path = state.sections.path[state.sections.leaf[rows]]
    nodes = distinct(path[path >= 0])
    kin = state.sections.kin[rows]
    groups = distinct(kin[kin >= 0])
    return RecrawlState(
        gap=state.gap,
        began=state.began,
        last=state.last[rows],
        worth=state.worth[rows],
        sections=_sections(state.sections, rows, nodes, groups),
        clocks=_clocks(state.clocks, nodes),
        memories=_memories(state.memories, rows),
        relatives=_relatives(state, rows, nodes, groups),
        trust=state.trust.copy(),
        announced=Announced(*(getattr(state.announced, name)[rows] for name in NAMES)),
        forecast_bias=ForecastBias(
            state.forecast_bias.nodes[nodes], state.forecast_bias.all.copy()
        ),
        calibration=deepcopy(state.calibration),
        corrections=state.corrections.take(rows),
    )


def _sections(whole: Sections, rows: Ints, nodes: Ints, groups: Ints) -> Sections:
    place = np.full(len(whole) + 1, -1)
    place[nodes] = np.arange(len(nodes))  # the last stays -1: nothing is above the crawl
    kin = whole.kin[rows]
    kept = whole.kept | {
        "leaf": place[whole.leaf[rows]],
        "kin": np.where(kin < 0, -1, np.searchsorted(groups, kin)),
        "site": whole.site[rows],
        "parent": place[whole.parent[nodes]],
        "is_host": whole.is_host[nodes],
        "groups": len(groups),
        "related": len(rows),  # kin are as they were: nobody looks for them again
    }
    kept.pop("shown", None)  # all of these are
    tree = Sections.resumed(kept, list)
    tree.site_of_node = whole.site_of_node[nodes]
    return tree


def _clocks(whole: Clocks, nodes: Ints) -> Clocks:
    return replace(
        whole,
        counts=whole.counts[:, nodes],
        paces=whole.paces[:, nodes],
        trust=whole.trust[nodes],
        sums=whole.sums[nodes],
    )


def _memories(whole: Memories, rows: Ints) -> Memories:
    taken = {name: getattr(whole, name)[:, rows] for name in _OF_MEMORIES}
    return replace(whole, **taken, site_share=whole.site_share.copy())


def _relatives(state: RecrawlState, rows: Ints, nodes: Ints, groups: Ints) -> Relatives:
    whole = state.relatives
    others = np.ones(len(state.last), np.bool_)
    others[rows] = False
    rest = whole.totals(state.sections, others)
    without_kin = state.sections.groups
    return replace(
        whole,
        visited=whole.visited[rows],
        for_node=whole.for_node[rows],
        for_kin=whole.for_kin[rows],
        node_ratio=whole.node_ratio[nodes],
        kin_ratio=whole.kin_ratio[np.append(groups, without_kin)],
        rest=rest.take(nodes, np.append(groups, without_kin)),
    )
