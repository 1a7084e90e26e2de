"""The policies by the names that people type: ours in plain words, rivals under their own.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recrawl.policies.gamma import Gamma
from recrawl.policies.recrawl.bank import bank
from recrawl.policies.recrawl.policy import Recrawl
from recrawl.policies.rivals.aduana import Aduana
from recrawl.policies.rivals.azar import azar
from recrawl.policies.rivals.c01 import C01
from recrawl.policies.rivals.cho import cho, cho_naive
from recrawl.policies.rivals.heritrix import Heritrix
from recrawl.policies.rivals.interval import Spaced
from recrawl.policies.rivals.lambdacrawl import lambdacrawl
from recrawl.policies.rivals.malcolm import Malcolm, MalcolmLastModified
from recrawl.policies.rivals.miniflux import Miniflux
from recrawl.policies.rivals.newsblur import NewsBlur
from recrawl.policies.rivals.nutch import Nutch
from recrawl.policies.rivals.scrapy import Scrapy
from recrawl.policies.rivals.singh import Singh
from recrawl.policies.rivals.stormcrawler import NEWS_CRAWL, StormCrawler
from recrawl.policies.rivals.two_tier import TwoTier
from recrawl.policies.rivals.uniform import Uniform

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.plan.objectives.methods import Objective
    from recrawl.policies.policy import Policy

# Each makes a policy for an objective; those that do not value visits ignore it. Malcolm and
# Armitage stop after 100 changes, which no crawl that is to stay fresh can do: here they go on.
POLICIES: dict[str, Callable[[Objective], Policy[Any]]] = {
    "recrawl": Recrawl,
    "bank": bank,
    "uniform": lambda _: Uniform(),
    "gamma": Gamma,
    "gamma-mean": lambda objective: Gamma(objective, plug_in=True),
    "cho-naive": lambda _: cho_naive(),
    "cho": lambda _: cho(),
    "two-tier": lambda _: Spaced(TwoTier()),
    "malcolm": lambda _: Spaced(Malcolm(most_changes=None)),
    "malcolm-last-modified": lambda _: Spaced(MalcolmLastModified(most_changes=None)),
    "singh-ratio": lambda _: Spaced(Singh("ratio")),
    "singh-weibull": lambda _: Spaced(Singh("weibull")),
    "singh-windows": lambda _: Spaced(Singh("weibull", rewindow=True)),
    "singh-duane": lambda _: Spaced(Singh("duane")),
    "singh-cho": lambda _: Spaced(Singh("cho")),
    "singh-matloff": lambda _: Spaced(Singh("matloff")),
    "lambdacrawl": lambda _: lambdacrawl(),
    "lambdacrawl-poisson": lambda _: lambdacrawl(by_lot=True),
    "azar": lambda _: azar(),
    "azar-floor": lambda _: azar(floor=0.4),
    "nutch": lambda _: Spaced(Nutch(sync=False)),
    "nutch-sync": lambda _: Spaced(Nutch()),
    "stormcrawler": lambda _: Spaced(StormCrawler()),
    "news-crawl": lambda _: Spaced(NEWS_CRAWL),
    "heritrix": lambda _: Spaced(Heritrix()),
    "heritrix-overdue": lambda _: Spaced(Heritrix(use_overdue=True)),
    "miniflux": lambda _: Spaced(Miniflux()),
    "miniflux-28d": lambda _: Spaced(Miniflux(longest=28.0)),
    "newsblur": lambda _: Spaced(NewsBlur()),
    "scrapy": lambda _: Spaced(Scrapy()),
    "aduana": lambda _: Spaced(Aduana()),
    "c01-changes": lambda _: Spaced(C01("changes")),
    "c01-nochanges": lambda _: Spaced(C01("nochanges")),
}
