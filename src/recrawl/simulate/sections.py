"""Sections: pages that stand in one folder, and so are not independent of each other.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.arrays.types import Ints

# A folder with a larger share of the pages says nothing of which belong together, and too few
# folders are left to draw from.
_LARGEST = 0.1


def sections(addresses: Sequence[str]) -> tuple[Ints, int]:
    """Number of each page's section, and how many there are.

    A section is an address up to its last `/`. Where that holds more than a tenth of all pages,
    and where an address has no `/`, each page is a section of its own.

    Examples:
        >>> found, count = sections([f"news/{page}" for page in range(30)] + ["faq/1", "faq/2"])
        >>> found[-4:], count
        (array([28, 29, 30, 30]), 31)
    """
    folders: dict[str, int] = {}
    names = (address.rpartition("/")[0] for address in addresses)
    folder = np.fromiter(
        (folders.setdefault(name, len(folders)) for name in names), np.int64, len(addresses)
    )
    flat = np.bincount(folder, minlength=len(folders)) > _LARGEST * len(addresses)
    if "" in folders:
        flat[folders[""]] = True
    alone = flat[folder]
    mixed = np.where(alone, np.arange(len(folder)), len(folder) + folder)
    known, number = np.unique(mixed, return_inverse=True)
    return number, len(known)
