"""Groups of like objects as tables: what `recrawl listing partition` writes, one row per group.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.listings.data.attributes import MOST_VALUES
from recrawl.listings.data.lifetimes import Lifetimes
from recrawl.listings.describe import FEWEST_REMOVALS, kinds, mean_lifetime, removal_rates
from recrawl.listings.groups.goodness import compare_attributes
from recrawl.listings.groups.partition import Categories
from recrawl.listings.groups.shrinkage import shrunk_rates
from recrawl.listings.groups.tree_growing import TreeGrower
from recrawl.report.listings.describe import curve_start, lifetimes, present
from recrawl.report.listings.sheets import Sheet, below, cells, texts
from recrawl.report.words import cut, every

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.arrays.types import Floats, Ints
    from recrawl.listings.data.attributes import Attribute
    from recrawl.listings.data.spells import Listing
    from recrawl.listings.groups.partition import Partitioner
    from recrawl.report.rates import Column


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """Groups found by one attribute, or by several together.

    Args:
        attribute: The attributes.
        codes: Group of each object.
        names: What the objects of each group have in common.
        rate: Rate of each group; removals over days listed where None.
        gain: By how much the groups fit better than one group for all.
    """

    attribute: str
    codes: Ints
    names: Sequence[str]
    gain: float
    rate: Floats | None = None
    low: Floats | None = None
    high: Floats | None = None


def partitioned(listing: Listing, attribute: str, how: Partitioner) -> Partition:
    """Values of one attribute put into groups that vanish at like rates, the slowest first."""
    codes, values = _values(listing.attributes[attribute])
    lifetimes = Lifetimes.from_listing(listing)
    steps = how.search_groups(Categories.of(lifetimes, codes[listing.object], len(values)))
    taken = [step for step in steps if step.accepted]
    group = taken[-1].group if taken else np.zeros(len(values), np.int64)
    count = int(group.max(initial=0)) + 1
    objects = np.bincount(codes, minlength=len(values))
    names = [_members(values, objects, group == number) for number in range(count)]
    return Partition(attribute, group[codes], names, float(sum(step.gain for step in taken)))


def steps_sheet(name: str, listing: Listing, attributes: Sequence[str], how: Partitioner) -> Sheet:
    """One row per step of the search for each attribute, from one group for all.

    Args:
        name: Name of the source.
        listing: Its objects.
        attributes: Attributes whose values are put into groups.
        how: The search.
    """
    rows: list[tuple[str, int, str, str, float, str]] = []
    for attribute in attributes:
        codes, values = _values(listing.attributes[attribute])
        found = Categories.of(Lifetimes.from_listing(listing), codes[listing.object], len(values))
        objects = np.bincount(codes, minlength=len(values))
        whole = np.zeros(len(values), np.int64)
        tried = [(whole, float("nan"), "start")] + [
            (step.group, step.gain, "accepted" if step.accepted else "refused")
            for step in how.search_groups(found)
        ]
        for number, (group, gain, verdict) in enumerate(tried, start=1):
            said, rates = [], []
            for each in range(int(group.max(initial=0)) + 1):
                rows_of = group == each
                said.append(f"{{{_members(values, objects, rows_of)}}}")
                days = float(np.sum(found.exposure[rows_of]))
                rates.append(float(np.sum(found.removals[rows_of])) / days if days else np.nan)
            shown = " ".join(f"{rate:.4g}" for rate in rates)
            rows.append((attribute, number, " ".join(said), shown, gain, verdict))
    columns: dict[str, Column] = {
        "attribute": texts([row[0] for row in rows]),
        "step": np.array([row[1] for row in rows], np.int64),
        "groups": texts([row[2] for row in rows]),
        "rates_per_day": texts([row[3] for row in rows]),
        "gain": np.array([row[4] for row in rows], np.float64),
        "verdict": texts([row[5] for row in rows]),
    }
    words = [
        [
            *(name, attribute, str(step), cut(groups, _WIDEST), rates),
            *("" if np.isnan(gain) else f"{gain:.2f}", verdict),
        ]
        for attribute, step, groups, rates, gain, verdict in rows
    ]
    header = ("source", "attribute", "step", "groups", "rates per day", "gain", "verdict")
    return Sheet("source", [name] * len(rows), columns, header, words, (0, 1, 3, 4, 6))


def shrunk(listing: Listing, attribute: str) -> Partition:
    """Every value of an attribute with a rate of its own, drawn towards the others."""
    codes, values = _values(listing.attributes[attribute])
    lifetimes = Lifetimes.from_listing(listing)
    found = Categories.of(lifetimes, codes[listing.object], len(values))
    rates = shrunk_rates(found.removals, found.exposure)
    low, high = rates.band(0.9)
    return Partition(attribute, codes, values, float("nan"), rates.rate, low, high)


def _values(column: Attribute) -> tuple[Ints, list[str]]:
    """Each value for itself; quarters of numbers, and rare texts as one, where they are many."""
    codes, values = present(*column.values())
    return (codes, values) if len(values) <= MOST_VALUES else present(*kinds(column))


def grown(listing: Listing, attributes: Sequence[str]) -> Partition:
    """Groups made by a survival tree of several attributes."""
    lifetimes = Lifetimes.from_listing(listing)
    columns = {name: listing.attributes[name].rows(listing.object) for name in attributes}
    tree = TreeGrower().grow(lifetimes, columns)
    own = {name: listing.attributes[name] for name in attributes}
    names = [" and ".join(rule) or "(all)" for rule, _ in tree.rules()]
    gain = _gain(tree)
    return Partition(", ".join(attributes), tree.leaf_of(own, len(listing)), names, gain)


def _gain(node: object) -> float:
    """Likelihood ratio of a whole tree: the sum over its splits."""
    low, high = getattr(node, "low", None), getattr(node, "high", None)
    if low is None or high is None:
        return 0.0
    return float(getattr(node, "gain", 0.0)) + _gain(low) + _gain(high)


def _members(values: Sequence[str], objects: Ints, here: np.ndarray) -> str:
    """Values of a group, the commonest first."""
    rows = np.flatnonzero(here)
    return ", ".join(values[row] for row in rows[np.argsort(-objects[rows], kind="stable")])


def partition_sheet(name: str, listing: Listing, parts: Sequence[Partition]) -> Sheet:
    """One row per group of each partition."""
    columns: dict[str, Column] = {}
    by_chance = _by_chance(listing, parts)
    made = [_columns(listing, part, chance) for part, chance in zip(parts, by_chance, strict=True)]
    for column in made[0] if made else ():
        columns[column] = below(*(part[column] for part in made))
    header = (
        *("source", "attribute", "group", "values", "objects"),
        *("lifetime", "median", "by chance", "status"),
    )
    words = [
        [name, attribute, str(group), values, f"{objects:,}", lifetime, half, chance, status]
        for attribute, group, values, objects, lifetime, half, chance, status in zip(
            cells(columns, "attribute"),
            cells(columns, "group"),
            [cut(text, _LONGEST) for text in cells(columns, "values")],
            cells(columns, "objects"),
            lifetimes(columns),
            [every(days) for days in cells(columns, "median_lifetime_days")],
            [_share(chance) for chance in cells(columns, "false_finds")],
            cells(columns, "status"),
            strict=True,
        )
    ]
    return Sheet("source", [name] * len(words), columns, header, words, (0, 1, 3, 8))


def _by_chance(listing: Listing, parts: Sequence[Partition]) -> list[float]:
    """Share of false finds if the values of each part's attribute are said to differ."""
    lifetimes, categories = Lifetimes.from_listing(listing), {}
    for part in parts:
        if part.attribute in listing.attributes and listing.status == "ok":
            codes, values = _values(listing.attributes[part.attribute])
            found = Categories.of(lifetimes, codes[listing.object], len(values))
            categories[part.attribute] = found
    tests = {test.attribute: test.false_finds for test in compare_attributes(categories)}
    return [tests.get(part.attribute, float("nan")) for part in parts]


