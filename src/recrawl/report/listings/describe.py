"""Listings as tables: what `recrawl listing describe` writes, and what all its verbs remark.

Figures that a status explains are empty.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.listings.data.attributes import EVERYTHING, MOST_VALUES, Labels
from recrawl.listings.data.day_marks import DayMarks
from recrawl.listings.data.updates import (
    histories_of_attribute,
    object_rates,
    share_stale,
    update_rate,
)
from recrawl.listings.describe import (
    FEWEST_REMOVALS,
    arrivals,
    arrivals_of_counts,
    early_sightings,
    fitted_lifetimes,
    kinds,
    rekeys,
    removal_rates,
    statuses,
    whole_days,
)
from recrawl.report.listings.sheets import Sheet, below, cells, texts
from recrawl.report.plans import figure
from recrawl.report.rates import Named
from recrawl.report.words import counted, every, percent, tenths
from recrawl.units import days_between, duration

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recrawl.arrays.types import Floats, Ints
    from recrawl.listings.data.day_marks import Rekey
    from recrawl.listings.data.grid import DayGrid
    from recrawl.listings.data.spells import Listing
    from recrawl.listings.describe import Arrivals, LifetimeModel
    from recrawl.listings.models.kaplan_meier import SurvivalCurve
    from recrawl.report.rates import Column

MARKS = ("", "gap", "closure", "load", "rekey")

_WAITS = (1, 7, 30)
_LEVEL = 0.9  # of the bands of medians
_OF_LATE = 20  # crawls
_ALL = 0.995  # share that reads as 100 %
_OFTEN = 0.75  # days between two of them, below which there are several a day

# What a status means, for readers of remarks.
STATUS_REMARKS = {
    "empty": "lists nothing: no rate and no forecast.",
    "one-snapshot": "was seen once: no rate and no forecast.",
    "weak": "was seen for less than 14 days, or lost fewer than 10 objects: rates are guesses.",
    "small": "lists fewer than 30 objects: bands are mostly counting noise.",
}


def attributes_to_show(listing: Listing) -> list[str]:
    """Attributes that tell kinds of objects: texts of 2 to 50 values, and numbers.

    >>> from recrawl.listings.data.spells import Listing
    >>> crawls = np.array(["2026-01-01", "2026-01-02"], "datetime64[us]")
    >>> make = Labels.of(["BMW", "Fiat"])
    >>> attributes_to_show(Listing.of(["a", "b"], crawls, [(0, 0, 2)], attributes={"make": make}))
    ['make']
    """
    found = []
    for name, column in listing.attributes.items():
        seen = len(column.words) if isinstance(column, Labels) else 0
        if not isinstance(column, Labels) or 1 < seen + column.missing.any() <= MOST_VALUES:
            found.append(name)
    return found


def describe_sheet(name: str, listing: Listing, grid: DayGrid, by: Sequence[str]) -> Sheet:
    """One row for all objects, then one row per value of each attribute."""
    parts = [_described(listing, grid, attribute) for attribute in ("", *by)]
    columns: dict[str, Column] = {
        column: below(*(part[column] for part in parts)) for column in parts[0]
    }
    header = (
        *("source", "attribute", "value", "objects", "listed"),
        *("new per day", "lifetime", "median", "age", "status"),
    )
    words = [
        [
            *(name, attribute, value, f"{objects:,}", f"{listed:,}"),
            *(figure(new), mean, median, age, status),
        ]
        for attribute, value, objects, listed, new, mean, median, age, status in zip(
            cells(columns, "attribute"),
            cells(columns, "value"),
            cells(columns, "objects"),
            cells(columns, "listed"),
            cells(columns, "arrivals_per_day"),
            lifetimes(columns),
            [every(days) for days in cells(columns, "median_lifetime_days")],
            _age_matters(columns),
            cells(columns, "status"),
            strict=True,
        )
    ]
    return Sheet("source", [name] * len(words), columns, header, words, (0, 1, 2, 8, 9))


def _age_matters(columns: dict[str, Column]) -> list[str]:
    """A word where age matters; nothing where it cannot be told to."""
    figures = zip(cells(columns, "aging"), cells(columns, "aging_limit"), strict=True)
    return ["matters" if distance > limit else "" for distance, limit in figures]


def lifetimes(columns: dict[str, Column]) -> list[str]:
    """Mean lifetime of each row with its band."""
    figures = zip(*(cells(columns, name) for name in ("rate_per_day", "low", "high")), strict=True)
    return [
        "-" if np.isnan(rate) else f"{_lifetime(rate)} ({_lifetime(high)} - {_lifetime(low)})"
        for rate, low, high in figures
    ]


def _lifetime(rate: float) -> str:
    return duration(1 / rate) if rate > 0 else "never"


def _described(listing: Listing, grid: DayGrid, attribute: str) -> dict[str, Column]:
    """All columns but the source's name, for the values of one attribute or for all objects."""
    codes, values = _kinds(listing, attribute)
    count = len(values)
    found = removal_rates(listing, codes, count)
    listed = np.bincount(codes[listing.object[listing.listed]], minlength=count)
    known = (found.exposure > 0) & (listing.status == "ok")
    curves, ages = found.curves, found.aging
    medians = np.array([curve.median for curve in curves])
    band = np.array([curve.median_band(_LEVEL) for curve in curves]).reshape(count, 2)
    models = [fitted_lifetimes(part) for part in found.lifetimes]
    new = _arrivals(grid, codes, count)
    gamma = np.array([_gamma(each) for each in new]).reshape(count, 2)
    return {
        "attribute": texts([attribute] * count),
        "value": texts(values),
        "objects": np.bincount(codes, minlength=count),
        "listed": listed,
        "arrivals_per_day": np.array([each.mean for each in new]),
        "dispersion": np.array([each.dispersion for each in new]),
        "gamma_shape": gamma[:, 0],
        "gamma_scale": gamma[:, 1],
        "removals": found.removals,
        "exposure_days": np.where(known, found.exposure, np.nan),
        "rate_per_day": np.where(known, found.rate, np.nan),
        "low": np.where(known, found.low, np.nan),
        "high": np.where(known, found.high, np.nan),
        "mean_lifetime_days": np.where(known, found.mean_lifetime, np.nan),
        "median_lifetime_days": np.where(known, medians, np.nan),
        "median_low_days": np.where(known, band[:, 0], np.nan),
        "median_high_days": np.where(known, band[:, 1], np.nan),
        "median_from_days": np.array([curve_start(curve) for curve in curves]),
        "weibull_rate_per_day": _fitted(models, lambda model: model.weibull.rate),
        "weibull_shape": _fitted(models, lambda model: model.weibull.shape),
        "weibull_gain": _fitted(models, lambda model: model.gain),
        "aging": np.array([age.distance for age in ages]),
        "aging_limit": np.array([age.limit for age in ages]),
        "status": texts(_row_statuses(listing, grid, found.removals, medians, attribute)),
    }


