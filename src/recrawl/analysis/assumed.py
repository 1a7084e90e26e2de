"""Change rates to assume of pages that were never visited, from the visits of another crawl.

Touches: files.
"""

from __future__ import annotations

import sys
from pathlib import Path

from recrawl.adapters.tables.logs import Log
from recrawl.adapters.tables.table_options import TableOptions
from recrawl.adapters.tables.visits import VisitReading
from recrawl.analysis.sources import visits_input
from recrawl.errors import InvalidParameter
from recrawl.policies.recrawl.prior_sums import PUBLIC_RATES, AssumedRates

PUBLIC = "public"  # names the rates that come with the package
_DIGITS = 4  # of what is written into settings: rates are known to a few per cent


def assumed_from(source: str | Path) -> AssumedRates:
    """Rates of a site that nobody has visited yet, from all sites of a store or a visit log.

    Args:
        source: Path of the store or the log, or `public` for rates of public sources.
    """
    if str(source) == PUBLIC and not Path(source).exists():
        return PUBLIC_RATES
    with (
        visits_input(str(source), TableOptions.of()) as table,
        Log(VisitReading(table), sys.maxsize, Path()) as log,
    ):
        sample = log.sample()
    if not len(sample.histories):
        raise InvalidParameter(f"{source} has no page that was visited twice; no rates to assume")
    shape, exposure = sample.of_new_site()
    rate, shape = (float(f"{each:.{_DIGITS}g}") for each in (shape / exposure, shape))
    return AssumedRates(rate, shape)
