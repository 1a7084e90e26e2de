"""Keep a local copy of changing web sources fresh, with the fewest visits.

Names are loaded when first used, so that `import recrawl` costs next to nothing.

Pure.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recrawl.adapters.tables.logs import read_histories
    from recrawl.crawl.fresh_copy import FreshCopy, fresh_copy
    from recrawl.parse.sites import sites_of
    from recrawl.publish.object_events import ObjectChange
    from recrawl.publish.reading import ChangeEvent, CopyReader, PageCopy, PageVersion, open_store
    from recrawl.rates import Estimates, Gamma, Likelihood, Priors, Ratio, Status, fit_prior
    from recrawl.scheduler import Scheduler
    from recrawl.visits import AnswerKind, Flag, GapOutcome, Histories, Vetting, Visit, histories_of

__version__ = "0.1.0"

__all__ = [
    "AnswerKind",
    "ChangeEvent",
    "CopyReader",
    "Estimates",
    "Flag",
    "FreshCopy",
    "Gamma",
    "GapOutcome",
    "Histories",
    "Likelihood",
    "ObjectChange",
    "PageCopy",
    "PageVersion",
    "Priors",
    "Ratio",
    "Scheduler",
    "Status",
    "Vetting",
    "Visit",
    "fit_prior",
    "fresh_copy",
    "histories_of",
    "open_store",
    "read_histories",
    "sites_of",
]

_ROOMS = {
    "visits": ("AnswerKind", "Flag", "Histories", "GapOutcome", "Vetting", "Visit", "histories_of"),
    "parse.sites": ("sites_of",),
    "crawl.fresh_copy": ("FreshCopy", "fresh_copy"),
    "publish.object_events": ("ObjectChange",),
    "publish.reading": ("ChangeEvent", "CopyReader", "PageCopy", "PageVersion", "open_store"),
    "scheduler": ("Scheduler",),
    "adapters.tables.logs": ("read_histories",),
    "rates": ("Estimates", "Gamma", "Likelihood", "Priors", "Ratio", "Status", "fit_prior"),
}


def __getattr__(name: str) -> object:
    """Load a public name from its room."""
    for room, names in _ROOMS.items():
        if name in names:
            return getattr(import_module(f"recrawl.{room}"), name)
    message = f"module 'recrawl' has no attribute {name!r}"
    raise AttributeError(message)


def __dir__() -> list[str]:
    """List the public names."""
    return sorted([*__all__, "__version__"])
