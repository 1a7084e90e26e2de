"""Visit histories in, change rates out: one method a file.

Pure.
"""

from recrawl.rates.accuracy import Accuracy, accuracy, interval_accuracy
from recrawl.rates.bank import Bank
from recrawl.rates.beta import Beta
from recrawl.rates.cho import Cho
from recrawl.rates.classes import Classes
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
from recrawl.rates.last_modified import LastModified
from recrawl.rates.last_modified_raw import LastModifiedRaw
from recrawl.rates.likelihood import Likelihood
from recrawl.rates.lln import LLN
from recrawl.rates.malcolm import Malcolm
from recrawl.rates.malcolm_age import MalcolmAge
from recrawl.rates.matloff import Matloff
from recrawl.rates.moment_matching import MomentMatching
from recrawl.rates.priors import Priors, fit_prior
from recrawl.rates.ratio import Ratio
from recrawl.rates.sa import SA
from recrawl.rates.sam import SAM

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
