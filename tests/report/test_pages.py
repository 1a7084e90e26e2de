"""The pages of a crawl as a table."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from recrawl.errors import InvalidParameter
from recrawl.inspect.pages import STATUS_LABELS, PageRows
from recrawl.report.pages import (
    HEADER,
    ORDERS,
    PAGE_COLUMNS,
    RATE_COLUMNS,
    ago,
    ahead,
    ordered,
    page_columns,
    page_words,
    rate_columns,
    status_named,
)
from recrawl.visits.status import PageStatus

NOW = np.datetime64("2026-01-03T00:00", "us")
NEVER = np.datetime64("NaT", "us")
NEXT = np.array(["2026-01-04T00:00", "2026-01-03T00:00", "NaT"], "datetime64[us]")
ADDRESSES = ["https://b.org/", "https://a.org/", "https://c.org/"]


def figures(*values):
    return np.array(values, np.float64)


# A page that changes every other day, one that changes every tenth, one that is new.
PAGES = PageRows(
    status=np.array([1, 1, 0], np.uint8),
    visits=np.array([5, 6, 0]),
    changes=np.array([2, 1, 0]),
    rate=figures(0.5, 0.1, np.nan),
    low=figures(0.25, 0.05, np.nan),
    high=figures(1.0, 0.2, np.nan),
    shape=figures(2, 2, np.nan),
    exposure=figures(4, 20, np.nan),
    fresh=figures(0.5, 0.9, np.nan),
    last_visit=np.array(["2026-01-02T00:00", "2026-01-01T00:00", "NaT"], "datetime64[us]"),
    last_change=np.array(["2026-01-02T00:00", "NaT", "NaT"], "datetime64[us]"),
    weight=figures(1, 2, 1),
    robots=np.array([0, 4, 0]),
    listing=np.array(["", "jobs", ""], np.object_),
    failure=np.full(3, "", np.object_),
    last_attempt=np.full(3, NEVER),
    moved_to=np.full(3, "", np.object_),
    duplicate_of=np.array(["", "", ""], np.object_),
    left_out=np.array(["", "", ""], np.object_),
)


def test_trouble_in_words():
    """A visit that failed is not hidden, and a page that moved says where to."""
    troubled = replace(
        PAGES,
        status=np.array([status_named(name) for name in ("copied", "moved", "failed")]),
        failure=np.array(["503", "", "unauthorized (401)"], np.object_),
        last_attempt=np.array(["2026-01-02T12:00", "NaT", "2026-01-02T00:00"], "datetime64[us]"),
        moved_to=np.array(["", "https://a.org/b", ""], np.object_),
    )

    assert [(row[1], row[5]) for row in page_words(ADDRESSES, troubled, NEXT, NOW)] == [
        ("copied, 503", "1.0d ago, failed 12h ago"),
        ("moved to /b, noarchive", "2.0d ago"),
        ("unauthorized (401)", "failed 1.0d ago"),
    ]


def test_what_a_status_says_is_not_said_twice():
    gone = replace(
        PAGES,
        status=np.full(3, status_named("gone")),
        failure=np.array(["gone (410)", "not found (404)", ""], np.object_),
        robots=np.zeros(3, np.int64),
    )

    assert [row[1] for row in page_words(ADDRESSES, gone, NEXT, NOW)] == [
        *("gone (410)", "gone, not found (404)", "gone")
    ]


def test_a_page_that_is_left_out_says_why():
    trapped = replace(
        PAGES,
        status=np.full(3, status_named("left_out")),
        left_out=np.array(["trap /calendar/#", "excluded *.pdf", "repeated"], np.object_),
    )

    assert [row[1] for row in page_words(ADDRESSES, trapped, NEXT, NOW)] == [
        *("left out: trap /calendar/#", "left out: excluded *.pdf", "left out: repeated")
    ]


def test_pages_in_words():
    assert page_words(ADDRESSES, PAGES, NEXT, NOW) == [
        ["https://b.org/", "copied", "2.0d", "1.0d - 4.0d", "50 %", "1.0d ago", "in 1.0d"],
        ["https://a.org/", "copied, noarchive", "10d", "5.0d - 2.9w", "90 %", "2.0d ago", "now"],
        ["https://c.org/", "new", "-", "-", "-", "-", "-"],
    ]
    assert len(HEADER) == 7


@pytest.mark.parametrize(
    ("by", "rows"),
    [
        ("rate", [0, 1, 2]),
        ("fresh", [0, 1, 2]),
        ("next", [1, 0, 2]),
        ("visited", [1, 0, 2]),
        ("address", [1, 0, 2]),
    ],
)
def test_what_is_asked_for_comes_first_and_what_is_not_known_last(by, rows):
    assert by in ORDERS
    assert ordered(PAGES, by, NEXT, ADDRESSES).tolist() == rows


def test_an_order_that_there_is_not_is_refused():
    with pytest.raises(InvalidParameter, match=r"sort must be one of rate, .* \(got 'size'\)"):
        ordered(PAGES, "size", NEXT, ADDRESSES)


def test_columns_are_those_that_are_promised():
    assert ("page", *page_columns(PAGES, NEXT)) == PAGE_COLUMNS
    assert ("page", *rate_columns(PAGES)) == RATE_COLUMNS
    assert page_columns(PAGES, NEXT)["status"].tolist() == ["copied", "copied", "new"]


def test_a_page_that_never_changes_has_no_interval():
    still = PAGES.take(np.array([0]))
    still.rate[0] = 0.0

    columns: dict[str, Any] = {**rate_columns(still)}
    assert np.isnan(columns["mean_interval_days"]).all()


def test_every_status_has_its_name():
    assert [status_named(status.label) for status in PageStatus] == list(PageStatus)
    assert STATUS_LABELS[status_named("unlisted")] == "unlisted"
    with pytest.raises(InvalidParameter, match=r"status must be one of new, .* \(got 'old'\)"):
        status_named("old")


def test_instants_in_words():
    assert [ago(NEVER, NOW), ahead(NEVER, NOW), ahead(NOW, NOW)] == ["-", "-", "now"]
