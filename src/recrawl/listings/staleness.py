"""Updates of objects' attributes: how often, and how much of a copy they leave stale.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.listings.attributes import EVERYTHING
from recrawl.listings.describe import lives

if TYPE_CHECKING:
    from recrawl.listings.grid import Grid
    from recrawl.listings.spells import Listing
    from recrawl.visits.arrays import Floats, Ints


@dataclass(frozen=True, slots=True, eq=False)
class UpdateRates:
    """How often attributes change, the first row for any of them.

    Args:
        attributes: Names; only the first row where events do not tell which attribute changed.
        updates: How many updates were seen.
        rate: Updates a day and object; nan where no time was observed.
    """

    attributes: tuple[str, ...]
    updates: Ints
    rate: Floats


def update_rates(listing: Listing) -> UpdateRates:
    """Updates by attribute.

    Args:
        listing: Objects, spells and updates.

    Examples:
        >>> from recrawl.listings.spells import Listing, Updates
        >>> crawls = np.arange("2026-01-05", "2026-01-10", dtype="datetime64[D]")
        >>> changed = Updates(np.array([0, 0]), np.array([1, 3]), np.array([-1, -1]))
        >>> update_rates(Listing.of(["a"], crawls, [(0, 0, 5)], updates=changed)).rate
        array([0.5])
    """
    updates, names = listing.updates, list(listing.attributes)
    # An object that changes in two attributes at once is updated once.
    events = np.unique(updates.object * (len(listing.crawls) + 1) + updates.crawl)
    known = updates.attribute[updates.attribute >= 0]
    by_attribute = np.bincount(known, minlength=len(names)) if len(known) else np.empty(0, np.int64)
    counts = np.concatenate([[len(events)], by_attribute])
    exposure = float(np.sum(lives(listing)))
    rate = counts / exposure if exposure > 0 else np.full(len(counts), np.nan)
    shown = (EVERYTHING, *names) if len(known) else (EVERYTHING,)
    return UpdateRates(shown, counts, rate)


def stale_shares(
    listing: Listing, grid: Grid, *, horizon: int = 30, attribute: int | None = None
) -> Floats:
    """Share of a copy's objects that are still listed but have changed, 0 .. `horizon` days after.

    The average over all days on which a copy could have been made; nan for times that are
    longer than any object was listed.

    Args:
        listing: Objects, spells and updates.
        grid: The same day by day.
        horizon: Most days after the copy.
        attribute: Only changes of this attribute, by its number; else of any.

    Examples:
        Listed on four days, changed on the third: of three copies that could be a day old one is
        stale, of two that could be two days old both are.

        >>> from recrawl.listings.grid import Grid
        >>> from recrawl.listings.spells import Listing, Updates
        >>> crawls = np.arange("2026-01-05", "2026-01-09", dtype="datetime64[D]")
        >>> changed = Updates(np.array([0]), np.array([2]), np.array([-1]))
        >>> listing = Listing.of(["a"], crawls, [(0, 0, 4)], updates=changed)
        >>> stale_shares(listing, Grid.of(listing), horizon=2).round(4)
        array([0.    , 0.3333, 1.    ])
    """
    stretch, day, last = _days(listing, grid, attribute)
    shares = np.empty(horizon + 1)
    for h in range(horizon + 1):
        pairs = np.sum(np.maximum(grid.gone - grid.first - h, 0))
        # Copies from day - h to day - 1 miss this change; those before `last` missed one already.
        low = np.maximum(day - h, last)
        high = np.minimum(day, grid.gone[stretch] - h)
        shares[h] = np.sum(np.maximum(high - low, 0)) / pairs if pairs else np.nan
    return shares


def _days(listing: Listing, grid: Grid, attribute: int | None) -> tuple[Ints, Ints, Ints]:
    """Stretch of each update, its day, and the day of the one before or of the stretch's begin."""
    updates = listing.updates
    rows = slice(None) if attribute is None else updates.attribute == attribute
    days = np.searchsorted(grid.instants, listing.crawls)[updates.crawl[rows]]
    width = len(grid) + 1
    code = np.unique(updates.object[rows] * width + days)
    stretch = np.searchsorted(grid.object * width + grid.first, code, side="right") - 1
    known = stretch >= 0
    code, stretch = code[known], stretch[known]
    owner, day = np.divmod(code, width)
    inside = (grid.object[stretch] == owner) & (day < grid.gone[stretch])
    inside &= day > grid.first[stretch]  # what it was when first seen is no change
    stretch, day = stretch[inside], day[inside]
    last = grid.first[stretch].copy()
    again = stretch[1:] == stretch[:-1]
    last[1:][again] = day[:-1][again]
    return stretch, day, last
