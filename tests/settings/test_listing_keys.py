"""Blocks `[[listing]]` of the settings: read, and refused with their line."""

import re
from pathlib import Path

import pytest

from recrawl.errors import InvalidSettings
from recrawl.listings.live.rules import ListingRule
from recrawl.parse.items.item import Layout
from recrawl.parse.items.paging import PageParameter
from recrawl.settings.listing_keys import LISTING, NEEDED
from recrawl.settings.settings import read_settings
from recrawl.settings.text import first_settings

FIRST = 'agent = "bot (me@example.org)"\n'
LEAST = (
    FIRST
    + """[[listing]]
name = "jobs"
address = "https://example.org/jobs"
items = "li.job"
key = "a@href"
"""
)
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "crawl.md"


def refusal(text):
    with pytest.raises(InvalidSettings) as raised:
        read_settings(text)
    return str(raised.value)


def test_four_keys_are_enough():
    (rule,) = read_settings(LEAST).listings

    assert rule == ListingRule(
        "jobs",
        ("https://example.org/jobs",),
        Layout("li.job", "a@href"),
        form=None,
        counted=None,
        precision=None,
        recall=0.9,
        confidence=0.8,
        minimum=1 / 24,
        maximum=30.0,
        hours=None,
        local=False,
    )


def test_every_key_is_read():
    text = (
        FIRST
        + """
    [[listing]]
    name = "cars of all kinds"
    address = ["HTTPS://Example.org/a", "https://example.org/b"]
    form = { q = "bmw", year = 2002 }
    page = "start=0+20"
    next = "$.next"
    items = "$.cars[*]"
    key = "id"
    attributes = { make = "make", "price in francs" = "price.chf" }
    precision = 0.8
    confidence = 0.95
    minimum = "2h"
    maximum = "7d"
    hours = "22-6"
    local = true
    """
    )

    (rule,) = read_settings(text).listings

    assert rule == ListingRule(
        "cars of all kinds",
        ("https://example.org/a", "https://example.org/b"),
        Layout("$.cars[*]", "id", {"make": "make", "price in francs": "price.chf"}, "$.next"),
        form=(("q", "bmw"), ("year", "2002")),
        counted=PageParameter("start", 0, 20),
        precision=0.8,
        recall=None,
        confidence=0.95,
        minimum=2 / 24,
        maximum=7.0,
        hours=(22, 6),
        local=True,
    )


def test_attributes_may_stand_in_a_table_of_their_own():
    (rule,) = read_settings(LEAST + '[listing.attributes]\ntitle = "h3"').listings

    assert rule.layout.attributes == {"title": "h3"}


def test_bounds_move_with_what_is_given():
    """A copy that is made every 10 minutes, and one that is made every two months."""
    (often,) = read_settings(LEAST + 'maximum = "10m"').listings
    (seldom,) = read_settings(LEAST + 'minimum = "60d"').listings

    assert often.minimum == often.maximum == pytest.approx(10 / 1440)
    assert seldom.minimum == seldom.maximum == 60.0


@pytest.mark.parametrize("key", NEEDED)
def test_what_must_be_given_is_asked_for(key):
    text = re.sub(rf"^{key} = .*\n", "", LEAST, flags=re.MULTILINE)

    assert refusal(text) == f"recrawl.toml, line 2: [[listing]] must have {key} (got none)"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("page = 1", "page must be a parameter that counts pages such as p, p=0"),
        ('page = "a b"', "page must be a parameter"),
        ('next = "a["', "next must be a CSS selector"),
        ('next = " "', "next must be a CSS selector"),
        ("form = 3", "form must be a table of texts"),
        ("form = { q = true }", "form must be a table of texts"),
        ("form = { q = [] }", "form must be a table of texts"),
        ('attributes = "h3"', "attributes must be a table of selectors"),
        ('attributes = { title = "h3 >" }', "attributes must be a table of selectors"),
        ('attributes = { " " = "h3" }', "attributes must be a table of selectors"),
        ("precision = 90", "precision must be a number between 0 and 1"),
        ("precision = true", "precision must be a number between 0 and 1"),
        ("recall = 0", "recall must be a number between 0 and 1"),
        ("confidence = 0.4", "confidence must be a number from 0.5 to below 1"),
        ("confidence = 1.0", "confidence must be a number from 0.5 to below 1"),
        ('hours = "22"', "hours must be two different hours"),
        ("local = 1", "local must be true or false"),
        ("links = 2", 'unknown key "links" in [[listing]]; it belongs to [[site]] or [[page]]'),
        (
            "weight = 2",
            "weight of a [[listing]] is for detail pages, so it needs detail (got none)",
        ),
        ("detail = 2", "detail must be a CSS selector"),
        ('attribute = "h3"', 'unknown key "attribute" in [[listing]]; did you mean "attributes"?'),
    ],
)
def test_what_cannot_be_right_is_refused_with_its_line(line, said):
    assert refusal(LEAST + line).startswith(f"recrawl.toml, line 7: {said}")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("name", '""'),
        ("name", '" jobs"'),
        ("name", '"two\\nlines"'),
        ("name", "7"),
        ("name", '"' + "x" * 101 + '"'),
        ("address", '"jobs"'),
        ("address", "[]"),
        ("address", '["https://example.org", "ftp://example.org"]'),
        ("address", "{}"),
        ("items", '""'),
        ("items", "7"),
        ("items", '"li >"'),
        ("key", '"@"'),
        ("key", '""'),
    ],
)
def test_values_that_mean_nothing_are_refused(key, value):
    text = re.sub(rf"^{key} = .*$", lambda _: f"{key} = {value}", LEAST, flags=re.MULTILINE)

    assert f": {key} must be " in refusal(text)


def test_a_name_stands_once():
    again = LEAST + LEAST.removeprefix(FIRST)

    assert refusal(again) == ('recrawl.toml, line 8: "jobs" is already a [[listing]]')


def test_bounds_that_cross_are_refused():
    said = refusal(LEAST + 'minimum = "2d"\nmaximum = "1d"')

    assert said == ('recrawl.toml, line 7: minimum must be at most maximum (got "2d" above "1d")')


def test_a_table_in_single_brackets_is_refused():
    said = refusal(FIRST + '[listing]\nname = "jobs"')

    assert "listing must be written as [[listing]] (got [listing])" in said


def test_the_first_settings_explain_listings_by_an_example_that_can_be_used():
    above, mark, blocks = first_settings("bot (me@example.org)").partition("# [[site]]")
    text = above + re.sub(r"^# ", "", mark + blocks, flags=re.MULTILINE)

    (rule,) = read_settings(text).listings

    parts = {"title": "h3", "city": ".city"}
    assert rule.layout == Layout("li.job", "a@href", parts, "a.next", "a@href")
    assert (rule.precision, rule.recall, rule.confidence) == (0.9, 0.9, 0.8)


@pytest.mark.parametrize("key", LISTING)
def test_every_key_is_documented(key):
    assert f"`{key}`" in PAGE.read_text()
