"""Rules of RFC 9309, first by its own examples, then against those who write files to do harm."""

import pickle
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.parse.robots import (
    EVERYTHING_ALLOWED,
    LONGEST_DELAY,
    MOST_BYTES,
    MOST_SITEMAPS,
    NOTHING_ALLOWED,
    read_robots,
    robots_of_answer,
)

SITE = "https://example.org"

SIMPLE = b"""
User-Agent: *
Disallow: *.gif$
Disallow: /example/
Allow: /publications/

User-Agent: foobot
Disallow:/
Allow:/example/page.html
Allow:/example/allowed.gif

User-Agent: barbot
User-Agent: bazbot
Disallow: /example/page.html

User-Agent: quxbot
"""


def allowed(rules, path, agent="recrawl"):
    """Whether a path is allowed by rules for everyone."""
    return read_robots(b"User-agent: *\n" + rules, agent).allows(SITE + path)


@pytest.mark.parametrize(
    ("agent", "path", "is_allowed"),
    [
        ("recrawl", "/example/page.html", False),
        ("recrawl", "/publications/a", True),
        ("recrawl", "/a.gif", False),
        ("recrawl", "/a.gif?b", True),
        ("foobot", "/example/page.html", True),
        ("foobot", "/example/allowed.gif", True),
        ("foobot", "/publications/a", False),
        ("FooBot", "/publications/a", False),
        ("barbot", "/example/page.html", False),
        ("bazbot", "/example/page.html", False),
        ("bazbot", "/example/allowed.gif", True),
        ("quxbot", "/example/page.html", True),
    ],
)
def test_the_simple_example_of_the_standard(agent, path, is_allowed):
    """Section 5.1."""
    assert read_robots(SIMPLE, agent).allows(SITE + path) == is_allowed


def test_the_longest_match_wins():
    """Section 5.2."""
    robots = read_robots(
        b"User-Agent: foobot\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif",
        "foobot",
    )

    assert robots.allows(SITE + "/example/page/a")
    assert not robots.allows(SITE + "/example/page/disallowed.gif")


@pytest.mark.parametrize(
    ("rules", "path", "is_allowed"),
    [
        (b"Disallow: /a\nAllow: /a", "/a", True),  # of equal length: the kinder one
        (b"Allow: /a\nDisallow: /a", "/a", True),
        (b"Disallow:", "/a", True),
        (b"Disallow: /a # all of it", "/a/b", False),
        (b"Disallow: /A", "/a", True),
        (b"disallow : /a", "/a", False),
        (b"Disallow: /a%3Cd", "/a%3cd", False),
        ("Disallow: /ツ".encode(), "/%E3%83%84", False),  # section 2.2.2
        (b"Disallow: /%E3%83%84", "/%E3%83%84", False),
        (b"Disallow: /a%2Fb", "/a/b", True),
        (b"Disallow: /this/path/exactly$", "/this/path/exactly", False),  # section 2.2.3
        (b"Disallow: /this/path/exactly$", "/this/path/exactly/", True),
        (b"Disallow: /this/*/exactly", "/this/a/b/exactly", False),
        (b"Disallow: /*", "/robots.txt", True),
        (b"Disallow: /\xff\xfe", "/b", True),
        (b"\x00\x00\nDisallow: /a", "/a", False),
        (b"Foo: bar\nDisallow: /a", "/a", False),
    ],
)
def test_rules_of_the_standard(rules, path, is_allowed):
    assert allowed(rules, path) == is_allowed


def test_groups_of_one_crawler_are_one_group():
    robots = read_robots(
        b"User-agent: a\nDisallow: /1\n\nUser-agent: *\nDisallow: /\n\nUser-agent: A\nDisallow: /2",
        "a",
    )

    assert [robots.allows(f"{SITE}/{n}") for n in (1, 2, 3)] == [False, False, True]


@pytest.mark.parametrize("ends", [b"\n", b"\r", b"\r\n"])
def test_lines_end_in_three_ways(ends):
    robots = read_robots(
        b"User-agent: *" + ends + b"Disallow: /a" + ends + b"Disallow: /b", "recrawl"
    )

    assert not robots.allows(SITE + "/a")
    assert not robots.allows(SITE + "/b")


