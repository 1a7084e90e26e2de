"""A made visit log: pages that change by known rates, looked at now and then.

Pure.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np

from recrawl.visits.visit import Visit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime


def visit_log(
    rates: Mapping[str, float],
    *,
    start: datetime,
    days: float,
    gap: float,
    dated: float,
    random: np.random.Generator,
) -> Iterator[Visit]:
    """Visits to pages that change as Poisson processes.

    Args:
        rates: Changes a day of each page.
        start: Instant of the first visits.
        days: How long the pages are watched.
        gap: Mean days between visits to a page; single gaps are exponential around it.
        dated: Share of pages whose host tells when they last changed.
        random: Where chance comes from.
    """
    for page, rate in rates.items():
        tells = random.random() < dated
        count = random.poisson(rate * days * 2)
        changes = np.sort(random.uniform(-days, days, count))
        visits = np.cumsum(random.exponential(gap, int(3 * days / gap) + 10))
        visits = np.concatenate([[0.0], visits[visits < days]])
        before = np.searchsorted(changes, visits)
        for number, at in enumerate(visits.tolist()):
            last = changes[before[number] - 1] if before[number] else None
            yield Visit(
                page=page,
                at=start + timedelta(days=at),
                changed=None if number == 0 else bool(before[number] > before[number - 1]),
                last_modified=None
                if last is None or not tells
                else start + timedelta(days=float(last)),
            )
