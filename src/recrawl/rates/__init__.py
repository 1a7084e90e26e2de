"""Visit histories in, change rates out: one method a file.

Pure.
"""

from recrawl.rates.estimates import Estimates, Status
from recrawl.rates.gamma import Gamma
from recrawl.rates.likelihood import Likelihood
from recrawl.rates.priors import Priors, fit_prior
from recrawl.rates.ratio import Ratio

__all__ = ["Estimates", "Gamma", "Likelihood", "Priors", "Ratio", "Status", "fit_prior"]
