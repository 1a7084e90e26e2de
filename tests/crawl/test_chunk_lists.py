"""Chunks that a crawl writes down with its events."""

import asyncio
import threading

import pytest

import recrawl
from recrawl.crawl import page_visitor
from recrawl.entries.manifests import MOST_CHUNKS, MOST_LETTERS
from recrawl.extract import manifest_of, read_content
from recrawl.visits.status import RobotsTag, VisitOutcome
from tests.crawl.crawls import START, page_rule, settings, visits
from tests.servers import answers
from tests.servers.faults import FaultServer
from tests.waiting import PatientClock

FIRST = b"<main><h1>Tea</h1><p>Hot.<h2>Green</h2><p>It costs 5 euros<h2>Black</h2><p>None</main>"
SECOND = FIRST.replace(b"5", b"6").replace(b"<h2>Black</h2><p>None", b"")


def crawled(folder, *bodies, headers=None, **more):
    """Events with chunks of a page that has these bodies in turn, two visits each; and visits."""

    async def crawl():
        made = []
        async with FaultServer({}) as server:
            asked = settings(page_rule(server, "/p"), **{"feed_chunks": True} | more)
            for number, body in enumerate(bodies):
                server.pages["/p"] = answers.page(body, **headers or {})
                clock = PatientClock(1.0, START + 10 * number)
                made += await visits(folder, asked, 2, clock)
        return made

    made = asyncio.run(crawl())
    with recrawl.open_store(str(folder / "recrawl.db")) as store:
        return list(store.changes(include={"chunks"})), made


def headings(event):
    return [(row["path"][-1], row["op"]) for row in event.content["chunks"]]


@pytest.mark.parametrize("versions", [0, 1, 10])
def test_what_became_of_chunks_is_known_however_many_versions_are_kept(tmp_path, versions):
    (new, changed), _ = crawled(tmp_path, FIRST, SECOND, versions=versions)

    assert headings(new) == [("Tea", "new"), ("Green", "new"), ("Black", "new")]
    assert headings(changed) == [("Tea", "same"), ("Green", "changed")]
    assert changed.content["removed"] == [new.content["chunks"][2]["id"]]
    assert (new.content["chunks"][0]["text"] is None) == (versions < 2)
    assert (changed.content["chunks"][0]["text"] is None) == (versions < 1)


def test_nothing_is_written_unless_it_is_asked_for(tmp_path):
    (new, changed), _ = crawled(tmp_path, FIRST, SECOND, versions=1, feed_chunks=False)

    assert new.content["chunks"] is None
    assert headings(changed) == [("Tea", None), ("Green", None)]


def test_each_new_copy_is_read_once_and_a_large_one_beside_the_loop(tmp_path, monkeypatch):
    read = []

    def reading(body, *args, **more):
        read.append((len(body) > 1 << 16, threading.current_thread() is threading.main_thread()))
        return read_content(body, *args, **more)

    monkeypatch.setattr(page_visitor, "read_content", reading)
    large = FIRST + b"<p>" + b"word " * (1 << 14)

    (_, changed), made = crawled(tmp_path, FIRST, large)

    assert len(made) >= 4
    assert read == [(False, True), (True, False)]
    assert headings(changed)[0] == ("Tea", "same")


def test_a_page_whose_chunks_cannot_be_told_is_a_copy_all_the_same(tmp_path, monkeypatch):
    def failing(*_, **__):
        raise RecursionError

    monkeypatch.setattr(page_visitor, "manifest_of", failing)

    (new,), made = crawled(tmp_path, FIRST, versions=0)

    assert made[0].outcome is VisitOutcome.FIRST
    assert new.content["chunks"] is None


@pytest.mark.parametrize(
    "page",
    [
        "<main>" + "<h2>a</h2><p>b</p>" * (MOST_CHUNKS + 1),
        "<main>" + "".join(f"<h2>{n:0300}</h2>" for n in range(MOST_LETTERS // 300 + 1)),
    ],
)
def test_more_chunks_than_anybody_reads_are_not_written(page):
    content = read_content(page.encode(), "", "https://a.org/")

    assert content is not None
    assert manifest_of(content) is None


def test_a_page_that_asks_for_noarchive_has_no_list(tmp_path):
    asks = {"x_robots_tag": "noarchive"}
    (new,), made = crawled(tmp_path, FIRST, headers=asks)

    assert RobotsTag.NOARCHIVE in made[0].verdict.copy.robots
    assert new.content["chunks"] is None
