"""Estimates of change rates, one row per page, with a status instead of an exception.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from recrawl.rates.quadrature import cubic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.arrays.types import FlagBits, Floats, Ints, Statuses
    from recrawl.visits.histories import Histories


_NO_TIME = 1e-30  # of the first wait


class Status(IntEnum):
    """What a page's visits say about its rate."""

    OK = 0
    NO_VISITS = 1
    ONE_VISIT = 2  # one visit makes no gap
    NO_CHANGE_SEEN = 3
    ALL_CHANGED = 4  # every gap showed a change
    SATURATED = 5  # the largest rate that the method can return for this number of visits
    PRIOR_ONLY = 6  # no gap: the figures are those of the site's prior


@dataclass(frozen=True, slots=True, eq=False)
class Estimates:
    """Change rates of many pages, one row per page.

    Args:
        rate: Changes a day; 0 and infinity are legal where the status says so, nan where there
            is nothing to say.
        low: Lower end of the band around the rate.
        high: Upper end of the band.
        shape: Events of the Gamma distribution that a planner integrates the rate over; nan
            where the method has none.
        exposure: Days of that distribution.
        changes: Gaps that showed a change.
        visits: Visits the page had.
        status: Numbers of `Status`.
        flags: Bits of `Flag`.
        method: Name of the estimator.
        probability: Chance that the rate is just the one given, where a method chooses among a
            few; None for all others.
        survival: Chance to stay unchanged, where the distribution of the rate is no Gamma: a column
            each for 1, e, e^2, ... times `first_wait`, as ln(-ln(chance)); None for all others.
        first_wait: Days of the first of these columns.
    """

    rate: Floats
    low: Floats
    high: Floats
    shape: Floats
    exposure: Floats
    changes: Ints
    visits: Ints
    status: Statuses
    flags: FlagBits
    method: str
    probability: Floats | None = None
    survival: Floats | None = None
    first_wait: Floats | None = None

    def __len__(self) -> int:
        """Return the number of pages."""
        return len(self.rate)

    def __repr__(self) -> str:
        """Say how many pages there are, and how far their rates reach.

        >>> from recrawl import Histories, Ratio
        >>> Ratio().estimate(Histories.from_lists([([1, 1], [True, False]), ([9], [True])]))
        <Estimates of 2 pages by ratio: 0.111 to 0.5 changes a day>
        """
        known = self.rate[np.isfinite(self.rate)]
        reach = (
            f"{known.min():.3g} to {known.max():.3g} changes a day" if len(known) else "no rates"
        )
        return f"<Estimates of {len(self):,} pages by {self.method}: {reach}>"

    def take(self, rows: Ints) -> Estimates:
        """Only the named rows, in the order named."""
        return replace(self, **{name: column[rows] for name, column in self.columns().items()})

    @classmethod
    def joined(cls, parts: Sequence[Estimates]) -> Estimates:
        """Rows of several estimates by one method, one after the other."""
        columns = [part.columns() for part in parts]
        together: dict[str, Any] = {
            name: np.concatenate([part[name] for part in columns]) for name in columns[0]
        }
        return replace(parts[0], **together)

    def with_rows(self, rows: Ints, others: Estimates) -> Estimates:
        """The same estimates, with `others` in the named rows."""
        columns = {name: column.copy() for name, column in self.columns().items()}
        for name, column in columns.items():
            column[rows] = getattr(others, name)
        return replace(self, **columns)

    def columns(self) -> dict[str, Any]:
        """All arrays by name."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: column for name, column in values.items() if isinstance(column, np.ndarray)}

    @property
    def mean_interval(self) -> Floats:
        """Days from one change to the next; infinite where no change was seen."""
        with np.errstate(divide="ignore"):
            return 1 / self.rate

    @property
    def expected(self) -> Floats:
        """Changes a day to expect: the mean of each rate's distribution; nan where there is none.

        `rate` is a typical rate, for most methods the geometric mean of the distribution, which is
        less. Of many pages, these add up to the changes of all of them; rates do not.

        Examples:
            >>> from recrawl import Gamma, Histories
            >>> found = Gamma().estimate(Histories.from_lists([([7.0, 7.0], [True, False])]))
            >>> found.expected.round(2), found.rate.round(2)
            (array([0.06]), array([0.04]))
        """
        return self.shape / self.exposure

    def unchanged(self, days: Floats | float) -> Floats:
        r"""Chance that a page stays unchanged for `days` days.

        Where the rate is uncertain the chance is averaged over it: a Gamma rate with shape $a$
        and exposure $b$ leaves a page alone for $t$ days with chance $(b / (b + t))^a$. Where
        the chances are known (`survival`) they are interpolated.

        Examples:
            >>> from recrawl import Gamma, Histories
            >>> seen = Histories.from_lists([([1, 1, 1], [False, False, False])])
            >>> Gamma().estimate(seen).unchanged(7.0).round(3)
            array([0.849])
        """
        days = np.maximum(days, 0)
        with np.errstate(invalid="ignore"):  # an infinite rate for no time, put right below
            certain = np.exp(-self.rate * days)
        mixed = self._mixed(days)
        chance = np.where(np.isnan(self.shape), certain, mixed)
        return np.where((days == 0) & ~np.isnan(self.rate), 1.0, chance)

    def _mixed(self, days: Floats) -> Floats:
        """Chance to stay unchanged, averaged over the rate."""
        if self.survival is None or self.first_wait is None:
            return np.exp(-self.shape * np.log1p(days / self.exposure))
        unknown = np.isnan(days)
        waits = np.where(unknown, self.first_wait, np.maximum(days, _NO_TIME * self.first_wait))
        place = np.log(waits / self.first_wait)
        first, weights = cubic(place, np.arange(float(self.survival.shape[1])))
        page, height = np.arange(len(self)), np.zeros(len(self))
        for offset, weight in enumerate(weights):
            height += weight * self.survival[page, first + offset]
        # Chances of a change are in proportion to short waits.
        height += np.minimum(place - 1, 0)
        return np.where(unknown, np.nan, np.exp(-np.exp(height)))

    @property
    def status_names(self) -> list[str]:
        """Status of each page in words."""
        return [STATUS_NAMES[code] for code in self.status]


STATUS_NAMES = [status.name.lower() for status in Status]


def status_of(changes: Ints, visits: Ints, *, prior: bool = False) -> Statuses:
    """Status by the counts alone; `PRIOR_ONLY` without a gap where a prior gives the figures."""
    status = np.full(len(changes), Status.OK, np.uint8)
    status[changes == visits - 1] = Status.ALL_CHANGED
    status[changes == 0] = Status.NO_CHANGE_SEEN
    status[visits == 1] = Status.PRIOR_ONLY if prior else Status.ONE_VISIT
    status[visits == 0] = Status.PRIOR_ONLY if prior else Status.NO_VISITS
    return status


class Estimator(Protocol):
    """Turns histories into estimates."""

    def estimate(self, histories: Histories) -> Estimates:
        """Return one rate per page, in changes per day."""
