"""When to visit a page next: our policy, the papers' and other crawlers', by name in `POLICIES`.

Names are loaded when first used: who needs one policy does not load all.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recrawl import load_name

if TYPE_CHECKING:
    from recrawl.policies.catalogue import (
        C01,
        NEWS_CRAWL,
        POLICIES,
        Aduana,
        AllocatingPolicy,
        GammaPolicy,
        Heritrix,
        IntervalPolicy,
        MalcolmLastModified,
        MalcolmPolicy,
        Miniflux,
        NewsBlur,
        Nutch,
        Outcomes,
        Pages,
        Policy,
        Priced,
        Recrawl,
        Scrapy,
        Singh,
        StormCrawler,
        TwoTier,
        azar,
        bank,
        cho,
        cho_naive,
        lambdacrawl,
        uniform,
    )

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


def __getattr__(name: str) -> object:
    """Load a public name."""
    return load_name(__name__, {"catalogue": __all__}, name)


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)
