"""Why a page is visited next when it is, in words and as an object."""

from dataclasses import replace
from math import inf, nan

import pytest

from recrawl.inspect.why.binding import Binding
from recrawl.inspect.why.values import Activity, Estimate, Evidence, WhatIf, Why, Worth
from recrawl.report.why.object import (
    ESTIMATE_KEYS,
    EVIDENCE_KEYS,
    KEYS,
    SECTION_KEYS,
    VALUE_KEYS,
    WHAT_IF_KEYS,
    WORTH_KEYS,
    why_object,
)
from recrawl.report.why.words import why_lines, why_rows

NOW = 20_000.0  # midnight of 2024-10-04
FIGURES: dict[str, float | str] = {
    "host": "a.org",
    "budget_per_day": 500.0,
    "between_visits_days": 0.002,
    "pages": 1200,
    "value": 0.5,
    "price": 1.0,
    "share_of_price": 0.5,
    "reaches_price_at": NOW + 0.25,
}
OF_TIMES: dict[str, float | str] = {
    "host": "a.org",
    "times_in_a_row": 3,
    "set_at": NOW + 1,
    "last_visit_at": NOW - 0.5,
    "last_compared_at": NOW - 2,
}
OF_HOST: dict[str, float | str] = {
    "host": "a.org",
    "delay_seconds": 1.0,
    "answer_seconds": 3.0,
    "left_alone_until_at": NOW,
    "pages_of_host": 9000,
    "visits_before": 120,
}
SAID = Why(
    page="https://a.org/x",
    at=NOW,
    status="copied",
    block="https://a.org/",
    next_visit=NOW + 0.25,
    low=NOW + 0.125,
    high=NOW + 0.5,
    constraint="budget",
    figures=FIGURES,
    evidence=Evidence(
        visits=12,
        compared=10,
        changes=4,
        failures=0,
        first_visit=NOW - 10,
        last_visit=NOW - 1,
        last_compared=NOW - 1,
        last_change=NOW - 2,
        outcomes={"first": 1, "same": 6, "changed": 4, "walled": 1},
    ),
    estimate=Estimate(
        rate=0.5, low=0.25, high=1.0, relatives=0.1, own=0.75, fresh=0.6, correction=1.02
    ),
    section=Activity("https://a.org/", pages=30, pace=2.0, value=0.5, even=0.25),
    worth=Worth(0.5, 1.0, NOW + 0.25, ((NOW, 0.5), (NOW + 0.25, 1.0))),
    what_ifs=(
        WhatIf("budget", "500/1d", "1000/1d", NOW + 0.125, moves=True),
        WhatIf("host", "", "free at any time", NOW + 0.25, moves=False),
    ),
    pages=1200,
    simulated=1200,
)


def words(why):
    return [f"{subject}: {sentence}" for subject, sentence in why_rows(why)]


PARAGRAPHS = """
next: in about 6.0h, at 2024-10-04 06:00 UTC (70 % interval: 3.0h to 12h)

because: the budget: 500 visits per day for 1,200 pages go where they are worth more. A visit now
is worth 50 % of the current price; it reaches that in 6.0h.

evidence: 12 visits in 10d; 10 compared it with its copy and found 4 changes, the last 2.0d ago.
Last visit 1.0d ago; 1 visit met a wall.

estimate: changes every 2.0d (90 % interval: 1.0d to 4.0d); 75 % of this rests on its own visits
and dates, similar pages alone suggest every 10d. Its copy is fresh with a probability of 60 %.

section: https://a.org/ (30 pages) is 2 times as active as usual; its recent activity raises the
value of a visit by 100 %. Weekdays and hours are not considered.

value: 50 % now, 100 % in 6.0h (100 % = the least valuable visit being made)

if: in 3.0h with budget = 1000/1d instead of 500/1d: 3.0h sooner

if: unchanged if its host were always free
"""


def test_a_paragraph_a_subject():
    expected = [each.replace("\n", " ") for each in PARAGRAPHS.strip().split("\n\n")]

    assert words(SAID) == expected


