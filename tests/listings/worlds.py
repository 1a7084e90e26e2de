"""Listings made up for tests, and what plain sets say of them."""

import numpy as np
from hypothesis import strategies as st

from recrawl.listings.data.spells import Listing


def daily(days, spells, *, start="2026-01-01", **parts):
    """A listing crawled every midnight; spells are (object, first day, first day without it)."""
    crawls = np.datetime64(start, "us") + np.arange(days) * np.timedelta64(1, "D")
    objects = 1 + max((row for row, _, _ in spells), default=-1)
    return Listing.of([str(row) for row in range(objects)], crawls, spells, **parts)


def listed_on(listing, instant):
    """Objects of the last crawl at or before an instant, as a set."""
    last = int(np.searchsorted(listing.crawls, instant, side="right")) - 1
    rows = zip(listing.object.tolist(), listing.first.tolist(), listing.gone.tolist(), strict=True)
    return {row for row, first, gone in rows if first <= last < gone}


@st.composite
def presences(draw, crawls, objects):
    """For each object the crawls that saw it, as a list of flags."""
    return [draw(st.lists(st.booleans(), min_size=crawls, max_size=crawls)) for _ in range(objects)]


def spells_of(flags):
    """Spells (first crawl, first crawl without it) of an object."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(int)))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


@st.composite
def listings(draw, most_objects=6, most_crawls=12):
    """Listings crawled at irregular times: several times a day, or not for days."""
    hours = draw(st.lists(st.integers(1, 60), min_size=1, max_size=most_crawls))
    start = np.datetime64("2026-01-01T00:00:00", "us") + np.timedelta64(
        draw(st.integers(0, 30)), "h"
    )
    crawls = start + np.cumsum(hours).astype("timedelta64[h]")
    flags = draw(presences(len(crawls), draw(st.integers(1, most_objects))))
    spells = [(row, *spell) for row, seen in enumerate(flags) for spell in spells_of(seen)]
    return Listing.of([f"object {row}" for row in range(len(flags))], crawls, spells)
