"""Pages that cannot be had: what `pages`, `why` and `status` say of them."""

import json

import pytest

from tests.cli import crawls
from tests.cli.running import run, run_here
from tests.servers import answers
from tests.servers.faults import FaultServer


@pytest.fixture(scope="module")
def crawl(tmp_path_factory):
    """A crawl of a site with a page that has moved, two that want a login, a loop, and a shell."""
    folder = tmp_path_factory.mktemp("crawl")
    shell = b'<title>Shop</title><div id="root"></div><script src="/a.js"></script>'
    pages = {
        "/": answers.page(b"home"),
        "/login": answers.status(401),
        "/secret": answers.status(403),
        "/old": answers.redirect("/new"),
        "/new": answers.page(b"new"),
        "/app": answers.page(shell),
        "/loop": answers.redirect("/loop", 302),
    }
    with FaultServer(pages).in_thread() as server:
        named = [server.address(path) for path in ("/login", "/secret", "/old", "/app", "/loop")]
        server.pages["/sitemap.xml"] = answers.status(
            200, "\n".join(named).encode(), content_type="text/plain"
        )
        crawls.crawl_in(folder, server)
        assert run("crawl", "--once", cwd=folder).code == 0
        yield folder, server


@pytest.fixture
def asked(crawl, monkeypatch):
    folder, server = crawl
    monkeypatch.chdir(folder)
    return server


def rows(*words):
    return [json.loads(line) for line in run_here(*words, "--json").out.splitlines()]


def test_pages_say_what_the_last_visit_met(asked):
    shown = {row["page"].removeprefix(asked.address("")): row for row in rows("pages")}

    assert (shown["/login"]["status"], shown["/login"]["failure"]) == (
        *("failed", "unauthorized (401)"),
    )
    assert shown["/secret"]["failure"] == "forbidden (403)"
    assert shown["/loop"]["failure"] == "redirect loop or dead end (302)"
    assert [row["page"] for row in rows("pages", "--status", "failed")] == [
        asked.address(path) for path in ("/login", "/secret", "/loop")
    ]
    assert shown["/login"]["last_attempt"] is not None
    assert (shown["/old"]["status"], shown["/old"]["moved_to"]) == ("moved", asked.address("/new"))
    assert shown["/app"]["status"] == "shell"
    assert (shown["/"]["status"], shown["/"]["failure"]) == ("copied", "")
    assert shown["/"]["last_attempt"] is None


def test_why_says_it(asked):
    said = run_here("why", asked.address("/login")).out

    assert "retry: the last visit failed, unauthorized (401); retries back off" in said
    (why,) = rows("why", asked.address("/login"))
    assert (why["status"], why["evidence"]["failure"]) == ("failed", "unauthorized (401)")
    assert f"moved to {asked.address('/new')}" in run_here("why", asked.address("/old")).out
    (why,) = rows("why", asked.address("/old"))
    assert why["moved_to"] == asked.address("/new")
    (why,) = rows("why", asked.address("/app"))
    assert why["status"] == "shell"
    assert "empty without JavaScript" in run_here("why", asked.address("/app")).out


def test_status_counts_it(asked):
    (status,) = rows("status")

    loop = "redirect loop or dead end (302)"
    assert (status["shells"], status["new"], status["failed_pages"]) == (1, 0, 3)
    assert status["failing"] == {"unauthorized (401)": 1, "forbidden (403)": 1, loop: 1}
    said = run_here("status").out
    assert (
        f"3 pages could not be fetched: 1 unauthorized (401), 1 forbidden (403), 1 {loop}" in said
    )
    assert "3 failed" in said
    assert "1 page is empty without JavaScript" in said