@pytest.mark.parametrize(
    ("kind", "figures", "begins"),
    [
        ("no_rule", {"host": "a.org"}, "no rule: no block of the settings covers it"),
        (
            "robots",
            OF_TIMES,
            "robots.txt of a.org forbids it; refused 3 times in a row; the page is visited once",
        ),
        (
            "robots",
            OF_TIMES | {"robots_read_at": NOW - 0.5},
            "robots.txt of a.org forbids it, read",
        ),
        ("recheck", OF_TIMES, "recheck: found gone 3 times in a row"),
        ("retry", OF_TIMES, "retry: the last 3 visits failed; retries back off"),
        ("interval", OF_TIMES | {"interval_days": 1.0}, "interval = 1.0d, a fixed interval"),
        ("maximum", OF_TIMES | {"maximum_days": 7.0}, "maximum = 7.0d; last visit 12h ago."),
        (
            "minimum",
            OF_TIMES | {"minimum_days": 1.0, "ends_at": NOW + 0.5},
            "minimum = 1.0d; last visit 12h ago, none for another 12h.",
        ),
        ("hours", {"first_hour": 22, "end_hour": 6, "opens_at": NOW}, "hours = 22-6 (UTC)"),
        ("host", OF_HOST, "its host: a.org gets at most one request per 9s; 120 visits come"),
        (
            "host",
            OF_HOST | {"left_alone_until_at": NOW + 1, "visits_before": 1},
            "its host: no requests to a.org for another 1.0d; 1 visit comes first",
        ),
        (
            "new",
            FIGURES | {"new_pages": 40, "visits_before": 12},
            "new page: 40 pages have no copy yet; 12 visits come first, at 500 visits per day",
        ),
        (
            "recheck",
            OF_TIMES | {"times_in_a_row": 1, "original": "https://a.org/b", "sign": "content"},
            "recheck: found a copy of https://a.org/b, by its content once; rechecks",
        ),
        (
            "filtered",
            {"refusal": "excluded", "detail": "/x/"},
            'left out: exclude = "/x/" matches it',
        ),
        (
            "filtered",
            {"refusal": "not included", "detail": ""},
            "left out: no pattern of include matches it",
        ),
        (
            "filtered",
            {"refusal": "parameter", "detail": "utm_id", "known_as": "https://a.org/b"},
            "left out: it is the page https://a.org/b; utm_id is dropped",
        ),
        (
            "filtered",
            {"refusal": "repeated", "detail": "a/b"},
            "left out: a/b repeats in it, as in addresses without end (traps = true)",
        ),
        (
            "filtered",
            {"refusal": "trap", "detail": "/c/#", "pages": 9, "barren": 8, "addresses": 1031},
            "left out: of 9 pages like /c/#, 8 brought nothing new, so links to more are not",
        ),
        ("pace", FIGURES, "its turn: no other visit is worth more; 500 visits per day are"),
        ("budget", FIGURES, "the budget: 500 visits per day for 1,200 pages"),
        (
            "budget",
            FIGURES | {"share_of_price": 1.5},
            "the budget: 500 visits per day for 1,200 pages go where they are worth more. A visit ",
        ),
    ],
    ids=str,
)
def test_what_decides_is_named_with_its_figures(kind, figures, begins):
    because = dict(why_rows(replace(SAID, constraint=kind, figures=figures)))["because"]

    assert because.startswith(begins)


def test_everything_that_may_decide_has_words():
    every = FIGURES | OF_TIMES | OF_HOST | {"new_pages": 1, "first_hour": 1, "end_hour": 2}
    every |= {"interval_days": 1.0, "maximum_days": 1.0, "minimum_days": 1.0, "ends_at": NOW}
    every |= {"removed_at": NOW, "refusal": "excluded", "detail": "/x/"}
    for kind in Binding:
        assert dict(why_rows(replace(SAID, constraint=kind.value, figures=every)))["because"]


@pytest.mark.parametrize(
    ("next_visit", "low", "high", "said"),
    [
        (inf, inf, inf, "not scheduled"),
        (NOW, NOW, NOW, "now, if the crawl is running"),
        (NOW + 2, NOW + 2, NOW + 2, "in 2.0d, at 2024-10-06 00:00 UTC"),
        (NOW + 2, NOW + 2, inf, "in 2.0d, at 2024-10-06 00:00 UTC, or later"),
        (NOW + 9, NOW + 6, inf, "in about 9.0d, at 2024-10-13 00:00 UTC; not before 6.0d from now"),
    ],
)
def test_when(next_visit, low, high, said):
    why = replace(SAID, next_visit=next_visit, low=low, high=high)

    assert dict(why_rows(why))["next"] == said


def test_what_is_not_known_is_not_said():
    none = Evidence(0, 0, 0, 0, nan, nan, nan, nan, {})
    why = replace(SAID, evidence=none, estimate=None, section=None, worth=None, what_ifs=())

    assert [subject for subject, _ in why_rows(why)] == ["next", "because", "evidence"]
    assert dict(why_rows(why))["evidence"] == "no visits yet"


def test_a_visit_that_never_comes_and_one_that_comes_later():
    changes = (
        WhatIf("maximum", "7d", "none", inf, moves=True),
        WhatIf("interval", "1d", "none", NOW + 1, moves=True),
        WhatIf("block", "none", "[[page]] https://a.org/x", NOW, moves=True),
    )

    assert words(replace(SAID, what_ifs=changes))[-3:] == [
        "if: never with maximum = none instead of 7d",
        "if: in 1.0d with interval = none instead of 1d: 18h later",
        "if: now with a block [[page]] https://a.org/x: 6.0h sooner",
    ]


