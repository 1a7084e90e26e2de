"""Which site each page belongs to, as numbers from 0.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.errors import InvalidParameter

if TYPE_CHECKING:
    from recrawl.arrays.types import Ints


def sites_of_pages(sites: Ints | None, pages: int) -> Ints:
    """Number of each page's site, checked for length; all 0 where none are given.

    >>> sites_of_pages(None, 3)
    array([0, 0, 0])
    """
    if sites is None:
        return np.zeros(pages, np.int64)
    named = np.asarray(sites)
    if len(named) != pages:
        raise InvalidParameter(f"expected {pages} sites, one per page (got {len(named)})")
    return named


def check_sites(sites: Ints, count: int) -> None:
    """Check that each number is that of a site."""
    if sites.ndim != 1 or sites.dtype.kind not in "iu":
        raise InvalidParameter(f"sites must be one column of whole numbers (got {sites})")
    bad = (sites < 0) | (sites >= count)
    if bad.any():
        page = int(np.argmax(bad))
        message = f"page {page}: site must be a number from 0 to {count - 1} (got {sites[page]})"
        raise InvalidParameter(message)
