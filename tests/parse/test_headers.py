"""Headers are as hostile as pages; the oracle for types is the mail reader of Python."""

import math
from email.message import Message

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.parse.headers import (
    LONGEST_WAIT,
    Validators,
    content_type,
    retry_after,
    validators,
)

DAY_2 = "Fri, 02 Jan 1970 00:00:00 GMT"
DAY_3 = "Sat, 03 Jan 1970 00:00:00 GMT"

_texts = st.text() | st.text(alphabet='abc=;,"\\/ \t0123456789-W')


@pytest.mark.parametrize("etag", ['"a"', 'W/"a"', '""', '"' + "a" * 510 + '"', '"!#~"'])
def test_an_entity_tag_is_kept_as_sent(etag):
    assert validators({"etag": f" {etag} "}).etag == etag


@pytest.mark.parametrize(
    "etag",
    [
        *("", "a", '"', '"a', 'w/"a"', '"a" "b"', '"a", "b"', '"a b"', '"a\r\nX: y"'),
        *('"\x00"', '"\x7f"', '"ü"', '"' + "a" * 511 + '"'),
    ],
)
def test_what_is_no_entity_tag_is_left_out(etag):
    """It would be sent back as a header of ours."""
    assert validators({"etag": etag}).etag == ""


def test_last_modified_is_read_to_the_epoch():
    assert validators({"last-modified": DAY_2}).modified == 86400.0
    assert validators({"last-modified": "Thu, 01 Jan 1970 00:00:00 GMT"}).modified == 0.0


@pytest.mark.parametrize("headers", [{}, {"last-modified": "yesterday"}, {"etag": "", "x": "y"}])
def test_nothing_said_is_nothing_known(headers):
    found = validators(headers)

    assert found.etag == Validators().etag == ""
    assert math.isnan(found.modified)


@pytest.mark.parametrize(
    ("text", "wait"),
    [
        ("0", 0.0),
        ("86400", 1.0),
        (" 43200 ", 0.5),
        ("0.864", 1e-5),
        ("-5", 0.0),
        ("9" * 400, LONGEST_WAIT),
        (DAY_3, 1.0),
        (DAY_2, 0.0),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
        ("Thu, 01 Jan 2100 00:00:00 GMT", LONGEST_WAIT),
        ("", None),
        ("soon", None),
        ("nan", None),
        ("inf", None),
        ("1e3", None),
        ("\u0661", None),
    ],
)
def test_a_wait_is_seconds_or_a_date(text, wait):
    assert retry_after(text, now_seconds=86400.0) == (None if wait is None else pytest.approx(wait))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("text/html", ("text/html", None)),
        ("Text/HTML;charset=UTF-8", ("text/html", "utf-8")),
        ('text/html; a="b;charset=x"; charset = "iso-8859-1"', ("text/html", "iso-8859-1")),
        ("text/html; charset=utf-8; charset=x", ("text/html", "utf-8")),
        ("text/html; charset=", ("text/html", None)),
        ("text/html; charset=../../a", ("text/html", None)),
        ("application/rss+xml ; x", ("application/rss+xml", None)),
        ("", ("", None)),
        ("html", ("", None)),
        ("text/html, text/plain", ("", None)),
        ("text/<b>", ("", None)),
    ],
)
def test_a_type_may_have_a_charset(text, found):
    assert content_type(text) == found


@given(
    st.from_regex(
        r"[a-z]{1,5}/[a-z+]{1,5}(; ?[a-z]{1,3}=[a-z]{1,3})?(; ?charset=[a-z0-9-]{1,8})?",
        fullmatch=True,
    )
)
def test_types_are_read_as_mail_does(text):
    message = Message()
    message["content-type"] = text
    charset = message.get_param("charset")

    mime, found = content_type(text)

    assert mime == message.get_content_type()
    assert found == (charset if charset and charset[0] != "-" else None)


@given(_texts, st.floats(0, 4e9))
def test_no_header_breaks_the_reading(text, now_seconds):
    wait = retry_after(text, now_seconds)

    assert wait is None or 0 <= wait <= LONGEST_WAIT
    assert validators({"etag": text, "last-modified": text}).etag in {"", text.strip()}
    assert isinstance(content_type(text), tuple)


@pytest.mark.timeout(10)
@pytest.mark.parametrize("piece", [';a="', ',a="\\', "; ", "a=", '"', "\\", "\t"])
def test_long_headers_take_no_time(piece):
    text = "text/html" + piece * 1_000_000

    assert content_type(text)[1] is None
    validators({"etag": text, "last-modified": text})
    retry_after(text, 0.0)
