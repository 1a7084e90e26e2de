"""What changed between two versions of a page, in lines and as a page."""

import base64
import hashlib
import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html  # type: ignore[import-untyped] # ships no types

from recrawl.detect.diff.line_diff import BlockKind, line_diff
from recrawl.inspect.versions import Comparison, Side
from recrawl.report.diff.data import diff_object, version_columns, version_words
from recrawl.report.diff.html import diff_page
from recrawl.report.diff.lines import heading, readable, shown, summary

LINES = tuple(f"Line {number} stays as it is" for number in range(20))
ALLOWED = {
    *("html", "head", "meta", "title", "style", "body", "header", "h1", "a", "p", "div", "b"),
    *("small", "main", "details", "summary", "ins", "del"),
}

texts = st.text(max_size=20) | st.sampled_from(["<script>alert(1)</script>", "a&amp;b", '">x'])
pages = st.lists(texts, max_size=8)


def comparison(old, new, page="https://a.org/"):
    return Comparison(page, Side(0.0, 10), Side(86_400.25, 1200), 0.25, line_diff(old, new))


def plain(old, new):
    return [line.plain() for line in shown(line_diff(old, new))]


def test_what_is_far_from_a_change_is_counted():
    new = (*LINES[:10], "Line 10 is another", *LINES[11:])

    assert plain(LINES, new) == [
        "  ... 7 lines the same",
        *(f"  {line}" for line in LINES[7:10]),
        "~ Line 10 [-stays as it -]is{+ another+}",
        *(f"  {line}" for line in LINES[11:14]),
        "  ... 6 lines the same",
    ]


def test_a_single_line_is_shown_rather_than_counted():
    new = ("First", *LINES[:7], "Last")

    assert plain(LINES[:7], new) == ["+ First", *(f"  {line}" for line in LINES[:7]), "+ Last"]


def test_what_moved_is_told_at_both_places():
    new = (*LINES[:2], *LINES[15:], *LINES[2:15])

    assert plain(LINES, new) == [
        f"  {LINES[0]}",
        f"  {LINES[1]}",
        "> 5 lines moved up:",
        *(f"> {line}" for line in LINES[15:18]),
        "  ... 2 more lines as they were",
        *(f"  {line}" for line in LINES[2:5]),
        "  ... 7 lines the same",
        *(f"  {line}" for line in LINES[12:15]),
        f"< 5 lines moved up: {LINES[15]}",
    ]
    assert "< 5 lines moved down: Line 15 stays as it is" in plain(new, LINES)


def test_of_a_long_line_only_what_is_near_a_change_is_shown():
    old = " ".join(f"word{number}" for number in range(200))
    (line,) = plain((old,), (old.replace("word100", "sentence"),))

    assert re.fullmatch(r"~ … [\w ]{30,60} \[-word100-\]\{\+sentence\+\} [\w ]{30,60} …", line)


def test_where_a_link_leads_is_shown_only_where_that_changed():
    old = ("See \x10/a our shop and \x10/x this", "\x10/b")

    assert plain(old, ("See \x10/c our shop and \x10/x this", "\x10/b")) == [
        "~ See [-→/a-]{+→/c+} our shop and this",
        "  →/b",
    ]


def test_the_heading_has_both_versions_and_how_much_changed():
    assert heading(comparison(["a", "b 1"], ["a", "b 2", "c"])) == [
        "https://a.org/",
        "from 1970-01-01 00:00:00 (10 bytes) to 1970-01-02 00:00:00 (1,200 bytes), UTC",
        "25 % of the words changed (edited): 1 line changed, 1 added",
    ]
    assert summary(line_diff(["a"], ["a"]), 0.0) == "nothing that counts has changed"


@given(pages, pages)
def test_a_terminal_has_nothing_to_obey(old, new):
    for line in plain(old, new):
        assert line.isprintable()


@given(texts)
def test_readable_text_has_no_marks_of_direction(text):
    assert readable(f"a{text}\u202eb").isprintable()


def test_the_object_has_what_makes_the_new_of_the_old():
    old = ["a line that moves", "costs 1 euro", *LINES[:2], "e f g h"]
    new = ["costs 2 euro", *LINES[:2], "a line that moves", "i j k l"]
    found = json.loads(json.dumps(diff_object(comparison(old, new))))
    made = []
    for block in found["blocks"]:
        if block["kind"] == "same":
            made += old[slice(*block["from"])]
        elif block["kind"] == "added":
            made += block["lines"]
        elif block["kind"] in ("changed", "moved"):
            made += ["".join(t for kind, t in line if kind != "removed") for line in block["lines"]]

    assert made == new
    kinds = [block["kind"] for block in found["blocks"]]
    assert kinds == ["changed", "same", "removed", "moved", "added"]
    assert found["from"] == {"kept_at": "1970-01-01T00:00:00Z", "size_bytes": 10}
    assert found["to"] == {"kept_at": "1970-01-02T00:00:00.250000Z", "size_bytes": 1200}


def test_versions_are_rows():
    sides, shares, gists = [Side(0.0, 5), Side(1.5, 6000)], [float("nan"), 0.005], ["", "edited"]

    assert version_words(sides, shares, gists) == [
        ["1970-01-01 00:00:01", "6,000", "under 1 %", "edited"],
        ["1970-01-01 00:00:00", "5", "-", "-"],
    ]
    columns = version_columns(sides, shares, gists)
    assert str(np.asarray(columns["kept_at"])[1]) == "1970-01-01T00:00:01.500000"
    assert columns["gist"].tolist() == ["", "edited"]


def test_the_page_allows_its_own_style_and_nothing_else():
    page = diff_page(comparison(LINES, LINES[5:]))
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()

    assert f"default-src 'none'; style-src 'sha256-{digest}'" in page
    assert "url(" not in style
    assert "@import" not in style


@given(pages, pages, texts)
def test_the_page_says_what_the_lines_say_and_does_nothing(old, new, address):
    """Whatever the versions hold: read by another's parser, all is text."""
    found = comparison(old, new, page=f"https://a.org/{address}")
    root = html.document_fromstring(diff_page(found))
    attributes = {name for element in root.iter() for name in element.attrib}

    assert {element.tag for element in root.iter()} <= ALLOWED
    assert attributes <= {
        *("lang", "charset", "http-equiv", "content", "name", "href", "rel", "class", "dir", "id"),
    }
    for block in found.diff.blocks:
        if block.kind is BlockKind.ADDED:
            for line in new[slice(*block.new)]:
                assert readable(line) in [each.text_content() for each in root.iter("ins")]


def test_links_between_the_places_of_a_block_lead_somewhere():
    page = html.document_fromstring(diff_page(comparison(LINES, (*LINES[12:], *LINES[:12]))))
    places = {f"#{element.get('id')}" for element in page.iter("div") if element.get("id")}
    links = {link.get("href") for link in page.iter("a")} - {"https://a.org/"}

    assert len(links) == 2
    assert links == places


@pytest.mark.parametrize("page", ["javascript:alert(1)", "data:text/html,x"])
def test_only_an_address_of_the_web_is_a_link(page):
    assert "href" not in diff_page(comparison(["a"], ["b"], page=page))
