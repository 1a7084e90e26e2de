"""The Scrapy add-on: `scrapy crawl` visits what is worth it, and remembers what it found.

    ADDONS = {"recrawl.adapters.scrapy.Addon": 500}

Touches: a store, files, threads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recrawl.errors import MissingExtra

try:
    import scrapy as _scrapy
except ImportError:
    raise MissingExtra("the Scrapy add-on", "scrapy") from None

from recrawl.adapters.scrapy.components import (
    ParsedMiddleware,
    RevisitMiddleware,
    RevisitScheduler,
)

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

__all__ = ["Addon", "ParsedMiddleware", "RevisitMiddleware", "RevisitScheduler"]

del _scrapy

# Nearer to the spider than those that retry (550), decompress (590) and redirect (600): what comes
# here is what the spider would get.
_DOWNLOADER_ORDER = 545
# The nearest to the engine: what the spider's other middlewares leave out is no link.
_SPIDER_ORDER = 10


class Addon:
    """Puts the components of the add-on into the settings of a Scrapy project."""

    def update_settings(self, settings: BaseSettings) -> None:
        """Add the scheduler and both middlewares; what the project sets itself stays."""
        settings.set("SCHEDULER", RevisitScheduler, "addon")
        for name, component, order in (
            ("DOWNLOADER_MIDDLEWARES", RevisitMiddleware, _DOWNLOADER_ORDER),
            ("SPIDER_MIDDLEWARES", ParsedMiddleware, _SPIDER_ORDER),
        ):
            settings[name].setdefault(component, order)
