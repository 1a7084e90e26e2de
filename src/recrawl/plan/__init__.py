"""Rates, weights and a budget in; visits per day, value and price out.

Names are loaded when first used: who needs one part does not wait for all.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recrawl import load_name, make_callable

if TYPE_CHECKING:
    from recrawl.plan.allocation import allocate, allocate_randomised
    from recrawl.plan.baselines import proportional, square_root, uniform
    from recrawl.plan.budget import Budget
    from recrawl.plan.curve import BudgetCurve, budget_curve
    from recrawl.plan.limits import Limits
    from recrawl.plan.objectives import (
        OBJECTIVES,
        Age,
        Detected,
        Freshness,
        Harmonic,
        Missed,
        Objective,
    )
    from recrawl.plan.plan import Plan
    from recrawl.plan.rates import Rates
    from recrawl.plan.signals import SignalCounts, Signals

__all__ = [
    "OBJECTIVES",
    "Age",
    "Budget",
    "BudgetCurve",
    "Detected",
    "Freshness",
    "Harmonic",
    "Limits",
    "Missed",
    "Objective",
    "Plan",
    "Rates",
    "SignalCounts",
    "Signals",
    "allocate",
    "allocate_randomised",
    "budget_curve",
    "proportional",
    "square_root",
    "uniform",
]


_MODULES = {
    "allocation": (
        "allocate",
        "allocate_randomised",
    ),
    "baselines": (
        "proportional",
        "square_root",
        "uniform",
    ),
    "budget": ("Budget",),
    "curve": (
        "BudgetCurve",
        "budget_curve",
    ),
    "limits": ("Limits",),
    "objectives": (
        "OBJECTIVES",
        "Age",
        "Detected",
        "Freshness",
        "Harmonic",
        "Missed",
        "Objective",
    ),
    "plan": ("Plan",),
    "rates": ("Rates",),
    "signals": (
        "SignalCounts",
        "Signals",
    ),
}


def __getattr__(name: str) -> object:
    """Load a public name."""
    return load_name(__name__, _MODULES, name)


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)


make_callable(__name__)
