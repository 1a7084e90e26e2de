"""Headers are kept as text that can be stored, compared and shown."""

from hypothesis import given
from hypothesis import strategies as st

from recrawl.fetch.http.headers import headers_of, remark

raw_headers = st.lists(st.tuples(st.binary(min_size=1, max_size=9), st.binary(max_size=30)))


def test_repeated_headers_are_one_list():
    """Which is what a list of values in one header means."""
    raw = [(b"Link", b"<a>"), (b"ETag", b'"1"'), (b"LINK", b"<b>")]

    assert headers_of(raw) == {"link": "<a>, <b>", "etag": '"1"'}


def test_only_so_many_are_kept():
    raw = [(b"x-%d" % number, b"") for number in range(150)]

    assert list(headers_of(raw)) == [f"x-{number}" for number in range(100)]


@given(raw_headers)
def test_any_bytes_become_text_without_control_characters(raw):
    for name, value in headers_of(raw).items():
        assert name == name.lower()
        assert not any(ord(letter) < 32 or 127 <= ord(letter) < 160 for letter in value)
        value.encode()


@given(st.text())
def test_a_remark_is_one_short_line(text):
    line = remark(text)

    assert len(line) <= 203
    assert len(line.splitlines()) <= 1
    assert line.isprintable()
