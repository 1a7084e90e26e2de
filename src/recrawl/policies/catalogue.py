"""All policies by name: ours, the papers' and other crawlers'.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recrawl.policies.gamma import GammaPolicy
from recrawl.policies.named import OURS
from recrawl.policies.pages import Outcomes, Pages
from recrawl.policies.policy import Policy, Priced
from recrawl.policies.recrawl.bank import bank
from recrawl.policies.recrawl.policy import Recrawl
from recrawl.policies.rivals.aduana import Aduana
from recrawl.policies.rivals.allocating import AllocatingPolicy
from recrawl.policies.rivals.azar import azar
from recrawl.policies.rivals.c01 import C01
from recrawl.policies.rivals.cho import cho, cho_naive
from recrawl.policies.rivals.heritrix import Heritrix
from recrawl.policies.rivals.interval import IntervalPolicy
from recrawl.policies.rivals.lambdacrawl import lambdacrawl
from recrawl.policies.rivals.malcolm import MalcolmLastModified, MalcolmPolicy
from recrawl.policies.rivals.miniflux import Miniflux
from recrawl.policies.rivals.newsblur import NewsBlur
from recrawl.policies.rivals.nutch import Nutch
from recrawl.policies.rivals.scrapy import Scrapy
from recrawl.policies.rivals.singh import Singh
from recrawl.policies.rivals.stormcrawler import NEWS_CRAWL, StormCrawler
from recrawl.policies.rivals.two_tier import TwoTier
from recrawl.policies.rivals.uniform import uniform

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.plan.objectives import Objective

__all__ = [
    "C01",
    "NEWS_CRAWL",
    "POLICIES",
    "Aduana",
    "AllocatingPolicy",
    "GammaPolicy",
    "Heritrix",
    "IntervalPolicy",
    "MalcolmLastModified",
    "MalcolmPolicy",
    "Miniflux",
    "NewsBlur",
    "Nutch",
    "Outcomes",
    "Pages",
    "Policy",
    "Priced",
    "Recrawl",
    "Scrapy",
    "Singh",
    "StormCrawler",
    "TwoTier",
    "azar",
    "bank",
    "cho",
    "cho_naive",
    "lambdacrawl",
    "uniform",
]

# Each makes a policy for an objective; those that do not value visits ignore it. Malcolm and
# Armitage stop after 100 changes, which no crawl that is to stay fresh can do: here they go on.
POLICIES: dict[str, Callable[[Objective], Policy[Any]]] = {
    OURS: Recrawl,
    "bank": bank,
    "uniform": lambda _: uniform(),
    "gamma": GammaPolicy,
    "gamma-mean": lambda objective: GammaPolicy(objective, plug_in=True),
    "cho-naive": lambda _: cho_naive(),
    "cho": lambda _: cho(),
    "cho-naive-adaptive": lambda _: cho_naive(adaptive=True),
    "cho-adaptive": lambda _: cho(adaptive=True),
    "two-tier": lambda _: IntervalPolicy(TwoTier()),
    "malcolm": lambda _: IntervalPolicy(MalcolmPolicy(stop=None)),
    "malcolm-last-modified": lambda _: IntervalPolicy(MalcolmLastModified(stop=None)),
    "singh-ratio": lambda _: IntervalPolicy(Singh("ratio")),
    "singh-weibull": lambda _: IntervalPolicy(Singh("weibull")),
    "singh-windows": lambda _: IntervalPolicy(Singh("weibull", rewindow=True)),
    "singh-duane": lambda _: IntervalPolicy(Singh("duane")),
    "singh-cho": lambda _: IntervalPolicy(Singh("cho")),
    "singh-matloff": lambda _: IntervalPolicy(Singh("matloff")),
    "lambdacrawl": lambda _: lambdacrawl(),
    "lambdacrawl-poisson": lambda _: lambdacrawl(randomised=True),
    "azar": lambda _: azar(),
    "azar-floor": lambda _: azar(floor=0.4),
    "nutch": lambda _: IntervalPolicy(Nutch(sync=False)),
    "nutch-sync": lambda _: IntervalPolicy(Nutch()),
    "stormcrawler": lambda _: IntervalPolicy(StormCrawler()),
    "news-crawl": lambda _: IntervalPolicy(NEWS_CRAWL),
    "heritrix": lambda _: IntervalPolicy(Heritrix()),
    "heritrix-overdue": lambda _: IntervalPolicy(Heritrix(use_overdue=True)),
    "miniflux": lambda _: IntervalPolicy(Miniflux()),
    "miniflux-28d": lambda _: IntervalPolicy(Miniflux(longest=28.0)),
    "newsblur": lambda _: IntervalPolicy(NewsBlur()),
    "scrapy": lambda _: IntervalPolicy(Scrapy()),
    "aduana": lambda _: IntervalPolicy(Aduana()),
    "c01-changes": lambda _: IntervalPolicy(C01("changes")),
    "c01-nochanges": lambda _: IntervalPolicy(C01("nochanges")),
}
