"""`estimate`: visits in, one change rate per page out.

Touches: files, the clock.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.adapters.pictures import DrawnChart
from recrawl.adapters.tables.logs import Log
from recrawl.adapters.tables.results import PieceEstimates, ordered
from recrawl.adapters.tables.table_options import (
    TableOptions,
    change_words_of,
    time_form_of,
)
from recrawl.adapters.tables.visits import VisitReading
from recrawl.analysis.results import ResultTable
from recrawl.analysis.sources import instant_of, visits_input
from recrawl.checks import check_fraction
from recrawl.errors import InvalidParameter
from recrawl.rates import METHODS, USES_PRIORS, check_method, fit_npmle, fit_prior
from recrawl.rates.gamma import Gamma
from recrawl.rates.npmle import NPMLE
from recrawl.rates.priors import Priors
from recrawl.rates.published.classes import Classes, class_rates
from recrawl.report.charts.rates import rate_chart
from recrawl.report.comparison import long_form
from recrawl.report.rates import HEADER, class_columns, fresh_at, rate_columns, rate_words
from recrawl.report.words import counted
from recrawl.settings.keys import size_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from recrawl.adapters.tables.samples import SitePriors
    from recrawl.analysis.sources import Moment
    from recrawl.arrays.texts import Texts
    from recrawl.arrays.types import Instants, Ints
    from recrawl.rates.estimates import Estimates, Estimator
    from recrawl.rates.priors import PriorFit
    from recrawl.report.rates import Column

    Factory = Callable[[Priors, float], Estimator]

COMPARE = "compare"
_WITH_FALSE_CHANGES = {"gamma": Gamma, "npmle": NPMLE}


@dataclass(frozen=True, slots=True)
class RateQuestion:
    """How rates are estimated.

    Args:
        methods: What makes each estimator, by name.
        level: Probability that a rate lies in its band.
        false_changes: Probability that an unchanged page looks changed.
    """

    methods: Mapping[str, Factory]
    level: float = 0.9
    false_changes: float = 0.0

    @classmethod
    def of(
        cls,
        method: str,
        *,
        level: float,
        classes: str = "",
        false_changes: float = 0.0,
    ) -> RateQuestion:
        """Check a question before anything is read.

        Args:
            method: Name of an estimator, or `COMPARE` for all of them.
            level: Probability that a rate lies in its band.
            classes: Mean intervals of the classes for "classes", as `1d,7d`; empty for its own.
            false_changes: For "gamma" and "npmle".
        """
        check_method(method, COMPARE)
        check_fraction(level=level)
        methods = dict(METHODS) if method == COMPARE else {method: METHODS[method]}
        if classes and "classes" not in methods:
            raise InvalidParameter(f"classes needs the method classes (got {method!r})")
        if false_changes and method not in _WITH_FALSE_CHANGES:
            names = " or ".join(_WITH_FALSE_CHANGES)
            raise InvalidParameter(f"false_changes needs the method {names} (got {method!r})")
        if classes:
            rates, weights = class_rates(classes)
            Classes(rates, weights)  # raises for invalid parameters
            methods["classes"] = lambda _, level: Classes(rates, weights, level)
        if false_changes:
            kind = _WITH_FALSE_CHANGES[method]
            kind(false_changes=false_changes)  # as above
            methods[method] = lambda priors, level: kind(priors, level, false_changes=false_changes)
        return cls(methods, level, false_changes)

    @property
    def uses_priors(self) -> bool:
        """Whether a page's rate depends on other pages of its site."""
        return bool(USES_PRIORS & self.methods.keys())

    @property
    def fit(self) -> PriorFit:
        """What fits the priors."""
        return fit_npmle if "npmle" in self.methods else fit_prior

    def answers(
        self, log: Log, scratch: Path, priors: SitePriors | None = None
    ) -> Iterator[PieceEstimates]:
        """Estimates of all pages of a log, in its order.

        Args:
            log: The log.
            scratch: Folder of temporary files.
            priors: Priors of its sites; fitted to the log itself if None.
        """
        results = self._estimated(log, priors)
        return ordered(results, in_order=log.in_order, scratch=scratch)

    def _estimated(self, log: Log, given: SitePriors | None) -> Iterator[PieceEstimates]:
        fitted = None
        if self.uses_priors:
            fitted = log.fit_prior(self.false_changes, self.fit) if given is None else given.priors
        for piece in log.pieces():
            priors = Priors.one()
            if fitted is not None:
                site = piece.site if given is None else given.rows_of(log.sites)[piece.site]
                priors = replace(fitted, site_of_page=site)
            estimates = tuple(
                made(priors, self.level).estimate(piece.histories) for made in self.methods.values()
            )
            yield PieceEstimates(piece.names, piece.position, piece.histories.last_visit, estimates)

    def rows(self, found: PieceEstimates, now: np.datetime64) -> tuple[Texts, dict[str, Column]]:
        """Names and columns with one row per page and method."""
        parts = []
        for estimates in found.estimates:
            columns = rate_columns(estimates, found.last_visit, now)
            parts.append(columns | class_columns(estimates) if self.has_classes else columns)
        if len(parts) == 1:
            return found.names, parts[0]
        page = np.repeat(np.arange(len(found.names)), len(parts))
        return found.names.take(page), long_form(parts)

    @property
    def has_classes(self) -> bool:
        """Whether rows say which class of rates a page is in."""
        return "classes" in self.methods


