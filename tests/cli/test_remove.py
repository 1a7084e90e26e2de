"""`recrawl remove`: pages are taken out of a crawl, and stay out."""

import json
import os
import pty
from dataclasses import replace

import apsw
import pytest

from recrawl.entries.entries import Copy, PageChange, SitesDiscovered
from recrawl.store import create_store, open_for_writing, open_store
from recrawl.visits.status import PageStatus, RobotsTag, VisitOutcome
from tests.adapters.warc.warcs import of_kind, read_folder
from tests.cli import crawls
from tests.cli.running import run, run_here, sentence, start
from tests.servers import answers
from tests.servers.faults import FaultServer
from tests.store.made import found, visit
from tests.waiting import ending, wait_for_count

SETTINGS = """agent = "test-bot (me@example.org)"
[[site]]
address = "https://a.org/"
[[page]]
address = "https://a.org/named"
"""
PAGES = [f"https://a.org/{path}" for path in ("", "named", "private/1", "private/2", "b*c")]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A crawl of five pages, each with a version."""
    (tmp_path / "recrawl.toml").write_text(SETTINGS)
    with create_store(tmp_path / "recrawl.db") as store:
        store.write([found(*PAGES)])
        change = PageChange(PageStatus.COPIED)
        for page in range(5):
            made = visit(page, page, outcome=VisitOutcome.FIRST, body=b"body %d" % page)
            store.write([replace(made, copy=Copy(b"signature"), change=change)])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def statuses():
    with open_store("recrawl.db") as reader:
        return [PageStatus(status).label for status in reader.pages().status.tolist()]


def rows(ended):
    assert ended.code == 0, ended
    return [json.loads(line) for line in ended.out.splitlines()]


def test_a_removed_page_keeps_its_versions(folder):
    (row,) = rows(run_here("remove", PAGES[0], "--json"))

    assert row == {
        "page": PAGES[0],
        "status": "removed",
        "versions": 0,
        "bodies": 0,
        "bytes": 0,
        "warc_records": 0,
    }
    assert statuses() == ["removed", *["copied"] * 4]
    with open_store("recrawl.db") as reader:
        assert reader.newest_body(0) == b"body 0"


def test_erased_pages_are_counted(folder):
    ended = run_here("remove", "--yes", "--erase", PAGES[0], PAGES[1], "--json")

    assert [
        (row["page"], row["status"], row["versions"], row["bodies"]) for row in rows(ended)
    ] == [
        (PAGES[0], "erased", 1, 1),
        (PAGES[1], "erased", 1, 1),
    ]
    assert ended.err.splitlines() == [
        f"recrawl.toml still has a [[page]] {PAGES[1]}.",
        "WARC files were not changed; --warc DIR erases pages from them too.",
    ]
    assert statuses() == ["erased", "erased", *["copied"] * 3]


def test_a_star_stands_for_any_letters(folder):
    assert (
        len(rows(run_here("remove", "--yes", "--erase", "https://a.org/private/*", "--json"))) == 2
    )
    assert statuses() == ["copied", "copied", "erased", "erased", "copied"]
    again = run_here("remove", "--yes", "--erase", "https://a.org/private/*", "--json")
    assert (rows(again), again.err.splitlines()[0]) == ([], "No page matches.")


def test_an_address_with_a_star_is_that_page_alone(folder):
    assert [row["page"] for row in rows(run_here("remove", PAGES[4], "--json"))] == [PAGES[4]]


def test_an_address_that_is_no_page_is_refused(folder):
    said = sentence(run("remove", PAGES[0], "https://a.org/nmed", cwd=folder))

    assert said == "recrawl.db: no page https://a.org/nmed; did you mean https://a.org/named?"
    assert statuses() == ["copied"] * 5


def test_while_a_crawl_runs_that_is_said(folder):
    with open_for_writing("recrawl.db"):
        said = sentence(run("remove", "--yes", "--erase", PAGES[0], cwd=folder))

    assert said == f"recrawl.db is in use by another crawl (process {os.getpid()})"
    assert statuses() == ["copied"] * 5


def test_a_reader_in_the_way_is_said_and_the_next_run_does_the_rest(folder):
    """A reader keeps the log: bytes would be left in it."""
    reader = apsw.Connection("recrawl.db", flags=apsw.SQLITE_OPEN_READONLY)
    reader.execute("begin; select count(*) from visits").fetchall()
    ended = run("remove", "--yes", "--erase", PAGES[0], cwd=folder)
    reader.close()
    assert ended.code == 1
    assert "another program is reading the store" in ended.err
    assert statuses()[0] == "erased"

    assert run("remove", "--yes", "--erase", PAGES[0], cwd=folder).code == 0
    assert PAGES[2].encode() in (folder / "recrawl.db").read_bytes()
    assert b"body 0" not in (folder / "recrawl.db").read_bytes()


@pytest.mark.parametrize(("answer", "after"), [("y", "erased"), ("n", "copied")])
def test_a_person_is_asked(folder, answer, after):
    ours, theirs = pty.openpty()
    words = ("remove", "--erase", PAGES[0])
    with ending(start(*words, cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs)) as process:
        os.close(theirs)
        os.write(ours, f"{answer}\n".encode())
        shown = b""
        while b"for good?" not in shown:
            shown += os.read(ours, 1000)
        while process.poll() is None:
            try:
                shown += os.read(ours, 1000)
            except OSError:  # the other end is closed
                break
        process.wait()
    os.close(ours)

    assert b"Erase 1 page for good?" in shown
    assert statuses()[0] == after


def test_where_nobody_can_be_asked_nothing_is_erased(folder):
    said = sentence(run("remove", "--erase", PAGES[0], cwd=folder))

    assert said == "nobody is there to confirm this, and it cannot be undone; add --yes"
    assert statuses()[0] == "copied"


def test_warc_files_go_with_erase_only(folder):
    ended = run_here("remove", PAGES[0], "--warc", "archive")

    assert (ended.code, "--warc needs --erase" in ended.err) == (2, True)


def test_what_was_taken_out_is_told_by_the_verbs_that_look(folder):
    run_here("remove", PAGES[0])
    run_here("remove", "--yes", "--erase", PAGES[1])

    removed, erased = (json.loads(run_here("why", page, "--json").out) for page in PAGES[:2])
    assert (removed["status"], removed["constraint"], removed["page"]) == (
        *("removed", "removed"),
        PAGES[0],
    )
    assert (erased["status"], erased["constraint"]) == ("erased", "removed")
    assert "neither visited nor added again" in run_here("why", PAGES[1]).out
    status = json.loads(run_here("status", "--json").out)
    assert (status["removed"], status["erased"], status["copies"]) == (1, 1, 3)
    assert "1 removed, 1 erased" in run_here("status").out
    listed = [json.loads(line) for line in run_here("pages", "--json").out.splitlines()]
    assert {row["status"] for row in listed} == {"copied", "removed"}
    listed = run_here("pages", "--status", "erased", "--json").out.splitlines()
    assert [json.loads(line)["status"] for line in listed] == ["erased"]
    run_here("export", "visits", "-o", "visits.csv")
    text = (folder / "visits.csv").read_text()
    assert text.count("\n") == 5  # a header and four visits
    assert "erased" not in text
    assert len(run_here("history", PAGES[1], "--csv").out.splitlines()) == 2
    assert run_here("estimate", "recrawl.db", "--csv").code == 0


def test_pages_that_ask_for_noarchive_are_told(folder):
    with open_for_writing("recrawl.db") as store:
        asks = Copy(b"b", robots=RobotsTag.NOARCHIVE)
        store.write([visit(0, 90, outcome=VisitOutcome.SAME, copy=asks)])

    assert "none kept for 1 page that asks for noarchive" in run_here("status").out
    assert json.loads(run_here("status", "--json").out)["noarchive"] == 1
    assert json.loads(run_here("why", PAGES[0], "--json").out)["robots_tags"] == "noarchive"
    assert "no version of it is kept" in " ".join(run_here("why", PAGES[0]).out.split())
    tags = [
        json.loads(line)["robots_tags"] for line in run_here("pages", "--json").out.splitlines()
    ]
    assert max(map(str, tags)) == "noarchive"
    said = sentence(run("diff", PAGES[0], cwd=folder))
    assert said.endswith(" is kept: the page asks for noarchive.")


def test_a_crawl_goes_on_without_what_was_taken_out(tmp_path):
    """Neither links nor sitemaps bring it back; other pages are visited as before."""
    pages = {f"/{name}": answers.page(f"<p>{name}</p>".encode()) for name in "abc"}
    with FaultServer(pages | {"/": answers.page(b"<a href=/a>a</a>")}).in_thread() as server:
        named = [*map(server.address, ["/a", "/b", "/c"])]
        server.pages["/sitemap.xml"] = answers.status(
            200, "\n".join(named).encode(), content_type="text/plain"
        )
        crawls.crawl_in(
            tmp_path, server, top='budget = "100000/1d"', more='interval = "1s"\nlinks = 2'
        )
        run("crawl", "--once", "--warc", "archive", cwd=tmp_path)
        ended = run(
            "remove", "--yes", "--erase", "--warc", "archive", named[0], "--json", cwd=tmp_path
        )
        assert [row["warc_records"] for row in rows(ended)] == [2]
        assert run("remove", named[1], cwd=tmp_path).code == 0
        with open_for_writing(tmp_path / "recrawl.db") as store:  # sitemaps are read again
            store.write([SitesDiscovered([server.address("/")], at_seconds=0.0)])
        before = len(server.requests)
        with crawls.start(tmp_path, "--warc", "archive") as process:
            wait_for_count(server.requests, before + 15)
            process.terminate()
            process.communicate()
        asked = {seen.path for seen in list(server.requests)[before:]}

    assert "/c" in asked
    assert asked & {"/a", "/b"} == set()
    addresses = {each.address for each in of_kind(read_folder(tmp_path / "archive"), "response")}
    assert named[0] not in addresses
    with open_store(tmp_path / "recrawl.db") as reader:
        assert reader.page_count() == 4
        assert reader.find_pages(named[:2]) != [None, None]


def test_warc_files_hold_nothing_of_a_page_that_asks_for_noarchive(tmp_path):
    pages = {
        "/a": answers.page(b"<p>kept</p>"),
        "/b": answers.page(b"<p>not kept</p>", x_robots_tag="noarchive"),
        "/c": answers.page(b"<meta name=robots content=noarchive><p>not kept either</p>"),
    }
    with FaultServer(pages).in_thread() as server:
        server.pages["/sitemap.xml"] = answers.status(
            200, "\n".join(map(server.address, pages)).encode(), content_type="text/plain"
        )
        crawls.crawl_in(tmp_path, server)
        run("crawl", "--once", "--warc", "archive", cwd=tmp_path)
        own = tmp_path / "own"
        crawls.crawl_in(own, server, more="robots_tags = false")
        run("crawl", "--once", "--warc", "archive", cwd=own)

    records = read_folder(tmp_path / "archive")
    assert not any(b"not kept" in record.body for record in records)
    (said, _) = [each for each in of_kind(records, "metadata") if each.address.endswith(("b", "c"))]
    assert b"robots-tags: noarchive\r\nstatus: 200" in said.body
    kept = [record.body for record in of_kind(read_folder(own / "archive"), "response")]
    assert sum(b"not kept" in body for body in kept) == 2
