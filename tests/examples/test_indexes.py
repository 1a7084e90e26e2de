"""The examples: an index that is in step with a crawl, and answers."""

import runpy
import sys
from contextlib import closing
from pathlib import Path

import pytest

import recrawl
from examples import fts_index
from recrawl.entries.entries import Prune
from recrawl.store import open_for_writing
from recrawl.store.retention import Retention
from recrawl.visits.status import FeedKind
from tests.publish import fed
from tests.publish.fed import page
from tests.store.made import NOON

FOLDER = Path(fts_index.__file__).parent
GREEN = page("Tea").replace(b"</main>", b"<h2>Green</h2><p>Leaves picked at dawn</main>")


class Fts:
    name = "fts_index.py"

    @staticmethod
    def hashes(path):
        with closing(fts_index.open_index(path)) as index:
            return dict(index.execute("select id, hash from chunks").fetchall())


class Vectors:
    name = "vector_index.py"

    @staticmethod
    def hashes(path):
        from examples import vector_index  # loads much, and few tests need it

        with closing(vector_index.open_index(path)) as client:
            points, _ = client.scroll(vector_index.CHUNKS, limit=1000)
        return {point.id: (point.payload or {})["hash"] for point in points}


@pytest.fixture(params=[Fts, Vectors])
def example(request):
    return request.param


@pytest.fixture
def crawl(tmp_path):
    fed.usual(fed.make(tmp_path / "crawl"))
    return tmp_path / "crawl"


@pytest.fixture
def index(tmp_path):
    return tmp_path / "index"


@pytest.fixture
def ran(example, crawl, index, monkeypatch, capsys):
    """Runs the example as a person does, and gives what it prints."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", [example.name, str(crawl), str(index), *words])
        runpy.run_path(str(FOLDER / example.name), run_name="__main__")
        return capsys.readouterr().out.splitlines()

    return run


def in_store(crawl):
    with recrawl.open_store(str(crawl / "recrawl.db")) as store:
        pages = [copy.page for copy in store.snapshot()[1]]
        return {chunk.id: chunk.hash for page in pages for chunk in store.copy(page).chunks}


def test_an_index_follows_a_crawl_and_answers(example, crawl, index, ran):
    first, *found = ran("costs", "euros")

    assert first.startswith("4 chunks ")
    assert "https://a.org/tea" in found[0]
    assert example.hashes(index) == in_store(crawl)
    assert ran()[0].startswith("0 chunks ")

    fed.tell(
        crawl / "recrawl.db",
        (FeedKind.CHANGED, 1, GREEN),
        (FeedKind.BACK, 0, page("Home")),
        (FeedKind.REMOVED, 2, None),
        start=9,
    )

    said, *found = ran("picked", "at", "dawn")
    assert said.startswith("4 chunks ")  # the price and Green of one page, two of another
    assert said.endswith(", 2 deleted.")
    assert "Green" in found[0]
    assert example.hashes(index) == in_store(crawl)


def test_one_that_comes_too_late_begins_again(example, crawl, index, ran):
    ran()
    path, keep = crawl / "recrawl.db", Retention(events=1.0)
    fed.tell(path, (FeedKind.REMOVED, 1, None), (FeedKind.CHANGED, 2, GREEN), start=9)
    with open_for_writing(path, keep) as store:
        store.write([Prune(NOON + 1e6)])

    assert ran()[0] == f"2 chunks {'written' if example is Fts else 'embedded'}, 2 deleted."
    assert example.hashes(index) == in_store(crawl)
