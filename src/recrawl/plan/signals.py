r"""Noisy change signals: sitemap dates, feeds and pings that miss changes and raise false alarms.

A page changes at rate $r$. A change sends a signal with probability *recall*, and false signals
come at a rate of their own, $\nu$. Unannounced changes come at rate $\alpha = (1 - recall) r$,
signals at $\gamma = recall \cdot r + \nu$, and a signal makes the copy as doubtful as
$\beta = -\ln(\nu / \gamma) / \alpha$ more days would. So a page with $n$ signals since its last
visit has the *effective age* $\tau + \beta n$ and is fresh with chance
$e^{-\alpha (\tau + \beta n)}$.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.errors import InvalidParameter
from recrawl.plan.objectives import Freshness

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Floats, Ints

_LEAST_UNANNOUNCED = 1e-3  # share of changes taken to come without a signal, if none seem to
_LEAST_PRECISION = 1e-9  # signals that are right less often say nothing
_MOST_TERMS = 400
_LONGEST = 1e6  # changes to be expected: a page that is certainly out of date
_PRIOR_GAPS = 10.0  # gaps of all sites that a site's own count starts from


@dataclass(frozen=True, slots=True, eq=False)
class Signals:
    r"""Value of a visit given noisy signals, for freshness.

    With $x$ the effective age and $R_n(y)$ the chance that a Gamma variable of shape $n + 1$ is
    below $y$,

    $$ \psi(x) = \sum_{n \le x / \beta} \frac{R_n(\gamma (x - n \beta))}{\gamma}, \qquad
       \Phi(x) = \sum_{n \le x / \beta} \frac{\nu^n R_n((\alpha + \gamma)(x - n \beta))}
       {(\alpha + \gamma)^{n + 1}}, \qquad V = \Phi(x) - e^{-\alpha x} \psi(x) . $$

    Args:
        recall: Chance that a change sends a signal, one row per page.
        false_alarms: Signals a day without a change.

    References:
        Busa-Fekete et al. (2025). Tractable and scalable crawling with noisy change signals.
        The Web Conference, arXiv 2502.02430.

    Examples:
        A signal makes a visit worth more:

        >>> sitemap = Signals(recall=np.array([0.6]), false_alarms=np.array([0.3]))
        >>> rate, day = np.array([1.0]), np.array([0.2])
        >>> sitemap.value(rate, day, np.array([0])).round(3)
        array([0.007])
        >>> sitemap.value(rate, day, np.array([1])).round(3)
        array([0.435])
    """

    recall: Floats
    false_alarms: Floats

    def __post_init__(self) -> None:
        """Check the probabilities and rates."""
        if not ((self.recall >= 0) & (self.recall <= 1)).all():
            raise InvalidParameter(f"recall must be between 0 and 1 (got {self.recall})")
        if not ((self.false_alarms >= 0) & (self.false_alarms < np.inf)).all():
            message = f"false alarms must be at least 0 per day (got {self.false_alarms})"
            raise InvalidParameter(message)

    def effective_age(self, rate: Floats, elapsed: Floats, signals: Ints) -> Floats:
        """Days without a signal that would make the copy as doubtful."""
        _, _, beta = self._model(rate)
        with np.errstate(invalid="ignore"):  # no signal, and signals that settle everything
            return elapsed + np.where(signals > 0, beta * signals, 0.0)

    def fresh(self, rate: Floats, elapsed: Floats, signals: Ints) -> Floats:
        """Chance that the copy is up to date."""
        unannounced, _, _ = self._model(rate)
        return np.exp(-unannounced * self.effective_age(rate, elapsed, signals))

    def value(self, rate: Floats, elapsed: Floats, signals: Ints) -> Floats:
        """What a visit is worth, for a page of weight 1, after so many signals."""
        from scipy.special import gammainc  # slow to load: only where it is needed

        unannounced, signalled, beta = self._model(rate)
        age = self.effective_age(rate, elapsed, signals)
        age = np.minimum(age, _LONGEST / unannounced)
        both = unannounced + signalled
        waited = np.zeros_like(age)  # psi
        stayed = np.zeros_like(age)  # Phi
        with np.errstate(invalid="ignore"):
            for number in range(_MOST_TERMS):
                left = age - (number * beta if number else 0.0)
                ahead = left > 0
                if not ahead.any():
                    break
                left = np.where(ahead, left, 0.0)
                more = gammainc(number + 1, signalled * left) / signalled
                waited += more
                share = (self.false_alarms / both) ** number
                stayed += share * gammainc(number + 1, both * left) / both
                if not (more > 1e-16 * waited).any():
                    break
        value = stayed - np.exp(-unannounced * age) * waited
        return np.where(self._useless(rate), Freshness().value(rate, elapsed), value)

    def _model(self, rate: Floats) -> tuple[Floats, Floats, Floats]:
        """Unannounced changes a day, signals a day, and days that a signal stands for."""
        unannounced = np.maximum((1 - self.recall) * rate, _LEAST_UNANNOUNCED * rate)
        signalled = np.maximum(self.recall * rate + self.false_alarms, 1e-300)
        with np.errstate(divide="ignore"):
            beta = -np.log(self.false_alarms / signalled) / unannounced
        return unannounced, signalled, np.where(self._useless(rate), 0.0, beta)

    def _useless(self, rate: Floats) -> Bools:
        """Where signals say nothing: there are none, or hardly one is right."""
        right = self.recall * rate
        return right <= _LEAST_PRECISION * (right + self.false_alarms)


@dataclass(frozen=True, slots=True, eq=False)
class SignalCounts:
    """Counts of right and wrong signals, one row per site and kind of signal.

    Args:
        announced: Gaps that showed a change and had a signal.
        missed: Gaps that showed a change and had none.
        false: Signals in gaps that showed no change.
        quiet_days: Days of gaps that showed no change.

    Examples:
        A site that announces nine changes out of ten, and one that nobody knows yet:

        >>> counts = SignalCounts(
        ...     announced=np.array([90.0, 0.0]),
        ...     missed=np.array([10.0, 0.0]),
        ...     false=np.array([2.0, 0.0]),
        ...     quiet_days=np.array([100.0, 0.0]),
        ... )
        >>> signals = counts.learned()
        >>> signals.recall.round(2), signals.false_alarms.round(3)
        (array([0.9, 0.9]), array([0.02, 0.02]))
    """

    announced: Floats
    missed: Floats
    false: Floats
    quiet_days: Floats

    def seen(self, row: int, *, changed: bool, signals: int, gap: float) -> SignalCounts:
        """Counts after one more gap of one site."""
        step = np.zeros((4, len(self.announced)))
        if changed:
            step[0 if signals else 1, row] = 1
        else:
            step[2:, row] = signals, gap
        now = (self.announced, self.missed, self.false, self.quiet_days)
        return SignalCounts(*(column + more for column, more in zip(now, step, strict=True)))

    def learned(self) -> Signals:
        """Recall and false alarms of each row, shrunk to those of all rows together.

        A row starts as if ten of its gaps had gone as those of all rows did, so that a new site is
        believed as much as sites are on average. Before anything is known, signals say nothing.
        """
        known = self.announced.sum() + self.missed.sum()
        recall = self.announced.sum() / known if known else 0.0
        days = self.quiet_days.sum()
        alarms = self.false.sum() / days if days else 0.0
        changed = self.announced + self.missed
        watched = _PRIOR_GAPS * (days / max(len(self.quiet_days), 1) / max(known, 1.0))
        with np.errstate(invalid="ignore", divide="ignore"):
            false = (self.false + alarms * watched) / (self.quiet_days + watched)
        return Signals(
            recall=(self.announced + _PRIOR_GAPS * recall) / (changed + _PRIOR_GAPS),
            false_alarms=np.where(np.isfinite(false), false, alarms),
        )
