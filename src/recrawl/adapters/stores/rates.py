"""Rates of the pages of a store, from its visits: what `recrawl estimate` would say of them.

Touches: files.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from recrawl.adapters.tables.columns import TableInput
from recrawl.adapters.tables.logs import Log
from recrawl.adapters.tables.rates import RateTable
from recrawl.adapters.tables.visits import VisitReading
from recrawl.errors import InvalidTable
from recrawl.rates.gamma import Gamma
from recrawl.rates.priors import Priors
from recrawl.visits.histories import Histories
from recrawl.visits.visit import Flag

_MEMORY = 2 << 30


def rates_of_store(path: Path) -> RateTable:
    """Rates of all pages that were seen and are not gone."""
    with Log(VisitReading(TableInput(path)), _MEMORY, Path(tempfile.gettempdir())) as log:
        pieces, fitted = list(log.pieces()), log.fit_prior()
    histories = Histories.joined([piece.histories for piece in pieces])
    site = np.concatenate([np.empty(0, np.int64), *(piece.site for piece in pieces)])
    place = np.concatenate([np.empty(0, np.int64), *(piece.position for piece in pieces)])
    gone = (histories.flags & np.uint32(Flag.GONE)) > 0
    there = np.flatnonzero(~gone & (histories.visits > 0))
    there = there[np.argsort(place[there])]
    if not len(there):
        message = f"{path}: must hold visits to pages that are there (got none)"
        raise InvalidTable(message)
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
