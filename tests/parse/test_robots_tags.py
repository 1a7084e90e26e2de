"""What pages ask of crawlers, in headers and tags."""

import time
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.fetch.http.headers import headers_of
from recrawl.parse.dates import w3c_date
from recrawl.parse.messages import Response
from recrawl.parse.robots_tags import RobotsTags, read_robots_tags
from recrawl.visits.status import NO_TAG, RobotsTag

INDEX, FOLLOW, ARCHIVE = RobotsTag.NOINDEX, RobotsTag.NOFOLLOW, RobotsTag.NOARCHIVE
ADDRESS = "https://example.org/"


def asked(*headers, body=b"", mime="text/html", agent="our-bot"):
    """What a response with such headers `X-Robots-Tag` asks."""
    raw = [(b"X-Robots-Tag", header.encode()) for header in headers]
    found = headers_of([(b"Content-Type", mime.encode()), *raw])
    return read_robots_tags(Response(ADDRESS, 200, found, body), agent)


@pytest.mark.parametrize(
    ("headers", "tags"),
    [
        ([], NO_TAG),
        ([""], NO_TAG),
        (["noarchive"], ARCHIVE),
        (["NoArchive"], ARCHIVE),
        (["nocache"], ARCHIVE),
        (["none"], INDEX | FOLLOW),
        (["all"], NO_TAG),
        (["index, follow, archive"], NO_TAG),
        (["noindex, nofollow"], INDEX | FOLLOW),
        (["noindex,,  nofollow ,"], INDEX | FOLLOW),
        (["nosnippet, noimageindex, noai, noimageai, notranslate"], NO_TAG),
        (["max-snippet: 20, noarchive"], ARCHIVE),
        # For whom a list is.
        (["our-bot: noarchive"], ARCHIVE),
        (["Our-Bot/2.0: noarchive"], ARCHIVE),
        (["*: noarchive"], ARCHIVE),
        (["other-bot: noarchive"], NO_TAG),
        (["our: noarchive"], NO_TAG),
        (["other-bot: noindex, nofollow"], NO_TAG),
        (["our-bot: noindex, nofollow"], INDEX | FOLLOW),
        (["other-bot: noindex, our-bot: nofollow"], FOLLOW),
        (["noindex, other-bot: nofollow"], INDEX),
        # All that concern us hold together.
        (["noindex", "our-bot: nofollow"], INDEX | FOLLOW),
        (["all", "our-bot: noarchive"], ARCHIVE),
        (["noarchive", "our-bot: all"], ARCHIVE),
        (["other-bot: noindex", "noarchive"], ARCHIVE),
        (["other-bot: noindex, nofollow", "max-snippet: 3"], NO_TAG),
    ],
)
def test_headers_ask(headers, tags):
    assert asked(*headers) == RobotsTags(tags)


@pytest.mark.parametrize(
    ("page", "tags"),
    [
        (b"<p>robots noarchive", NO_TAG),
        (b"<meta name=robots content=noarchive>", ARCHIVE),
        (b'<META NAME="Robots" CONTENT="NOARCHIVE, NoIndex">', ARCHIVE | INDEX),
        (b"<meta content='none' name='robots'/>", INDEX | FOLLOW),
        (b'<meta\n name="robots"\n content="no&#105;ndex">', INDEX),
        (b"<meta name=' robots ' content='noindex nofollow'>", INDEX | FOLLOW),
        (b"<meta name=our-bot content=noarchive>", ARCHIVE),
        (b"<meta name=other-bot content=noarchive>", NO_TAG),
        (b"<meta name=googlebot content=noindex><meta name=robots content=nofollow>", FOLLOW),
        (
            b"<meta name=robots content=noindex><p><meta name=our-bot content=nofollow>",
            INDEX | FOLLOW,
        ),
        (b"<meta name=robots content=all><meta name=robots content=noarchive>", ARCHIVE),
        (b"<meta name=description content='robots: noarchive'>", NO_TAG),
        (b"<meta name=robots>", NO_TAG),
        # Anywhere in the page, but not where nothing is a tag.
        (b"<body><p>a<div><meta name=robots content=noarchive></div>", ARCHIVE),
        (b"<!-- <meta name=robots content=noarchive> -->", NO_TAG),
        (b"<script>'<meta name=robots content=noarchive>'</script>", NO_TAG),
        (b"<title><meta name=robots content=noarchive></title>", NO_TAG),
        (b"<!-- <meta name=robots content=noindex> --><meta name=robots content=nofollow>", FOLLOW),
        (b"<meta name=robots content=noarchive", NO_TAG),
        ("<title>été</title><meta name=robots content=noarchive>".encode("utf-16"), ARCHIVE),
        ("<p>日本<meta name=robots content=noarchive>".encode("shift_jis"), ARCHIVE),
    ],
)
def test_tags_of_a_page_ask(page, tags):
    assert asked(body=page) == RobotsTags(tags)


