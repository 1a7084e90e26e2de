"""What is said of a crawl."""

import json
from dataclasses import replace
from math import inf, isnan, nan

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recrawl.inspect.status.values import (
    BudgetOutlook,
    BudgetUse,
    CrawlStatus,
    FeedCompleteness,
    HostThatLies,
    Learning,
    Target,
    Tenth,
    VisitCount,
)
from recrawl.report.status.object import (
    BUDGET_KEYS,
    HOST_KEYS,
    KEYS,
    LEARNING_KEYS,
    OUTLOOK_KEYS,
    TARGET_KEYS,
    TENTH_KEYS,
    status_object,
)
from recrawl.report.status.status import feed_sentence, status_rows, target_sentences
from recrawl.visits.status import PageStatus, VisitOutcome

STATUS = CrawlStatus(
    at=20_000.0,
    standing={PageStatus.COPIED: 212, PageStatus.NEW: 3, PageStatus.GONE: 1},
    copies=212,
    fresh=(0.9312, 0.9041, 0.9583),
    age=0.2,
    looked_at=212,
    overdue=0,
    next_visit=20_000.0 + 12 / 86_400,
    days=7.5,
    outcomes={
        VisitOutcome.CHANGED: 25,
        VisitOutcome.SAME: 50,
        VisitOutcome.NOT_MODIFIED: 20,
        VisitOutcome.FAILED: 5,
    },
    spent=[BudgetUse("", 500.0, 180, VisitCount(7 * 432.5, 7.0))],
)
MORE = replace(
    STATUS,
    outlooks=[
        BudgetOutlook(0.5, 250.0, (0.80, 0.75, 0.85)),
        BudgetOutlook(1.0, 500.0, (0.90, 0.86, 0.94)),
        BudgetOutlook(2.0, 1000.0, (0.95, 0.92, 0.98)),
    ],
    tenths=[Tenth(0.1, 900.0, 0.15, 0.16, 0.01), Tenth(0.6, 100.0, 0.65, 0.55, 0.05)],
    learning=Learning(visits=1000, looked_at=400, young=20, audits=10, either=28),
    targets=[
        Target("https://a.org/", 0.95, 200, (0.93, 0.90, 0.96), VisitCount(280, 7.0), needed=61.4)
    ],
    hosts_that_lie=[HostThatLies("b.org", "not_modified", 3, 10, 0.1, 0.6)],
    outcomes={VisitOutcome.CHANGED: 25, VisitOutcome.SAME: 70, VisitOutcome.WALLED: 5},
)
NOTHING = replace(
    STATUS,
    standing={},
    copies=0,
    fresh=(nan, nan, nan),
    age=nan,
    next_visit=inf,
    outcomes={},
    days=0.0,
    spent=[BudgetUse("", 500.0, 0, VisitCount(0, 0.0))],
)


def test_a_crawl_in_a_dozen_lines():
    assert status_rows(STATUS) == [
        ("fresh", "93.1 % of 212 copies expected fresh (90.4 to 95.8 %)"),
        ("staleness", "4.8h on average (fresh copies count as 0)"),
        ("pages", "216 known, 3 new, 1 gone"),
        ("overdue", "none"),
        ("visits", "180 today, 432 per day over the last week; budget 500 per day"),
        (
            "found",
            (
                "of 100 visits in the last 7.5d: 25 % changed, 70 % unchanged, 0 % first copies, "
                "5.0 % failed"
            ),
        ),
        ("next", "in 12s"),
    ]


def test_a_crawl_in_all_its_lines():
    said = status_rows(MORE)

    assert [subject for subject, _ in said] == [
        *("fresh", "staleness", "outlook", "target", "pages", "overdue", "visits", "found"),
        *("forecast", "exploration", "distrusted", "next"),
    ]
    sentences = dict(said)
    assert sentences["outlook"] == (
        "90.0 % fresh in the long run (86.0 to 94.0 %), 80.0 % with half the budget, "
        "95.0 % with twice the budget"
    )
    assert sentences["target"] == (
        "likely missed at https://a.org/: 93.0 % fresh (90.0 to 96.0 %), target 95 %; "
        "needs 61 visits per day, gets 40"
    )
    assert sentences["forecast"] == (
        "changes expected at 20 % of the last 1,000 visits, found at 20 %; "
        "worst bin: 65 % expected, 55 % found"
    )
    assert sentences["exploration"] == (
        "7.0 % of the visits of the last week: 5.0 % to pages compared fewer than three times, "
        "2.5 % to audit a response"
    )
    assert sentences["distrusted"] == (
        "b.org said 'not modified' for 3 of 10 changed pages (10 to 60 %)"
    )
    assert sentences["found"].endswith("0 % first copies, 5.0 % walled")