@dataclass(frozen=True, eq=False, repr=False)
class EstimateResult(ResultTable):
    """Change rates by page, with the columns that `recrawl estimate` writes.

    Attributes:
        estimates: The same as arrays, to go on computing: `shape` and `exposure` are the Gamma
            distribution of each rate, `unchanged(days)` the chance to stay as it is.
        last_visit: Instant of each page's last visit.
        now: Instant of `fresh_now`.
        skipped: Malformed rows that were left out.

    Examples:
        >>> import recrawl
        >>> rates = recrawl.estimate({
        ...     "page": ["/a", "/a", "/a"], "changed": [None, True, False],
        ...     "visited_at": ["2026-01-01", "2026-01-08", "2026-01-15"],
        ... }, now="2026-01-16")
        >>> rates
        page  visits  changes  every     between  fresh now  status
        /a         3        1   2.7w  5.0d - 16w       93 %  ok
        1 page, method gamma
        >>> rates.estimates.unchanged(1.0).round(2)
        array([0.93])
    """

    estimates: Estimates
    last_visit: Instants
    now: np.datetime64
    skipped: int

    def _of_rows(self, rows: Ints) -> dict[str, Any]:
        return {"estimates": self.estimates.take(rows), "last_visit": self.last_visit[rows]}

    def chart(self) -> DrawnChart:
        """Mean interval between changes with its band, from the busiest page to the quietest."""
        return DrawnChart(rate_chart(self.names, self.estimates))

    def _words(self, most: int) -> tuple[Sequence[str], list[list[str]], Collection[int]]:
        some = np.arange(min(most, len(self)))
        estimates = self.estimates.take(some)
        fresh = fresh_at(estimates, self.last_visit[some], self.now)
        names = self.texts.take(some).tolist()
        return HEADER, rate_words(names, estimates, fresh), (0, len(HEADER) - 1)

    def _said(self) -> str:
        return f"{counted(len(self), 'page')}, method {self.estimates.method}"


def estimate(  # noqa: PLR0913 - the options of the verb
    source: object,
    *,
    method: str = "gamma",
    level: float = 0.9,
    now: Moment = None,
    classes: str = "",
    false_changes: float = 0.0,
    columns: Mapping[str, str] | None = None,
    skip_bad_rows: bool = False,
    delimiter: str = "",
    tz: str = "",
    time_format: str = "",
    true_words: str = "",
    false_words: str = "",
    memory: str = "2G",
) -> EstimateResult:
    """Estimate how often each page of a visit log changes.

    The same as `recrawl estimate`: one row per page, in the order of the log.

    Args:
        source: One row per visit, in any order: a path, a pattern, a folder or a list of them (CSV,
            JSON, Parquet, Arrow, packed or not, or the store of a crawl); a frame of pandas or
            polars, lazy ones too; a DuckDB relation; a pyarrow table, reader or dataset; anything
            with `__arrow_c_stream__`; a mapping of columns; a list of dicts, one per visit; or an
            iterable of `Visit`. Columns are
            `page`, `visited_at`, `changed` or `digest` and, optionally, `last_modified` and
            `status`.
        method: Name of the estimator.
        level: Probability that a rate lies in its band.
        now: Instant of `fresh_now`: a datetime, a date, a `numpy.datetime64` or a text in ISO 8601,
            in UTC where it has no offset; the current time by default.
        classes: For the method "classes": mean intervals, `1d,7d,30d`, or with weights,
            `1d=3,7d=1`.
        false_changes: For "gamma" and "npmle": probability that an unchanged page looks changed.
        columns: Your names of these columns, where they differ: `{"page": "url"}`. `site` names
            the column with the site of a page; without it, the site is the registered domain.
        skip_bad_rows: Leave malformed rows out instead of refusing the source.
        delimiter: What separates cells of CSV; what the header tells if empty.
        tz: Time zone of times without an offset, such as `Europe/Berlin`; UTC if empty.
        time_format: Format of times in the notation of `strptime`; any usual one if empty.
        true_words: Further words for true in `changed`, e.g. `new,modified`.
        false_words: Further words for false.
        memory: Memory for visits, e.g. 500M; files that need more are split into temporary ones.

    Examples:
        >>> import recrawl
        >>> visits = {
        ...     "url": ["/a", "/a", "/b", "/b"], "changed": [None, True, None, False],
        ...     "visited_at": ["2026-01-01", "2026-01-03", "2026-01-01", "2026-01-08"],
        ... }
        >>> rates = recrawl.estimate(visits, columns={"page": "url"}, now="2026-01-09")
        >>> rates.column("rate_per_day").round(2)
        array([0.12, 0.01])
        >>> rates["/a"]["status"]
        'all_changed'
    """
    check_method(method)  # one of them: a result has one row per page
    question = RateQuestion.of(method, level=level, classes=classes, false_changes=false_changes)
    until, most = instant_of(now), size_of(memory, "memory")
    options = replace(
        TableOptions.of(columns, skip_bad_rows=skip_bad_rows, delimiter=delimiter, tz=tz),
        time_form=time_form_of(time_format),
        change_words=change_words_of(true_words, false_words),
    )
    scratch = Path(tempfile.gettempdir())
    with visits_input(source, options) as table:
        # A stream can be read only once, and a frame is in memory anyway.
        most = most if table.reader is None else sys.maxsize
        with Log(VisitReading(table), most, scratch) as log:
            found = PieceEstimates.joined(list(question.answers(log, scratch)))
    names, rows = question.rows(found, until)
    (estimates,) = found.estimates
    return EstimateResult(
        names,
        rows,
        "page",
        estimates=estimates,
        last_visit=found.last_visit,
        now=until,
        skipped=table.skipped,
    )