def _share(chance: float) -> str:
    if np.isnan(chance):
        return ""
    return f"{100 * chance:.1f} %" if chance >= _LEAST_SHOWN else f"< {100 * _LEAST_SHOWN:g} %"


_LEVEL = 0.9
_WIDEST = 72
_LONGEST = 48
_LEAST_SHOWN = 0.001


def _columns(listing: Listing, part: Partition, by_chance: float) -> dict[str, Column]:
    count = len(part.names)
    found = removal_rates(listing, part.codes, count)
    rate = found.rate if part.rate is None else part.rate
    low, high = found.low, found.high
    if part.low is not None and part.high is not None:
        low, high = part.low, part.high
    curves = found.curves
    medians = [curve.median for curve in curves]
    band = np.array([curve.median_band(_LEVEL) for curve in curves]).reshape(count, 2)
    status = [
        listing.status if listing.status != "ok" else _status(removed, middle)
        for removed, middle in zip(found.removals.tolist(), medians, strict=True)
    ]
    rate = np.where(found.exposure > 0, rate, np.nan)
    return {
        "attribute": texts([part.attribute] * count),
        "group": np.arange(1, count + 1),
        "values": texts(part.names),
        "objects": np.bincount(part.codes, minlength=count),
        "removals": found.removals,
        "exposure_days": np.where(found.exposure > 0, found.exposure, np.nan),
        "rate_per_day": rate,
        "low": low,
        "high": high,
        "mean_lifetime_days": mean_lifetime(rate),
        "median_lifetime_days": np.array(medians),
        "median_low_days": band[:, 0],
        "median_high_days": band[:, 1],
        "median_from_days": np.array([curve_start(curve) for curve in curves]),
        "gain": np.full(count, part.gain),
        "false_finds": np.full(count, by_chance),
        "status": texts(status),
    }


def _status(removals: float, middle: float) -> str:
    words = ["no-removals"] if not removals else ["weak"] if removals < FEWEST_REMOVALS else []
    if removals and np.isnan(middle):
        words.append("long-lived")
    return " ".join(words) or "ok"
