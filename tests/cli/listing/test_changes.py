"""`recrawl listing changes`, as people and programs run it."""

import json
import signal
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from recrawl.store import create_store, open_for_writing
from tests.cli.looking import on_a_terminal
from tests.cli.running import run, sentence, start
from tests.publish import listed
from tests.publish.listed import HOUR
from tests.store.made import NOON
from tests.waiting import ending

ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.fixture
def crawl(tmp_path):
    listed.usual(tmp_path)
    return tmp_path


def changes(crawl, *options):
    ended = run("listing", "changes", "recrawl.db", *options, cwd=crawl)
    assert ended.code == 0, ended.err
    return [json.loads(line) for line in ended.out.splitlines()]


def test_json_lines_are_cloud_events_with_cursors(crawl):
    events = changes(crawl, "--json")

    assert [event["type"].rpartition(".")[2] for event in events] == [
        *("arrived", "arrived", "arrived", "changed", "vanished", "back")
    ]
    changed = events[3]["data"]
    assert (changed["listing"], changed["key"], changed["changed"]) == ("jobs", "2", ["pay"])
    assert (changed["before"], changed["attributes"]) == ({"pay": "28"}, {"pay": "30"})
    assert changed["likely"] == "2026-01-01T13:00:00.000Z"
    assert changes(crawl, "--after", events[3]["id"]) == events[4:]
    assert changes(crawl, "--since", "2026-01-01T15:00") == events[4:]
    assert changes(crawl, "--name", "cars", "--json") == events[2:3]
    assert changes(crawl, "--kind", "vanished", "--kind", "back") == events[4:]
    assert changes(crawl, "--limit", "2") == events[:2]


def test_a_snapshot_ends_with_the_cursor_to_go_on_from(crawl):
    *objects, end = changes(crawl, "--snapshot", "--name", "jobs")

    assert sorted(event["data"]["key"] for event in objects) == ["1", "2"]
    assert {event["type"] for event in objects} == {"recrawl.object.snapshot"}
    assert (end["type"], end["data"]["objects"]) == ("recrawl.snapshot.end", 2)
    assert changes(crawl, "--after", end["data"]["cursor"]) == []


def test_files_hold_lines_and_atom(crawl):
    run("listing", "changes", "recrawl.db", "-o", "jobs.jsonl", cwd=crawl)
    run("listing", "changes", "recrawl.db", "--name", "jobs", "--atom", "jobs.xml", cwd=crawl)

    lines = (crawl / "jobs.jsonl").read_text().splitlines()
    assert list(map(json.loads, lines)) == changes(crawl, "--json")
    feed = ET.parse(crawl / "jobs.xml").getroot()  # noqa: S314 - our own
    titles = [each.findtext(f"{ATOM}title") for each in feed.iter(f"{ATOM}entry")]
    assert titles[0] == "back: jobs 1"
    assert len(titles) == 5
    assert feed.findtext(f"{ATOM}title") == "Changes of jobs"


def test_a_terminal_shows_the_newest_first(crawl):
    shown = on_a_terminal(crawl, "listing", "changes", "recrawl.db")

    first = next(line for line in shown.splitlines() if "jobs" in line)
    assert "back" in first
    assert "pay: 28 -> 30" in shown


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--after", "aaaaaaaa-listings-1"), "belongs to another store; take a snapshot"),
        (("--kind", "new"), "--kind must be one of arrived, "),
        (("--after", "soon"), "cursor must look like k3fqabcd-listings-1042 (got 'soon')"),
        (("--name", "boats"), "listing 'boats' not found; expected one of jobs, cars"),
    ],
)
def test_bad_input_gets_one_sentence(crawl, options, said):
    assert said in sentence(run("listing", "changes", "recrawl.db", *options, cwd=crawl))


def test_options_that_conflict_are_wrong_usage(crawl):
    options = ("--after", "aaaaaaaa-1", "--snapshot")
    assert run("listing", "changes", "recrawl.db", *options, cwd=crawl).code == 2


def test_a_store_without_listings_is_told_so(tmp_path):
    create_store(tmp_path / "recrawl.db").close()

    said = sentence(run("listing", "changes", "recrawl.db", cwd=tmp_path))
    assert "no listing found" in said


def test_a_follower_hears_what_comes_and_ends_well_on_ctrl_c(crawl):
    command = ("listing", "changes", "recrawl.db", "--snapshot", "--follow", "--json")
    following: Any = start(*command, cwd=crawl, stdout=-1, text=True)
    with ending(following):
        types = [json.loads(following.stdout.readline())["type"] for _ in range(4)]
        with open_for_writing(crawl / "recrawl.db") as store:
            listed.sync(store, "cars", {"1": {"make": "Fiat"}}, {}, NOON + 9 * HOUR)
        event = json.loads(following.stdout.readline())
        following.send_signal(signal.SIGINT)
        assert following.wait() == 0

    assert types == ["recrawl.object.snapshot"] * 3 + ["recrawl.snapshot.end"]
    assert (event["type"], event["subject"]) == ("recrawl.object.vanished", "1")
