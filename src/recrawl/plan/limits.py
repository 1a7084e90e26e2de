"""Limits of a plan besides its budget: floors and caps of pages, caps of hosts.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.errors import InvalidParameter
from recrawl.plan.rates import column

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from recrawl.arrays.types import Floats, Ints


@dataclass(frozen=True, slots=True, eq=False)
class Limits:
    """Fewest and most visits per day, of pages and of hosts.

    Args:
        least: Visits per day that each page gets in any case: one figure per page or one for all.
        most: Visits per day that no page exceeds; may be infinite.
        host: Number of each page's host, from 0 on; None without hosts.
        host_most: What may be spent on each host per day: one figure per host or one for all.

    Examples:
        At least one visit in 90 days, at most 12 a day, and 60 an hour for each of two hosts:

        >>> Limits(least=1 / 90, most=12, host=[0, 0, 1], host_most=60 * 24).host_most
        1440
    """

    least: ArrayLike = 0.0
    most: ArrayLike = np.inf
    host: ArrayLike | None = None
    host_most: ArrayLike = np.inf


@dataclass(frozen=True, slots=True, eq=False)
class LimitColumns:
    """Limits as columns, one row per page; None where they limit nothing."""

    least: Floats | None
    most: Floats | None
    host: Ints | None
    host_most: Floats | None

    @classmethod
    def of(cls, limits: Limits, count: int) -> LimitColumns:
        """Columns of some limits, checked for contradictions."""
        least = _column("least visits", limits.least, count, 0.0)
        most = _column("most visits", limits.most, count, np.inf)
        if least is not None and most is not None and (least > most).any():
            page = int(np.argmax(least > most))
            raise InvalidParameter(
                f"page {page}: least visits must be at most its most visits, {most[page]} "
                f"(got {least[page]})"
            )
        if limits.host is None:
            return cls(least, most, None, None)
        host = _hosts(limits.host, count)
        hosts = max(int(host.max(initial=-1)) + 1, np.size(limits.host_most))
        host_most = column("host's most visits", limits.host_most, count=hosts, infinite=True)
        return cls(least, most, host, host_most)

    @property
    def is_free(self) -> bool:
        """Whether no page has a floor or a cap."""
        return self.least is None and self.most is None

    def floors(self, count: int) -> Floats:
        """Least visits of each page."""
        return np.zeros(count) if self.least is None else self.least

    def take(self, rows: Ints) -> LimitColumns:
        """Limits of some pages."""
        least = None if self.least is None else self.least[rows]
        most = None if self.most is None else self.most[rows]
        return LimitColumns(
            least, most, None if self.host is None else self.host[rows], self.host_most
        )


def _column(name: str, values: ArrayLike, count: int, nothing: float) -> Floats | None:
    """One figure per page; None where that is no limit."""
    if np.ndim(values) == 0 and values == nothing:
        return None
    return column(name, values, count=count, infinite=nothing > 0)


def _hosts(values: ArrayLike, count: int) -> Ints:
    host = np.asarray(values)
    if host.shape != (count,) or host.dtype.kind not in "iu" or host.min(initial=0) < 0:
        message = f"host must be a whole number from 0 on for each of {count} pages (got {host!r})"
        raise InvalidParameter(message)
    return np.ascontiguousarray(host, np.int64)