def test_few_forecasts_say_nothing():
    """Of one visit the found share is 0 or 100 %, whatever was expected."""
    few = [replace(MORE, tenths=[Tenth(0.3, visits, 0.35, 0.4, 0.1)]) for visits in (1.0, 49, 50)]
    said = [dict(status_rows(each)).get("forecast") for each in few]

    enough = (
        "changes expected at 35 % of the last 50 visits, found at 40 %; "
        "worst bin: 35 % expected, 40 % found"
    )
    assert said == [None, None, enough]


def test_every_visit_found_something():
    """Outcomes without content are told where there were some, so that the shares add up."""
    outcomes = dict.fromkeys(set(VisitOutcome) - {VisitOutcome.FIRST}, 10)
    said = dict(status_rows(replace(STATUS, outcomes=outcomes)))["found"]

    assert said.endswith(
        "10 % changed, 30 % unchanged, 0 % first copies, 10.0 % failed, 10.0 % walled, "
        "10.0 % gone, 10.0 % moved, 10.0 % refused, 10.0 % duplicate"
    )


def test_no_visits_to_learn_are_none():
    none = replace(MORE, learning=Learning(visits=9, looked_at=9))

    assert dict(status_rows(none))["exploration"] == "no visits in the last week"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"fresh": (0.97, 0.96, 0.98)}, "met at"),
        ({"fresh": (0.96, 0.93, 0.99)}, "likely met at"),
        ({"fresh": (0.80, 0.70, 0.90)}, "missed at"),
        (
            {"needed": nan, "most": 0.913},
            "; out of reach: delays and bounds allow at most 91.3 %; gets 40 visits per day",
        ),
        ({"needed": nan}, ", target 95 %; gets 40 visits per day"),
        ({"copies": 0, "fresh": (nan, nan, nan)}, "https://a.org/: no copies yet"),
    ],
    ids=["met", "likely", "missed", "out of reach", "no cost", "no copies"],
)
def test_a_target_in_words(change, said):
    (sentence,) = target_sentences([replace(MORE.targets[0], **change)])

    assert sentence.startswith(said) or sentence.endswith(said)


def test_of_many_targets_the_missed_ones_are_shown():
    missed = MORE.targets[0]
    met = replace(missed, fresh=(0.99, 0.98, 1.0))
    said = target_sentences([*[met] * 30, *[missed] * 12])

    assert len(said) == 11
    assert said[-1] == "30 of 42 met, 12 missed"
    assert all("missed at" in each for each in said[:-1])


def test_of_many_hosts_that_lie_some_are_named():
    lies = [HostThatLies(f"h{number}.org", "modified", 2, 3, 0.2, 0.9) for number in range(8)]
    said = dict(status_rows(replace(MORE, hosts_that_lie=lies)))["distrusted"]

    assert said.startswith(
        "h0.org gave wrong dates for 2 of 3 changed pages (20 to 90 %), h1.org for 2"
    )
    assert said.endswith("h4.org for 2 of 3 (20 to 90 %), 3 more hosts")


YOUNG = replace(
    MORE,
    days=0.02,
    spent=[BudgetUse("", 500.0, 30, VisitCount(90, 0.02))],
    targets=[replace(MORE.targets[0], lately=VisitCount(12, 0.02))],
)


def test_of_a_young_crawl_nothing_is_told_a_day():
    """Half an hour is no day and no week, and midnight says nothing."""
    said = dict(status_rows(YOUNG))

    assert said["visits"] == "90 in the last 29m; budget 500 per day"
    assert said["target"].endswith("needs 61 visits per day, had 12 visits in the last 29m")
    assert said["found"].startswith("of 100 visits in the last 29m:")
    assert said["exploration"].startswith("7.0 % of all visits so far:")


def test_a_common_budget_that_no_page_draws_on_is_not_shown():
    nobody = BudgetUse("", 500.0, 0, VisitCount(0, 3.0), pages=0)
    site = BudgetUse("https://b.org/", 5.0, 0, VisitCount(0, 3.0), pages=0)

    def visits(*spent):
        rows = status_rows(replace(STATUS, spent=list(spent)))
        return [sentence for subject, sentence in rows if subject == "visits"]

    assert visits(nobody, site) == ["none yet; budget 5 per day (https://b.org/)"]
    assert visits(nobody) == ["none yet; budget 500 per day"]


def test_of_a_crawl_of_days_the_days_are_told():
    spent = [
        BudgetUse("", 500.0, 30, VisitCount(90, 3.0)),
        BudgetUse("https://b.org/", 5.0, 0, VisitCount(0, 3.0)),
    ]
    said = [
        sentence
        for subject, sentence in status_rows(replace(STATUS, spent=spent))
        if subject == "visits"
    ]

    assert said == [
        "30 today, 30 per day over the last 3.0d; budget 500 per day (all others)",
        "none yet; budget 5 per day (https://b.org/)",
    ]


