"""What our policy has kept, of some pages only: enough to say how all of them stand.

Sections keep what all of their pages have taught, so that a page of a sample is believed what it
would be believed among all. A sample can be kept beside the whole (`dump_sample`): whoever only
looks then need not read the whole.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.arrays.equal_keys import distinct
from recrawl.policies.checkpoint import checked_array
from recrawl.policies.recrawl.announced import NAMES
from recrawl.policies.recrawl.checkpoint import (
    CORRECTIONS,
    ELSEWHERE,
    OF_SITES,
    PAGES_ELSEWHERE,
    SITE_WEIGHT,
    check,
    dump,
    load,
)
from recrawl.policies.recrawl.corrections import FACTS
from recrawl.policies.recrawl.relatives import Relatives

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recrawl.arrays.types import Floats, Ints
    from recrawl.policies.recrawl.policy import Recrawl
    from recrawl.policies.recrawl.state import RecrawlState

_ANNOUNCED = tuple(f"announced.{name}" for name in NAMES)  # where anything is announced
_OF_CORRECTIONS = tuple(f"corrections.{name}" for name in FACTS)
_OF_CLOCKS = ("clocks.found", "clocks.expected")
# All that is read of what was kept.
NEEDED = (
    *("gap", "began", "last", "trust"),
    *("sections.deepest", "sections.leaf", "sections.kin", "sections.site", "sections.parent"),
    *("sections.is_host", "sections.groups"),
    *("clocks.width", "clocks.scale", "clocks.newest", "clocks.nodes", *_OF_CLOCKS),
    *("forecast_bias.nodes", "forecast_bias.all"),
    *(CORRECTIONS, OF_SITES, SITE_WEIGHT, *_OF_CORRECTIONS),
    *("memories.shape", "memories.exposure", "memories.share", "memories.site_share"),
    *("relatives.shape", "relatives.exposure", "relatives.visited", "relatives.fitted"),
    *("relatives.for_node", "relatives.for_kin"),
)
_OF_RELATIVES = ("relatives.visited", "relatives.for_node", "relatives.for_kin")
_OF_PAGES = ("last", *_OF_RELATIVES, *_OF_CORRECTIONS)
_OF_MEMORIES = ("memories.shape", "memories.exposure", "memories.share")
_OF_SITES = ("trust", "memories.site_share", OF_SITES, SITE_WEIGHT)
_OF_PARTS = (ELSEWHERE, PAGES_ELSEWHERE)  # where there are other parts of the crawl
_NODE_RATIO, _KIN_RATIO = "ratios.node", "ratios.kin"
# All that is kept of a sample.
KEPT_OF_SAMPLE = (
    *NEEDED,
    *("worth", "memories.score", "calibration", _NODE_RATIO, _KIN_RATIO),
    *("sections.site_of_host", "sections.sites", "sections.related", *_OF_PARTS, *_ANNOUNCED),
)
_LARGEST_RATIO = 1e9


@dataclass(frozen=True, slots=True, eq=False)
class Ratios:
    """How fast sections and kin are: what `Relatives` reads from all pages.

    Args:
        node: Rate of each node over the crawl's.
        kin: The same of each kin group; the last is for pages without kin.
    """

    node: Floats
    kin: Floats

    def put(self, state: RecrawlState) -> None:
        """Let a state of few pages know what all of them have taught."""
        state.relatives.node_ratio = self.node.copy()
        state.relatives.kin_ratio = self.kin.copy()


@dataclass(frozen=True, slots=True, eq=False)
class _Tree:
    """As much of a tree of sections as ratios need."""

    leaf: Ints
    kin: Ints
    parent: Ints
    levels: list[Ints]
    groups: int

    def __len__(self) -> int:
        return len(self.parent)


def sampled(policy: Recrawl, parts: Mapping[str, Any], rows: Ints) -> tuple[RecrawlState, Ratios]:
    """State of some pages, and the ratios to put again whenever it has learned.

    Args:
        policy: The policy, with the same parameters.
        parts: What `dump` gave; only what `NEEDED` names is looked at, and what is announced.
        rows: The pages.
    """
    parent = np.asarray(parts["sections.parent"]).astype(np.int64)
    leaf = np.asarray(parts["sections.leaf"])
    nodes = _above(leaf[rows], parent)
    place = np.full(len(parent) + 1, -1)
    place[nodes] = np.arange(len(nodes))  # the last stays -1: nothing is above the crawl
    kin = np.asarray(parts["sections.kin"])[rows]
    groups = distinct(kin[kin >= 0])
    site = np.asarray(parts["sections.site"])[rows]
    sites = distinct(np.append(site, 0))  # 0 stands for several

    few = {name: parts[name] for name in NEEDED}
    few |= {name: parts[name] for name in _OF_PARTS if name in parts}
    announced = [name for name in _ANNOUNCED if name in parts]
    few |= {name: np.asarray(parts[name])[rows] for name in (*_OF_PAGES, *announced)}
    few |= {name: np.asarray(parts[name])[sites] for name in _OF_SITES}
    few |= {name: np.asarray(parts[name])[:, rows] for name in _OF_MEMORIES}
    clocks = place[np.asarray(parts["clocks.nodes"])]
    few |= {name: np.asarray(parts[name])[clocks >= 0] for name in _OF_CLOCKS}
    few["clocks.nodes"] = clocks[clocks >= 0]
    few["forecast_bias.nodes"] = np.asarray(parts["forecast_bias.nodes"])[nodes]
    few["sections.is_host"] = np.asarray(parts["sections.is_host"])[nodes]
    few["sections.leaf"] = place[leaf[rows]]
    few["sections.parent"] = place[parent[nodes]]
    few["sections.kin"] = np.where(kin < 0, -1, np.searchsorted(groups, kin))
    few["sections.groups"] = len(groups)
    few["sections.site"] = np.searchsorted(sites, site)
    few["sections.sites"] = len(sites)
    few["sections.site_of_host"] = np.zeros(1, np.int32)  # no page comes to a sample
    few["sections.related"] = len(rows)  # kin are as they were: nobody looks for them again
    few["memories.score"] = np.zeros(few["memories.share"].shape)
    few["worth"] = np.ones(len(rows))
    state = load(policy, few, list)
    whole = _ratios(policy, parts, parent, groups)
    ratios = Ratios(whole.node[nodes], whole.kin)
    ratios.put(state)
    return state, ratios


def dump_sample(state: RecrawlState, ratios: Ratios) -> dict[str, Any]:
    """What `sampled` gave, as arrays and numbers by name."""
    kept = {name: part for name, part in dump(state).items() if name in KEPT_OF_SAMPLE}
    return {**kept, _NODE_RATIO: ratios.node, _KIN_RATIO: ratios.kin}


def load_sample(policy: Recrawl, parts: Mapping[str, Any]) -> tuple[RecrawlState, Ratios]:
    """What `sampled` gave, from what was kept of it."""
    state = load(policy, parts, list)
    ratios = Ratios(np.asarray(parts[_NODE_RATIO]), np.asarray(parts[_KIN_RATIO]))
    ratios.put(state)
    return state, ratios


def check_sample(parts: Mapping[str, Any], pages: int, memories: int) -> None:
    """Raise unless parts have the kinds, sizes and ranges of what `dump_sample` gave.

    Args:
        parts: The parts.
        pages: How many pages they are about.
        memories: How many memories the policy has of each.

    Raises:
        LookupError: A part is missing.
        ValueError: A part is not what `dump_sample` would give.
    """
    check(parts, pages, memories)
    sizes = len(parts["sections.parent"]), int(parts["sections.groups"]) + 1
    for name, size in zip((_NODE_RATIO, _KIN_RATIO), sizes, strict=True):
        found = checked_array(parts, name, "f", 1)
        if len(found) != size or not ((found > 0) & (found < _LARGEST_RATIO)).all():
            raise ValueError(f"{name} is not of {size} rates")


def _above(leaf: Ints, parent: Ints) -> Ints:
    """The nodes from some leaves up to the crawl, rising."""
    among = np.zeros(len(parent), np.bool_)
    among[0] = True
    while len(leaf):
        among[leaf] = True
        leaf = distinct(parent[leaf])
        leaf = leaf[leaf >= 0]
    return np.flatnonzero(among)


def _ratios(policy: Recrawl, parts: Mapping[str, Any], parent: Ints, groups: Ints) -> Ratios:
    """Ratios of all sections and of some kin, from all pages."""
    number = np.full(int(parts["sections.groups"]) + 1, -1, np.int32)
    number[groups] = np.arange(len(groups))  # the last stays -1: pages without kin
    rank = np.zeros(len(parent), np.int64)
    up = parent
    while (up >= 0).any():
        rank += up >= 0
        up = np.where(up >= 0, parent[up], -1)
    tree = _Tree(
        leaf=np.asarray(parts["sections.leaf"]),
        kin=number[np.asarray(parts["sections.kin"])],
        parent=parent,
        levels=[np.flatnonzero(rank == depth) for depth in range(int(rank.max()) + 1)],
        groups=len(groups),
    )
    relatives = Relatives(
        strength=policy.relatives,
        shape=float(parts["relatives.shape"]),
        exposure=float(parts["relatives.exposure"]),
        visited=np.asarray(parts["relatives.visited"]),
        for_node=np.asarray(parts["relatives.for_node"]),
        for_kin=np.asarray(parts["relatives.for_kin"]),
        node_ratio=np.ones(1),
        kin_ratio=np.ones(1),
        fitted=bool(parts["relatives.fitted"]),
        assumed=policy.assumed,
    )
    relatives.read(tree)  # type: ignore[arg-type] # has all that is read of a tree
    return Ratios(relatives.node_ratio, relatives.kin_ratio)
