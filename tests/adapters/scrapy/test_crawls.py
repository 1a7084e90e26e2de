"""`scrapy crawl` with the add-on, as a user runs it: a project, a spider as it is, one line."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from recrawl.cli.main import app
from recrawl.store import open_store
from recrawl.visits.status import PageStatus, VisitOutcome
from tests.servers.changing_site import changing_site, page
from tests.waiting import ending, wait_until

SPIDER = """
import scrapy


class Site(scrapy.Spider):
    name = "site"

    def __init__(self, start):
        self.start_urls = [start]

    def parse(self, response):
        yield from self.links(response)

    def parse_item(self, response, found_on):
        assert found_on
        yield {"url": response.url, "title": response.css("title::text").get()}
        yield from self.links(response)

    def links(self, response):
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, self.parse_item, cb_kwargs={"found_on": response.url})
"""
SETTINGS = """
SPIDER_MODULES = ["spiders"]
ADDONS = {"recrawl.adapters.scrapy.Addon": 500}
ROBOTSTXT_OBEY = True
TELNETCONSOLE_ENABLED = False
RETRY_ENABLED = False
RECRAWL_BUDGET = "100000000/1d"
"""
PAGES = {
    "/": page("sheep", "/a", "/b", "/old", "/no", "http://127.0.0.1:1/"),
    "/a": page("goats", "/c"),
    "/b": page("cows"),
    "/c": page("horses"),
    "/old": "/new",
    "/new": page("donkeys"),
    "/no": page("secrets"),
}


@pytest.fixture
def project(tmp_path):
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = project\n")
    (tmp_path / "project.py").write_text(SETTINGS)
    (tmp_path / "spiders.py").write_text(SPIDER)
    return tmp_path


def command(site, *options):
    start = ("-a", f"start={site.address}/")
    return [sys.executable, "-m", "scrapy", "crawl", "site", *start, *options]


def crawl(project, site, *options):
    """Items of a run."""
    items = project / "items.jsonl"
    items.unlink(missing_ok=True)
    line = command(site, "-o", str(items), *options)
    done = subprocess.run(line, cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "recrawl/adapters" not in done.stderr, done.stderr  # in a traceback
    assert "Warning" not in done.stderr, done.stderr
    found = [json.loads(line) for line in items.read_text().splitlines()] if items.exists() else []
    return {item["url"].removeprefix(site.address): item["title"] for item in found}


def outcomes(project, site):
    """What visits found, by path."""
    found: dict[str, list[str]] = {}
    with open_store(project / "recrawl-site.db") as reader:
        for batch in reader.visits():
            addresses = reader.addresses(batch.page.tolist())
            for address, outcome in zip(addresses, batch.outcome.tolist(), strict=True):
                path = address.removeprefix(site.address)
                found.setdefault(path, []).append(VisitOutcome(outcome).label)
    return found


def test_runs_visit_what_is_worth_it_and_know_what_has_changed(project):
    with changing_site(PAGES) as site:
        site.robots = "User-agent: *\nDisallow: /no\n"
        first = crawl(project, site)
        assert first == {"/a": "goats", "/b": "cows", "/c": "horses", "/new": "donkeys"}
        assert set(site.paths()) == set(PAGES) - {"/no"}
        found = outcomes(project, site)
        assert found["/old"] == ["moved"]
        assert found["/no"] == ["refused"]
        assert found["http://127.0.0.1:1/"] == ["failed"]

        # One page has changed, one is gone. The others answer 304, and the spider sees only news.
        site.pages["/b"] = page("oxen", "/d")
        site.pages["/d"] = page("mules")
        del site.pages["/c"]
        assert crawl(project, site) == {"/b": "oxen", "/d": "mules"}
        assert site.statuses() == {
            "/": 304,
            "/a": 304,
            "/b": 200,
            "/c": 404,
            "/d": 200,
            "/new": 304,
        }
        found = outcomes(project, site)
        assert found["/"] == ["first", "not_modified"]
        assert found["/b"] == ["first", "changed"]
        assert found["/c"] == ["first", "gone"]
        assert found["/d"] == ["first"]

        # Within a budget of few visits a third run has nothing to do.
        assert crawl(project, site, "-s", "RECRAWL_BUDGET=20/1d") == {}
        assert site.paths() == []

        # The spider may have what is unchanged, too: from the store.
        everything = crawl(project, site, "-s", "RECRAWL_UNCHANGED=parse")
        assert {"/a": "goats", "/b": "oxen", "/d": "mules"}.items() <= everything.items()
        assert site.statuses()["/a"] == 304

    store = str(project / "recrawl-site.db")
    for verb in (
        ["status"],
        ["pages", "--csv"],
        ["changes", "--json"],
        ["why", f"{site.address}/"],
    ):
        done = CliRunner().invoke(app, [*verb, "--settings", store])
        assert done.exit_code == 0, done.output
        assert done.stdout


def test_a_run_that_is_killed_is_taken_up_by_the_next(project):
    """Killed while pages are on their way: those that were seen are known, the others come."""
    pages = {"/": page("all", *(f"/{number}" for number in range(12)))}
    pages |= {f"/{number}": page(f"page {number}") for number in range(12)}
    with changing_site(pages) as site:
        site.hold |= {f"/{number}" for number in range(6, 12)}
        quiet = subprocess.DEVNULL
        run = subprocess.Popen(command(site), cwd=project, stdout=quiet, stderr=quiet)
        with ending(run):
            wait_until(lambda: len(site.asked) >= 7)
            run.kill()
            run.wait()
        site.let_go.set()
        site.hold.clear()
        items = crawl(project, site)

    assert {f"/{number}" for number in range(6, 12)} <= set(items)
    with open_store(project / "recrawl-site.db") as reader:
        columns = reader.pages()
        assert len(columns.status) == 13
        assert set(columns.status.tolist()) == {PageStatus.COPIED}


def test_a_store_that_another_crawl_holds_ends_the_run_in_a_sentence(project):
    from recrawl import Scheduler

    with changing_site(PAGES) as site, Scheduler.open(project / "recrawl-site.db"):
        line = command(site)
        done = subprocess.run(line, cwd=project, capture_output=True, text=True, check=False)

    assert f"recrawl-site.db is in use by another crawl (process {os.getpid()})" in done.stderr
    assert site.paths() == []
