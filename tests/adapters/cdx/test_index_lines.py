"""CDX lines, read many at once, say what splitting each would say."""

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.adapters.cdx.index_lines import dates, read_index
from recrawl.adapters.imports.foreign_visits import MALFORMED, NOT_A_PAGE, ImportReading
from recrawl.errors import InvalidTable
from recrawl.parse.addresses import canonical
from recrawl.units import microseconds
from recrawl.visits.rows import UNKNOWN_TIME

DIGEST = "B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A"
OTHER = "OSSAPWJ23L56IYVRW3GFEAR4MCJMGPTB"
EMPTY = "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"


def read(*lines, reading=None):
    """Visits as tuples: page, time, status, changed, digest."""
    reading = reading or ImportReading()
    found: list[Any] = []
    for visits in read_index(["".join(f"{line}\n" for line in lines).encode()], reading, "a.cdx"):
        times = np.datetime_as_string(visits.at.view("datetime64[us]"), unit="s")
        assert (visits.last_modified == UNKNOWN_TIME).all()
        found += zip(
            *(visits.page.tolist(), times.tolist(), visits.status.tolist()),
            *(visits.changed.tolist(), visits.digest.tolist()),
            strict=True,
        )
    return found


def line(date="20140126200624", url="http://a.org/", mime="text/html", status="200", digest=DIGEST):
    return f"org,a)/ {date} {url} {mime} {status} {digest} - - 2258 334 a.warc.gz"


def test_a_line_is_a_visit_with_a_digest():
    assert read(line()) == [("http://a.org/", "2014-01-26T20:06:24", 200, -1, DIGEST)]


def test_a_header_says_which_field_is_which():
    header = " CDX a b s k N m"
    reading = ImportReading()

    found = read(
        header, f"http://a.org/x 20140126200624 200 {OTHER} key text/html", reading=reading
    )

    assert found == [("http://a.org/x", "2014-01-26T20:06:24", 200, -1, OTHER)]
    assert not reading.left_out


@pytest.mark.parametrize("rest", ["", " - 1 a.gz", " - - 2 1 a.gz", " - - 2 1 a.gz - - -"])
def test_lines_without_a_header_begin_alike_whatever_follows(rest):
    """Nine fields, eleven, or fourteen with those of what a revisit refers to."""
    begins = f"org,a)/ 20140126200624 http://a.org/ text/html 200 {DIGEST}"

    assert read(begins + rest) == [("http://a.org/", "2014-01-26T20:06:24", 200, -1, DIGEST)]


def test_lines_of_several_widths_stand_in_one_index():
    found = read(line(), line(digest=OTHER) + " - - -", line())

    assert [row[4] for row in found] == [DIGEST, OTHER, DIGEST]


def test_a_revisit_has_the_digest_of_what_it_refers_to():
    (found,) = read(line(mime="warc/revisit", status="-"))

    assert found[2:] == (0, -1, DIGEST)


def test_a_revisit_of_nothing_is_a_304():
    """A host that answered 304 sent nothing, and its digest says only that."""
    found = read(line(mime="warc/revisit", status="-", digest=EMPTY), line(digest=EMPTY))

    assert found[0][2:] == (0, 0, "")
    assert found[1][2:] == (200, -1, EMPTY)  # a page that is empty


@pytest.mark.parametrize(("status", "told"), [("302", 302), ("404", 404), ("503", 503)])
def test_what_is_not_the_page_has_no_digest(status, told):
    (found,) = read(line(status=status))

    assert found[2:] == (told, -1, "")


@pytest.mark.parametrize("status", ["-", "0", "2000", "20", "abc", "999", "099"])
def test_a_status_that_is_none_is_unknown(status):
    (found,) = read(line(status=status))

    assert found[2] == 0


def test_a_304_is_unchanged():
    (found,) = read(line(status="304", digest="-"))

    assert found[2:] == (304, 0, "")


def test_digests_with_a_name_are_as_those_without():
    found = read(line(digest=f"sha1:{DIGEST}"), line(digest="md5:00ff"), line(digest="-"))

    assert [row[4] for row in found] == [DIGEST, "md5:00ff", ""]


