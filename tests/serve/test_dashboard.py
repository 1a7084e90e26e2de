"""The dashboard in a real browser: every page, without an error or a request that leaves."""

import json
import re
from datetime import UTC, datetime, timedelta

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.serve import servers, stores

PAGES = (
    "/",
    "/changes",
    "/pages",
    "/pages/2",
    "/pages/2/diff",
    "/sites",
    "/sites/a.org",
    "/listings",
    "/listings/jobs",
    "/what-if?budget=80/1d&weight-0=2",
)
EMPTY = ("/", "/changes", "/pages", "/sites", "/listings", "/listings/jobs", "/what-if")
SERIOUS = ("serious", "critical")


@pytest.mark.parametrize("path", PAGES)
def test_every_page_of_a_crawl_shows_what_it_is_for(glance, example, path):
    page = glance(timezone_id="Asia/Tokyo").show(example + path)

    expect(page.locator("h1")).to_be_visible()
    for chart in page.locator("[data-chart] [role=img]").all():
        assert chart.locator("svg path").count() > 3  # something is drawn
    _says_as_of_when(page.locator("header .as-of"))


@pytest.mark.parametrize("path", EMPTY)
def test_every_page_says_that_nothing_is_there_yet(glance, empty, path):
    page = glance().show(empty + path)

    expect(page.locator("h1")).to_be_visible()


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_people_can_use_every_page(glance, example, path, scheme):
    """No serious finding of axe-core: labels, contrast, roles, order of headings."""
    # axe evaluates code, which our policy forbids; nothing else of it is other.
    window = glance(color_scheme=scheme, bypass_csp=True)
    found = Axe().run(window.show(example + path)).response["violations"]

    serious = [each for each in found if each["impact"] in SERIOUS]
    assert not serious, [(each["id"], each["nodes"][0]["html"]) for each in serious]


@pytest.mark.parametrize("path", PAGES)
def test_a_narrow_window_does_not_scroll_sideways(glance, example, path):
    page = glance(viewport={"width": 400, "height": 800}).show(example + path)

    assert page.evaluate("document.documentElement.scrollWidth") <= 400


def test_hostile_content_is_text(look, example):
    """Titles, attributes, robots.txt and addresses of the web are shown, and do nothing."""
    window = look()
    number = _number_of(example, stores.HOSTILE)
    for path in (f"/pages/{number}", "/listings/jobs", "/sites/a.org", "/changes", "/pages"):
        page = window.show(example + path)
        assert page.evaluate("window.hacked") is None

    assert stores.SCRIPT in window.show(example + "/sites/a.org").inner_text("body")


def test_a_diff_of_hostile_versions_cannot_run(glance, example):
    page = glance().show(example + "/pages/2/diff")
    frame = page.frame_locator("iframe.diff")

    expect(frame.locator("body")).to_contain_text("window.hacked")
    assert page.evaluate("window.hacked") is None
    (inner,) = (each for each in page.frames if each != page.main_frame)
    assert inner.evaluate("origin") == "null"  # it has no origin, ours least of all


def test_pages_are_searched_sorted_and_filtered_and_the_address_keeps_it(glance, example):
    page = glance().show(example + "/pages")
    page.get_by_label("Search in addresses").fill("news")
    page.get_by_label("Host").select_option("a.org")
    page.get_by_role("button", name="Show").click()
    expect(page.locator("caption")).to_have_text("13 pages")

    page.get_by_role("link", name="visits").click()
    expect(page.locator("th[aria-sort=descending]")).to_contain_text("visits")
    counts = [
        int(each.replace(",", "")) for each in page.locator("td:nth-child(5)").all_inner_texts()
    ]

    assert counts == sorted(counts, reverse=True)
    assert "q=news" in page.url
    assert "host=a.org" in page.url


def test_changes_are_filtered_and_open_their_diff(glance, example):
    page = glance().show(example + "/changes")
    page.get_by_label("Kind").select_option("changed")
    page.get_by_label("Host").fill("b.org")
    page.get_by_role("button", name="Show").click()
    expect(page.locator("tbody tr").first).to_contain_text("b.org")

    page.locator("tbody tr").first.get_by_role("link", name=re.compile("changed")).click()
    expect(page.locator("iframe.diff")).to_be_visible()


def test_changes_since_the_last_look_are_marked(look, example):
    window = look()
    page = window.show(example + "/changes")
    newest = int(page.locator("#changes").get_attribute("data-newest") or 0)
    assert page.locator(".new-mark", has_text="new").count() == 0
    page.evaluate(f"localStorage.setItem('seen-change', '{newest - 3}')")

    page = window.show(example + "/changes")
    expect(page.locator(".new-mark", has_text="new")).to_have_count(3)


