"""Rates of the pages of a store, from its visits: what `recrawl estimate` would say of them.

Touches: files.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from recrawl.adapters.tables.logs import Log
from recrawl.adapters.tables.rates import RateTable
from recrawl.adapters.tables.visits import Reading
from recrawl.errors import InvalidTable
from recrawl.rates.gamma import Gamma
from recrawl.rates.priors import Priors, fit_prior
from recrawl.visits.histories import Histories
from recrawl.visits.visit import Flag

if TYPE_CHECKING:
    from recrawl.adapters.tables.logs import Piece
    from recrawl.arrays.types import Words

_MEMORY = 2 << 30


def rates_of_store(path: Path) -> RateTable:
    """Rates of all pages that were seen and are not gone."""
    with Log(Reading(path), _MEMORY, Path(tempfile.gettempdir())) as log:
        pieces = list(log.pieces())
        sites = log.site_count
    histories = Histories.joined([piece.histories for piece in pieces])
    site = np.concatenate([np.empty(0, np.int64), *(piece.site for piece in pieces)])
    lots = np.concatenate([np.empty(0, np.uint64), *(_lots(piece) for piece in pieces)])
    place = np.concatenate([np.empty(0, np.int64), *(piece.position for piece in pieces)])
    gone = (histories.flags & np.uint32(Flag.GONE)) > 0
    there = np.flatnonzero(~gone & (histories.visits > 0))
    there = there[np.argsort(place[there])]
    if not len(there):
        message = f"{path}: must hold visits to pages that are there (got none)"
        raise InvalidTable(message)
    fitted = fit_prior(histories, site, lots=lots, site_count=sites)
    priors = Priors(fitted.shape, fitted.exposure, site)
    estimates = Gamma(priors).estimate(histories).take(there)
    names = [name for piece in pieces for name in piece.names.tolist()]
    return RateTable(
        pages=[names[row] for row in there.tolist()],
        figures={
            "rate_per_day": estimates.rate,
            "low": estimates.low,
            "shape": estimates.shape,
            "exposure_days": estimates.exposure,
        },
    )


def _lots(piece: Piece) -> Words:
    """A number a page that depends on its name alone."""
    lots: Words = piece.names.hashes(seed=0)[0]
    return lots