def test_what_is_left_out_is_counted():
    reading = ImportReading()

    found = read(
        *(line(), "", "too short", line(date="20140230200624"), line(date="2014"), "\x00\x01"),
        *(line(url="dns:a.org"), line(url="HTTP://A.org:80/x/../b")),
        reading=reading,
    )

    assert [row[0] for row in found] == ["http://a.org/", "http://a.org/b"]
    assert reading.left_out == {MALFORMED: 4, NOT_A_PAGE: 1}
    first = "a.cdx, line 3: must have 6 fields or more (got 'too short')"
    assert reading.first_malformed == first


def test_a_date_that_is_none_is_told_with_its_line():
    """Beyond the first block, too, and below a header."""
    reading, header = ImportReading(), b" CDX N b a m s k r M S V g\n"
    blocks = [header + line().encode() + b"\n", (line(date="20140230200624") + "\n").encode()]

    assert sum(len(visits) for visits in read_index(blocks, reading, "a.cdx")) == 1
    first = "a.cdx, line 3: must have a date of fourteen digits (got '20140230200624')"
    assert reading.first_malformed == first


def test_line_ends_of_other_systems_are_line_ends():
    block = f"{line()}\r\n{line(digest=OTHER)}\r\n".encode()

    (visits,) = read_index([block], ImportReading(), "a.cdx")

    assert visits.digest.tolist() == [DIGEST, OTHER]


def test_a_header_without_addresses_is_refused():
    with pytest.raises(InvalidTable, match=r"^a\.cdx: a CDX header must name b \(the date\)"):
        read(" CDX N m s", line())


fields = st.text("abz019-./:?&%é", min_size=1, max_size=8)
odd_lines = st.lists(fields, min_size=1, max_size=14).map(" ".join)
good_lines = st.builds(
    line,
    date=st.one_of(
        st.datetimes(datetime(1900, 1, 2), datetime(2199, 12, 30)).map(  # noqa: DTZ001 - as digits
            lambda at: at.strftime("%Y%m%d%H%M%S").zfill(14)
        ),
        st.text("0123456789", min_size=13, max_size=15),
    ),
    url=fields.map(lambda text: "http://a.org/" + text),
    mime=st.sampled_from(["text/html", "warc/revisit", "-"]),
    status=st.sampled_from(["200", "-", "301", "304", "404", "99"]),
    digest=st.sampled_from([DIGEST, OTHER, EMPTY, "-", "sha1:" + DIGEST]),
)


def slowly(lines):
    """The same by splitting each line."""
    for text in lines:
        words = text.split(" ")
        if len(words) < 6 or len(words[1]) != 14 or not words[1].isascii():
            continue
        try:
            at = datetime.strptime(words[1], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
        except ValueError:
            continue
        page = canonical(words[2])
        if page is None or not 1900 <= at.year < 2200:
            continue
        code = int(words[4]) if words[4].isdigit() and len(words[4]) == 3 else 0
        code = code if 100 <= code <= 599 else 0
        shown = code == 0 or 200 <= code < 300
        digest = words[5].removeprefix("sha1:") if shown and words[5] != "-" else ""
        unchanged = code == 304 or (words[3] == "warc/revisit" and shown and digest == EMPTY)
        yield page, at, code, 0 if unchanged else -1, "" if unchanged else digest


@given(st.lists(st.one_of(good_lines, good_lines, odd_lines), min_size=1, max_size=8))
def test_any_lines_say_what_splitting_them_says(lines):
    found = read(*lines)

    expected = [
        (page, f"{at:%Y-%m-%dT%H:%M:%S}".zfill(19), code, changed, digest)
        for page, at, code, changed, digest in slowly(lines)
    ]
    assert found == expected


@given(st.integers(-2_000_000_000, 7_000_000_000))
def test_dates_are_those_of_the_calendar(second):
    at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=second)
    text = np.frombuffer(f"{at:%Y%m%d%H%M%S}".zfill(14).encode(), np.uint8)

    found, right = dates(text, np.array([0]), np.array([14]))

    assert right.all()
    assert found[0] == microseconds(at)
