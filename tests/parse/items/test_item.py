"""Items of lists: HTML and JSON in, keys and attributes out."""

import json
from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.parse.items.html import read_html_items
from recrawl.parse.items.item import (
    LONGEST_KEY,
    LONGEST_VALUE,
    MOST_ITEMS,
    Layout,
    clean,
    collect_items,
)
from recrawl.parse.items.json import looks_like_json, read_json_items
from recrawl.parse.items.paging import PageParameter, with_parameter

HERE = "https://example.org/jobs/list?p=1"
PAGE = """
<ul>
  <li class=job data-id=7><h3><a href="../jobs/7#top">Baker
      <b>wanted</b></a></h3><span class=pay>12 000</span></li>
  <li class=job data-id=8><h3><a href="8">Cook</a></h3></li>
  <li class=advert><a href="/buy">Buy!</a></li>
</ul>
<a class=next href="?p=2&amp;all">Next</a>
"""


def html(page=PAGE, items="li.job", key="a@href", following="", **attributes):
    return read_html_items(page, Layout(items, key, attributes, following), HERE)


def from_json(page, items="jobs", key="id", following="", **attributes):
    return read_json_items(json.dumps(page), Layout(items, key, attributes, following))


def test_items_of_a_page_by_hand():
    found = html(title="h3", pay=".pay", id="@data-id", following="a.next")

    assert found.objects == {
        "https://example.org/jobs/7": {"title": "Baker wanted", "pay": "12 000", "id": "7"},
        "https://example.org/jobs/8": {"title": "Cook", "pay": "", "id": "8"},
    }
    assert (found.count, found.nameless, found.following) == (2, 0, "?p=2&all")


def test_an_item_may_be_named_by_an_attribute_of_its_own():
    assert list(html(key="@data-id").objects) == ["7", "8"]


def test_items_without_a_key_are_counted():
    found = html(items="li", key=".pay")

    assert (list(found.objects), found.count, found.nameless) == (["12 000"], 3, 2)


def test_a_key_that_comes_twice_counts_once():
    found = html("<li class=job><a href=1>a</a><li class=job><a href=1>b</a>", title="a")

    assert list(found.objects.values()) == [{"title": "a"}]
    assert found.count == 2


@pytest.mark.parametrize("page", ["", "plain text", "<", "\x00", "<li class=job>", "\ud800<p>"])
def test_pages_without_items_have_none(page):
    found = html(page)

    assert found.objects == {}
    assert found.problem == ""


@pytest.mark.parametrize("selector", ["li >", "[", "li:nope("])
def test_a_selector_that_is_none_is_a_problem_of_the_page(selector):
    assert "must be found by a CSS selector" in html(items=selector).problem


def test_too_many_items_are_refused():
    assert html("<i></i>" * (MOST_ITEMS + 1), items="i").problem == (
        f"must list at most {MOST_ITEMS:,} items (got {MOST_ITEMS + 1:,})"
    )


def test_json_by_hand():
    page = {"jobs": [{"id": 7, "pay": 12.5, "remote": True, "at": {"city": "Bern"}}], "next": 2}

    found = from_json(page, pay="pay", remote="remote", city="at.city", zip="at.zip", at="at")

    assert found.objects == {
        "7": {"pay": "12.5", "remote": "true", "city": "Bern", "zip": "", "at": '{"city": "Bern"}'}
    }
    assert from_json(page, following="next").following == "2"
    assert from_json(page | {"next": None}, following="next").following == ""


@pytest.mark.parametrize("items", ["$.jobs[*]", "jobs", "$.jobs", "jobs.*"])
def test_a_path_to_a_list_means_its_elements(items):
    assert list(from_json({"jobs": [{"id": 1}, {"id": 2}]}, items).objects) == ["1", "2"]


def test_a_list_of_lists_is_not_taken_apart_twice():
    found = from_json({"jobs": [[{"id": 1}, {"id": 2}]]}, "$.jobs[*]")

    assert (found.objects, found.count, found.nameless) == ({}, 1, 1)


