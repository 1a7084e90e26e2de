"""What our policy has learned, as plain arrays to keep and to go on from.

Numbers that the crawl only ever compares are kept in single precision: half the room, and a part
in ten million. What follows from the rest is left out and worked out again. Of very many sections
only the largest keep their clocks.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.arrays.equal_keys import distinct
from recrawl.policies.checkpoint import checked_array, checked_number
from recrawl.policies.recrawl.announced import NAMES, Announced
from recrawl.policies.recrawl.calibration import Calibration
from recrawl.policies.recrawl.clocks import BINS, Clocks
from recrawl.policies.recrawl.corrections import FACTS, SUMS, Corrections
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
CALIBRATION, CORRECTIONS = "calibration", "corrections.sums"
# Where there are other parts of the crawl, and where there are several sites.
ELSEWHERE, PAGES_ELSEWHERE = "corrections.elsewhere", "corrections.pages_elsewhere"
OF_SITES, SITE_WEIGHT = "corrections.of_sites", "corrections.weight"
SHOWN = "sections.shown"  # where not all nodes are
# Raised with what visits teach: a checkpoint of another version does not fit, and is replayed.
VERSION = 3

# What a figure may be where its range is not known: nothing that overflows.
_LARGEST_FIGURE = 1e15
_LAST_DAY = 2_932_896.0  # of the year 9999
_LARGEST = {"last": _LAST_DAY, "trust": 700.0}
_DEEPEST = 1000
_NUMBERS = (
    ("gap", 1e-9, 1e9),
    ("began", -_LAST_DAY, _LAST_DAY),
    ("clocks.width", 1e-9, 1e9),
    ("clocks.scale", 1e-9, 1e9),
    ("clocks.newest", -_LARGEST_FIGURE, _LARGEST_FIGURE),
    ("relatives.shape", 1e-9, 1e9),
    ("relatives.exposure", 1e-9, _LARGEST_FIGURE),
    ("relatives.fitted", 0, 1),
    ("sections.related", 0, _LARGEST_FIGURE),
)


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
        **_corrections(state.corrections),
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
            assumed=policy.assumed,
        ),
        trust=np.array(parts["trust"]),
        forecast_bias=ForecastBias(
            np.array(parts["forecast_bias.nodes"], np.float64), np.array(parts["forecast_bias.all"])
        ),
        calibration=calibration_kept(parts),
        corrections=_corrections_kept(policy, parts),
        announced=_announced_kept(parts),
    )
    state.relatives.read(sections)
    read_clocks(state, sections.levels)
    return state


def check(parts: Mapping[str, Any], pages: int, memories: int) -> None:
    """Raise unless parts have the kinds, sizes and ranges of what `dump` gave.

    Args:
        parts: The parts.
        pages: How many pages they are about.
        memories: How many memories the policy has of each.

    Raises:
        LookupError: A part is missing.
        ValueError: A part is not what `dump` would give.
    """
    nodes = _check_tree(parts, pages)
    sites = int(checked_number(parts, "sections.sites"))
    for name, least, most in _NUMBERS:
        if not least <= checked_number(parts, name) <= most:
            raise ValueError(f"{name} is not between {least:g} and {most:g}")
    if abs(parts["clocks.newest"] * parts["clocks.width"]) > _LAST_DAY:
        raise ValueError("clocks.newest is no day of the calendar")
    rows = len(checked_array(parts, "clocks.nodes", "iu", 1))
    _check_range(parts, "clocks.nodes", 0, nodes)
    shapes: dict[str, tuple[int, ...]] = {
        "last": (pages,),
        "worth": (pages,),
        "trust": (sites,),
        **dict.fromkeys(("clocks.found", "clocks.expected"), (rows, BINS)),
        "forecast_bias.nodes": (nodes, 2),
        "forecast_bias.all": (1, 2),
        **{f"memories.{name}": (memories, pages) for name in _MEMORIES},
        "memories.site_share": (sites, memories),
        "relatives.visited": (pages,),
        **{f"relatives.{name}": (pages,) for name in _RELATIVES},
        **{f"announced.{name}": (pages,) for name in NAMES if f"announced.{name}" in parts},
    }
    if CALIBRATION in parts:
        shapes[CALIBRATION] = Calibration.start().sums.shape
    if CORRECTIONS in parts:
        _check_corrections(parts, pages)
        shapes |= {OF_SITES: (sites, *SUMS), SITE_WEIGHT: (sites,)}
    for name, shape in shapes.items():
        _check_figures(parts, name, shape)


def _check_corrections(parts: Mapping[str, Any], pages: int) -> None:
    """Raise for what cannot be so of the tables of corrections and the facts of pages."""
    for name, (least, most) in FACTS.items():
        _check_range(parts, f"corrections.{name}", least, most + 1)
        if len(parts[f"corrections.{name}"]) != pages:
            raise ValueError(f"corrections.{name} is not of {pages} pages")
    for name in {CORRECTIONS, ELSEWHERE} & parts.keys():
        _check_figures(parts, name, SUMS)
        if parts[name].min() < 0:
            raise ValueError(f"{name} has figures below 0")
    if PAGES_ELSEWHERE in parts and checked_number(parts, PAGES_ELSEWHERE) < 0:
        raise ValueError(f"{PAGES_ELSEWHERE} is below 0")


def _check_tree(parts: Mapping[str, Any], pages: int) -> int:
    """Raise unless the sections of pages are a tree; returns how many there are."""
    groups, sites = (int(checked_number(parts, f"sections.{name}")) for name in ("groups", "sites"))
    deepest = checked_number(parts, "sections.deepest")
    if not (0 <= groups <= pages and 1 <= sites <= pages + 1 and 0 <= deepest <= _DEEPEST):
        raise ValueError("there are more sections than pages")
    parent = checked_array(parts, "sections.parent", "iu", 1).astype(np.int64)
    nodes = len(parent)
    if not nodes or parent[0] != -1 or not ((parent[1:] >= 0) & (parent[1:] < nodes)).all():
        raise ValueError("sections.parent is no tree")
    up = parent
    for _ in range(int(deepest) + 1):  # the crawl stands above the parts of an address
        up = np.where(up >= 0, parent[up], -1)
    if (up >= 0).any():
        raise ValueError("sections.parent leads back to itself")
    for name, least, most in (("leaf", 0, nodes), ("kin", -1, groups), ("site", 0, sites)):
        _check_range(parts, f"sections.{name}", least, most)
        if len(parts[f"sections.{name}"]) != pages:
            raise ValueError(f"sections.{name} is not of {pages} pages")
    _check_range(parts, "sections.site_of_host", 0, sites)
    if checked_array(parts, "sections.is_host", "b", 1).shape != parent.shape:
        raise ValueError("sections.is_host is not of all sections")
    if SHOWN in parts:
        shown = checked_array(parts, SHOWN, "iu", 1)
        if shown.shape != parent.shape or shown[0] != 0 or len(distinct(shown)) != nodes:
            raise ValueError(f"{SHOWN} is not of all sections")
        _check_range(parts, SHOWN, 0, _DEEPEST * (pages + 1))
    return nodes


def _check_range(parts: Mapping[str, Any], name: str, least: int, below: int) -> None:
    rows = checked_array(parts, name, "iu", 1)
    if len(rows) and not (rows.min() >= least and rows.max() < below):
        raise ValueError(f"{name} is not between {least} and {below - 1}")


def _check_figures(parts: Mapping[str, Any], name: str, shape: tuple[int, ...]) -> None:
    found = checked_array(parts, name, "bf", len(shape))
    if found.shape != shape:
        raise ValueError(f"{name} has the shape {found.shape}, not {shape}")
    most = _LARGEST.get(name, _LARGEST_FIGURE)
    if found.size and not -most <= found.min() <= found.max() <= most:  # nan is neither
        raise ValueError(f"{name} has figures beyond {most:g}")


def calibration_kept(parts: Mapping[str, Any]) -> Calibration:
    """Table of what was forecast and found, as it was kept; empty where it was not yet."""
    sums = parts.get(CALIBRATION)
    return Calibration.start() if sums is None else Calibration(np.array(sums, np.float64))


def _corrections(tables: Corrections) -> dict[str, Any]:
    facts = {f"corrections.{name}": getattr(tables, name).astype(np.int32) for name in FACTS}
    more: dict[str, Any] = {}
    if tables.elsewhere.any():
        more = {ELSEWHERE: tables.elsewhere, PAGES_ELSEWHERE: tables.pages_elsewhere}
    of_sites = {OF_SITES: tables.of_sites, SITE_WEIGHT: tables.weight}
    return {CORRECTIONS: tables.sums, **more, **of_sites, **facts}


def _corrections_kept(policy: Recrawl, parts: Mapping[str, Any]) -> Corrections:
    """Tables of corrections as they were kept; empty where they were not yet."""
    site = np.array(parts["sections.site"], np.int64)
    if CORRECTIONS not in parts:
        tables = Corrections.start(policy.corrections, policy.site_corrections)
        tables.grow(len(parts["last"]))
        tables.put_on_sites(site, int(parts["sections.sites"]))
        return tables
    facts = (np.array(parts[f"corrections.{name}"], np.int64) for name in FACTS)
    own, elsewhere = (
        np.array(parts.get(name, np.zeros(SUMS)), np.float64) for name in (CORRECTIONS, ELSEWHERE)
    )
    return Corrections(
        policy.corrections,
        own,
        *facts,
        site_strength=policy.site_corrections,
        elsewhere=elsewhere,
        pages_elsewhere=float(parts.get(PAGES_ELSEWHERE, 0.0)),
        site=site,
        of_sites=np.array(parts[OF_SITES], np.float64),
        weight=np.array(parts[SITE_WEIGHT], np.float64),
    )


def _announced(state: RecrawlState) -> dict[str, Any]:
    """What hosts announce; nothing where they announce nothing."""
    if not state.announced.asked.any() and not state.announced.hinted.any():
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
