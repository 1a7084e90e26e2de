"""`recrawl get`, as people run it."""

import pytest

from recrawl.entries.entries import Copy, PagesErased
from recrawl.store import create_store, open_for_writing
from recrawl.visits.status import RobotsTag, VisitOutcome
from tests.cli.running import run, sentence
from tests.publish import fed
from tests.publish.fed import SITE, page
from tests.servers import answers
from tests.servers.faults import FaultServer
from tests.store.made import NOON, visit

TEA = f"{SITE}/tea"


@pytest.fixture
def crawl(tmp_path):
    fed.usual(fed.make(tmp_path))
    return tmp_path


def test_the_newest_version_as_it_came(crawl):
    assert run("get", TEA, cwd=crawl).out == page("Tea", 6).decode()


def test_an_older_version_as_markdown_or_text(crawl):
    old = run("get", TEA, "--at", "2026-01-01T13:00:00", "--as", "markdown", cwd=crawl)

    assert old.out.endswith("## Price\n\nIt costs 5 euros a bag.\n")
    assert "Home" not in old.out
    text = run("get", TEA, "--as", "text", cwd=crawl).out
    assert text.startswith("Tea\n\nTea from a small garden near Uji.\n")


def test_a_file_appears_whole(crawl):
    ended = run("get", TEA, "-o", "tea.html", cwd=crawl)

    assert (ended.code, ended.out) == (0, "")
    assert (crawl / "tea.html").read_bytes() == page("Tea", 6)


def test_what_is_not_there_is_said_in_one_sentence(crawl):
    with open_for_writing(crawl / "recrawl.db") as store:
        store.write([PagesErased([0], NOON)])
        store.write([visit(3, outcome=VisitOutcome.FIRST, body=b"\x89PNG\r\n\x1a\n\x00\x01" * 9)])
        asks = Copy(b"1", robots=RobotsTag.NOARCHIVE)
        store.write([visit(2, 9e4, outcome=VisitOutcome.CHANGED, copy=asks, body=b"x")])

    said = {
        (f"{SITE}/teas",): f"no page {SITE}/teas; did you mean {TEA}?",
        (f"{SITE}/",): "was erased",
        (f"{SITE}/tea?sort=price",): " is kept: the page asks for noarchive",
        (TEA, "--at", "2025-01-01"): "the oldest is from 2026-01-01 13:00:00",
        (TEA, "--at", "soon"): "--at must be a time such as 2026-01-05",
        (f"{SITE}/Black/tea", "--as", "text"): "is not text; --as html writes its bytes",
    }
    for options, why in said.items():
        assert why in sentence(run("get", *options, cwd=crawl)), options
    assert sentence(run("get", TEA, "--as", "pdf", cwd=crawl)).startswith("--as must be one of ")


def test_settings_that_keep_no_versions_are_the_reason(crawl):
    (crawl / "recrawl.toml").write_text(fed.SETTINGS + "[storage]\nversions = 0\n")

    told = sentence(run("get", f"{SITE}/Black/tea", cwd=crawl))

    assert told.endswith(" is kept: the settings say versions = 0")


def test_a_copy_says_how_sure_it_is_to_be_fresh(tmp_path):
    """It was copied a moment ago; nothing is asked of its host again."""
    with FaultServer({"/tea": answers.page(b"<p>Tea</p>")}).in_thread() as server:
        address = server.address("/tea")
        (tmp_path / "recrawl.toml").write_text(
            'agent = "bot (me@example.org)"\nbudget = "10/1d"\n[politeness]\ndelay = "0.01s"\n'
            f'[[page]]\naddress = "{address}"\nlocal = true\n'
        )
        create_store(tmp_path / "recrawl.db").close()
        assert run("crawl", "--once", cwd=tmp_path).code == 0
        requests = len(server.requests)
        sure = run("get", address, "--fresh", "0.5", cwd=tmp_path)
        mixed = run("get", address, "--fresh", "0.5", "--at", "1d", cwd=tmp_path)
        with open_for_writing(tmp_path / "recrawl.db"):
            held = run("get", address, "--fresh", "0.999999999", cwd=tmp_path)

        assert (sure.code, sure.out) == (0, "<p>Tea</p>")
        assert sure.err.startswith("Fresh with a probability of ")
        assert len(server.requests) == requests
    assert mixed.code == 2
    assert mixed.err.endswith("Error: --fresh and --at exclude each other\n")
    assert held.out == ""
    assert "a crawl is running, and visits the page when it is due; leave out" in sentence(held)
