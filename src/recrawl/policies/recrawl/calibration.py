r"""What was forecast of visits against what they found, by tenths of the chance.

Before a visit is learned from, a forecast gives the chance $p$ that the page has changed. Visits
are put into ten bins by that chance, and of each bin are kept the sums

$$ \sum w p, \qquad \sum w [\text{changed}], \qquad \sum w, \qquad \sum w^2 p (1 - p) , $$

where $w$ fades with every later visit, so that the sums are of about the last ten thousand. A crawl
whose forecasts are honest has nearly equal first and second sums in every bin: they differ by about
the root of the fourth where pages change independently of each other, and by more where pages of
a section change together.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.policies.recrawl.memories import powers

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Floats

BINS = 10
_SUMS = 4
_COLUMNS = BINS * np.arange(_SUMS)[:, None]  # where the tenths of each sum begin
_KEPT = (0.9999,)  # of each sum, at a visit


@dataclass(slots=True)
class Calibration:
    """Sums of visits by the chance of a change that was forecast: one row per tenth.

    Attributes:
        sums: Changes forecast, changes found, visits, and the variance of the changes found.

    Examples:
        Three visits where a change was as good as ruled out, and one where it was all but sure:

        >>> table = Calibration.start()
        >>> chance, changed = np.array([0.05, 0.05, 0.05, 0.98]), np.array([0, 0, 1, 1], bool)
        >>> table.learn(chance, changed)
        >>> table.sums[[0, 9]].round(2)
        array([[0.15, 1.  , 3.  , 0.14],
               [0.98, 1.  , 1.  , 0.02]])
    """

    sums: Floats

    @classmethod
    def start(cls) -> Calibration:
        """Nothing was forecast yet."""
        return cls(np.zeros((BINS, _SUMS)))

    def __add__(self, other: Calibration) -> Calibration:
        """Of the visits of both together."""
        return Calibration(self.sums + other.sums)

    @property
    def forecast(self) -> Floats:
        """Changes that were forecast in each tenth."""
        return self.sums[:, 0]

    @property
    def found(self) -> Floats:
        """Changes that were found."""
        return self.sums[:, 1]

    @property
    def visits(self) -> Floats:
        """Visits, the latest as one and those before as less and less."""
        return self.sums[:, 2]

    @property
    def deviation(self) -> Floats:
        """Standard deviation of the changes found, if pages change independently."""
        return np.sqrt(self.sums[:, 3])

    def learn(self, chance: Floats, changed: Bools | Floats) -> None:
        """Put visits down, the oldest first.

        Args:
            chance: The chance of a change that was forecast of each.
            changed: What was found, or how likely it was a change.
        """
        count = len(chance)
        weight = powers(_KEPT, count)[:count][::-1, 0]
        tenth = np.minimum((chance * BINS).astype(np.int64), BINS - 1)
        variance = weight**2 * chance * (1 - chance)
        parts = np.concatenate([weight * chance, weight * changed, weight, variance])
        place = (tenth + _COLUMNS).ravel()
        faded = _KEPT[0] ** count
        self.sums[:, :-1] *= faded
        self.sums[:, -1] *= faded**2
        self.sums += np.bincount(place, parts, _SUMS * BINS).reshape(_SUMS, BINS).T
