r"""Groups by the attributes that are most informative about lifetimes.

With $D_g$ removals in $E_g$ days listed in group $g$, groups explain

$$ 2 \Bigl( \sum_g D_g \ln \frac{D_g}{E_g} - D \ln \frac{D}{E} \Bigr) $$

more than no groups do, of which a group too many gives back $\ln D$ (the Bayesian criterion). The
attribute that gains most is taken first, then the one that gains most beside it, up to three.

Pure.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from recrawl.listings.data.attributes import MOST_ATTRIBUTES, ObjectGroups, few_values, groups_by
from recrawl.listings.data.lifetimes import Lifetimes
from recrawl.listings.groups.goodness import likelihood_ratio

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Floats, Ints
    from recrawl.listings.data.spells import Listing

# Enough to tell attributes apart, and few enough not to be noticed among a million.
_MOST_SPELLS = 100_000


def informative_groups(listing: Listing, *, until: np.datetime64 | None = None) -> ObjectGroups:
    """Groups by up to three attributes that are most informative about lifetimes.

    Args:
        listing: Objects and spells.
        until: Only what had been seen by then is used, so that a forecast does not see the future.

    Examples:
        Red objects live two days, blue ones nine; shapes tell nothing:

        >>> from recrawl.listings.data.attributes import Labels
        >>> from recrawl.listings.data.spells import Listing
        >>> crawls = np.arange("2026-01-01", "2026-01-11", dtype="datetime64[D]")
        >>> spells = [(row, 0, 9 if row < 80 else 2) for row in range(160)]
        >>> columns = {
        ...     "shape": Labels.of(["round", "square"] * 80),
        ...     "colour": Labels.of(["blue"] * 80 + ["red"] * 80),
        ... }
        >>> keys = [str(row) for row in range(160)]
        >>> informative_groups(Listing.of(keys, crawls, spells, attributes=columns)).names
        ('blue', 'red')
    """
    owner, removed, lived = _seen(listing, until)
    names = few_values(listing.attributes)
    chosen: list[str] = []
    best, found = 0.0, ObjectGroups.one(len(listing))
    while len(chosen) < MOST_ATTRIBUTES:
        left = [name for name in names if name not in chosen]
        trials = [groups_by(listing.attributes, [*chosen, name], len(listing)) for name in left]
        gains = [_gain(trial.codes[owner], removed, lived) for trial in trials]
        if not gains or max(gains) <= best:
            return found
        place = int(np.argmax(gains))
        best, found = gains[place], trials[place]
        chosen.append(left[place])
    return found


def _seen(listing: Listing, until: np.datetime64 | None) -> tuple[Ints, Bools, Floats]:
    """Object of some spells, whether it was seen to be removed, and days under observation."""
    crawls = len(listing.crawls)
    if until is not None:
        crawls = int(np.searchsorted(listing.crawls, until, side="right"))
    rows = np.flatnonzero(listing.first < crawls)
    rows = rows[:: len(rows) // _MOST_SPELLS + 1]
    part = replace(
        listing,
        crawls=listing.crawls[:crawls],
        object=listing.object[rows],
        first=listing.first[rows],
        gone=np.minimum(listing.gone[rows], crawls),
    )
    lifetimes = Lifetimes.from_listing(part)
    return part.object, lifetimes.removed, lifetimes.age - lifetimes.entry


def _gain(group: Ints, removed: Bools, lived: Floats) -> float:
    """What groups explain, less what as many groups would explain by chance."""
    removals, exposure = (
        np.bincount(group, column).astype(np.float64) for column in (removed, lived)
    )
    total = float(np.sum(removals))
    if not total or not (exposure[removals > 0] > 0).all():
        return 0.0
    groups = np.count_nonzero(np.bincount(group))
    return likelihood_ratio(removals, exposure) - (groups - 1) * float(np.log(total))