def test_signals_are_told():
    signals = {
        "announcements": 1,
        "announced_share": 0.9,
        "false_alarms_per_day": 0.01,
        "asked_at": NOW - 0.5,
    }
    said = replace(SAID, signals=signals)

    assert dict(why_rows(said))["signals"] == (
        "its host announces 90 % of its changes; 1 announcement since the last visit, last "
        "checked 12h ago"
    )
    assert why_object(said)["signals"]["asked_at"] == "2024-10-03T12:00:00Z"


def test_a_hint_is_told():
    """Whether somebody gave it, or a list or a push did."""
    hinted = "a hint, a list or a push says that it has changed, which is right with 90 %"
    announced = {"announcements": 0, "announced_share": 0.5, "asked_at": NOW - 0.5}

    alone = replace(SAID, signals={"hint_chance": 0.9})
    both = replace(SAID, signals={"hint_chance": 0.9, **announced})

    assert dict(why_rows(alone))["signals"] == hinted
    assert dict(why_rows(both))["signals"].startswith(f"{hinted}; its host announces 50 %")
    assert why_object(alone)["signals"] == {"hint_chance": 0.9}


@pytest.mark.parametrize(
    ("last_visit", "since"), [(-1.0, "not visited since"), (0.0, "no visit has reached it since")]
)
def test_when_a_hint_was_given_is_told(last_visit, since):
    seen = replace(SAID.evidence, last_visit=NOW + last_visit)
    signals = {"hint_chance": 0.9, "hinted_at": NOW - 10 / 86_400}

    said = replace(SAID, signals=signals, evidence=seen)

    assert dict(why_rows(said))["signals"] == (
        f"hinted 10s ago, {since}: a hint, a list or a push says that it has changed, which is "
        "right with 90 %"
    )
    assert why_object(said)["signals"]["hinted_at"] == "2024-10-03T23:59:50Z"


def test_a_large_crawl_says_how_many_pages_took_part():
    said = words(replace(SAID, pages=1_000_000, simulated=2_000))

    assert said[-1] == "from: a random sample of 2,000 of 1,000,000 pages"


def test_lines_fit_the_screen_and_name_each_subject_once():
    lines = why_lines(SAID, 60)

    assert all(len(line) <= 60 for line in lines)
    assert lines[:3] == [
        "next      in about 6.0h, at 2024-10-04 06:00 UTC (70 %",
        "          interval: 3.0h to 12h)",
        "because   the budget: 500 visits per day for 1,200 pages go",
    ]
    assert sum(line.startswith("if ") for line in lines) == 1


def test_the_same_as_plain_values():
    found = why_object(SAID)

    assert tuple(found) == KEYS
    assert tuple(found["evidence"]) == EVIDENCE_KEYS
    assert tuple(found["estimate"]) == ESTIMATE_KEYS
    assert tuple(found["section"]) == SECTION_KEYS
    assert tuple(found["worth"]) == WORTH_KEYS
    assert tuple(found["worth"]["values"][0]) == VALUE_KEYS
    assert tuple(found["what_if"][0]) == WHAT_IF_KEYS
    assert found["next_visit"] == "2024-10-04T06:00:00Z"
    assert found["figures"]["reaches_price_at"] == "2024-10-04T06:00:00Z"
    assert found["estimate"]["mean_interval_days"] == 2
    assert found["what_if"][0]["sooner_days"] == 0.125


def test_what_is_not_known_is_none():
    none = Evidence(0, 0, 0, 0, nan, nan, nan, nan, {})
    found = why_object(
        replace(SAID, evidence=none, estimate=None, worth=None, next_visit=inf, low=inf, high=inf)
    )

    assert found["next_visit"] is None
    assert found["next_visit_days"] is None
    assert found["estimate"] is None
    assert found["evidence"]["last_change"] is None


def test_a_visit_that_is_due_now_is_worth_one_figure():
    due = replace(SAID, worth=Worth(1.0, 1.0, NOW, ((NOW, 1.0), (NOW, 1.0), (NOW, 1.0))))

    assert ("value", "100 % now (100 % = the least valuable visit being made)") in why_rows(due)


def test_the_date_of_the_first_response_is_evidence():
    """One visit may teach a lot: a page that was last modified weeks ago changes rarely."""
    seen = replace(SAID.evidence, visits=1, compared=0, changes=0, last_change=nan, first_age=21.0)

    evidence = dict(why_rows(replace(SAID, evidence=seen)))["evidence"]

    assert "the first found a Last-Modified of 3.0w before" in evidence
    assert why_object(replace(SAID, evidence=seen))["evidence"]["first_age_days"] == 21.0


@pytest.mark.parametrize(("correction", "said"), [(1.02, False), (1.38, True), (0.5, True)])
def test_a_correction_is_said_where_it_matters(correction, said):
    assert SAID.estimate is not None
    corrected = replace(SAID.estimate, correction=correction)
    sentence = dict(why_rows(replace(SAID, estimate=corrected)))["estimate"]
    times = f"Pages with such a history changed {correction:.2g} times as often as expected"

    assert (times in sentence) == said
