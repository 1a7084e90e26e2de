"""Pages that were removed stay out, whoever names them, until `recrawl add --again` does."""

import json
from pathlib import Path

import pytest

from recrawl.store import open_for_writing, open_store
from recrawl.visits.status import PageStatus
from tests.cli import crawls
from tests.cli.running import run, run_here, sentence
from tests.servers import answers
from tests.servers.faults import FaultServer


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A site of two pages with copies, of which /x was removed."""
    pages = {"/": answers.page(b"home"), "/x": answers.page(b"a page"), "/y": answers.page(b"y")}
    with FaultServer(pages).in_thread() as it:
        listed = "\n".join(it.address(path) for path in ("/", "/x")).encode()
        it.pages["/sitemap.xml"] = answers.status(200, listed, content_type="text/plain")
        crawls.crawl_in(tmp_path, it)
        assert run("crawl", "--once", cwd=tmp_path).code == 0
        monkeypatch.chdir(tmp_path)
        assert run_here("remove", it.address("/x")).code == 0
        yield it


def status_of(address):
    with open_store("recrawl.db") as reader:
        (page,) = reader.find_pages([address])
        return None if page is None else PageStatus(int(reader.pages().status[page])).label


def settings():
    return Path("recrawl.toml").read_text()


def back(address):
    return f"{address} was removed; `recrawl add --again {address}` brings it back"


@pytest.mark.parametrize("options", [[], ["--page-only"], ["--later"], ["--budget", "5/1d"]])
def test_adding_a_removed_page_is_an_error_that_says_how_to_bring_it_back(server, options):
    address, before = server.address("/x"), settings()
    said = sentence(run("add", address, "--local", *options))

    assert said == back(address)
    assert (settings(), status_of(address)) == (before, "removed")


def test_neither_does_another_way_to_write_it(server):
    assert "was removed" in sentence(run("add", server.address("/x?utm_source=mail")))


def test_again_brings_it_back_with_its_copy(server):
    address, asked = server.address("/x"), len(server.asked("/x"))
    ended = run_here("add", "--again", address)

    assert (ended.code, ended.err) == (
        0,
        f"Brought back {address}; `recrawl crawl` visits it when it is due.\n",
    )
    assert status_of(address) == "copied"
    kinds = [json.loads(line)["type"] for line in run_here("changes").out.splitlines()]
    assert kinds[-2:] == ["recrawl.page.removed", "recrawl.page.back"]
    assert json.loads(run_here("why", address, "--json").out)["constraint"] != "removed"
    assert run("get", address, "--fresh", "0.9999").code == 0
    assert len(server.asked("/x")) > asked
    *_, last = map(json.loads, run_here("history", address, "--json").out.splitlines())
    assert last["outcome"] in {"same", "not_modified"}  # it was compared with the copy it had


def test_an_erased_page_comes_back_as_a_new_one(server):
    address = server.address("/x")
    run_here("remove", "--erase", "--yes", address)

    assert sentence(run("add", address)) == back(address)
    assert run_here("add", "--again", address).code == 0
    assert status_of(address) == "new"
    assert run("crawl", "--once").code == 0
    assert status_of(address) == "copied"


def test_without_a_block_it_comes_back_with_one(server):
    site, address = server.address("/"), server.address("/x")
    run_here("remove", "--block", "--yes", site)
    assert sentence(run("add", address, "--page-only", "--local")) == back(address)

    ended = run_here("add", "--again", address, "--page-only", "--local")

    assert ended.code == 0
    assert "[[page]]" in settings()
    assert status_of(address) == "copied"


def test_what_the_settings_name_takes_no_options(server):
    ended = run_here("add", "--again", server.address("/x"), "--budget", "5/1d")

    assert ended.code == 2
    assert "`recrawl set`" in ended.err
    assert status_of(server.address("/x")) == "removed"


def test_while_a_crawl_runs_nothing_is_brought_back(server):
    with open_for_writing("recrawl.db"):
        assert "in use" in sentence(run("add", "--again", server.address("/x")))

    assert status_of(server.address("/x")) == "removed"


def test_a_list_is_added_without_them(server, tmp_path):
    (tmp_path / "urls.txt").write_text(f"{server.address('/x')}\n{server.address('/y')}\n")
    ended = run_here("add", "-q", "urls.txt")

    assert (ended.code, ended.err) == (0, f"Warning: Not added: {back(server.address('/x'))}.\n")
    with open_store("recrawl.db") as reader:
        assert [address for *_, address in reader.hints(0, 9)] == [server.address("/y")]


def test_a_list_of_nothing_else_is_an_error(server, tmp_path):
    (tmp_path / "urls.txt").write_text(f"{server.address('/x')}\n")

    assert sentence(run("add", "-q", "urls.txt")) == back(server.address("/x"))


def test_a_hint_says_so_too(server):
    address = server.address("/x")
    assert sentence(run("hint", address)) == back(address)

    ended = run_here("hint", address, server.address("/"))

    assert (ended.code, ended.err.splitlines()) == (
        0,
        [
            f"Warning: No hint taken: {back(address)}.",
            "Noted 1 hint; the next crawl takes it.",
        ],
    )


def test_remove_and_why_say_how_to_bring_it_back(server):
    address = server.address("/x")

    assert f"`recrawl add --again {address}` brings it back" in run_here("why", address).out
    run_here("add", "--again", address)
    ended = run_here("remove", address)
    assert ended.err == f"`recrawl add --again {address}` brings it back.\n"


def test_a_single_page_of_a_site_is_found_alone(server):
    """Whoever adds one page has not asked for all that the sitemaps of its host name."""
    ended = run_here("add", server.address("/y"), "--page-only", "--local")

    assert ended.err.splitlines()[-1] == f"{server.address('/y')}: Found 1 page."
