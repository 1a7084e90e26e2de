"""Errors of estimators over many windows, as a table: what `recrawl trends errors` writes.

Windows come some pages at a time. What is kept of them adds up without rounding, so that the table
is the same however the pages were divided up.

Pure.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from recrawl.report.rates import Group, Named, finite
from recrawl.trends.fits import beats, wins
from recrawl.trends.windows import LEAST_POINTS, STATE_NAMES, State

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recrawl.arrays.types import Bools, Floats
    from recrawl.report.rates import Column
    from recrawl.trends.windows import Windows

_SIZES = (4, 5, 6, 8, 12, 16, 24, 32, 64, 128)  # where a class of windows begins, in points
_MANTISSA_BITS = 53
_LEAST_EXPONENT = -1126  # of the unit of exact sums: every float is a multiple of 2 to its power
_HALF_BITS = 27  # of a mantissa: as many as floats can add up 67 million times


@dataclass(frozen=True, slots=True, eq=False)
class ErrorGroup:
    """Windows that are judged together.

    Args:
        name: What they have in common.
        estimators: Whose errors are compared.
        threshold: Threshold by which they were cut, if that is what they have in common; else nan.
        windows: Number of windows.
        points: Their points.
        totals: Sum of mean square errors, by each estimator; None where one is infinite.
        best: Windows in which an estimator has the least error.
        beaten: Windows in which an estimator has less error than another.
    """

    name: str
    estimators: tuple[str, ...]
    threshold: float = np.nan
    windows: int = 0
    points: int = 0
    totals: Mapping[str, int | None] = field(default_factory=dict)
    best: Mapping[str, int] = field(default_factory=dict)
    beaten: Mapping[tuple[str, str], int] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        name: str,
        windows: Windows,
        some: Bools,
        errors: Mapping[str, Floats],
        threshold: float = np.nan,
    ) -> ErrorGroup:
        """Some of the windows, with errors by each estimator."""
        theirs = {estimator: error[some] for estimator, error in errors.items()}
        return cls(
            name,
            tuple(errors),
            threshold,
            windows=int(some.sum()),
            points=int(windows.points[some].sum()),
            totals={estimator: _exact_sum(error) for estimator, error in theirs.items()},
            best=wins(theirs),
            beaten=beats(theirs),
        )

    def __add__(self, other: ErrorGroup) -> ErrorGroup:
        """The windows of both."""
        return replace(
            self,
            windows=self.windows + other.windows,
            points=self.points + other.points,
            totals={name: _both(self.totals[name], other.totals[name]) for name in self.estimators},
            best=Counter(self.best) + Counter(other.best),
            beaten=Counter(self.beaten) + Counter(other.beaten),
        )

    @property
    def at(self) -> float:
        """What they have in common as a number: a threshold, or points of a window on average."""
        if np.isnan(self.threshold) and self.windows:
            return self.points / self.windows
        return self.threshold

    @property
    def means(self) -> dict[str, float]:
        """Mean over all windows, by each estimator; nan where there is none."""
        found = {name: self.totals.get(name) for name in self.estimators}
        unit = self.windows << -_LEAST_EXPONENT
        return {
            name: np.nan if total is None or not unit else total / unit
            for name, total in found.items()
        }

    def share(self, count: int) -> float:
        """Share of the windows."""
        return count / max(self.windows, 1)


def whole_group(
    name: str, windows: Windows, errors: Mapping[str, Floats], threshold: float = np.nan
) -> ErrorGroup:
    """All windows but short ones."""
    return ErrorGroup.of(name, windows, windows.points >= LEAST_POINTS, errors, threshold)


def groups_by_state(windows: Windows, errors: Mapping[str, Floats]) -> list[ErrorGroup]:
    """All windows, then those of each state that the cut gave them."""
    states = (State.CONSTANT, State.INCREASING, State.DECREASING)
    return [
        whole_group("all", windows, errors),
        *(
            ErrorGroup.of(STATE_NAMES[state], windows, windows.state == state, errors)
            for state in states
        ),
    ]


def groups_by_size(windows: Windows, errors: Mapping[str, Floats]) -> list[ErrorGroup]:
    """Windows of about as many points, smallest first."""
    found = []
    for low, stop in pairwise(_SIZES):
        name = f"{low}" if stop == low + 1 else f"{low}-{stop - 1}"
        some = (windows.points >= low) & (windows.points < stop)
        found.append(ErrorGroup.of(name, windows, some, errors))
    rest = windows.points >= _SIZES[-1]
    return [*found, ErrorGroup.of(f"{_SIZES[-1]}+", windows, rest, errors)]


def with_windows(groups: Sequence[ErrorGroup]) -> list[ErrorGroup]:
    """Groups that have windows; one that has none where no group has."""
    return [group for group in groups if group.windows] or [replace(groups[0], name="all")]


def error_columns(groups: Sequence[ErrorGroup]) -> tuple[list[str], dict[str, Column]]:
    """Name of each row's group, and the columns: one row per group and estimator."""
    names = groups[0].estimators
    duels = {
        other: np.array(
            [
                np.nan if name == other else group.share(group.beaten[name, other])
                for group in groups
                for name in names
            ]
        )
        for other in names
    }
    columns: dict[str, Column] = {
        "estimator": Named(np.tile(np.arange(len(names)), len(groups)), names),
        "windows": np.repeat([group.windows for group in groups], len(names)),
        "mse": finite(np.array([group.means[name] for group in groups for name in names])),
        "best": np.array([group.share(group.best[name]) for group in groups for name in names]),
        "beats": Group(duels),
    }
    return [group.name for group in groups for _ in names], columns


def _exact_sum(figures: Floats) -> int | None:
    """Sum of figures without rounding, in units of 2^-1126; None where one is infinite."""
    if not np.isfinite(figures).all():
        return None
    mantissa, exponent = np.frexp(figures)
    whole = (mantissa * 2.0**_MANTISSA_BITS).astype(np.int64)
    exponents, place = np.unique(exponent, return_inverse=True)
    total = 0
    for half, bits in ((whole >> _HALF_BITS, _HALF_BITS), (whole & (1 << _HALF_BITS) - 1, 0)):
        sums = np.bincount(place, half, len(exponents))
        for power, added in zip(exponents.tolist(), sums.tolist(), strict=True):
            total += int(added) << power + bits - _MANTISSA_BITS - _LEAST_EXPONENT
    return total


def _both(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other
