"""Visit histories in, change rates out: one method per file.

Pure.
"""

from recrawl.rates.accuracy import Accuracy, accuracy, interval_accuracy
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
from recrawl.rates.estimates import Estimates, Status
from recrawl.rates.gamma import Gamma
from recrawl.rates.grid import Grid
from recrawl.rates.likelihood import Likelihood
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

__all__ = [
    "LLN",
    "SA",
    "SAM",
    "Accuracy",
    "Bank",
    "Beta",
    "Cho",
    "Classes",
    "Estimates",
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
    "accuracy",
    "best_gap",
    "fit_prior",
    "gain_of_dates",
    "gaps_needed",
    "interval_accuracy",
    "least_spread",
    "period_for",
    "surprise",
    "unbiased_up_to",
]
