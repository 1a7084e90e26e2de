"""What is said of a crawl."""

import json
from dataclasses import replace
from math import inf, nan

import pytest

from recrawl.report.status import BUDGET_KEYS, KEYS, Spent, Status, status_object, status_rows
from recrawl.visits.status import Outcome, PageStatus

STATUS = Status(
    at=20_000.0,
    standing={PageStatus.COPIED: 212, PageStatus.NEW: 3, PageStatus.GONE: 1},
    copies=212,
    fresh=(0.9312, 0.9041, 0.9583),
    age=0.2,
    looked_at=212,
    overdue=0,
    next_visit=20_000.0 + 12 / 86_400,
    days=7.5,
    outcomes={Outcome.CHANGED: 25, Outcome.SAME: 50, Outcome.NOT_MODIFIED: 20, Outcome.FAILED: 5},
    spent=[Spent("", 500.0, 180, 432.5)],
)
NOTHING = replace(
    STATUS, standing={}, copies=0, fresh=(nan, nan, nan), age=nan, next_visit=inf, outcomes={}
)


def test_a_crawl_in_a_dozen_lines():
    assert status_rows(STATUS) == [
        ("fresh", "93.1 % of 212 copies, expected (90.4 to 95.8 %)"),
        ("age", "4.8h since a copy went stale, on the mean; 0 for a fresh one"),
        ("pages", "216 known, 3 new, 1 gone"),
        ("overdue", "none"),
        ("visits", "180 today, 432 a day over the last week; budget 500 a day"),
        (
            "found",
            (
                "of 100 visits in the last 7.5d: 25 % changed, 70 % unchanged, 0 % first copies, "
                "5.0 % failed"
            ),
        ),
        ("next", "in 12s"),
    ]


def test_a_crawl_that_has_not_begun():
    assert status_rows(NOTHING) == [
        ("fresh", "no copies yet"),
        ("pages", "0 known"),
        ("overdue", "none"),
        ("visits", "180 today, 432 a day over the last week; budget 500 a day"),
        ("next", "nothing to visit"),
    ]


@pytest.mark.parametrize(("next_visit", "said"), [(20_000.0, "now"), (20_001.5, "in 1.5d")])
def test_next_is_said_in_words(next_visit, said):
    assert status_rows(replace(STATUS, next_visit=next_visit))[-1] == ("next", said)


def test_one_copy_one_visit_and_two_budgets():
    two = [Spent("", 0.5, 0, 0.25), Spent("https://b.org/", 5.0, 1, 1.0)]
    one = replace(STATUS, copies=1, outcomes={Outcome.FIRST: 1}, spent=two, overdue=2)
    said = [sentence for _, sentence in status_rows(one)]

    assert "of 1 copy," in said[0]
    assert said[3] == "2"
    assert said[4].endswith("0.2 a day over the last week; budget 0.5 a day (all others)")
    assert said[5].endswith("budget 5 a day (https://b.org/)")
    assert "of 1 visit in" in said[6]


def test_the_object_has_all_keys_and_is_json():
    figures = json.loads(json.dumps(status_object(STATUS), allow_nan=False))

    assert tuple(figures) == KEYS
    assert [tuple(each) for each in figures["budgets"]] == [BUDGET_KEYS]
    assert figures["at"] == "2024-10-04T00:00:00Z"
    assert figures["fresh"] == 0.9312
    assert (figures["changed"], figures["unchanged"], figures["failed"]) == (25, 70, 5)
    assert figures["changes_per_visit"] == 0.25


def test_what_is_not_known_is_null():
    figures = json.loads(json.dumps(status_object(NOTHING), allow_nan=False))

    assert figures["fresh"] is figures["age_days"] is figures["next_visit"] is None
    assert figures["changes_per_visit"] is None
