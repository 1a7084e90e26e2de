"""Policies other than ours in a virtual crawl: they decide as always, and learn nothing.

Nobody knows what visits will find. Pages wait after a visit as long as they did before it, and
pages that get their first copy on the way are what the policy makes of new pages.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.policies.policy import Priced
from recrawl.policies.recrawl.policy import Recrawl
from recrawl.simulate.frozen_policy import FrozenPolicy, SampledPolicy
from recrawl.units import epoch_days

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Instants, Ints
    from recrawl.policies.pages import Outcomes, Pages
    from recrawl.policies.policy import Policy


@dataclass(slots=True, eq=False)
class FrozenRows:
    """Facts about the pages of a virtual crawl.

    Attributes:
        learned: What the policy has learned, as a copy.
        row: Row of each page in it.
    """

    learned: Any
    row: Ints

    @property
    def gap(self) -> float:
        """Mean days between visits to a page."""
        return float(self.learned.gap)


@dataclass(frozen=True, slots=True)
class FrozenFixed:
    """A policy that says when pages are due, and learns nothing.

    Args:
        policy: What decides.

    Examples:
        Nutch's rule waits as long after a visit as it did before:

        >>> from recrawl.policies import POLICIES
        >>> from recrawl.policies.pages import Outcomes, Pages
        >>> from recrawl.plan.objectives import Freshness
        >>> days = np.array(["2026-01-01", "2026-01-11"], "datetime64[us]")
        >>> policy, row = FrozenFixed(POLICIES["nutch"](Freshness())), np.array([0])
        >>> state = policy.start(Pages.of(["a"], days[:1]), days[0], gap=10.0)
        >>> state = policy.seen(state, row, days[1:], Outcomes.existence(np.array([False])))
        >>> policy.due(state, row, np.inf).astype("datetime64[D]")
        array(['2026-01-21'], dtype='datetime64[D]')
    """

    policy: Policy[Any]

    def freeze(self, learned: Any, row: Ints) -> FrozenRows:  # noqa: ANN401 - the policy's own
        """State of some pages, from a copy of what the policy has learned."""
        return FrozenRows(learned, row)

    def start(self, pages: Pages, now: np.datetime64, gap: float) -> FrozenRows:
        """State of a crawl of which nothing is known."""
        return FrozenRows(self.policy.start(pages, now, gap), np.arange(len(pages)))

    def found(self, state: FrozenRows, pages: Pages) -> FrozenRows:
        """State with more pages."""
        first = len(state.learned.last)
        state.learned = self.policy.found(state.learned, pages)
        state.row = np.append(state.row, np.arange(first, first + len(pages)))
        return state

    def with_mean_gap(self, state: FrozenRows, gap: float) -> FrozenRows:
        """State of a crawl whose mean gap has moved."""
        state.learned = self.policy.with_mean_gap(state.learned, gap)
        return state

    def seen(self, state: FrozenRows, rows: Ints, now: Instants, outcomes: Outcomes) -> FrozenRows:
        """State after visits, whatever they found."""
        del outcomes
        state.learned.last[state.row[rows]] = epoch_days(now)
        return state

    def due(self, state: FrozenRows, rows: Ints, price: float) -> Instants:
        """When each page is due."""
        return self.policy.due(state.learned, state.row[rows], price)


@dataclass(frozen=True, slots=True)
class FrozenPriced(FrozenFixed):
    """A policy that values visits, and learns nothing."""

    policy: Priced[Any]

    def value(self, state: FrozenRows, rows: Ints, now: np.datetime64) -> Floats:
        """What a visit to each page is worth now."""
        return self.policy.value(state.learned, state.row[rows], now)


def frozen(
    policy: Policy[Any], stream: int | None = None
) -> FrozenPolicy | FrozenFixed | FrozenPriced:
    """A policy that learns nothing, or ours that learns what is drawn at random.

    Args:
        policy: What decides.
        stream: Number of the random stream; None for nothing. Other policies give no chance to a
            change, so nothing can be drawn for them.
    """
    if isinstance(policy, Recrawl):
        return FrozenPolicy(policy) if stream is None else SampledPolicy(policy, stream)
    return FrozenPriced(policy) if isinstance(policy, Priced) else FrozenFixed(policy)
