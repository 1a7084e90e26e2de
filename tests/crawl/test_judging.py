"""What an answer says of its page, by hand."""

import math

import pytest

from recrawl.crawl.judging import judged
from recrawl.fetch.fetcher import Answer
from recrawl.frontier.rules import Rule
from recrawl.units import SECONDS_A_DAY, http_text

PAGE = "https://example.org/"
DAY = SECONDS_A_DAY
FIRST = judged(PAGE, Answer(PAGE, 200, {}, b"one"), None, Rule(PAGE), before=None, now=DAY)


def judge(answer, *, known=FIRST.copy, rule=None, before=DAY, now=3 * DAY):
    return judged(PAGE, answer, known, rule or Rule(PAGE), before=before, now=now)


def test_a_change_that_is_dated_between_two_visits_has_an_age():
    dated = {"last-modified": http_text(2 * DAY)}

    assert judge(Answer(PAGE, 200, dated, b"two")).age == pytest.approx(1.0)


@pytest.mark.parametrize("at", [0.5 * DAY, 3 * DAY - 1, 4 * DAY])
def test_a_date_that_cannot_be_that_of_the_change_says_nothing(at):
    """Before the last visit, made for this visit, and in the future."""
    assert math.isnan(judge(Answer(PAGE, 200, {"last-modified": http_text(at)}, b"two")).age)


@pytest.mark.parametrize("status", [0, 100, 204, 206, 301, 401, 403, 418, 500, 503])
def test_no_other_status_says_anything_of_the_page(status):
    judgement = judge(Answer(PAGE, status, {}, b"two"))

    assert judgement.outcome.label == "failed"
    assert judgement.copy is None
    assert judgement.body is None


def test_not_modified_without_a_copy_says_nothing():
    assert judge(Answer(PAGE, 304), known=None).outcome.label == "failed"


def test_not_modified_may_bring_other_validators():
    judgement = judge(Answer(PAGE, 304, {"etag": '"2"'}))

    assert judgement.outcome.label == "not_modified"
    assert judgement.copy is not None
    assert FIRST.copy is not None
    assert judgement.copy.etag == '"2"'
    assert judgement.copy.bytes_signature == FIRST.copy.bytes_signature


def test_validators_of_another_address_are_not_kept():
    answer = Answer("https://example.org/other", 200, {"etag": '"2"'}, b"two")

    assert judge(answer).copy.etag is None


def test_only_what_is_watched_counts():
    rule = Rule(PAGE, watch=(".price",))
    html = {"content-type": "text/html"}
    before = judge(Answer(PAGE, 200, html, b"<p class=price>5</p>x"), known=None, rule=rule)

    other = judge(Answer(PAGE, 200, html, b"<p class=price>5</p>y"), known=before.copy, rule=rule)
    price = judge(Answer(PAGE, 200, html, b"<p class=price>6</p>x"), known=before.copy, rule=rule)

    assert (other.outcome.label, price.outcome.label) == ("cosmetic", "changed")


def test_of_what_is_no_page_in_html_everything_counts():
    plain = {"content-type": "text/plain"}
    before = judge(Answer(PAGE, 200, plain, b"a <b>"), known=None)

    assert judge(Answer(PAGE, 200, plain, b"a <c>"), known=before.copy).outcome.label == "changed"
