"""How often objects' attributes change, and how many objects of a copy are out of date.

An attribute of an object is a page, and the crawls that saw the object are its visits: a crawl
tells whether the attribute changed since the one before, not how often. So the estimators of
`recrawl.rates` apply as they are. Crawls that saw no change are put together into one long gap,
which says just as much.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.rates.gamma import Gamma
from recrawl.rates.likelihood import Likelihood
from recrawl.rates.priors import fit_prior
from recrawl.visits.histories import Histories

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints
    from recrawl.listings.data.spells import Listing
    from recrawl.rates.estimates import Estimates


@dataclass(frozen=True, slots=True, eq=False)
class UpdateRate:
    """How often one attribute changes.

    Args:
        rate: Changes a day of an object, over all objects.
        low: Lower end of its band.
        high: Upper end.
        changes: Changes seen.
        objects: Objects seen at two crawls or more.
        days: Days they were watched.
    """

    rate: float
    low: float
    high: float
    changes: int
    objects: int
    days: float


def watched_days(listing: Listing) -> Floats:
    """Days from the first sight to the last of each object, summed over its spells."""
    day = _days(listing)
    seen = day[listing.gone - 1] - day[listing.first]
    return np.bincount(listing.object, seen, len(listing)).astype(np.float64)


def histories_of_attribute(listing: Listing, attribute: int) -> Histories:
    """Visit histories of one attribute, one page per object.

    What an object was like when it came back is no update: it was not watched in between.

    Args:
        listing: Objects, crawls and updates.
        attribute: Number of the attribute; -1 takes the updates of all together, two at one
            crawl being one.

    Examples:
        An object seen on days 0, 1, 2 and 4 whose price had changed at the third crawl:

        >>> from recrawl.listings.data.spells import Listing, Updates
        >>> days = np.array(["2026-01-01", "2026-01-02", "2026-01-03", "2026-01-05"])
        >>> price = Updates(np.array([0]), np.array([2]), np.array([0]))
        >>> listing = Listing.of(["a"], days.astype("datetime64[us]"), [(0, 0, 4)], updates=price)
        >>> seen = histories_of_attribute(listing, 0)
        >>> seen.gaps, seen.changed
        (array([3., 1.]), array([False,  True]))
    """
    updates, width = listing.updates, len(listing.crawls) + 1
    wanted = (updates.attribute == attribute) | (attribute < 0)
    pairs = np.unique(updates.object[wanted] * width + updates.crawl[wanted])
    starts = listing.object * width + listing.first
    spell = np.maximum(np.searchsorted(starts, pairs, side="right") - 1, 0)
    if len(starts):
        ends = starts + listing.gone - listing.first
        pairs = pairs[(pairs > starts[spell]) & (pairs < ends[spell])]
    changed_object, crawl = np.divmod(pairs, width)
    day = _days(listing)
    gap = day[crawl] - day[crawl - 1]
    return _histories(watched_days(listing), changed_object, gap)


def update_rate(histories: Histories, *, level: float = 0.9) -> UpdateRate:
    """One rate for all objects, from all their gaps.

    >>> seen = Histories.from_lists([([3.0, 1.0], [False, True]), ([4.0], [False])])
    >>> round(update_rate(seen).rate, 6)  # -ln(1 - 1/8) if all gaps were a day
    0.133531
    """
    # Gaps without a change carry no more information than their sum.
    quiet = float(np.sum(histories.gaps[~histories.changed]))
    hidden = histories.gaps[histories.changed]
    pooled = Histories(
        gaps=np.concatenate([[quiet] if quiet else [], hidden]),
        changed=np.concatenate([[False] if quiet else [], np.ones(len(hidden), np.bool_)]),
        offsets=np.array([0, len(hidden) + (quiet > 0)]),
    )
    found = Likelihood(singularity="none", level=level).estimate(pooled)
    return UpdateRate(
        rate=float(found.rate[0]),
        low=float(found.low[0]),
        high=float(found.high[0]),
        changes=len(hidden),
        objects=int(np.count_nonzero(histories.gaps_of_page)),
        days=float(np.sum(histories.gaps)),
    )


def object_rates(histories: Histories) -> Estimates:
    """One rate per object, with a prior fitted to all: some prices move, most do not."""
    return Gamma(fit_prior(histories)).estimate(histories)


def share_stale(rates: Estimates, days: Floats | Ints, *, copied: Ints | None = None) -> Floats:
    r"""Share of a copy's objects that are out of date some days after a sync.

    $$ 1 - \frac1n \sum_o P(\text{object } o \text{ unchanged for } t) . $$

    Objects that have vanished are a matter of precision; these are shares of those that remain.

    Args:
        rates: Rates of all objects.
        days: Days since the sync.
        copied: Numbers of the objects in the copy; all if None.

    Examples:
        >>> seen = Histories.from_lists([([10.0], [False])])
        >>> from recrawl import Gamma, Priors
        >>> price = Gamma(Priors.one(shape=1.0, exposure=10.0)).estimate(seen)
        >>> share_stale(price, np.array([0.0, 20.0]))  # 1 - 20 / (20 + 20)
        array([0. , 0.5])
    """
    stale = np.full(len(days), np.nan)
    for row, wait in enumerate(np.asarray(days, np.float64).tolist()):
        fresh = rates.unchanged(wait)
        kept = fresh if copied is None else fresh[copied]
        if len(kept):
            stale[row] = 1 - float(np.mean(kept))
    return stale


def _days(listing: Listing) -> Floats:
    return (listing.crawls - listing.crawls[:1]) / np.timedelta64(1, "D")


def _histories(watched: Floats, changed_object: Ints, gap: Floats) -> Histories:
    """One long quiet gap and the gaps with a change, object after object."""
    quiet = watched - np.bincount(changed_object, gap, len(watched))
    still = np.flatnonzero(quiet > 1e-9)  # noqa: PLR2004 - what rounding leaves of days
    owner = np.concatenate([still, changed_object])
    order = np.argsort(owner, kind="stable")
    changed = np.arange(len(owner)) >= len(still)
    return Histories(
        gaps=np.concatenate([quiet[still], gap])[order],
        changed=changed[order],
        offsets=np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=len(watched)))]),
    )