def _row_statuses(
    listing: Listing, grid: DayGrid, removals: Ints, medians: Floats, attribute: str
) -> list[str]:
    """What to know of each row: that of the source for all, of the value for a value."""
    if listing.status != "ok":
        return [listing.status] * len(removals)
    found = []
    for removed, middle in zip(removals.tolist(), medians.tolist(), strict=True):
        words = [] if attribute else [word for word in statuses(listing, grid) if word != "ok"]
        if removed == 0:
            words.append("no-removals")
        elif removed < FEWEST_REMOVALS and "weak" not in words:
            words.append("weak")
        if removed and np.isnan(middle):
            words.append("long-lived")
        found.append(" ".join(words) or "ok")
    return found


def _kinds(listing: Listing, attribute: str) -> tuple[Ints, list[str]]:
    if not attribute:
        return np.zeros(len(listing), np.int64), [EVERYTHING]
    column = listing.attributes[attribute]
    codes, values = present(*kinds(column))
    if not isinstance(column, Labels):
        return codes, values
    # Numbers rise; of words the commonest comes first.
    order = np.argsort(-np.bincount(codes, minlength=len(values)), kind="stable")
    return np.argsort(order)[codes], [values[row] for row in order.tolist()]


def present(codes: Ints, values: Sequence[str]) -> tuple[Ints, list[str]]:
    """Only values that some object has: of a part of a listing these are not all.

    >>> present(np.array([2, 0]), ["a", "b", "c"])
    (array([1, 0]), ['a', 'c'])
    """
    found, numbers = np.unique(codes, return_inverse=True)
    return numbers.astype(np.int64), [values[code] for code in found.tolist()]


