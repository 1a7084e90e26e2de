"""The tables of `recrawl trends`: one a kind of question.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recrawl.cli.trends.pages import Pages, Wanted
    from recrawl.report.trends import Table

_NEXT_LEVEL = 0.8  # of the band of the next change


def table_of(pages: Pages, wanted: Wanted) -> tuple[tuple[str, ...], Table]:
    """The table that is wanted, after its header."""
    from recrawl.report import trends as report

    if wanted.windows:
        return report.WINDOW_COLUMNS, _window_table(pages)
    if wanted.test:
        return report.TEST_COLUMNS, _test_table(pages)
    if wanted.predict:
        return report.NEXT_COLUMNS, _next_table(pages)
    if wanted.by or wanted.between is not None:
        return report.LOCAL_COLUMNS, _local_table(pages, wanted)
    return report.PAGE_COLUMNS, _page_table(pages)


def _window_table(pages: Pages) -> Table:
    from recrawl.report.trends import window_table
    from recrawl.trends.fits import fit_windows

    fits = fit_windows(pages.points, pages.windows, level=pages.level)
    return window_table(pages.points, pages.windows, fits)


def _test_table(pages: Pages) -> Table:
    from recrawl.report.trends import test_table
    from recrawl.trends.trend_test import TrendStatus, trend_test

    return test_table(trend_test(pages.histories), [status.name.lower() for status in TrendStatus])


def _next_table(pages: Pages) -> Table:
    from recrawl.report.trends import next_table
    from recrawl.trends.next_change import next_changes

    found = next_changes(
        pages.histories, pages.points, pages.windows, priors=pages.priors, level=_NEXT_LEVEL
    )
    return next_table(found, pages.histories.last_visit)


def _local_table(pages: Pages, wanted: Wanted) -> Table:
    from recrawl.rates.estimates import STATUS_NAMES
    from recrawl.report.trends import local_table
    from recrawl.trends.local_rates import local_rates, rates_between

    if wanted.by:
        found = local_rates(pages.histories, wanted.by, priors=pages.priors, level=pages.level)
    else:
        start, end = wanted.instants()
        found = rates_between(pages.histories, start, end, priors=pages.priors, level=pages.level)
    return local_table(found, STATUS_NAMES)


def _page_table(pages: Pages) -> Table:
    from recrawl.rates.bank import Bank
    from recrawl.rates.estimates import STATUS_NAMES
    from recrawl.report.rates import Named
    from recrawl.report.trends import Summary, page_table
    from recrawl.trends.fits import fit_windows
    from recrawl.trends.next_change import next_changes
    from recrawl.trends.regularity import KINDS, regularity
    from recrawl.trends.trend_test import trend_test

    histories, points, windows = pages.histories, pages.points, pages.windows
    now = Bank(pages.priors, level=pages.level).estimate(histories)
    waits = next_changes(histories, points, windows, priors=pages.priors, level=_NEXT_LEVEL)
    return page_table(
        Summary(
            points=points,
            windows=windows,
            fits=fit_windows(points, windows, level=pages.level),
            rate=now.rate,
            test=trend_test(histories),
            kinds=Named(regularity(histories).kind, KINDS),
            next_change=waits["bank"],
            last_visit=histories.last_visit,
            status=Named(now.status, STATUS_NAMES),
        )
    )