@pytest.mark.parametrize("letter", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"])
def test_lines_end_in_no_other_way(letter):
    """Python would see a second line here, which allows everything."""
    robots = read_robots(f"User-agent: *\nDisallow: /\n#{letter}Allow: /".encode(), "recrawl")

    assert not robots.allows(SITE + "/a")


def test_a_mark_before_the_first_line_is_no_part_of_it():
    assert not read_robots(b"\xef\xbb\xbfUser-agent: *\nDisallow: /", "recrawl").allows(SITE + "/a")


def test_a_file_is_read_up_to_its_last_whole_line_within_the_limit():
    """Half of `Disallow: /private` might be `Disallow: /`."""
    start = b"User-agent: *\nDisallow: /a\n#"
    filler = b"x" * (MOST_BYTES - len(start) - len(b"\nDisallow: /"))
    robots = read_robots(start + filler + b"\nDisallow: /private\nDisallow: /late", "recrawl")

    assert not robots.allows(SITE + "/a")
    assert robots.allows(SITE + "/private")
    assert robots.allows(SITE + "/late")
    assert len(robots.body) <= MOST_BYTES


def test_one_endless_line_says_nothing():
    assert read_robots(b"Disallow: /" + b"a" * 10_000_000, "recrawl").body == b""


@pytest.mark.parametrize(
    ("text", "delay"),
    [
        ("43.2", 0.0005),
        ("0", 0.0),
        ("864", 0.01),
        ("1e300", LONGEST_DELAY),
        ("-1", None),
        ("nan", None),
        ("inf", None),
        ("slow", None),
        ("", None),
    ],
)
def test_a_delay_is_in_days_and_bounded(text, delay):
    robots = read_robots(f"User-agent: *\nCrawl-delay: {text}".encode(), "recrawl")

    assert robots.delay == (None if delay is None else pytest.approx(delay))


def test_a_delay_is_the_one_of_the_crawlers_own_group():
    body = b"User-agent: *\nCrawl-delay: 864\n\nUser-agent: ab\nCrawl-delay: 8.64"

    assert read_robots(body, "ab").delay == pytest.approx(1e-4)
    assert read_robots(body, "other").delay == pytest.approx(1e-2)


def test_sitemaps_are_canonical_and_without_repeats():
    robots = read_robots(
        b"Sitemap: HTTPS://Example.org/1\nsitemap: /2\nSitemap: https://example.org/1\n"
        b"Sitemap: ftp://example.org/3\nUser-agent: *\nSitemap: https://other.net/4",
        "recrawl",
    )

    assert robots.sitemaps == ("https://example.org/1", "https://other.net/4")


def test_sitemaps_are_bounded():
    body = b"".join(b"Sitemap: https://example.org/%d\n" % number for number in range(2000))

    assert len(read_robots(body, "recrawl").sitemaps) == MOST_SITEMAPS


@pytest.mark.parametrize(
    ("status", "is_allowed"),
    [
        *((200, False), (204, False), (301, True), (404, True), (401, True), (403, True)),
        *((410, True), (429, False), (500, False), (503, False), (0, False), (999, False)),
    ],
)
def test_an_answer_without_a_file_means_something(status, is_allowed):
    """Section 2.3.1: what is not there allows all, what cannot be reached allows nothing."""
    robots = robots_of_answer(status, b"User-agent: *\nDisallow: /", "recrawl")

    assert robots.allows(SITE + "/a") == is_allowed


def test_the_file_itself_may_always_be_fetched():
    assert NOTHING_ALLOWED.allows(SITE + "/robots.txt")
    assert not NOTHING_ALLOWED.allows(SITE + "/")


@pytest.mark.parametrize("robots", [NOTHING_ALLOWED, EVERYTHING_ALLOWED, read_robots(SIMPLE, "x")])
def test_rules_come_back_from_their_bytes_and_from_other_processes(robots):
    again, pickled = read_robots(robots.body, "x"), pickle.loads(pickle.dumps(robots))  # noqa: S301 - ours

    assert again == pickled == robots
    for path in ("/", "/a.gif", "/example/page.html"):
        address = SITE + path
        assert robots.allows(address) == again.allows(address)
        assert robots.allows(address) == pickled.allows(address)


def _many(line):
    return b"User-agent: *\n" + line * (MOST_BYTES // len(line))


@pytest.mark.parametrize(
    "body",
    [
        b"User-agent: *\nDisallow: /*a*a*a*a*a*a*a*a*a*a*b",
        b"User-agent: *\nDisallow: /" + b"*" * 300_000 + b"b",
        b"User-agent: *\nDisallow: /" + b"*a" * 200_000 + b"b",
        _many(b"Disallow: /*a*a*a*b\n"),
        _many(b"Disallow: /*baaa\n"),
        _many(b"Disallow: /*aaaaaabaaaaaa$\n"),
        _many(b"Allow: /index.html$\n"),
        _many(b"x\n"),
        _many(b"User-agent: a*\n"),
        b"".join(b"User-agent: a%d\n" % n for n in range(12_000)) * 2,
        b"".join(b"User-agent: a%d\n" % n for n in range(12_000)) + _many(b"Allow:/$\n"),
        b"".join(b"user agent a%d\nfoo\n" % n for n in range(6000)) + _many(b"Allow /$\n"),
        b"".join(b"useragent:a%d\nSitemap: a\n" % n for n in range(6000)) + _many(b"Allow:/$\n"),
        b"".join(b"User-agent: a%d\nDisallow: /\n" % n for n in range(15_000)),
    ],
)
def test_no_file_takes_long(body):
    """Patterns that blow up backtracking matchers, and groups that multiply rules by crawlers."""
    began = time.process_time()
    robots = read_robots(body, "recrawl")
    for _ in range(3):
        robots.allows(SITE + "/" + "a" * 2000)

    assert time.process_time() - began < 5  # a tenth of it on an idle machine


def test_the_bomb_of_wildcards_still_means_what_it_says():
    rule = b"Disallow: /*a*a*a*a*a*a*a*a*a*a*b"

    assert allowed(rule, "/" + "a" * 2000)
    assert not allowed(rule, "/" + "a" * 2000 + "b")
    assert allowed(rule, "/" + "a" * 9 + "b")


def test_a_file_costs_no_more_than_its_rules_for_us():
    """500 crawlers with 450 rules each: 3.7 kB as gzip, and once 17 MB in memory."""
    crawlers = b"".join(b"User-agent: a%d\n" % number for number in range(500))
    rules = b"".join(b"Disallow: /%d\n" % number for number in range(450))
    body = crawlers + rules + b"User-agent: *\nDisallow: /private\n"

    assert read_robots(body, "recrawl").body == b"User-agent: *\nDisallow: /private\n"
    assert not read_robots(body, "a7").allows(SITE + "/449")


@pytest.mark.parametrize(
    ("group", "ours"),
    [
        ("sec-bot", True),
        ("Sec-Bot/1.0", True),
        ("SEC-BOT (+https://example.org)", True),
        ("sec-bot*", True),
        ("s", False),
        ("sec", False),
        ("sec-bot-news", False),
    ],
)
def test_a_group_names_a_crawler_by_its_whole_token(group, ours):
    """Whatever version it names; a group for others lifts no ban of that for all."""
    body = f"User-agent: {group}\nAllow: /\n\nUser-agent: *\nDisallow: /\n".encode()

    assert read_robots(body, "sec-bot").allows(SITE + "/a") == ours


@pytest.mark.parametrize("ends", ["", "*", " # again"], ids=["same", "starred", "remarked"])
def test_a_file_with_more_wildcards_than_can_be_tried_keeps_everyone_out(ends):
    """Each is tried on every address: sixty thousand of them took minutes for one page's links."""
    rules = b"".join(b"Allow: /*%d\n" % number for number in range(600))
    once = b"User-agent: bot\n" + rules
    twice = once + f"User-agent: BOT{ends}\n".encode() + rules

    assert read_robots(once, "bot").allows(SITE + "/")
    assert not read_robots(twice, "bot").allows(SITE + "/")
    assert read_robots(once + b"User-agent: other\n" + rules, "bot").allows(SITE + "/")


def test_long_honest_files_are_read():
    """Some name hundreds of crawlers, and some have tens of thousands of rules."""
    crawlers = b"".join(b"User-agent: bot%d\n" % number for number in range(600))
    rules = b"".join(b"Disallow: /%d/\n" % number for number in range(20_000))
    body = crawlers + b"Disallow: /\n" * 200 + b"\nUser-agent: *\n" + rules
    robots = read_robots(body, "recrawl")

    assert not read_robots(body, "bot7").allows(SITE + "/")
    assert robots.allows(SITE + "/")
    assert not robots.allows(SITE + "/19999/a")


_lines = st.lists(
    st.builds(
        lambda field, colon, value: field + colon + value,
        st.sampled_from(
            [
                *("User-agent", "useragent", "Disallow", "Allow", "Crawl-delay", "Sitemap"),
                *("Request-rate", "Visit-time", "Host", "", "\ufeff"),
            ]
        ),
        st.sampled_from([":", ": ", " ", ""]),
        st.text(max_size=10) | st.sampled_from(["*", "/", "/*$", "1", "1/1s", "0400-0500", "%"]),
    )
).map(lambda lines: "\n".join(lines).encode("utf-8", "surrogatepass"))


@given(st.binary() | _lines, st.text(max_size=10))
def test_any_bytes_are_rules(body, agent):
    robots = read_robots(body, agent)

    assert robots.allows(SITE + "/a?b") in {True, False}
    delay = robots.delay
    assert delay is None or 0 <= delay <= LONGEST_DELAY
    assert all(address.startswith("http") for address in robots.sitemaps)


@given(st.lists(st.sampled_from(["a", "b", "*", "/"])), st.lists(st.sampled_from(["a", "b", "/"])))
def test_wildcards_match_as_if_every_way_were_tried(pattern, path):
    """The oracle tries all ways to fill each wildcard."""
    rule, text = "/" + "".join(pattern), "/" + "".join(path)
    reached = {0}
    for letter in rule:
        if letter == "*":
            reached = set(range(min(reached), len(text) + 1)) if reached else set()
        else:
            reached = {place + 1 for place in reached if text[place : place + 1] == letter}

    assert allowed(f"Disallow: {rule}".encode(), text) == (not reached)
