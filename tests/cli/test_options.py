from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.cli.options import moment, past, renamed
from recrawl.errors import InvalidInstant, InvalidParameter
from recrawl.settings.keys import size_of

OURS = ("page", "visited_at", "changed")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1000", 1000),
        ("1K", 1024),
        ("1k", 1024),
        ("1KB", 1024),
        ("500M", 500 * 2**20),
        ("2G", 2**31),
        ("1.5g", 3 * 2**29),
        ("1T", 2**40),
        (" 2G ", 2**31),
        ("2 GB", 2**31),
    ],
)
def test_a_size_is_a_number_and_a_unit(text, expected):
    assert size_of(text, "memory") == expected


@pytest.mark.parametrize(
    "text", ["", "0", "0.0G", "G", "lots", "-1G", "1e3", "2GiB", "inf", "9" * 400, "2\u212a"]
)
def test_another_size_is_refused(text):
    with pytest.raises(InvalidParameter) as refusal:
        size_of(text, "memory")

    assert str(refusal.value) == f"memory must look like 500M or 2G (got {text!r})"


@given(st.integers(1, 2**50))
def test_plain_bytes_are_exact(number):
    assert size_of(str(number), "memory") == number


def test_columns_are_renamed():
    assert renamed(["page=url", "changed=new=old"], OURS) == {"page": "url", "changed": "new=old"}


@pytest.mark.parametrize("pair", ["page", "page=", "=url", "pages=url", "url=page", ""])
def test_another_pair_of_names_is_refused(pair):
    with pytest.raises(InvalidParameter) as refusal:
        renamed([pair], OURS)

    rule = "column must look like OURS=THEIRS with OURS one of page, visited_at, changed"
    assert str(refusal.value) == f"{rule} (got {pair!r})"


def test_a_column_has_one_other_name():
    """Which of two is meant, nobody can tell."""
    with pytest.raises(InvalidParameter):
        renamed(["page=url", "page=address"], OURS)


def test_an_instant_may_be_given():
    assert moment("2026-01-02") == datetime(2026, 1, 2, tzinfo=UTC)


def test_no_instant_is_the_present():
    before = datetime.now(UTC)

    assert before <= moment("") <= before + timedelta(hours=1)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("1970-01-02", 86_400), ("1970-01-01T01:00Z", 3600), ("100000000", 100_000_000)],
)
def test_a_time_in_the_past_is_an_instant(text, seconds):
    assert past(text, "--from") == seconds


def test_a_time_in_the_past_may_be_told_from_now():
    before = datetime.now(UTC).timestamp() - 3 * 86_400

    assert before <= past(" 3d", "--from") <= before + 3600


@pytest.mark.parametrize("text", ["soon", "3 days", "3q", "d", "2026-13-01"])
def test_another_time_in_the_past_is_refused_by_the_name_of_its_option(text):
    with pytest.raises(InvalidInstant) as refusal:
        past(text, "--from")

    assert str(refusal.value) == (
        f"--from must be a time such as 2026-01-05, or 3d for 3 days ago (got {text!r})"
    )


def test_another_instant_is_refused():
    with pytest.raises(InvalidInstant, match=r"\(got 'soon'\)$"):
        moment("soon")
