"""`recrawl hint`: a crawl is told that pages have changed, whether it runs or not."""

import pytest

from recrawl.errors import InvalidParameter
from recrawl.store import open_for_writing, open_store
from recrawl.store.lock import reloading_process
from tests.cli import crawls
from tests.cli.running import run, run_here, sentence
from tests.servers import answers
from tests.servers.faults import FaultServer
from tests.waiting import wait_until


@pytest.fixture
def crawl(tmp_path, monkeypatch):
    """A crawl that was run once, and its server."""
    with FaultServer({"/": answers.page(b"home"), "/new": answers.page(b"new")}).in_thread() as it:
        crawls.crawl_in(tmp_path, it)
        assert run("crawl", "--once", cwd=tmp_path).code == 0
        monkeypatch.chdir(tmp_path)
        yield it


def waiting():
    with open_store("recrawl.db") as reader:
        return [address for *_, address in reader.hints(0, 100)]


def test_the_next_crawl_takes_hints(crawl):
    new = (crawl.address(f"/new{query}") for query in ("", "?utm_source=mail"))  # one page
    ended = run_here("hint", crawl.address("/"), *new, "https://a.org/")

    assert (
        ended.err
        == "Noted 2 hints; left out 1 address that belongs to no site; the next crawl takes them.\n"
    )
    assert waiting() == [crawl.address("/"), crawl.address("/new")]
    assert run("crawl", "--once").code == 0
    assert waiting() == []
    assert crawl.asked("/new")  # a page of the site that was not known


def test_a_crawl_that_runs_takes_them_at_once(crawl, tmp_path):
    with crawls.start(tmp_path) as process:
        wait_until(lambda: reloading_process(tmp_path / "recrawl.db") == process.pid)
        ended = run("hint", crawl.address("/new"))

        assert ended.err == "Noted 1 hint; the crawl takes it now.\n"
        wait_until(lambda: crawl.asked("/new"))
        wait_until(lambda: not waiting())


def test_who_asks_for_a_fresh_copy_gets_one_though_no_crawl_has_heard_the_hint(crawl):
    address = crawl.address("/")
    fresh = "get", address, "--fresh", "0.6"
    assert run(*fresh).err.startswith("Fresh with")
    crawl.pages["/"] = answers.page(b"another home")
    assert run_here("hint", address).code == 0

    words = run("why", address).out
    assert "ago, not visited since: a hint, a list or a push says that it has changed" in words
    with open_for_writing("recrawl.db"):  # as a crawl that runs does
        assert "a crawl is running" in sentence(run(*fresh))
    made = run(*fresh)

    assert made.err.startswith("Visited now: fresh with a probability of")
    assert "another home" in made.out
    assert "hinted" not in run("why", address).out
    assert run(*fresh).err.startswith("Fresh with")  # and is not visited twice for it


def test_a_list_of_changed_pages(crawl, tmp_path):
    (tmp_path / "changed.txt").write_text(f"# today\n{crawl.address('/')}\n")

    assert run_here("hint", "changed.txt").code == 0
    assert waiting() == [crawl.address("/")]
    run_here("remove", "--erase", "--yes", crawl.address("/"))
    assert waiting() == []  # nothing of an erased page is left


def test_what_is_no_hint_is_refused(crawl):
    for word, said in {
        "https://a.org/": "none of these pages belongs to a site of recrawl.toml",
        "ftp://a.org/": "ftp://a.org/ is not the address of a page",
        "nothing.txt": "nothing.txt is neither a file nor an address",
    }.items():
        assert said in sentence(run("hint", word))
    assert waiting() == []


def test_who_holds_the_store_keeps_nobody_from_hinting(crawl):
    with open_for_writing("recrawl.db") as store:
        assert run_here("hint", crawl.address("/")).code == 0
        assert store.check() == []
    assert waiting() == [crawl.address("/")]


def test_a_million_hints_may_wait(crawl, monkeypatch):
    monkeypatch.setattr("recrawl.store.rows.hints.MOST_WAITING", 2)
    for _ in range(2):
        assert run_here("hint", crawl.address("/")).code == 0
    with pytest.raises(InvalidParameter, match=r"2 hints wait already; `recrawl crawl` takes them"):
        run_here("hint", crawl.address("/"))
    assert len(waiting()) == 2