def curve_start(curve: SurvivalCurve) -> float:
    """Age from which a median is counted; nan where there is no curve."""
    return curve.start if len(curve.age) else float("nan")


def _fitted(
    models: Sequence[LifetimeModel | None], figure: Callable[[LifetimeModel], float]
) -> Floats:
    """A figure of each model; nan where there is none."""
    return np.array([float("nan") if model is None else figure(model) for model in models])


def _gamma(found: Arrivals) -> tuple[float, float]:
    """Shape and scale of the Gamma distribution; nan where every day brings the same."""
    fit = found.gamma
    return (fit.shape, fit.scale) if np.isfinite(fit.shape) else (float("nan"), float("nan"))


def _arrivals(grid: DayGrid, codes: Ints, count: int) -> list[Arrivals]:
    """New objects a day of each group, and how much more they vary than by chance."""
    if count == 1:
        return [arrivals(grid)]
    days, whole = len(grid), whole_days(grid)
    table = np.bincount(codes[grid.object] * days + grid.first, minlength=count * days)
    return [arrivals_of_counts(row[1:], whole) for row in table.reshape(count, days)]


def update_sheet(name: str, listing: Listing) -> Sheet:
    """One row for changes of any attribute, then one row per attribute."""
    known = (listing.updates.attribute >= 0).any()
    shown = [EVERYTHING, *listing.attributes] if known else [EVERYTHING]
    histories = [histories_of_attribute(listing, number - 1) for number in range(len(shown))]
    found = [update_rate(each) for each in histories]
    stale = np.full((len(shown), len(_WAITS)), np.nan)
    status = listing.status
    if status == "ok" and len(listing.updates):
        copied = np.unique(listing.object[listing.listed])
        for row, each in enumerate(histories):
            stale[row] = share_stale(object_rates(each), np.array(_WAITS), copied=copied)
    elif status == "ok":
        status = "no-updates"
    figures = {"updates_per_day": "rate", "low": "low", "high": "high"}
    columns: dict[str, Column] = {
        "attribute": texts(shown),
        "updates": np.array([each.changes for each in found], np.int64),
        **{
            column: np.array([getattr(each, figure) for each in found], np.float64)
            for column, figure in figures.items()
        },
        **{f"stale_{days}d": stale[:, row] for row, days in enumerate(_WAITS)},
        "status": texts([status] * len(shown)),
    }
    words = [
        [
            name,
            attribute,
            f"{each.changes:,}",
            every(1 / each.rate if each.rate else np.inf),
            *map(tenths, shares),
            status,
        ]
        for attribute, each, shares in zip(shown, found, stale.tolist(), strict=True)
    ]
    waits = [f"stale after {days}d" for days in _WAITS]
    header = ("source", "attribute", "updates", "an object every", *waits, "status")
    return Sheet("source", [name] * len(shown), columns, header, words, (0, 1, 7))


def day_sheet(name: str, grid: DayGrid) -> Sheet:
    """One row per day: what is listed, came and went, and marks on days out of the ordinary."""
    marks = DayMarks.of(grid)
    code = np.select([grid.gap, marks.rekey, marks.closure, marks.load], [1, 4, 2, 3], 0)
    moved = {"listed": grid.listed, "inserted": grid.inserted, "deleted": grid.deleted}
    columns: dict[str, Column] = {"day": grid.instants, **moved, "mark": Named(code, MARKS)}
    days = grid.instants.astype("datetime64[D]").astype(str).tolist()
    counts = zip(*(column.tolist() for column in moved.values()), strict=True)
    words = [
        [name, day, *(f"{count:,}" for count in row), MARKS[mark]]
        for day, row, mark in zip(days, counts, code.tolist(), strict=True)
    ]
    header = ("source", "day", "listed", "inserted", "deleted", "mark")
    return Sheet("source", [name] * len(days), columns, header, words, (0, 1, 5))


