r"""Age of the last change of a page, of which only the gap is known.

A page that changes at the rate $r$ (Poisson) was found changed after a gap of $g$ days. Seen
backwards from the visit, the first change that is met is its last one, and the way there is
exponential with rate $r$, cut off at $g$:

$$ E[\text{age}] = \frac{1}{r} - \frac{g}{e^{rg} - 1} = g \, s(x), \qquad
   s(x) = \frac{1}{x} - \frac{1}{e^x - 1}, \qquad x = rg . $$

$s$ falls from 1/2, the middle of the gap for a page that rarely changes, to 0: a page that changes
many times in a gap was changed just before the visit.

Pure.
"""

from __future__ import annotations

import math

_SMALL = 1e-3  # below it the two terms cancel, and the series is exact


def last_change_share(expected: float) -> float:
    """Mean age of the last change as a share of its gap.

    Args:
        expected: Changes that were expected in the gap, at least 0.

    Examples:
        With one change expected, 1 - 1 / (e - 1); with ln 2, 1 / ln 2 - 1:

        >>> round(last_change_share(1.0), 6), round(last_change_share(math.log(2)), 6)
        (0.418023, 0.442695)
        >>> last_change_share(0.0), last_change_share(1e6)
        (0.5, 1e-06)
    """
    if expected < _SMALL:
        return 0.5 - expected / 12 + expected**3 / 720
    return 1 / expected - math.exp(-expected) / -math.expm1(-expected)
