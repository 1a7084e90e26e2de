"""When to visit a page next: our policy, the papers', the rivals', one per file.

Pure.
"""

from recrawl.policies.gamma import GammaPolicy
from recrawl.policies.methods import POLICIES
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
