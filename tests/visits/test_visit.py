from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl import AnswerKind, Flag, Visit
from recrawl.errors import InvalidHistory
from recrawl.visits.visit import answer_of, flag_names

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def test_a_visit_needs_a_page_and_an_instant_only():
    visit = Visit("/a", NOON)

    assert (visit.changed, visit.last_modified, visit.answer) == (None, None, AnswerKind.OK)


def test_any_zone_will_do():
    elsewhere = NOON.astimezone(timezone(timedelta(hours=-8)))

    assert Visit("/a", elsewhere) == Visit("/a", NOON)


@pytest.mark.parametrize("name", ["at", "last_modified"])
def test_an_instant_without_a_zone_is_refused(name):
    naive = NOON.replace(tzinfo=None)

    with pytest.raises(InvalidHistory) as refusal:
        Visit(**{"page": "/a", "at": NOON} | {name: naive})

    sentence = f"page '/a': {name} must be an aware datetime (got 2026-01-01 12:00:00)"
    assert str(refusal.value) == sentence


@pytest.mark.parametrize(
    ("status", "answer"),
    [
        ("200", AnswerKind.OK),
        ("206", AnswerKind.OK),
        ("301", AnswerKind.OK),
        ("304", AnswerKind.NOT_MODIFIED),
        ("404", AnswerKind.GONE),
        ("410", AnswerKind.GONE),
        ("429", AnswerKind.FAILED),
        ("503", AnswerKind.FAILED),
        ("ok", AnswerKind.OK),
        ("failed", AnswerKind.FAILED),
        ("gone", AnswerKind.GONE),
        ("", AnswerKind.OK),
        (" GONE ", AnswerKind.GONE),
    ],
)
def test_a_status_is_a_code_or_a_word(status, answer):
    assert answer_of(status) is answer


@given(st.integers(100, 599))
def test_only_answered_requests_are_visits(code):
    """2xx and 3xx answer; 404 and 410 tell that the page is gone; all else tells nothing."""
    exceptions = {304: AnswerKind.NOT_MODIFIED, 404: AnswerKind.GONE, 410: AnswerKind.GONE}
    plain = AnswerKind.OK if code // 100 in (2, 3) else AnswerKind.FAILED

    assert answer_of(str(code)) is exceptions.get(code, plain)


@pytest.mark.parametrize(
    "status", ["0", "99", "600", "-200", "200.5", "fine", "\uff12\uff10\uff10", "nan"]
)
def test_another_status_is_refused(status):
    with pytest.raises(InvalidHistory) as refusal:
        answer_of(status)

    sentence = f"status must be an HTTP code, ok, failed or gone (got {status!r})"
    assert str(refusal.value) == sentence


def test_a_status_of_thousands_of_digits_is_refused_in_one_line():
    with pytest.raises(InvalidHistory) as refusal:
        answer_of("2" * 5000)

    assert len(str(refusal.value)) < 150


@given(st.sets(st.sampled_from(list(Flag))))
def test_flags_are_named_as_files_write_them(flags):
    bits = sum(flags)

    assert flag_names(bits) == [str(flag.name).lower() for flag in sorted(flags)]
