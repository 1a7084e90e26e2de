"""What a file of weights says of the pages of a crawl.

Each page is looked up once, as it is found. A checkpoint keeps what was found and which file said
so: as long as the file is the same, nobody reads it for pages that were known before.

Touches: a store, through what it is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from recrawl.arrays.texts import Texts
from recrawl.errors import InvalidSettings
from recrawl.settings.pools import terms, weights_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recrawl.arrays.types import Floats
    from recrawl.entries.store import ReadStore
    from recrawl.settings.page_weights import PageWeights
    from recrawl.settings.settings import Settings

_FACTORS, _NAMED, _DIGEST = "weights.factors", "weights.named", "weights.digest"
SAVED_FACTORS = (_FACTORS, _NAMED, _DIGEST)  # names of parts of a checkpoint


class Factors(NamedTuple):
    """What the weights of pages' blocks are multiplied by.

    Attributes:
        factor: Weight that the file gives each page, the least where it does not name it; 1 where
            there is no file.
        named: How many of the pages the file names.
    """

    factor: Floats
    named: int

    def dump(self, settings: Settings) -> dict[str, Any]:
        """Parts of a checkpoint; arrays are copies."""
        file = weights_file(settings)
        if file is None:
            return {}
        return {_FACTORS: self.factor.copy(), _NAMED: self.named, _DIGEST: file.digest}


def look_up(settings: Settings, addresses: Sequence[str]) -> Factors:
    """Factors of pages, by their canonical addresses."""
    file = weights_file(settings)
    if file is None:
        return Factors(np.ones(len(addresses)), 0)
    weights = file.read()
    found = weights.find(Texts.of(addresses))
    return Factors(weights.or_least(found), int(np.count_nonzero(~np.isnan(found))))


def all_factors(
    settings: Settings, store: ReadStore, parts: Mapping[str, Any], pages: int
) -> Factors:
    """Factors of the first pages of a store, as far as can be those of its checkpoint's parts."""
    saved = saved_factors(settings, parts, pages)
    known = 0 if saved is None else len(saved.factor)
    found = [] if saved is None else [saved]
    if weights_file(settings) is None:
        found = [Factors(np.ones(pages), 0)]
    elif known < pages and known:
        found.append(look_up(settings, store.addresses(range(known, pages))))
    elif not known:
        found += [look_up(settings, some) for some in store.all_addresses()]
    factor = np.concatenate([np.empty(0), *(each.factor for each in found)])[:pages]
    return Factors(factor, sum(each.named for each in found))


def saved_factors(settings: Settings, parts: Mapping[str, Any], pages: int) -> Factors | None:
    """Factors in a checkpoint; None where there are none, or the file has changed since."""
    file = weights_file(settings)
    if file is None or parts.get(_DIGEST) != file.digest:
        return None
    factor, named = parts.get(_FACTORS), parts.get(_NAMED)
    # What somebody made up may have a digest, too.
    if not isinstance(factor, np.ndarray) or factor.ndim != 1 or factor.dtype != np.float64:
        return None
    if len(factor) > pages or not isinstance(named, int) or not 0 <= named <= len(factor):
        return None
    return Factors(factor, named) if ((factor > 0) & (factor < np.inf)).all() else None


def check_weights(settings: Settings) -> PageWeights | None:
    """Read the file of weights before a crawl begins; None where the settings name none.

    Raises:
        InvalidInput: It cannot be read, or its weights and those of blocks are too far apart.
    """
    file = weights_file(settings)
    if file is None:
        return None
    weights, blocks = file.read(), [each.weight for each in terms(settings)]
    with np.errstate(over="ignore", under="ignore"):
        ends = min(blocks) * weights.least, max(blocks) * weights.most
    if not 0 < ends[0] <= ends[1] < np.inf:
        raise InvalidSettings(
            f"weight times the weights in {file.name} must be a number above 0 "
            f"(got {ends[0]:g} to {ends[1]:g})"
        )
    return weights