@pytest.mark.parametrize(
    ("page", "problem"),
    [
        ("[" * 100_000, "must be JSON that is not nested so deep"),
        ("{", "must be JSON (it is not)"),
        ("", "must be JSON (it is not)"),
        ("1" * 10_000, "must be JSON (it is not)"),
    ],
    ids=["deep", "cut", "empty", "digits"],
)
def test_what_is_no_json_is_a_problem(page, problem):
    assert read_json_items(page, Layout("$", "id")).problem == problem


def test_too_many_items_of_json_are_refused():
    page = {"jobs": [0] * (MOST_ITEMS + 1)}

    assert from_json(page).problem == (
        f"must list at most {MOST_ITEMS:,} items (got {MOST_ITEMS + 1:,})"
    )


def test_the_last_page_leads_nowhere():
    assert html(following="a.further").following == ""
    assert html(following="li.job").following == ""
    assert from_json({"jobs": []}, following="next").following == ""


def test_a_selector_is_no_path():
    said = read_json_items("[]", Layout("li > a", "id")).problem

    assert said.startswith("must not be JSON, or path must look like")


@pytest.mark.parametrize(
    ("kind", "page", "is_json"),
    [
        ("application/json; charset=utf-8", "<p>", True),
        ("application/vnd.api+json", "", True),
        ("text/html", '{"a": 1}', False),
        ("text/plain", ' {"a": 1}', True),
        ("", "[1]", True),
        ("", "<p>", False),
    ],
)
def test_json_is_told_by_its_type_or_its_beginning(kind, page, is_json):
    assert looks_like_json(kind, page) == is_json


@given(st.text())
def test_clean_text_is_one_line_that_any_file_can_hold(text):
    found = clean(text)

    assert len(found) <= LONGEST_VALUE
    assert found == found.strip()
    assert len(found.splitlines()) <= 1
    assert not any(category(letter) == "Cc" for letter in found)
    assert found.encode().decode() == found
    assert clean(found) == found


@given(st.dictionaries(st.text(), st.text()))
def test_whatever_json_holds_can_be_kept(page):
    found = read_json_items(json.dumps({"jobs": [page | {"id": "x"}]}), Layout("jobs", "id"))

    assert list(found.objects) == ["x"]


@given(st.text(st.characters(codec="utf-8")))
def test_whatever_html_holds_is_no_error(page):
    found = html(page, items="*", key="@id", text="*")

    assert found.nameless <= found.count


def test_a_key_that_is_very_long_is_none():
    long = "x" * (LONGEST_KEY + 1)

    assert from_json({"jobs": [{"id": long}]}).nameless == 1
    assert html(f"<li class=job><a href={'x' * 5000}>").nameless == 1


def test_rows_keep_the_order_of_the_page():
    assert list(collect_items([("b", {}), ("a", {}), ("b", {})]).objects) == ["b", "a"]


@pytest.mark.parametrize(
    ("text", "counted"),
    [
        ("p", PageParameter("p", 1, 1)),
        ("p=0", PageParameter("p", 0, 1)),
        ("start=0+20", PageParameter("start", 0, 20)),
        (" page = 1", None),
        ("p=x", None),
        ("p=1+0", None),
        ("", None),
        ("p&q", None),
    ],
)
def test_parameters_that_count(text, counted):
    assert PageParameter.read(text) == counted


@given(st.text(min_size=1), st.text())
def test_a_parameter_is_set_once(name, value):
    """The standard library reads it back."""
    from urllib.parse import parse_qsl

    address = with_parameter(with_parameter("https://example.org/?q=1", name, "old"), name, value)

    pairs = parse_qsl(address.partition("?")[2], keep_blank_values=True, errors="strict")
    assert pairs.count((name, value)) == 1
    assert [said for each, said in pairs if each == name] == [value]
