"""Visits as tables, and addresses that were nearly right."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recrawl.entries.columns import VisitColumns
from recrawl.report.histories import HEADER, VISIT_COLUMNS, nearest, visit_columns, visit_words
from recrawl.visits.status import VisitOutcome

VISITS = VisitColumns(
    visit=np.array([1, 2]),
    page=np.array([0, 0]),
    at=np.array(["2026-01-01T12:00:00", "2026-01-02T12:00:00.5"], "datetime64[us]"),
    outcome=np.array([VisitOutcome.CHANGED, VisitOutcome.FAILED], np.uint8),
    http=np.array([200, 0]),
    modified_at=np.array(["2026-01-01T06:00", "NaT"], "datetime64[us]"),
    size=np.array([12_345, -1]),
    took_seconds=np.array([0.25, np.nan]),
    share=np.full(2, np.nan),
    audit=np.zeros(2, np.uint8),
)


def test_visits_in_words_come_newest_first():
    assert visit_words(VISITS, most=5) == [
        ["2026-01-02 12:00:00", "failed", "-", "-", "-", "-"],
        ["2026-01-01 12:00:00", "changed", "200", "12,345", "0.25s", "6.0h"],
    ]
    assert len(visit_words(VISITS, most=1)) == 1
    assert len(HEADER) == 6


def test_columns_of_a_log_come_first():
    columns: dict[str, Any] = {**visit_columns(VISITS)}

    assert ("page", *columns) == VISIT_COLUMNS
    assert columns["changed"].tolist() == [True, None]
    assert columns["status"].tolist() == ["ok", "failed"]
    assert columns["http"].tolist() == [200, None]
    assert columns["size_bytes"].tolist() == [12_345, None]


def test_the_nearest_address_has_most_letters_at_both_ends():
    known = ["https://a.org/news/12", "https://b.org/news/13", "https://a.org/news/1"]

    assert nearest("https://a.org/news/13", known) == "https://a.org/news/12"
    assert nearest("https://www.a.org/news/1", known) == "https://a.org/news/1"
    assert nearest("gopher", known) is None
    assert nearest("https://a.org/", []) is None


@given(st.text(min_size=1), st.lists(st.text()))
def test_an_address_that_is_known_is_its_own_nearest(address, others):
    assert nearest(address, [*others, address]) == address
