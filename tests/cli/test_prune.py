"""`recrawl prune`: pages of sites that are gone are deleted, and nothing else."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace

import pytest

from recrawl.entries.entries import Copy, PageChange, PagesRemoved
from recrawl.errors import InvalidInput
from recrawl.settings.settings import read_settings
from recrawl.store import create_store, open_for_writing, open_store
from recrawl.visits.status import PageStatus, VisitOutcome
from tests.cli.crawls import AGENT, begin_in
from tests.cli.running import run, run_here, sentence
from tests.crawl import killed_removal
from tests.servers import answers
from tests.servers.faults import FaultServer
from tests.store.made import found, visit
from tests.waiting import started

TOP = f'agent = "{AGENT}"\n'
SITE = '[[site]]\naddress = "https://{}.org/"\n'
PAGES = [f"https://{site}.org/{path}" for site in "ab" for path in ("", "x", "y")]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A crawl of two sites, one of which has left the settings; a page of each was taken out."""
    (tmp_path / "recrawl.toml").write_text(TOP + SITE.format("a") + SITE.format("b"))
    with create_store(tmp_path / "recrawl.db") as store:
        store.write([found(*PAGES)])
        change = PageChange(PageStatus.COPIED)
        for page in range(len(PAGES)):
            made = visit(page, page, outcome=VisitOutcome.FIRST, body=b"body %d" % page)
            store.write([replace(made, copy=Copy(b"signature"), change=change)])
        store.write([PagesRemoved([2, 5], 10.0)])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rows(*words):
    ended = run_here(*words, "--json")
    assert ended.code == 0, ended
    return [json.loads(line) for line in ended.out.splitlines()]


def leave_site_b():
    ended = run_here("remove", "--block", "https://b.org")
    assert ended.code == 0, ended
    return ended.err


def test_pages_of_a_site_that_is_gone_are_shown_apart(folder):
    assert leave_site_b().splitlines() == [
        "Took 1 block out of recrawl.toml.",
        "3 pages belong to no site now; `recrawl prune` deletes what is kept of them.",
    ]
    assert [
        rule.address for rule in read_settings((folder / "recrawl.toml").read_text()).rules
    ] == ["https://a.org/"]

    shown = {row["page"]: row["status"] for row in rows("pages")}
    assert list(shown.values()) == [
        "copied",
        "copied",
        "removed",
        "unlisted",
        "unlisted",
        "removed",
    ]
    assert {row["page"] for row in rows("pages", "--status", "unlisted")} == set(PAGES[3:5])
    (status,) = rows("status")
    assert (status["copied"], status["unlisted"], status["removed"]) == (2, 2, 2)
    said = "2 unlisted (left out or on no site; `recrawl prune` deletes them)"
    assert said in run_here("status").out


def test_what_belongs_to_no_site_is_deleted(folder):
    leave_site_b()
    assert [row["page"] for row in rows("prune", "--dry-run")] == PAGES[3:]
    with open_store("recrawl.db") as reader:
        assert reader.newest_body(3) == b"body 3"

    with pytest.raises(InvalidInput, match="cannot be undone; add --yes"):
        run_here("prune", "--json")
    ended = run_here("prune", "--yes", "--json")

    assert [json.loads(line)["page"] for line in ended.out.splitlines()] == PAGES[3:]
    assert ended.err == "Deleted 3 versions (45 bytes) of 3 pages.\n"
    check_pruned(folder)
    assert run_here("prune").err == "Every page belongs to a site.\n"
    assert len(rows("pages")) == 3


def check_pruned(folder):
    """Nothing is left of the pages of the site that is gone, and nothing was lost of the other."""
    with open_for_writing(folder / "recrawl.db") as store:
        assert store.check() == []
    with open_store(folder / "recrawl.db") as reader:
        assert reader.find_pages(PAGES) == [0, 1, 2, None, None, None]
        assert [reader.newest_body(page) for page in (0, 1, 2, 3)] == [
            *(b"body 0", b"body 1", b"body 2"),
            None,
        ]
        assert reader.last_visit() == len(PAGES)
    raw = b"".join(path.read_bytes() for path in folder.glob("recrawl.db*"))
    assert b"b.org/x" not in raw


