"""`recrawl find`, as people run it."""

import json

from recrawl.store import open_store
from tests.cli import crawls
from tests.cli.running import run, sentence
from tests.servers import answers
from tests.servers.faults import FaultServer
from tests.waiting import wait_until


def sitemap(server, *paths):
    body = "\n".join(map(server.address, paths)).encode()
    server.pages["/sitemap.xml"] = answers.status(200, body, content_type="text/plain")


def test_what_has_come_since_is_found_at_once(tmp_path):
    with FaultServer({"/": answers.page(b"home")}).in_thread() as server:
        crawls.crawl_in(tmp_path, server)
        sitemap(server, "/1")
        first = run("find", cwd=tmp_path)
        sitemap(server, "/1", "/2", "/3")
        again = run("find", server.address(""), cwd=tmp_path)
        status = json.loads(run("status", "--json", cwd=tmp_path).out)

        site = server.address("/")
    assert (first.code, again.code) == (0, 0)
    assert f"{site}: Found 2 pages, all new (1 sitemap, no feeds)." in first.err
    assert f"{site}: Found 4 pages, 2 of them new (1 sitemap, no feeds)." in again.err
    with open_store(tmp_path / "recrawl.db") as reader:
        assert reader.page_count() == 4
    (coverage,) = status["sites"]
    assert (coverage["origin"], coverage["sources"]) == (site[:-1], 1)
    assert 0 <= status["unknown_low"] <= status["unknown"] <= status["unknown_high"]


def test_a_site_with_nothing_but_links_says_what_to_do(tmp_path):
    with FaultServer({"/": answers.page(b"home")}).in_thread() as server:
        crawls.crawl_in(tmp_path, server)
        said = run("find", cwd=tmp_path).err

    assert said.endswith(": Found 1 page (no sitemaps, no feeds). Set links = 3 to follow links.\n")


def test_what_is_no_site_and_a_site_that_is_silent_are_errors(tmp_path):
    with FaultServer().in_thread() as server:
        crawls.crawl_in(tmp_path, server)
        other = sentence(run("find", "https://example.org/", cwd=tmp_path))
    silent = run("find", cwd=tmp_path)
    (tmp_path / "recrawl.toml").write_text(f'agent = "{crawls.AGENT}"\n')
    none = sentence(run("find", cwd=tmp_path))

    assert other == "recrawl.toml has no [[site]] with the address https://example.org/"
    assert silent.code == 1
    assert silent.err.splitlines()[-1].startswith("Error: no site answered (")
    assert none == "recrawl.toml has no [[site]] to look at; `recrawl add` adds one"


def test_beside_a_crawl_it_says_that_one_is_running(tmp_path):
    with FaultServer({"/": answers.page(b"home")}).in_thread() as server:
        crawls.crawl_in(tmp_path, server)
        with crawls.start(tmp_path) as process:
            wait_until(lambda: server.asked("/"))
            said = sentence(run("find", cwd=tmp_path))
            process.terminate()
            process.communicate()

    assert f"in use by another crawl (process {process.pid})" in said