def test_what_was_counted_over_less_than_a_day_is_no_rate_in_the_object():
    figures = status_object(YOUNG)

    (budget,), (target,) = figures["budgets"], figures["targets"]
    assert (budget["visits"], budget["days"], budget["visits_per_day"]) == (90, 0.02, None)
    assert (target["visits"], target["days"], target["visits_per_day"]) == (12, 0.02, None)
    assert status_object(MORE)["budgets"][0]["visits_per_day"] == 432.5


def test_a_crawl_that_has_not_begun():
    assert status_rows(NOTHING) == [
        ("fresh", "no copies yet"),
        ("pages", "0 known"),
        ("overdue", "none"),
        ("visits", "none yet; budget 500 per day"),
        ("next", "nothing to visit yet; `recrawl add https://...` adds a site"),
    ]


def test_a_crawl_without_a_page_says_what_brings_some():
    """Pages that are known and will never be visited are nothing to look for."""
    added, over = replace(NOTHING, blocks=1), replace(STATUS, next_visit=inf)

    assert status_rows(added)[-1][1] == "nothing to visit yet; `recrawl crawl` looks for pages"
    assert status_rows(over)[-1][1] == "nothing to visit"


@pytest.mark.parametrize(("next_visit", "said"), [(20_000.0, "now"), (20_001.5, "in 1.5d")])
def test_next_is_said_in_words(next_visit, said):
    assert status_rows(replace(STATUS, next_visit=next_visit))[-1] == ("next", said)


def test_one_copy_one_visit_and_two_budgets():
    two = [
        BudgetUse("", 0.5, 0, VisitCount(1.75, 7.0)),
        BudgetUse("https://b.org/", 5.0, 1, VisitCount(7, 7.0)),
    ]
    one = replace(STATUS, copies=1, outcomes={VisitOutcome.FIRST: 1}, spent=two, overdue=2)
    said = [sentence for _, sentence in status_rows(one)]

    assert "of 1 copy expected fresh" in said[0]
    assert said[3] == "2"
    assert said[4].endswith("0.2 per day over the last week; budget 0.5 per day (all others)")
    assert said[5].endswith("budget 5 per day (https://b.org/)")
    assert "of 1 visit in" in said[6]


def test_the_object_has_all_keys_and_is_json():
    figures = json.loads(json.dumps(status_object(STATUS), allow_nan=False))

    assert tuple(figures) == KEYS
    assert [tuple(each) for each in figures["budgets"]] == [BUDGET_KEYS]
    assert figures["at"] == "2024-10-04T00:00:00Z"
    assert figures["fresh"] == 0.9312
    assert (figures["changed"], figures["unchanged"], figures["failed"]) == (25, 70, 5)
    assert figures["changes_per_visit"] == 0.25


def test_the_objects_inside_have_all_keys():
    figures = json.loads(json.dumps(status_object(MORE), allow_nan=False))

    assert [tuple(each) for each in figures["outlooks"]] == [OUTLOOK_KEYS] * 3
    assert [tuple(each) for each in figures["forecasts"]] == [TENTH_KEYS] * 2
    assert tuple(figures["learning"]) == LEARNING_KEYS
    assert [tuple(each) for each in figures["targets"]] == [TARGET_KEYS]
    assert [tuple(each) for each in figures["hosts_that_lie"]] == [HOST_KEYS]
    assert figures["outlooks"][2]["fresh"] == 0.95
    assert figures["learning"]["learning_share"] == 0.07
    assert (figures["targets"][0]["met"], figures["targets"][0]["reachable"]) == (False, None)
    assert (figures["walled"], figures["walled_share"]) == (5, 0.05)


def test_a_target_without_copies_is_neither_met_nor_missed():
    none = replace(MORE.targets[0], copies=0, fresh=(nan, nan, nan), needed=nan)
    figures = json.loads(json.dumps(status_object(replace(MORE, targets=[none])), allow_nan=False))

    assert figures["targets"][0]["met"] is figures["targets"][0]["needed_per_day"] is None


def test_what_is_not_known_is_null():
    figures = json.loads(json.dumps(status_object(NOTHING), allow_nan=False))

    assert figures["fresh"] is figures["age_days"] is figures["next_visit"] is None
    assert figures["changes_per_visit"] is None


@given(
    st.floats(1e-6, 30), st.integers(0, 1000), st.lists(st.floats(0, 1e6), min_size=3, max_size=3)
)
@example(2e-5, 0, [0.0, 0.4, 1.0])
@example(2e-5, 0, [0.0, 0.0, 1.0])
def test_the_completeness_of_a_feed_is_never_half_a_figure(days, seen, unseen):
    """A store that is seconds old has seen nothing, and may have missed nothing."""
    low, expected, high = sorted(unseen)
    feed = FeedCompleteness(days, seen, (expected, low, high))
    share, least, most = feed.share

    assert "nan" not in feed_sentence(feed)
    assert isnan(share) == isnan(least) == isnan(most) == (not seen + expected)
    assert isnan(share) or 0 <= least <= share <= most <= 1
