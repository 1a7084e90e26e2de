"""WebSub: links to hubs, questions of hubs, signatures."""

import hmac
from urllib.parse import parse_qs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.parse.feeds import read_feed
from recrawl.parse.websub import (
    PushLinks,
    is_signed,
    push_links,
    read_question,
    subscription_form,
)

FEED = "https://a.org/feed"
HUB = "https://hub.example/"


@pytest.mark.parametrize(
    "header",
    [
        f'<{HUB}>; rel="hub", <{FEED}>; rel="self"',
        f'<{FEED}>;rel=self;type="text/html, or not",<{HUB}> ; rel = hub',
        f'<{HUB}>; rel="other hub"; title="a; b", <https://b.org/>; rel=hub, <{FEED}>; REL=Self',
    ],
)
def test_a_header_names_hub_and_topic(header):
    assert push_links(header, {}, "https://a.org/f?x=1") == PushLinks(HUB, FEED)


def test_a_header_goes_before_the_text():
    links = {"hub": "https://b.org/", "self": "https://b.org/feed"}

    assert push_links(f"<{HUB}>; rel=hub", links, FEED) == PushLinks(HUB, FEED)
    assert push_links("<https://c.org/>; rel=next", links, FEED) == PushLinks(
        "https://b.org/", "https://b.org/feed"
    )


RSS = b"""<rss><channel>
    <a:link xmlns:a='x' rel='hub' href='https://hub.example/'/>
    <a:link xmlns:a='x' rel='self' href='https://a.org/feed'/>
    <item><link>/1</link></item>
</channel></rss>"""
ATOM = b"""<feed>
    <link rel='self' href='https://a.org/feed'/>
    <link rel='hub' href='https://hub.example/'/>
    <link rel='hub' href='https://b.org/'/>
    <entry><link rel='hub' href='https://c.org/'/></entry>
</feed>"""


@pytest.mark.parametrize("body", [RSS, ATOM])
def test_a_feed_names_hub_and_topic(body):
    """The first hub counts, and none within an entry."""
    assert push_links("", read_feed(body, FEED).links, FEED) == PushLinks(HUB, FEED)


def test_a_topic_stays_as_it_is_written():
    """A hub compares it letter by letter."""
    own = "HTTPS://A.org:443/feed?b=2&a=1"

    assert push_links(f"<{HUB}>; rel=hub, <{own}>; rel=self", {}, FEED).topic == own
    assert push_links(f"<{HUB}>; rel=hub, </f>; rel=self", {}, FEED).topic == "https://a.org/f"


@given(st.text(max_size=300), st.dictionaries(st.sampled_from(["hub", "self"]), st.text()))
def test_links_are_addresses_or_nothing(header, links):
    found = push_links(header, links, FEED)

    assert found.hub.startswith(("http://", "https://")) or found == PushLinks()
    assert not found.hub or found.topic.lower().startswith(("http://", "https://"))
    assert found.topic.isprintable()


@pytest.mark.parametrize("text", ["<" * 8000, '<a>; rel="' * 800, "<a>" + "; " * 4000, "," * 8000])
def test_no_header_takes_long(text):
    assert push_links(text, {}, FEED) == PushLinks()


def test_a_form_says_all_of_a_subscription():
    form = parse_qs(subscription_form(FEED, "https://me.example/x", "secret & more", 60))

    assert form == {
        "hub.mode": ["subscribe"],
        "hub.topic": [FEED],
        "hub.callback": ["https://me.example/x"],
        "hub.secret": ["secret & more"],
        "hub.lease_seconds": ["60"],
    }


@given(st.dictionaries(st.sampled_from([f"hub.{name}" for name in "abc"]), st.text()))
def test_what_no_hub_asks_is_no_question(query):
    assert read_question(query) is None


@pytest.mark.parametrize("challenge", ["", "a\nb", "é", "x" * 2049])
def test_a_challenge_is_short_and_plain(challenge):
    query = {"hub.mode": "subscribe", "hub.topic": FEED, "hub.challenge": challenge}

    assert read_question(query) is None


@pytest.mark.parametrize(
    ("text", "seconds"), [("60", 60), ("-1", 0), ("1e9", 0), ("\uff19", 0), ("", 0)]
)
def test_a_lease_is_a_number_of_seconds(text, seconds):
    query = {"hub.mode": "subscribe", "hub.topic": FEED, "hub.challenge": "x"}

    question = read_question(query | {"hub.lease_seconds": text})

    assert question is not None
    assert question.lease_seconds == seconds


@given(st.binary(max_size=200), st.text(min_size=1, max_size=50), st.sampled_from([256, 384, 512]))
def test_only_the_secret_signs(body, secret, bits):
    digest = hmac.new(secret.encode(), body, f"sha{bits}").hexdigest()

    assert is_signed(body, f"sha{bits}={digest}", secret)
    assert is_signed(body, f"SHA{bits}={digest.upper()} ", secret)
    assert not is_signed(body + b"x", f"sha{bits}={digest}", secret)
    assert not is_signed(body, f"sha{bits}={digest}", secret + "x")
    assert not is_signed(body, digest, secret)


def test_sha1_signs_nothing():
    digest = hmac.new(b"key", b"body", "sha1").hexdigest()

    assert not is_signed(b"body", f"sha1={digest}", "key")
