"""Messages: what people want to know, in any markup, whatever a page says."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml.html import fromstring  # type: ignore[import-untyped] # ships no types
from markdown import markdown  # type: ignore[import-untyped] # ships no types

from recrawl.entries.records import FeedEvent
from recrawl.publish.notify.messages import MOST_CHARACTERS, MessageRoom, Notice, message_of
from recrawl.visits.status import FeedKind

MARKUPS = ("text", "markdown", "html")
EVENT = FeedEvent(
    number=7,
    kind=FeedKind.CHANGED,
    page=3,
    address="https://a.org/tea",
    at_seconds=1e9,
    earliest_seconds=1e9 - 3600,
    latest_seconds=1e9,
    likely_seconds=1e9 - 1800,
    visit=9,
    version=bytes(16),
    before=bytes(16),
    share=0.25,
    gist="figures",
    reason=None,
    target=None,
)
TEA = Notice(EVENT, 1, "Tea", ("- It costs 5 euros", "+ It costs 6 euros"))
EVIL = (
    "[Bank](https://evil.example/)",
    "![x](https://evil.example/x.png)",
    "<https://evil.example/|Bank>",
    '<a href="https://evil.example/">Bank</a>',
    "<script>alert(1)</script>",
    "**bold** `code` # heading",
    "@everyone <@123> <!channel>",
    "\x1b[31m\x00\r\nSubject: spoofed\n\nhttps://a.org/",
    "\u202ereversed\u2066",
    "&lt;b&gt;",
    "```\n# broken",
)


def written(*notices, markup="text", most=MOST_CHARACTERS, title="2 changes", most_title=250):
    room = MessageRoom(markup, most, most_title)
    return message_of(
        title,
        notices,
        lambda shown: f"{len(notices) - shown} more pages" * (shown < len(notices)),
        room,
    )


def links(body, markup):
    """Where the links of a message lead, as somebody else's programs read it."""
    page = body if markup == "html" else markdown(body)
    return [link for _, _, link, _ in fromstring(f"<div>{page}</div>").iterlinks()]


def tags(body):
    """Names of the elements of a page."""
    return {each.tag for each in fromstring(f"<div>{body}</div>").iterdescendants()}


def test_a_message_says_what_changed_where_and_when():
    assert written(TEA).body == (
        "Tea: changed: 25 % of the words (figures)\n"
        "https://a.org/tea\n"
        "likely 2001-09-09 01:16:40, seen 2001-09-09 01:46:40 UTC\n"
        "- It costs 5 euros\n"
        "+ It costs 6 euros"
    )


def test_several_changes_of_a_page_are_one_notice():
    said = written(replace(TEA, times=3, remark="it is as it was before", lines=())).body

    assert said.startswith("Tea: changed: 25 % of the words (figures), last of 3 changes\n")
    assert said.endswith("UTC\nit is as it was before")


@pytest.mark.parametrize("markup", MARKUPS)
@pytest.mark.parametrize("evil", EVIL)
def test_no_page_puts_markup_into_a_message(markup, evil):
    """The only links lead to the page, and no tag, control character or mention is left."""
    notice = Notice(EVENT, 1, evil, (f"- {evil}", f"+ {evil}"), remark=evil)
    message = written(notice, markup=markup, title=evil)

    for text in (message.body, message.title):
        assert not any(not letter.isprintable() for letter in text.replace("\n", ""))
        assert "@everyone" not in text
        assert "<@" not in text
    assert "\n" not in message.title
    if markup == "text":  # many services take text for Markdown
        assert links(message.body, "markdown") == []
    else:
        assert set(links(message.body, markup)) == {"https://a.org/tea"}
    if markup == "html":
        assert tags(message.body) == {"b", "br", "a"}
    assert links(message.title, "markdown") == []


@given(st.text(max_size=200), st.sampled_from(MARKUPS))
def test_whatever_a_page_says_it_stays_on_its_lines(text, markup):
    """As many lines as without it, so nothing looks like our own words on a line of their own."""
    plain = written(replace(TEA, title="T", lines=("- a", "+ b")), markup=markup).body
    said = written(replace(TEA, title=text or "T", lines=(f"- {text}", f"+ {text}")), markup=markup)

    assert said.body.count("\n") == plain.count("\n")
    if markup == "html":
        assert set(links(said.body, markup)) == {"https://a.org/tea"}


@pytest.mark.parametrize("address", ["https://a.org/x|Bank", "https://a.org/" + "x" * 400])
@pytest.mark.parametrize("markup", ["markdown", "html"])
def test_an_address_that_is_not_safe_or_whole_is_no_link(markup, address):
    said = written(replace(TEA, event=EVENT._replace(address=address)), markup=markup)

    assert links(said.body, markup) == []


@pytest.mark.parametrize("markup", MARKUPS)
@pytest.mark.parametrize("most", [160, 500, 2000, 4096])
def test_a_message_fits_the_room_of_its_service(markup, most):
    """Lines of the diffs go first, then pages, of which the number is said."""
    many = [
        replace(TEA, event=EVENT._replace(address=f"https://a.org/{number}/"), left=4)
        for number in range(20)
    ]

    body = written(*many, markup=markup, most=most).body

    assert len(body.encode()) <= most
    told = len(set(re.findall(r"a\.org/\d+", body)))
    assert f"{20 - told} more pages" in body or told == 20
    assert told >= (1 if most > 160 else 0)


def test_what_has_no_room_at_all_is_cut():
    assert written(TEA, most=10, title="12 changes at a.org").body == "12 changes"


def test_a_service_without_titles_has_it_in_the_body():
    """It is passed to none that would take it for markup."""
    bold = {"text": "{}", "markdown": "**{}**", "html": "<b>{}</b>"}
    for markup in MARKUPS:
        message = written(TEA, markup=markup, most_title=0)
        assert message.title == ""
        assert message.body.startswith(bold[markup].format("2 changes"))


def test_a_long_title_is_cut():
    assert written(TEA, title="x" * 500, most_title=20).title == "x" * 19 + "…"
