"""One page under a policy: what tests of policies let happen to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import strategies as st

from recrawl.policies.pages import Outcomes, Pages
from recrawl.policies.rivals.interval import IntervalPolicy
from recrawl.units import SECONDS_A_DAY, epoch_days, instants_after_epoch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.policies.policy import Policy
    from recrawl.policies.rivals.interval import IntervalRule

START = np.datetime64("2026-01-01", "us")
GAP = 10.0

# Whole seconds: instants are no finer than a microsecond, and days are floats.
gaps = st.integers(1, 100 * int(SECONDS_A_DAY)).map(lambda seconds: seconds / SECONDS_A_DAY)
visits = st.lists(st.tuples(gaps, st.booleans()), min_size=1, max_size=30)


def later(days: float | np.ndarray[Any, Any]) -> Any:
    """Instants so many days after the start."""
    return instants_after_epoch(np.atleast_1d(epoch_days(START) + days))


def outcomes(changed: Any, age: Any = None) -> Outcomes:
    flags = np.atleast_1d(np.asarray(changed, np.bool_))
    return Outcomes.existence(flags) if age is None else Outcomes(flags, np.atleast_1d(age))


def pages_at(*days: float, **columns: Any) -> Pages:
    """Pages found so many days after the start."""
    addresses = [f"/{number}" for number in range(len(days))]
    return Pages.of(addresses, later(np.array(days)), **columns)


def due_days(policy: Policy[Any], state: Any, rows: Any = (0,), price: float = np.inf) -> Any:
    """When pages are due, in days after the start; nan where never."""
    return epoch_days(policy.due(state, np.array(rows), price)) - epoch_days(START)


def waits(
    rule: IntervalRule[Any] | Policy[Any], seen: Sequence[tuple[Any, ...]], **columns: Any
) -> list[float]:
    """Days from each visit to the next that a rule wants, for visits (gap, changed[, age])."""
    policy: Any = rule if hasattr(rule, "due") else IntervalPolicy(rule)
    state, now, wanted = policy.start(pages_at(0.0, **columns), START, GAP), 0.0, []
    for gap, changed, *age in seen:
        now += gap
        state = policy.seen(state, np.array([0]), later(now), outcomes(changed, *age))
        wanted.append(float(due_days(policy, state)[0]) - now)
    return wanted
