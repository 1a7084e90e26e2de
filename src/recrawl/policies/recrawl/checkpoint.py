"""What our policy has learned, as plain arrays to keep and to go on from.

Numbers that the crawl only ever compares are kept in single precision: half the room, and a part
in ten million. What follows from the rest is left out and worked out again. Of very many sections
only the largest keep their clocks.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.policies.recrawl.announced import NAMES, Announced
from recrawl.policies.recrawl.calibration import Calibration
from recrawl.policies.recrawl.clocks import Clocks
from recrawl.policies.recrawl.forecast_bias import ForecastBias
from recrawl.policies.recrawl.memories import Memories
from recrawl.policies.recrawl.relatives import Relatives
from recrawl.policies.recrawl.sections import Sections
from recrawl.policies.recrawl.state import RecrawlState, read_clocks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from recrawl.arrays.types import Ints
    from recrawl.policies.recrawl.policy import Recrawl

_MEMORIES = ("shape", "exposure", "score", "share")
_RELATIVES = ("for_node", "for_kin")
_PAGES_A_CLOCK, _FEWEST_CLOCKS = 8, 10_000
CALIBRATION = "calibration"


def dump(state: RecrawlState) -> dict[str, Any]:
    """Arrays and numbers by name."""
    clocks, memories, relatives = state.clocks, state.memories, state.relatives
    nodes = _largest_nodes(state.sections)
    return {
        "gap": state.gap,
        "began": state.began,
        "last": state.last,
        "worth": state.worth.astype(np.float32),
        "trust": state.trust,
        **{f"sections.{name}": value for name, value in state.sections.kept.items()},
        "clocks.width": clocks.width,
        "clocks.scale": clocks.scale,
        "clocks.newest": clocks.newest,
        "clocks.nodes": nodes.astype(np.int32),
        "clocks.found": clocks.found[nodes].astype(np.float32),
        "clocks.expected": clocks.expected[nodes].astype(np.float32),
        "forecast_bias.nodes": state.forecast_bias.nodes.astype(np.float32),
        "forecast_bias.all": state.forecast_bias.all,
        CALIBRATION: state.calibration.sums,
        **_announced(state),
        **{f"memories.{name}": getattr(memories, name).astype(np.float32) for name in _MEMORIES},
        "memories.site_share": memories.site_share,
        "relatives.shape": relatives.shape,
        "relatives.exposure": relatives.exposure,
        "relatives.visited": relatives.visited,
        "relatives.fitted": relatives.fitted,
        **{f"relatives.{name}": getattr(relatives, name).astype(np.float32) for name in _RELATIVES},
    }


def load(
    policy: Recrawl, parts: Mapping[str, Any], addresses: Callable[[], Sequence[str]]
) -> RecrawlState:
    """State of a policy from what was kept of it.

    Args:
        policy: The policy, with the same parameters.
        parts: What `dump` gave.
        addresses: Gives the addresses of all pages, in the order of their rows.
    """
    inner = {name.removeprefix("sections."): value for name, value in parts.items()}
    sections = Sections.resumed(inner, addresses)
    clocks = Clocks.start(parts["clocks.width"], parts["clocks.scale"], policy.trusting, 0.0)
    clocks.newest = int(parts["clocks.newest"])
    clocks.grow(len(sections))
    for name in ("found", "expected"):
        getattr(clocks, name)[parts["clocks.nodes"]] = parts[f"clocks.{name}"]
    state = RecrawlState(
        gap=float(parts["gap"]),
        began=float(parts["began"]),
        last=np.array(parts["last"], np.float64),
        worth=np.array(parts["worth"], np.float64),
        sections=sections,
        clocks=clocks,
        memories=Memories(
            kept=policy.memories,
            **_wide(parts, "memories", _MEMORIES),
            site_share=np.array(parts["memories.site_share"]),
        ),
        relatives=Relatives(
            strength=policy.relatives,
            shape=float(parts["relatives.shape"]),
            exposure=float(parts["relatives.exposure"]),
            visited=np.array(parts["relatives.visited"]),
            **_wide(parts, "relatives", _RELATIVES),
            node_ratio=np.ones(1),
            kin_ratio=np.ones(1),
            fitted=bool(parts["relatives.fitted"]),
        ),
        trust=np.array(parts["trust"]),
        forecast_bias=ForecastBias(
            np.array(parts["forecast_bias.nodes"], np.float64), np.array(parts["forecast_bias.all"])
        ),
        calibration=calibration_kept(parts),
        announced=_announced_kept(parts),
    )
    state.relatives.read(sections)
    read_clocks(state, sections.levels)
    return state


def calibration_kept(parts: Mapping[str, Any]) -> Calibration:
    """Table of what was forecast and found, as it was kept; empty where it was not yet."""
    sums = parts.get(CALIBRATION)
    return Calibration.start() if sums is None else Calibration(np.array(sums, np.float64))


def _announced(state: RecrawlState) -> dict[str, Any]:
    """What hosts announce; nothing where they announce nothing."""
    if not state.announced.asked.any():
        return {}
    return {f"announced.{name}": getattr(state.announced, name) for name in NAMES}


def _announced_kept(parts: Mapping[str, Any]) -> Announced:
    if all(f"announced.{name}" in parts for name in NAMES):
        return Announced(**_wide(parts, "announced", NAMES))
    announced = Announced.start()
    announced.grow(len(parts["last"]))
    return announced


def _largest_nodes(sections: Sections) -> Ints:
    """Nodes whose clocks are kept: all, or where there are very many, those with most pages.

    A clock takes as much room as a few pages. The others go on from the clock above them.
    """
    most = max(len(sections.leaf) // _PAGES_A_CLOCK, _FEWEST_CLOCKS)
    if len(sections) <= most:
        return np.arange(len(sections))
    pages = np.bincount(sections.leaf, minlength=len(sections))
    for nodes in sections.levels[:0:-1]:
        np.add.at(pages, sections.parent[nodes], pages[nodes])
    return np.sort(np.argpartition(pages, -most)[-most:])


def _wide(parts: Mapping[str, Any], group: str, names: Sequence[str]) -> dict[str, Any]:
    return {name: np.array(parts[f"{group}.{name}"], np.float64) for name in names}