def test_the_site_that_comes_back_has_new_pages(folder):
    leave_site_b()
    run_here("prune", "--yes")
    with open_for_writing("recrawl.db") as store:
        store.write([found(*PAGES[3:])])

    with open_store("recrawl.db") as reader:
        assert reader.find_pages(PAGES[3:]) == [6, 7, 8]


def test_a_page_that_was_taken_out_of_a_site_stays_out(folder):
    """It is known, so that it is not added again."""
    run_here("prune", "--yes")

    with open_store("recrawl.db") as reader:
        assert reader.find_pages(PAGES) == [0, 1, 2, 3, 4, 5]


def test_while_a_crawl_runs_nothing_is_deleted(folder):
    leave_site_b()
    with open_for_writing("recrawl.db"):
        said = sentence(run("prune", "--yes", cwd=folder))
        assert [row["page"] for row in rows("prune", "--dry-run")] == PAGES[3:]

    assert said == f"recrawl.db is in use by another crawl (process {os.getpid()})"


def test_a_site_that_is_none_is_not_taken_out(folder):
    before = (folder / "recrawl.toml").read_text()

    said = sentence(run("remove", "--block", "https://c.org", cwd=folder))

    assert said == "recrawl.toml has no [[site]] or [[page]] https://c.org/"
    assert (folder / "recrawl.toml").read_text() == before
    assert run_here("remove", "--block", "--erase", "https://a.org").code == 2


def test_pruning_that_is_killed_at_any_step_is_done_by_the_next(folder, tmp_path_factory):
    leave_site_b()
    command, pipe = [sys.executable, killed_removal.__file__], subprocess.PIPE
    codes: list[int] = []
    with started(command, stdin=pipe, stdout=pipe, text=True) as killer:
        while not codes or codes[-1]:
            copy = tmp_path_factory.mktemp("killed")
            for name in ("recrawl.toml", "recrawl.db"):
                shutil.copy(folder / name, copy)
            for step in (5 + 7 * len(codes), 1_000_000):
                killer.stdin.write(f"{copy} {step} prune\n")
                killer.stdin.flush()
                ended = int(killer.stdout.readline())
                if step < 1_000_000:
                    codes.append(ended)
                    with open_store(copy / "recrawl.db") as reader:  # as it was left
                        assert reader.find_pages(PAGES[:3]) == [0, 1, 2]
            assert ended == 0
            check_pruned(copy)
    assert set(codes[:-1]) == {-9}
    assert len(codes) > 5


def test_a_pruned_site_is_crawled_anew(tmp_path):
    """From its first visit on: the copies are gone."""
    with FaultServer({"/": answers.page(b"home")}).in_thread() as server:
        begin_in(tmp_path)
        for verb in (
            ("add", server.address("/"), "--local"),
            ("crawl", "--once"),
            ("remove", "--block", server.address("/")),
            ("prune", "--yes"),
            ("add", server.address("/"), "--local"),
            ("crawl", "--once"),
        ):
            ended = run(*verb, cwd=tmp_path)
            assert ended.code == 0, ended
        assert len(server.asked("/")) == 4  # two to find feeds, two for copies
    with open_store(tmp_path / "recrawl.db") as reader:
        assert reader.find_pages([server.address("/")]) == [1]
        assert reader.pages().status.tolist() == [PageStatus.ERASED, PageStatus.COPIED]


def test_a_prune_that_nobody_can_confirm_is_refused_before_it_shows_anything(folder):
    leave_site_b()

    for words in (("prune",), ("prune", "--csv")):
        ended = run(*words, cwd=folder)
        assert "add --yes" in sentence(ended)
        assert ended.out == ""
