"""Rates, weights and a budget in; visits per day, value and price out.

Pure.
"""

from recrawl import make_callable
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

make_callable(__name__)
