"""Errors of estimators over many windows, as a table: what `recrawl trends errors` writes.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from recrawl.report.rates import Group, Named, finite
from recrawl.trends.fits import beats, wins
from recrawl.trends.windows import LEAST_POINTS, STATE_NAMES, State

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recrawl.arrays.types import Floats, Ints
    from recrawl.report.rates import Column
    from recrawl.trends.windows import Windows

_SIZES = (4, 5, 6, 8, 12, 16, 24, 32, 64, 128)  # where a class of windows begins, in points


@dataclass(frozen=True, slots=True, eq=False)
class ErrorGroup:
    """Windows that are judged together.

    Args:
        name: What they have in common.
        at: The same as a number: points of a window on average, or a threshold; nan for states.
        windows: Number of windows.
        errors: Their mean square errors, by each estimator.
    """

    name: str
    at: float
    windows: int
    errors: Mapping[str, Floats]

    @property
    def means(self) -> dict[str, float]:
        """Mean over all windows, by each estimator."""
        with np.errstate(over="ignore"):
            return {
                name: float(error.mean()) if len(error) else np.nan
                for name, error in self.errors.items()
            }


def whole_group(name: str, at: float, windows: Windows, errors: Mapping[str, Floats]) -> ErrorGroup:
    """All windows but short ones."""
    return _group(name, at, np.flatnonzero(windows.points >= LEAST_POINTS), errors)


def groups_by_state(windows: Windows, errors: Mapping[str, Floats]) -> list[ErrorGroup]:
    """All windows, then those of each state that the cut gave them."""
    found = [whole_group("all", np.nan, windows, errors)]
    for state in (State.CONSTANT, State.INCREASING, State.DECREASING):
        rows = np.flatnonzero(windows.state == state)
        found.append(_group(STATE_NAMES[state], np.nan, rows, errors))
    return found


def groups_by_size(windows: Windows, errors: Mapping[str, Floats]) -> list[ErrorGroup]:
    """Windows of about as many points, smallest first; classes without any are left out."""
    edges = [*_SIZES, np.inf]
    found = []
    for low, stop in pairwise(edges):
        rows = np.flatnonzero((windows.points >= low) & (windows.points < stop))
        if len(rows):
            name = (
                f"{low}"
                if stop == low + 1
                else f"{low}+"
                if stop == np.inf
                else f"{low}-{stop - 1}"
            )
            found.append(_group(name, float(windows.points[rows].mean()), rows, errors))
    return found


def _group(name: str, at: float, rows: Ints, errors: Mapping[str, Floats]) -> ErrorGroup:
    return ErrorGroup(name, at, len(rows), {key: error[rows] for key, error in errors.items()})


def error_columns(groups: Sequence[ErrorGroup]) -> tuple[list[str], dict[str, Column]]:
    """Name of each row's group, and the columns: one row per group and estimator."""
    names = list(groups[0].errors)
    shares = [wins(group.errors) for group in groups]
    against = [beats(group.errors) for group in groups]
    duels = {
        other: np.array([found[name].get(other, np.nan) for found in against for name in names])
        for other in names
    }
    columns: dict[str, Column] = {
        "estimator": Named(np.tile(np.arange(len(names)), len(groups)), names),
        "windows": np.repeat([group.windows for group in groups], len(names)),
        "mse": finite(np.array([group.means[name] for group in groups for name in names])),
        "best": np.array([share[name] for share in shares for name in names]),
        "beats": Group(duels),
    }
    return [group.name for group in groups for _ in names], columns
