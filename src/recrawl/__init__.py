"""Keep a local copy of changing web sources fresh, with the fewest visits.

Names are loaded when first used, so that `import recrawl` costs next to nothing. `recrawl.plan`,
`recrawl.simulate` and `recrawl.trends` are packages that can be called, too: as functions they
answer what the verbs of the command line answer.

Pure.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recrawl.adapters.tables.logs import read_histories
    from recrawl.analysis.bulk import estimate_file, fit_priors, sample_file
    from recrawl.analysis.estimate import estimate
    from recrawl.analysis.imported import VisitTable, read_visits
    from recrawl.analysis.plan import plan
    from recrawl.analysis.results import ResultTable
    from recrawl.analysis.simulate import simulate
    from recrawl.analysis.trends import trends
    from recrawl.crawl.fresh_copy import FreshCopy, fresh_copy
    from recrawl.parse.sites import sites_of
    from recrawl.publish.object_events import ObjectChange
    from recrawl.publish.reading import ChangeEvent, CopyReader, PageCopy, PageVersion, open_store
    from recrawl.rates import Estimates, Gamma, Likelihood, Priors, Ratio, Status, fit_prior
    from recrawl.scheduler import Scheduler
    from recrawl.visits import AnswerKind, Flag, GapOutcome, Histories, Vetting, Visit, histories_of

__version__ = "0.2.1"

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
    "ResultTable",
    "Scheduler",
    "Status",
    "Vetting",
    "Visit",
    "VisitTable",
    "estimate",
    "estimate_file",
    "fit_prior",
    "fit_priors",
    "fresh_copy",
    "histories_of",
    "open_store",
    "plan",
    "read_histories",
    "read_visits",
    "sample_file",
    "simulate",
    "sites_of",
    "trends",
]

_ROOMS = {
    "visits": ("AnswerKind", "Flag", "Histories", "GapOutcome", "Vetting", "Visit", "histories_of"),
    "parse.sites": ("sites_of",),
    "crawl.fresh_copy": ("FreshCopy", "fresh_copy"),
    "publish.object_events": ("ObjectChange",),
    "publish.reading": ("ChangeEvent", "CopyReader", "PageCopy", "PageVersion", "open_store"),
    "scheduler": ("Scheduler",),
    "adapters.tables.logs": ("read_histories",),
    "analysis.bulk": ("estimate_file", "fit_priors", "sample_file"),
    "analysis.estimate": ("estimate",),
    "analysis.imported": ("VisitTable", "read_visits"),
    "analysis.results": ("ResultTable",),
    "rates": ("Estimates", "Gamma", "Likelihood", "Priors", "Ratio", "Status", "fit_prior"),
}


# Rooms that can be called, as functions of the same name in `analysis`.
_CALLABLE = ("plan", "simulate", "trends")


class CallableRoom(ModuleType):
    """A package that can be called: `recrawl.plan(rates, budget="500/1d")`."""

    def __call__(self, *values: Any, **named: Any) -> Any:  # noqa: ANN401 - as the function says
        """Call the function of the same name."""
        return self._function(*values, **named)

    @property
    def __signature__(self) -> object:
        """What the function takes, for help in a notebook."""
        from inspect import signature  # slow to load, and rarely asked for

        return signature(self._function)

    @property
    def _function(self) -> Any:  # noqa: ANN401 - any function
        name = self.__name__.rpartition(".")[2]
        return getattr(import_module(f"recrawl.analysis.{name}"), name)


def make_callable(room: str) -> None:
    """Let a package of this name be called; for the package itself, while it is loaded."""
    sys.modules[room].__class__ = CallableRoom


def load_name(package: str, modules: Mapping[str, Sequence[str]], name: str) -> object:
    """A public name of a package, from the module below it that defines the name.

    Args:
        package: The package.
        modules: Names that each module defines.
        name: The name.
    """
    for module, names in modules.items():
        if name in names:
            return getattr(import_module(f"{package}.{module}"), name)
    message = f"module {package!r} has no attribute {name!r}"
    raise AttributeError(message)


def __getattr__(name: str) -> object:
    """Load a public name from its room."""
    if name in _CALLABLE:
        return import_module(f"recrawl.{name}")
    return load_name(__name__, _ROOMS, name)


def __dir__() -> list[str]:
    """List the public names."""
    return sorted([*__all__, "__version__"])
