"""Change rates as a table: what `recrawl estimate` writes.

Figures that a status explains are empty: nan and infinity never leave the library.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.rates.estimates import STATUS_NAMES
from recrawl.report.words import every, percent
from recrawl.units import days_between
from recrawl.visits.visit import Flag, flag_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.arrays.types import Bools, Floats, Instants, Ints
    from recrawl.rates.estimates import Estimates

COLUMNS = (
    "page",
    "rate_per_day",
    "low",
    "high",
    "mean_interval_days",
    "shape",
    "exposure_days",
    "changes",
    "visits",
    "last_visit",
    "fresh_now",
    "status",
    "flags",
    "method",
    "expected_per_day",
)

# What else there is where a method chooses among classes of rates.
CLASS_COLUMNS = ("class", "probability")

HEADER = ("page", "visits", "changes", "every", "between", "fresh now", "status")
SPARE = (1, 6)  # of these columns, the ones that a narrow terminal leaves out first

# What to say of pages that could tell little, for methods that pool pages and those that do not.
STATUS_REMARKS = {
    "prior_only": {
        "pooled": "seen at most once: rates are those of their sites.",
        "alone": "seen at most once.",
    },
    "no_visits": {"pooled": "never seen.", "alone": "never seen: no rate."},
    "one_visit": {"pooled": "seen once.", "alone": "seen once: no rate."},
    "no_change_seen": {
        "pooled": "never changed: rates come from the time watched and from their sites.",
        "alone": "never changed: only the upper end of the band says something.",
    },
    "saturated": {
        "pooled": "changed in every gap: more frequent visits would tell how often.",
        "alone": "changed in every gap: more frequent visits would tell how often.",
    },
    "all_changed": {
        "pooled": "changed in every gap: more frequent visits would tell how often.",
        "alone": "changed in every gap: more frequent visits would tell how often.",
    },
}


def fresh_at(estimates: Estimates, last_visit: Instants, now: np.datetime64) -> Floats:
    """Chance that each page is still as last seen; nan where it is gone or was never seen."""
    days = days_between(last_visit, now)
    gone = (estimates.flags & np.uint32(Flag.GONE)) > 0
    return np.where(gone, np.nan, estimates.unchanged(np.maximum(days, 0)))


@dataclass(frozen=True, slots=True, eq=False)
class Named:
    """A column of few different words: a number a row, and what the numbers mean."""

    codes: np.ndarray[Any, Any]
    words: Sequence[str]

    def __getitem__(self, rows: Ints) -> Named:
        """Only the named rows."""
        return Named(self.codes[rows], self.words)

    def tolist(self) -> list[str]:
        """Return the words."""
        return [self.words[code] for code in self.codes.tolist()]


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Several columns of figures under one name: an object a row in JSON."""

    columns: dict[str, Floats]

    def __getitem__(self, rows: Ints) -> Group:
        """Only the named rows."""
        return Group({name: column[rows] for name, column in self.columns.items()})

    def tolist(self) -> list[dict[str, float]]:
        """Return an object a row."""
        names = list(self.columns)
        values = zip(*(column.tolist() for column in self.columns.values()), strict=True)
        return [dict(zip(names, row, strict=True)) for row in values]


@dataclass(frozen=True, slots=True, eq=False)
class Nullable:
    """A column of integers or booleans, some of which are not known.

    >>> Nullable(np.array([200, 0]), known=np.array([True, False])).tolist()
    [200, None]
    """

    cells: np.ndarray[Any, Any]
    known: Bools

    def __getitem__(self, rows: Ints) -> Nullable:
        """Only the named rows."""
        return Nullable(self.cells[rows], self.known[rows])

    def tolist(self) -> list[Any]:
        """Return the values, None where there is none."""
        both = zip(self.cells.tolist(), self.known.tolist(), strict=True)
        return [cell if known else None for cell, known in both]


Column = np.ndarray[Any, Any] | Named | Group | Nullable


def rate_columns(
    estimates: Estimates, last_visit: Instants, now: np.datetime64
) -> dict[str, Column]:
    """All columns but `page`, empty figures as nan and NaT."""
    seen = np.unique(estimates.flags)
    return {
        "rate_per_day": finite(estimates.rate),
        "low": finite(estimates.low),
        "high": finite(estimates.high),
        "mean_interval_days": finite(
            np.where(estimates.rate < np.inf, estimates.mean_interval, np.nan)
        ),
        "shape": finite(estimates.shape),
        "exposure_days": finite(estimates.exposure),
        "changes": estimates.changes,
        "visits": estimates.visits,
        "last_visit": last_visit,
        "fresh_now": fresh_at(estimates, last_visit, now),
        "status": Named(estimates.status, STATUS_NAMES),
        "flags": Named(
            np.searchsorted(seen, estimates.flags),
            [" ".join(flag_names(bits)) for bits in seen.tolist()],
        ),
        "method": Named(np.zeros(len(estimates), np.uint8), [estimates.method]),
        "expected_per_day": finite(estimates.expected),
    }


def class_columns(estimates: Estimates) -> dict[str, Column]:
    """Class of each page by its mean interval, and its probability; empty for other methods."""
    if estimates.probability is None:
        nothing = np.zeros(len(estimates), np.uint8)
        return {"class": Named(nothing, [""]), "probability": np.full(len(estimates), np.nan)}
    rates, code = np.unique(estimates.rate, return_inverse=True)
    words = [every(1 / rate) for rate in rates.tolist()]
    return {"class": Named(code, words), "probability": estimates.probability}


def rate_words(names: Sequence[str], estimates: Estimates, fresh: Floats) -> list[list[str]]:
    """Rows for people, under `HEADER`."""
    with np.errstate(divide="ignore"):
        slow, fast = 1 / estimates.low, 1 / estimates.high
    return [
        [
            name,
            str(estimates.visits[row]),
            str(estimates.changes[row]),
            every(estimates.mean_interval[row]),
            f"{every(fast[row])} - {every(slow[row])}",
            percent(fresh[row]),
            " ".join([status, *flag_names(int(estimates.flags[row]))]),
        ]
        for row, (name, status) in enumerate(zip(names, estimates.status_names, strict=True))
    ]


def finite(figures: Floats) -> Floats:
    """The same figures, nan for infinite ones; the same array where none is."""
    infinite = np.isinf(figures)
    return np.where(infinite, np.nan, figures) if infinite.any() else figures
