"""A crawl whose store is in PostgreSQL, as people run it, and everybody who looks at it."""

from __future__ import annotations

import csv
import json
import urllib.request

import pytest

from recrawl.state.snapshot import load_snapshot
from recrawl.store import open_store
from recrawl.store.moving import move
from tests.cli.running import run
from tests.laws.test_state import assert_equal, written
from tests.serve.servers import served
from tests.servers import postgres
from tests.servers.changing_site import changing_site, page

AGENT = "test-bot (me@example.org)"
_MOMENTARY = {"fresh_now", "next_visit"}
HISTORY = {
    "seed": 7,
    "budget": "40",
    "terms": ["", 'maximum = "2d"\n'],
    "policy": "recrawl",
    "pages": 12,
    "visits": 300,
    "saved_after": 0.5,
    "moved": False,
    "idle": 0.5,
    "hints": [(1, 2.0), (2, 7.0), (3, 7.0)],
    "hinted_after": "all visits",
}


def settings_text(store, site):
    return (
        f'agent = "{AGENT}"\nbudget = "100000/1d"\n[storage]\nstore = "{store}"\n'
        f'[politeness]\ndelay = "0.01s"\n'
        f'[[site]]\naddress = "{site.address}/"\nlocal = true\nlinks = 2\nmaximum = "1s"\n'
    )


@pytest.fixture(scope="module")
def crawled(tmp_path_factory):
    """A folder with a crawl on PostgreSQL, one with the same store in a file, and the site."""
    there, here = tmp_path_factory.mktemp("server"), tmp_path_factory.mktemp("file")
    links = [f"/{number}" for number in range(4)]
    pages = {"/": page("sheep", *links)} | {link: page(f"wool {link}") for link in links}
    with postgres.place() as place, changing_site(pages) as site:
        (there / "recrawl.toml").write_text(settings_text(place, site))
        (here / "recrawl.toml").write_text(settings_text("recrawl.db", site))
        made = run("init", cwd=there)
        assert made.code == 0, made.err
        for wool in ("white", "black"):
            site.pages["/1"] = page(f"{wool} wool")
            ended = run("crawl", "--for", "2s", cwd=there)
            assert ended.code == 0, ended.err
        moved = run("move", place, here / "recrawl.db")
        assert moved.code == 0, moved.err
        yield there, here, site, place


def test_the_crawl_has_visited_all_and_found_what_changed(crawled):
    there, _, site, place = crawled
    with postgres.reading(place) as reader:
        assert reader.page_count() == 5
        assert reader.last_visit() > 8
        assert all(each.found == 0 for each in reader.check())
    changes = [json.loads(line) for line in run("changes", "--json", cwd=there).out.splitlines()]
    assert {each["subject"] for each in changes} == {f"{site.address}{path}" for path in site.pages}


def _steady(text):
    """What a verb prints without what changes from moment to moment, or belongs to a database."""
    lines = text.splitlines()
    if not text.startswith(("{", "page,")):
        return [line for line in lines if not line.startswith("file ")]
    rows = map(json.loads, lines) if text.startswith("{") else csv.DictReader(lines)
    return [{name: row[name] for name in row if name not in _MOMENTARY} for row in rows]


@pytest.mark.parametrize(
    "words",
    [
        ("pages", "--json"),
        ("history", "{}/1", "--json"),
        ("diff", "{}/1"),
        ("get", "{}/1"),
        ("changes", "--json"),
        ("export", "visits"),
        ("export", "pages"),
        ("export", "copies", "-o", "-"),
        ("check",),
    ],
    ids=" ".join,
)
def test_whoever_looks_is_told_the_same_as_of_a_file(crawled, words):
    there, here, site, _ = crawled
    asked = [word.format(site.address) for word in words]
    one, other = run(*asked, cwd=there), run(*asked, cwd=here)
    assert (one.code, other.code) == (0, 0), one.err + other.err
    assert one.out
    assert _steady(one.out) == _steady(other.out)


@pytest.mark.parametrize(
    "words",
    [
        ("status",),
        ("status", "--json"),
        ("why", "{}/1"),
        ("hint", "{}/1"),
        ("prune", "--dry-run"),
        ("estimate", "[]"),
        ("plan", "[]", "--budget", "100/1d"),
        ("simulate", "store", "[]", "--budget", "100/1d"),
        ("compact", "[]"),
        ("check", "[]"),
        ("export", "rates", "[]"),
        ("remove", "{}/3", "--yes"),
        ("crawl", "--once"),
    ],
    ids=" ".join,
)
def test_every_verb_takes_such_a_store(crawled, words):
    there, _, site, place = crawled
    asked = [place if word == "[]" else word.format(site.address) for word in words]
    ended = run(*asked, cwd=there)
    assert ended.code == 0, ended.err


def test_the_dashboard_and_the_api_read_it(crawled):
    there, *_ = crawled
    with served(there / "recrawl.toml") as address:
        for path in ("/", "/api/v1/status", "/api/v1/pages"):
            with urllib.request.urlopen(f"{address}{path}") as answer:  # noqa: S310 - our own
                assert answer.status == 200


def test_settings_with_a_password_are_refused_and_it_is_not_repeated(tmp_path):
    text = f'agent = "{AGENT}"\n[storage]\nstore = "postgresql://me:hunter2hunter2@db.org/pages"\n'
    (tmp_path / "recrawl.toml").write_text(text)
    ended = run("status", cwd=tmp_path)
    assert ended.code == 1
    assert "store must not hold a password; set PGPASSWORD" in ended.err
    assert "hunter2" not in ended.err + ended.out


def test_the_same_visits_teach_the_same(tmp_path):
    """Written to both, saved half-way and replayed from there; to the bit."""
    with postgres.place() as place:
        asked, now = written(place, HISTORY)
        assert (asked, now) == written(tmp_path / "recrawl.db", HISTORY)
        with open_store(place) as there, open_store(tmp_path / "recrawl.db") as here:
            one, other = (load_snapshot(asked, reader, now) for reader in (there, here))
            assert_equal(one, other)
            assert_equal(there.pages(), here.pages())
            for mine, theirs in zip(there.visits(), here.visits(), strict=True):
                assert_equal(mine, theirs)


def test_beliefs_go_along_when_a_store_is_moved(tmp_path):
    with postgres.place() as place:
        asked, now = written(tmp_path / "recrawl.db", HISTORY)
        move(tmp_path / "recrawl.db", place)
        move(place, tmp_path / "back.db")
        snapshots = []
        for each in (tmp_path / "recrawl.db", place, tmp_path / "back.db"):
            with open_store(each) as reader:
                snapshots.append(load_snapshot(asked, reader, now))
    assert_equal(snapshots[0], snapshots[1])
    assert_equal(snapshots[0], snapshots[2])