@pytest.mark.parametrize("mime", ["application/xhtml+xml", "TEXT/HTML; charset=utf-8", ""])
def test_pages_have_tags(mime):
    assert asked(body=b"<meta name=robots content=noindex>", mime=mime).tags == INDEX


@pytest.mark.parametrize("mime", ["text/plain", "application/json", "application/pdf"])
def test_what_is_no_page_has_headers_only(mime):
    page = b"<meta name=robots content=noindex>"

    assert asked("noarchive", body=page, mime=mime).tags == ARCHIVE


def test_a_header_and_a_tag_ask_together():
    assert asked("noindex", body=b"<meta name=robots content=noarchive>").tags == INDEX | ARCHIVE


@pytest.mark.parametrize(
    ("written", "date"),
    [
        ("25 Jun 2027 15:00:00 PST", "2027-06-25T23:00:00"),
        ("Friday, 25-Jun-27 15:00:00 GMT", "2027-06-25T15:00:00"),
        ("Fri, 25 Jun 2027 15:00:00 GMT", "2027-06-25T15:00:00"),
        ("2027-06-25T15:00:00+01:00", "2027-06-25T14:00:00"),
        ("2027-06-25", "2027-06-25"),
    ],
)
@pytest.mark.parametrize("form", ["{}", "our-bot: {}", "noindex, {}", "{}, noindex"])
def test_a_page_may_be_unavailable_after_a_date(written, date, form):
    header = form.format(f"unavailable_after: {written}")
    tags = INDEX if "noindex" in form else NO_TAG

    for found in (asked(header), asked(body=f"<meta name=robots content='{header}'>".encode())):
        assert (found.tags, found.unavailable_after) == (tags, w3c_date(date))
        assert found.at(found.unavailable_after - 1) == tags
        assert found.at(found.unavailable_after) == tags | ARCHIVE


def test_what_is_no_date_says_nothing():
    assert asked("unavailable_after: soon, noindex") == RobotsTags(INDEX)
    assert asked("other-bot: unavailable_after: 2020-01-01") == RobotsTags(NO_TAG, inf)


def test_the_first_of_several_dates_counts():
    found = asked("unavailable_after: 2028-01-01", "unavailable_after: 2027-01-01")

    assert found.unavailable_after == w3c_date("2027-01-01")


@given(st.lists(st.text(max_size=40), max_size=4), st.binary(max_size=200), st.text(max_size=9))
def test_whatever_comes_is_read(headers, body, agent):
    found = asked(*headers, body=b"<meta name=robots content='" + body, agent=agent)

    assert found.tags <= INDEX | FOLLOW | ARCHIVE


@given(
    st.lists(
        st.sampled_from(["noindex", "none", "noarchive", "all", "our-bot: nofollow", "b: none"]),
        max_size=5,
    )
)
def test_one_more_header_never_asks_less(headers):
    for count in range(len(headers)):
        fewer, more = asked(*headers[:count]).tags, asked(*headers[: count + 1]).tags
        assert fewer & more == fewer


@pytest.mark.parametrize(
    "piece",
    [b"<meta name=robots x='", b"<meta ", b"<meta robots", b"<!--<meta robots>", b"<meta <"],
)
def test_a_hostile_page_takes_linear_time(piece):
    """Eight times the page takes at most twenty times as long, and a megabyte under two seconds."""

    def seconds(size):
        page = Response(ADDRESS, 200, {}, piece * (size // len(piece)))
        began = time.process_time()
        read_robots_tags(page, "our-bot")
        return time.process_time() - began

    small = min(seconds(1 << 17) for _ in range(3))
    large = min(seconds(1 << 20) for _ in range(2))
    assert large < max(20 * small, 0.1)
    assert large < 2


def test_a_page_without_tags_is_not_decoded():
    """A look for the name is all that most pages cost: far less than to read one."""
    body = b"<meta charset=utf-8><p>no robots here</p>" * 10_000
    page = Response(ADDRESS, 200, {"content-type": "text/html"}, body)
    began = time.process_time()
    for _ in range(20):
        read_robots_tags(page, "our-bot")
    took = time.process_time() - began
    began = time.process_time()
    for _ in range(20):
        body.lower().count(b"<p>")
    assert took < 40 * (time.process_time() - began)
