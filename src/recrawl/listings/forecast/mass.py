r"""Cycles in which a source closes, loads or renames a large part of itself at once.

Against the forecast $\hat D, \hat N$ of a stock of $n$ objects a cycle is a

- *mass closure* if $D - \hat D > \max(10, .2 n)$;
- *bulk load* if $N - \hat N > \max(10, .2 n)$, once 15 cycles are known;
- *change of keys* if both $D$ and $N$ are at least $\max(10, (.2 + 1 - e^{-\eta d})\, n)$, $\eta$
  being the running mean hazard: the keys are new, not the objects, and nothing is learned.

What is flagged is withheld from the models, but not twice in a row where cycles are longer than 2
days: then it is a new regime. What it took or brought beyond the forecast is added up, for
forecasts that expect such events.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import exp, log
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats

# Chosen on four listings, one set for all of them.
_LEAST, _SHARE = 10.0, 0.2
_LOADS_AFTER = 15
_HAZARD = 0.03
_FOLLOW, _RISE, _FLOOR = 0.1, 3.0, 0.05
_TWICE_DAYS = 2
_PRIOR_DAYS = 60.0
_LEAST_LEFT = 0.05


@dataclass(frozen=True, slots=True)
class Flags:
    """What a cycle is marked as.

    Args:
        closure: More vanished than a forecast can explain.
        load: More arrived than a forecast can explain.
        rekeyed: The keys changed.
    """

    closure: bool = False
    load: bool = False
    rekeyed: bool = False


@dataclass(frozen=True, slots=True)
class CycleCounts:
    """A cycle in four numbers.

    Args:
        days: How long it was.
        stock: Objects at its start, n.
        deleted: How many of them vanished, D.
        inserted: How many others were there at its end, N.
    """

    days: int
    stock: float
    deleted: float
    inserted: float


@dataclass(frozen=True, slots=True)
class MassEvents:
    """Mass events so far: closures, loads and changes of keys.

    Args:
        hazard: Running mean hazard of a change of keys, eta.
        closed: Sum of excess removals, as shares of the stock.
        loaded: Sum of excess arrivals, as shares of the stock.
        days: Days observed.
        records: Cycles seen.
        last: Whether each side was kept from the models in the cycle before.

    Examples:
        Of 100 objects 18 were to vanish: 38 are too few to be flagged, 39 are not.

        >>> [MassEvents().flags(CycleCounts(7, 100, n, 0), 18, 0).closure for n in (38, 39)]
        [False, True]

        Half of the stock lost in 200 days, and what that does to a forecast of 7 days:

        >>> mass = MassEvents(closed=0.5, days=200)
        >>> round(mass.closing, 6), mass.left(np.array([7.0])).round(6)
        (0.001923, array([0.986538]))
    """

    hazard: float = _HAZARD
    closed: float = 0.0
    loaded: float = 0.0
    days: float = 0.0
    records: int = 0
    last: Flags = Flags()

    def flags(self, seen: CycleCounts, deleted: float, inserted: float) -> Flags:
        """Mark a cycle, given how many were forecast to vanish and to arrive."""
        most = max(_LEAST, _SHARE * seen.stock)
        ordinary = 1.0 - exp(-self.hazard * seen.days)
        renamed = max(_LEAST, (_SHARE + ordinary) * seen.stock)
        if seen.stock > 0 and seen.deleted >= renamed and seen.inserted >= renamed:
            return Flags(rekeyed=True)
        load = seen.inserted - inserted > most and self.records >= _LOADS_AFTER
        return Flags(closure=seen.deleted - deleted > most, load=load)

    def quarantine(self, seen: CycleCounts, flags: Flags) -> Flags:
        """What of a marked cycle is kept from the models: never the same side twice in a row."""
        if seen.days <= _TWICE_DAYS:
            return flags
        return replace(
            flags,
            closure=flags.closure and not self.last.closure,
            load=flags.load and not self.last.load,
        )

    def learn(self, seen: CycleCounts, kept: Flags, deleted: float, inserted: float) -> MassEvents:
        """Add up what was kept from the models, and follow the mean hazard."""
        if kept.rekeyed:
            return replace(self, days=self.days + seen.days, records=self.records + 1, last=Flags())
        size = max(seen.stock, 1.0)
        rate = -log(max(1.0 - seen.deleted / size, _FLOOR)) / seen.days
        closed = (seen.deleted - deleted) / size if kept.closure else 0.0
        loaded = (seen.inserted - inserted) / size if kept.load else 0.0
        return MassEvents(
            hazard=(1 - _FOLLOW) * self.hazard + _FOLLOW * min(rate, _RISE * self.hazard),
            closed=self.closed + closed,
            loaded=self.loaded + loaded,
            days=self.days + seen.days,
            records=self.records + 1,
            last=kept,
        )

    @property
    def closing(self) -> float:
        """Share of the stock that mass closures take a day."""
        return self.closed / (self.days + _PRIOR_DAYS)

    @property
    def loading(self) -> float:
        """Share of the stock that bulk loads bring a day."""
        return self.loaded / (self.days + _PRIOR_DAYS)

    def left(self, days: Floats) -> Floats:
        """Share that mass closures are expected to leave."""
        return np.maximum(1.0 - self.closing * days, _LEAST_LEFT)
