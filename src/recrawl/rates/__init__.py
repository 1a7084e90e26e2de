"""Visit histories in, change rates out: one method per file, all methods by name in `METHODS`.

Names are loaded when first used: whoever needs one method does not wait for all of them.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recrawl import load_name

if TYPE_CHECKING:
    from recrawl.rates.bank import Bank
    from recrawl.rates.design import (
        Surprise,
        best_gap,
        gain_of_dates,
        gaps_needed,
        least_spread,
        period_for,
        surprise,
        unbiased_up_to,
    )
    from recrawl.rates.estimates import Estimates, Estimator, Status
    from recrawl.rates.existence_accuracy import (
        Accuracy,
        accuracy,
        chance_within,
        interval_accuracy,
    )
    from recrawl.rates.gamma import Gamma
    from recrawl.rates.grid import Grid
    from recrawl.rates.likelihood import Likelihood
    from recrawl.rates.masses import fit_npmle
    from recrawl.rates.methods import METHODS as METHODS
    from recrawl.rates.methods import POOLED as POOLED
    from recrawl.rates.methods import USES_PRIORS as USES_PRIORS
    from recrawl.rates.methods import check_method as check_method
    from recrawl.rates.npmle import NPMLE
    from recrawl.rates.priors import Priors, fit_prior
    from recrawl.rates.published.beta import Beta
    from recrawl.rates.published.cho import Cho
    from recrawl.rates.published.classes import Classes
    from recrawl.rates.published.last_modified import LastModified
    from recrawl.rates.published.last_modified_raw import LastModifiedRaw
    from recrawl.rates.published.lln import LLN
    from recrawl.rates.published.malcolm import Malcolm
    from recrawl.rates.published.malcolm_age import MalcolmAge
    from recrawl.rates.published.matloff import Matloff
    from recrawl.rates.published.moment_matching import MomentMatching
    from recrawl.rates.published.ratio import Ratio
    from recrawl.rates.published.sa import SA
    from recrawl.rates.published.sam import SAM
    from recrawl.rates.two_state import TwoStateRates, fit_two_state

__all__ = [
    "LLN",
    "NPMLE",
    "SA",
    "SAM",
    "Accuracy",
    "Bank",
    "Beta",
    "Cho",
    "Classes",
    "Estimates",
    "Estimator",
    "Gamma",
    "Grid",
    "LastModified",
    "LastModifiedRaw",
    "Likelihood",
    "Malcolm",
    "MalcolmAge",
    "Matloff",
    "MomentMatching",
    "Priors",
    "Ratio",
    "Status",
    "Surprise",
    "TwoStateRates",
    "accuracy",
    "best_gap",
    "chance_within",
    "fit_npmle",
    "fit_prior",
    "fit_two_state",
    "gain_of_dates",
    "gaps_needed",
    "interval_accuracy",
    "least_spread",
    "period_for",
    "surprise",
    "unbiased_up_to",
]

_MODULES = {
    "existence_accuracy": (
        "Accuracy",
        "accuracy",
        "chance_within",
        "interval_accuracy",
    ),
    "bank": ("Bank",),
    "design": (
        "Surprise",
        "best_gap",
        "gain_of_dates",
        "gaps_needed",
        "least_spread",
        "period_for",
        "surprise",
        "unbiased_up_to",
    ),
    "estimates": (
        "Estimates",
        "Estimator",
        "Status",
    ),
    "gamma": ("Gamma",),
    "grid": ("Grid",),
    "likelihood": ("Likelihood",),
    "masses": ("fit_npmle",),
    "methods": (
        "METHODS",
        "POOLED",
        "USES_PRIORS",
        "check_method",
    ),
    "npmle": ("NPMLE",),
    "priors": (
        "Priors",
        "fit_prior",
    ),
    "published.beta": ("Beta",),
    "published.cho": ("Cho",),
    "published.classes": ("Classes",),
    "published.last_modified": ("LastModified",),
    "published.last_modified_raw": ("LastModifiedRaw",),
    "published.lln": ("LLN",),
    "published.malcolm": ("Malcolm",),
    "published.malcolm_age": ("MalcolmAge",),
    "published.matloff": ("Matloff",),
    "published.moment_matching": ("MomentMatching",),
    "published.ratio": ("Ratio",),
    "published.sa": ("SA",),
    "published.sam": ("SAM",),
    "two_state": ("TwoStateRates", "fit_two_state"),
}


def __getattr__(name: str) -> object:
    """Load a public name from its module."""
    return load_name(__name__, _MODULES, name)
