"""Methods side by side, and in long form."""

import numpy as np
import pytest

from recrawl import Histories, Priors
from recrawl.rates import Cho, LastModified, Matloff
from recrawl.report.comparison import FALLBACK_MARK, long_form, marked, side_by_side
from recrawl.report.rates import Named

PAGES = ["/often", "/never", "/once", "/always"]
SEEN = Histories.from_lists(
    [
        ([1.0] * 4, [True, True, False, False]),
        ([1.0] * 4, [False] * 4),
        ([1.0], [True]),
        ([1.0] * 2, [True] * 2),
    ]
)
ESTIMATES = [Cho().estimate(SEEN), Matloff().estimate(SEEN), LastModified().estimate(SEEN)]


def test_a_row_a_page_and_a_column_a_method():
    """-ln(2.5 / 4.5) changes a day are one in 1.7 days, -ln(2 / 4) one in 1.4."""
    ((header, rows),) = side_by_side(PAGES, ESTIMATES, width=100)

    assert header == ["page", "cho", "matloff", "last-modified"]
    assert [row[0] for row in rows] == PAGES
    assert [row[1] for row in rows[:2]] == ["1.7d", "never"]
    assert [row[2] for row in rows] == ["1.4d", "never", "always", "always"]


def test_answers_that_a_method_does_not_have_are_marked():
    """One gap is too little for `last-modified`, so it has gamma's answer."""
    ((_, rows),) = side_by_side(PAGES, ESTIMATES, width=100)

    assert rows[2][3].endswith(FALLBACK_MARK)
    assert not any(cell.endswith(FALLBACK_MARK) for row in rows for cell in row[:3])
    assert marked(rows)
    assert not marked([row[:3] for row in rows])


@pytest.mark.parametrize(("width", "panels"), [(100, 1), (27, 2), (10, 3)])
def test_methods_that_do_not_fit_go_below(width, panels):
    """At least one method a table, however narrow the terminal."""
    tables = side_by_side(PAGES, ESTIMATES, width=width)

    assert len(tables) == panels
    methods = [name for header, _ in tables for name in header[1:]]
    assert methods == ["cho", "matloff", "last-modified"]


def test_long_names_are_cut_and_what_a_terminal_would_obey_is_shown():
    names = ["https://example.org/a/very/long/name", "\x1b[31m", "/a", "/b"]
    _, rows = side_by_side(names, ESTIMATES, width=40)[0]

    assert max(len(row[0]) for row in rows) <= 16
    assert rows[1][0] == "\\x1b[31m"


def test_long_form_keeps_the_methods_of_a_page_together():
    columns = long_form(
        [
            {"rate": np.array([1.0, 2.0]), "method": Named(np.zeros(2, np.uint8), ["a"])},
            {"rate": np.array([3.0, 4.0]), "method": Named(np.zeros(2, np.uint8), ["b"])},
        ]
    )

    assert columns["rate"].tolist() == [1.0, 3.0, 2.0, 4.0]
    assert columns["method"].tolist() == ["a", "b", "a", "b"]


def test_long_form_gives_each_word_one_number():
    """Words that methods share are one word of the column."""
    status = [Named(np.array([0, 1]), ["ok", "odd"]), Named(np.array([1, 0]), ["new", "ok"])]
    column = long_form([{"status": one} for one in status])["status"]

    assert isinstance(column, Named)
    assert column.tolist() == ["ok", "ok", "odd", "new"]
    assert list(column.words) == ["ok", "odd", "new"]


def test_priors_reach_the_answers_of_a_fallback():
    """The mark stands for gamma's answer from the page's own prior."""
    fast = LastModified(Priors.one(5.0, 1.0)).estimate(SEEN)
    slow = LastModified(Priors.one(5.0, 100.0)).estimate(SEEN)

    assert fast.rate[2] > 10 * slow.rate[2]
    assert fast.rate[0] == slow.rate[0]
