"""Estimators by name, as the command line and settings call them.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recrawl.checks import check_choice
from recrawl.rates.bank import Bank
from recrawl.rates.gamma import Gamma
from recrawl.rates.grid import Grid
from recrawl.rates.likelihood import Likelihood
from recrawl.rates.npmle import NPMLE
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

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.rates.estimates import Estimator
    from recrawl.rates.priors import Priors

# Each makes an estimator from fitted priors and the level of its bands.
METHODS: dict[str, Callable[[Priors, float], Estimator]] = {
    "gamma": lambda priors, level: Gamma(priors, level=level),
    "npmle": lambda priors, level: NPMLE(priors, level=level),
    "bank": lambda priors, level: Bank(priors, level=level),
    "grid": lambda priors, level: Grid(priors, level=level),
    "likelihood": lambda _, level: Likelihood(level=level),
    "likelihood-plain": lambda _, level: Likelihood(singularity="none", level=level),
    "moment-matching": lambda _, level: MomentMatching(level=level),
    "ratio": lambda _, level: Ratio(level=level),
    "cho": lambda _, level: Cho(level=level),
    "cho-exact": lambda _, level: Cho(correction="exact", level=level),
    "matloff": lambda _, level: Matloff(level=level),
    "beta": lambda _, level: Beta(level=level),
    "malcolm": lambda _, level: Malcolm(level=level),
    "malcolm-age": lambda priors, level: MalcolmAge(priors, level=level),
    "last-modified": lambda priors, level: LastModified(priors, level=level),
    "last-modified-raw": lambda _, level: LastModifiedRaw(level=level),
    "classes": lambda _, level: Classes(level=level),
    "lln": lambda _, level: LLN(level=level),
    "sa": lambda _, level: SA(level=level),
    "sam": lambda _, level: SAM(level=level),
}
POOLED = frozenset({"gamma", "npmle", "bank", "grid"})  # each uses the prior of the page's site
USES_PRIORS = POOLED | {"malcolm-age", "last-modified"}  # or does so for pages without an answer


def check_method(name: str, *also: str) -> None:
    """Check that a name is that of an estimator, or one of `also`."""
    check_choice((*METHODS, *also), method=name)
