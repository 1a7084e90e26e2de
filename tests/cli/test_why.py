"""`recrawl why`, as people run it."""

import json
import re
import time

import pytest

from recrawl.entries.entries import PageChange, PagesChanged, PagesFound, RobotsRead
from recrawl.report.why.object import KEYS
from recrawl.store import open_for_writing
from recrawl.visits.status import PageStatus
from tests.cli.looking import on_a_terminal
from tests.cli.running import names_in, run, sentence
from tests.inspect.looked import made


@pytest.fixture
def folder(tmp_path):
    made(tmp_path / "recrawl.db", own=True)
    return tmp_path


def test_a_paragraph_a_subject(folder):
    lines = on_a_terminal(folder, "why", "https://a.org/s0/p3.html").splitlines()
    subjects = [line[:10].strip() for line in lines if line[0] != " "]

    assert subjects == ["next", "because", "evidence", "estimate", "section", "value", "if"]
    assert all(len(line) <= 100 for line in lines)
    assert re.search(r"\nevidence  5 visits in .*; 4 compared it with its", "\n".join(lines))


def test_the_same_in_json(folder):
    ended = run("why", "https://a.org/s0/p3.html", "--json", cwd=folder)

    assert ended.code == 0
    assert ended.err == ""
    found = json.loads(ended.out)
    assert tuple(found) == KEYS
    assert found["constraint"] in ("pace", "budget")
    assert found["evidence"]["visits"] == 5
    assert {each["change"] for each in found["what_if"]} >= {"budget", "weight", "neighbour"}


def test_the_settings_of_its_block_count(folder):
    """b.org has a budget of its own and is visited every nine days at least."""
    found = json.loads(run("why", "https://b.org/s0/p3.html", "--json", cwd=folder).out)
    budget = next(each for each in found["what_if"] if each["change"] == "budget")

    assert found["block"] == "https://b.org/"
    assert (budget["was"], budget["to"]) == ("5/1d", "10/1d")
    assert [each["was"] for each in found["what_if"] if each["change"] == "maximum"] == ["9.0d"]


def test_a_page_that_is_gone(folder):
    at = time.time() + 3 * 86_400
    with open_for_writing(folder / "recrawl.db") as store:
        store.write([PagesChanged([3], [PageChange(PageStatus.GONE, 2, at)])])
    found = json.loads(run("why", "https://a.org/s0/p3.html", "--json", cwd=folder).out)

    assert found["constraint"] == "recheck"
    assert found["figures"]["times_in_a_row"] == 2
    assert found["next_visit_days"] == pytest.approx(3, abs=0.1)
    assert found["estimate"] is None


def test_a_page_that_no_block_holds(folder):
    with open_for_writing(folder / "recrawl.db") as store:
        store.write([PagesFound(["https://c.org/"], ["c.org"], [-1], time.time())])
    found = json.loads(run("why", "https://c.org/", "--json", cwd=folder).out)

    assert found["constraint"] == "no_rule"
    assert found["next_visit"] is None
    assert found["block"] is None
    (block,) = found["what_if"]
    assert block["to"] == "[[page]] https://c.org/"
    assert block["next_visit"] is not None


def test_a_page_that_robots_txt_forbids_is_not_in_the_store_and_said_to_be_forbidden(folder):
    read = time.time() - 3 * 3600
    body = b"User-agent: *\nDisallow: /private/\n"
    with open_for_writing(folder / "recrawl.db") as store:
        store.write([RobotsRead("https://a.org", read, 200, body)])
    found = json.loads(run("why", "https://a.org/private/x", "--json", cwd=folder).out)
    said = " ".join(on_a_terminal(folder, "why", "https://a.org/private/x").split())

    assert tuple(found) == KEYS
    assert (found["status"], found["constraint"]) == ("unknown", "robots")
    assert (found["block"], found["next_visit"]) == ("https://a.org/", None)
    assert found["figures"]["host"] == "a.org"
    assert found["evidence"]["visits"] == 0
    assert said.startswith("next not scheduled because robots.txt of a.org forbids")
    assert "read 3.0h ago" in said
    assert "random sample" not in said
    ended = run("why", "https://a.org/public/x", cwd=folder)
    assert "recrawl.db: no page " in sentence(ended)


def test_a_crawl_without_visits(tmp_path):
    """All pages are new, and the first of them comes first."""
    made(tmp_path / "recrawl.db", rounds=0)
    found = [
        json.loads(
            run("why", f"https://a.org/s{page // 10}/p{page}.html", "--json", cwd=tmp_path).out
        )
        for page in (0, 30)
    ]

    assert [each["constraint"] for each in found] == ["new", "new"]
    assert found[0]["next_visit_days"] < 0.01
    assert 0.9 < found[1]["next_visit_days"] < 1.1
    assert found[0]["estimate"] is found[0]["worth"] is found[0]["section"] is None


def test_a_crawl_may_run_meanwhile_and_nothing_is_left_behind(folder):
    with open_for_writing(folder / "recrawl.db"):
        assert run("why", "https://a.org/s0/p3.html", cwd=folder).code == 0
    assert set(names_in(folder)) <= {
        *("recrawl.toml", "recrawl.db", "recrawl.db.lock", "recrawl.db-wal", "recrawl.db-shm")
    }


def test_an_unknown_page_is_refused_with_the_nearest(folder):
    ended = run("why", "https://a.org/s0/p3.htm", cwd=folder)

    assert sentence(ended).endswith("did you mean https://a.org/s0/p3.html?")


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("https://a.org/s0/x", "block https://a.org/ takes it in once it is found, `recrawl hint "),
        ("https://nowhere.org/", "no block of the settings covers it, `recrawl add https://now"),
    ],
)
def test_an_unknown_page_is_said_to_be_taken_in_or_not(folder, url, said):
    assert f"recrawl.db: no page {url}; {said}" in sentence(run("why", url, cwd=folder))


def test_a_folder_without_a_crawl_is_refused(tmp_path):
    ended = run("why", "https://a.org/", cwd=tmp_path)

    assert sentence(ended).startswith("No recrawl.toml here. Run `recrawl init` first.")