def source_remarks(name: str, listing: Listing, grid: DayGrid, words: Sequence[str]) -> list[str]:
    """What was read of a source, and what is the matter with it."""
    objects, crawls = counted(len(listing), "object"), counted(len(listing.crawls), "crawl")
    lines = [f"{name}: {objects} in {crawls}{_span(listing, grid)}."]
    lines += _several_a_day(name, listing, grid)
    if listing.dropped:
        lines.append(
            f"{name}: {listing.dropped:,} dropped because their times contradict each other."
        )
    lines += [f"{name} {STATUS_REMARKS[word]}" for word in words if word in STATUS_REMARKS]
    changes = rekeys(grid) if "rekey?" in words else []
    if changes:
        last = changes[-1]
        day = np.datetime_as_string(grid.instants[last.day], unit="D")
        often = f"on {len(changes)} days, last on" if len(changes) > 1 else "on"
        lines.append(f"{name}: keys seem to have changed {often} {day}: {_replaced(last)}.")
    return lines


def return_remarks(name: str, listing: Listing) -> list[str]:
    """What to know where there are more removals than objects."""
    returned = len(np.unique(listing.object[1:][np.diff(listing.object) == 0]))
    if not returned:
        return []
    objects = counted(returned, "object")
    return [f"{name}: {objects} vanished and came back; each time counts as a removal."]


def _replaced(change: Rekey) -> str:
    """How much of a list has other keys.

    >>> from recrawl.listings.data.day_marks import Rekey
    >>> _replaced(Rekey(3, 1.0, 1.71)), _replaced(Rekey(3, 0.9, 0.8))
    ('the whole list was replaced', '90 % of the list vanished, and 80 % as many objects are new')
    """
    if change.lost > _ALL:
        return "the whole list was replaced"
    lost, gained = percent(change.lost), percent(change.gained)
    return f"{lost} of the list vanished, and {gained} as many objects are new"


def early_remarks(name: str, listing: Listing) -> list[str]:
    """What to know of medians that leave out sightings of young objects."""
    found = early_sightings(listing)
    if found is None:
        return []
    objects, crawls = counted(found.objects, "object"), counted(found.crawls, "crawl")
    reached = f"medians are for objects that reach an age of {duration(found.start)}"
    return [
        (
            f"{name}: {reached}; younger ones were seen by {crawls} only ({objects}), too few to "
            "say more."
        )
    ]


def _several_a_day(name: str, listing: Listing, grid: DayGrid) -> list[str]:
    """What to know where there were several crawls a day of late: one of them counts."""
    crawls = listing.crawls[-_OF_LATE:]
    if len(crawls) < 2:  # noqa: PLR2004 - no time passes
        return []
    gap = float(np.median(days_between(crawls[:-1], crawls[1:])))
    if gap > _OFTEN:
        return []
    said = f"{name}: crawled every {every(gap)} recently; only one crawl per day is used here"
    unseen = np.ones(len(listing), np.bool_)
    unseen[grid.object] = False
    there = np.zeros(len(listing), np.bool_)
    there[listing.object[listing.listed]] = True
    between, since = np.count_nonzero(unseen & ~there), np.count_nonzero(unseen & there)
    if between:
        said += f"; {counted(int(between), 'object')} that came and went in between left out"
    if since:
        said += f"; {counted(int(since), 'object')} that came after the last of these left out"
    return [f"{said}."]


def _span(listing: Listing, grid: DayGrid) -> str:
    if len(listing.crawls) < 2:  # noqa: PLR2004 - no time passes
        return ""
    first, last = (np.datetime_as_string(listing.crawls[row], unit="D") for row in (0, -1))
    gaps = int(np.count_nonzero(grid.gap))
    without = f", {counted(gaps, 'day')} without a crawl" if gaps else ""
    return f", {first} to {last}{without}"
