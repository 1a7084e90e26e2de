"""When to visit a page next: our policy, the papers', the rivals', one a file.

Pure.
"""

from recrawl.policies.aduana import Aduana
from recrawl.policies.azar import azar
from recrawl.policies.bank import bank
from recrawl.policies.c01 import C01
from recrawl.policies.cho import cho, cho_naive
from recrawl.policies.divided import Divided
from recrawl.policies.gamma import Gamma
from recrawl.policies.heritrix import Heritrix
from recrawl.policies.lambdacrawl import lambdacrawl
from recrawl.policies.malcolm import Malcolm, MalcolmLastModified
from recrawl.policies.methods import POLICIES
from recrawl.policies.miniflux import Miniflux
from recrawl.policies.newsblur import NewsBlur
from recrawl.policies.nutch import Nutch
from recrawl.policies.pages import Outcomes, Pages
from recrawl.policies.policy import Policy, Priced
from recrawl.policies.recrawl import Recrawl
from recrawl.policies.scrapy import Scrapy
from recrawl.policies.singh import Singh
from recrawl.policies.spaced import Spaced
from recrawl.policies.stormcrawler import NEWS_CRAWL, StormCrawler
from recrawl.policies.two_tier import TwoTier
from recrawl.policies.uniform import Uniform

__all__ = [
    "C01",
    "NEWS_CRAWL",
    "POLICIES",
    "Aduana",
    "Divided",
    "Gamma",
    "Heritrix",
    "Malcolm",
    "MalcolmLastModified",
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
    "Spaced",
    "StormCrawler",
    "TwoTier",
    "Uniform",
    "azar",
    "bank",
    "cho",
    "cho_naive",
    "lambdacrawl",
]