def test_what_if_shows_the_outcome_and_the_lines_to_write(glance, example):
    page = glance().show(example + "/what-if")
    before = page.locator(".tiles .figure").first.inner_text()
    page.get_by_label("Budget", exact=True).fill("400/1d")
    page.get_by_label("Weight of https://a.org/").fill("3")
    page.get_by_role("button", name="Show").click()

    expect(page.locator("#lines")).to_contain_text('budget = "400/1d"  # was "40/1d"')
    expect(page.locator("#lines")).to_contain_text("weight = 3  # was 1")
    after = page.locator(".tiles .figure").first.inner_text()
    assert float(after.split()[0]) > float(before.split()[0])


def test_what_if_says_what_is_wrong_with_a_budget(glance, example):
    page = glance().show(example + "/what-if?budget=soon")

    expect(page.get_by_role("alert")).to_contain_text("budget must look like")


def test_versions_are_compared_as_chosen(glance, example):
    rows = _rows(example)
    busiest = max(rows, key=lambda row: row["changes"])["page"]
    page = glance().show(f"{example}/pages/{busiest}")
    page.locator("select[name=since]").select_option(index=1)
    page.get_by_role("button", name="Compare").click()

    expect(page.locator("iframe.diff")).to_be_visible()
    assert "since=" in page.url


def test_the_keyboard_is_enough(look, example):
    """The first stop skips to the content; links and fields follow in the order they are read."""
    page = look().show(example + "/pages")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.name") == "q"
    page.keyboard.type("docs")
    page.keyboard.press("Enter")

    expect(page.locator("caption")).to_have_text("12 pages")


def test_colours_are_the_systems_until_somebody_chooses(look, example):
    window = look(color_scheme="dark")
    page = window.show(example + "/")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.get_by_role("button", name="Switch between light and dark").click()
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert dark != light

    page = window.show(example + "/pages")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == light


def test_a_chart_has_a_table_behind_it(glance, example):
    page = glance().show(example + "/")
    charts = page.locator("[data-chart]")

    for chart in charts.all():
        chart.get_by_text("The same as a table").click()
        assert chart.locator("tbody tr").count() > 3


def test_parts_that_come_later_say_their_own_instant(glance, example):
    page = glance(timezone_id="Asia/Tokyo").show(example + "/pages/2")

    lines = page.locator("main .as-of time")
    assert lines.count() == 2
    for line in lines.all_inner_texts():
        assert re.fullmatch(r"(\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d", line)  # no longer in UTC


def test_the_overview_moves_on_without_a_reload_and_says_so_until_the_server_is_gone(
    look, tmp_path
):
    """Its instant though nothing happens, and its figures once something does."""
    file = stores.example(tmp_path / "moving")
    window = look()
    with servers.served(file) as address:
        page = window.show(address + "/")
        shown = page.locator("header .as-of time")
        figure = page.locator("[data-live='changes found']")
        before, found = shown.get_attribute("datetime") or "", figure.inner_text()
        expect(shown).not_to_have_attribute("datetime", before)
        stores.one_more_change(tmp_path / "moving")

        expect(figure).not_to_have_text(found)
        expect(page.locator(".stale-mark")).to_be_hidden()

    expect(page.locator(".stale-mark")).to_be_visible()
    window.wrong.clear()  # the browser tells of the closed connection itself


def test_what_is_not_there_is_a_page_that_says_so(look, example):
    window = look()
    window.page.goto(example + "/pages/999")
    expect(window.page.locator("main")).to_contain_text("there is no page 999")
    window.wrong.clear()  # the browser tells of the 404 itself


def _says_as_of_when(line):
    """In the visitor's time; in Tokyo it is nine hours later than in the title, which has UTC."""
    expect(line.locator(".stale-mark")).to_be_hidden()
    shown = line.locator("time")
    utc = datetime.fromisoformat(shown.get_attribute("title").replace(" UTC", "Z"))
    assert shown.inner_text().endswith(f"{utc + timedelta(hours=9):%H:%M:%S}")
    assert datetime.now(UTC) - utc < timedelta(minutes=5)


def _rows(address):
    status, _, text = servers.get(f"{address}/api/v1/pages?limit=500")
    assert status == 200
    return json.loads(text)["pages"]


def _number_of(address, url):
    return next(each["page"] for each in _rows(address) if each["address"] == url)
