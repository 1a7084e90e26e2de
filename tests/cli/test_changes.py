"""`recrawl changes`, as people and programs run it."""

import csv
import json
import signal
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from recrawl.entries.records import digest_of
from recrawl.publish.events import DATA_KEYS
from recrawl.visits.status import FeedKind
from tests.cli.looking import on_a_terminal
from tests.cli.running import run, sentence, start
from tests.publish import fed
from tests.publish.fed import SITE, page
from tests.waiting import ending

ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.fixture
def crawl(tmp_path):
    fed.usual(fed.make(tmp_path))
    return tmp_path


def lines(ended):
    assert ended.code == 0, ended.err
    return [json.loads(line) for line in ended.out.splitlines()]


def test_json_lines_are_cloud_events_with_cursors(crawl):
    events = lines(run("changes", "--json", cwd=crawl))

    assert [event["type"].rpartition(".")[2] for event in events] == [
        *("new", "new", "changed", "new", "removed")
    ]
    changed = events[2]
    assert tuple(changed["data"]) == DATA_KEYS
    feed = changed["source"].removeprefix("urn:recrawl:")
    assert changed["id"] == changed["data"]["cursor"] == f"{feed}-3"
    assert (changed["specversion"], changed["subject"]) == ("1.0", f"{SITE}/tea")
    assert changed["time"] == changed["data"]["latest"] == "2026-01-01T14:00:00.000Z"
    assert changed["data"]["likely"] == "2026-01-01T13:30:00.000Z"
    assert changed["data"]["version"] == digest_of(page("Tea", 6)).hex()
    later = lines(run("changes", "--after", changed["id"], cwd=crawl))
    assert later == events[3:]


def test_the_newest_events_come_oldest_first(crawl):
    events = lines(run("changes", "--json", cwd=crawl))
    new = [event for event in events if event["type"].endswith(".new")]

    assert lines(run("changes", "--newest", 2, cwd=crawl)) == events[-2:]
    assert lines(run("changes", "--newest", 99, cwd=crawl)) == events
    assert lines(run("changes", "--newest", 1, "--kind", "new", cwd=crawl)) == new[-1:]
    assert lines(run("changes", "--limit", 2, cwd=crawl)) == events[:2]
    for other in (["--limit", 2], ["--snapshot"]):
        assert run("changes", "--newest", 2, *other, cwd=crawl).code == 2


def test_the_head_says_how_complete_the_feed_is(crawl):
    """The same figures as `recrawl status --json`, before the events."""
    head, *events = lines(run("changes", "--json", "--head", cwd=crawl))

    assert head["type"] == "recrawl.feed.head"
    assert head["data"]["newest"] == events[-1]["id"]
    assert events == lines(run("changes", "--json", cwd=crawl))
    (status,) = lines(run("status", "--json", cwd=crawl))
    said = head["data"]["completeness"]
    assert said.keys() == status["feed"].keys()
    assert said["complete"] == pytest.approx(status["feed"]["complete"], abs=1e-3)
    run("changes", "--atom", "feed.xml", cwd=crawl)
    subtitle = ET.parse(crawl / "feed.xml").getroot().findtext(f"{ATOM}subtitle")  # noqa: S314
    assert subtitle is not None
    assert subtitle.startswith("The feed has ")


def test_options_choose_events(crawl):
    def pages(*options):
        return [event["data"]["page"] for event in lines(run("changes", *options, cwd=crawl))]

    assert pages("--kind", "changed", "--kind", "removed") == [1, 0]
    assert pages("--limit", "2") == [0, 1]
    said = sentence(run("changes", "--host", "b.org", cwd=crawl))
    assert said == "recrawl.db: no host 'b.org' in this crawl"
    assert pages("--host", "A.org", "--since", "2026-01-01T14:00:00") == [1, 2, 0]
    assert pages("--since", "1d") == []
    assert pages() == [0, 1, 1, 2, 0]
    assert pages("--latest") == [1, 2, 0]
    assert pages("--latest", "--kind", "new") == [2]
    assert pages("--latest", "--limit", "1") == [1]


def test_a_snapshot_ends_with_the_cursor_to_go_on_from(crawl):
    *copies, end = lines(run("changes", "--snapshot", "--with", "markdown", cwd=crawl))

    assert [copy["data"]["page"] for copy in copies] == [1, 2]
    assert all(copy["data"]["cursor"] is None for copy in copies)
    assert copies[0]["data"]["markdown"].startswith("# Tea")
    assert end["type"] == "recrawl.snapshot.end"
    assert end["data"]["pages"] == 2
    assert lines(run("changes", "--after", end["data"]["cursor"], cwd=crawl)) == []


def test_a_follower_hears_what_comes_and_ends_well_on_ctrl_c(crawl):
    process: Any = start(
        *("changes", "--snapshot", "--follow", "--json"), cwd=crawl, stdout=-1, text=True
    )
    with ending(process):
        types = [json.loads(process.stdout.readline())["type"] for _ in range(3)]
        fed.tell(crawl / "recrawl.db", (FeedKind.BACK, 0, page("Home")), start=9)
        event = json.loads(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        assert process.wait() == 0

    assert types == ["recrawl.page.snapshot"] * 2 + ["recrawl.snapshot.end"]
    assert (event["type"], event["data"]["page"]) == ("recrawl.page.back", 0)


def test_changes_of_navigation_alone_are_left_out_with_chunks(crawl):
    other = page("Tea", 6).replace(b"All", b"Everything")
    fed.tell(crawl / "recrawl.db", (FeedKind.CHANGED, 1, other), start=9)

    shown = [
        lines(run("changes", "--with", "chunks", *more, cwd=crawl)) for more in ([], ["--all"])
    ]

    assert [len(events) for events in shown] == [5, 6]
    assert shown[1][-1]["data"]["content"] is False


def test_atom_is_valid_whatever_the_pages_are_called(crawl):
    fed.tell(crawl / "recrawl.db", (FeedKind.CHANGED, 2, b"<p>1"), start=9)

    ended = run("changes", "--atom", "feed.xml", "--host", "a.org", cwd=crawl)

    assert ended.code == 0, ended.err
    feed: Any = ET.parse(crawl / "feed.xml").getroot()  # noqa: S314 - our own
    ids = [entry.findtext(f"{ATOM}id") for entry in feed.iter(f"{ATOM}entry")]
    assert len(ids) == len(set(ids)) == 6
    newest = feed.find(f"{ATOM}entry")
    assert newest.findtext(f"{ATOM}title") == f"changed: {SITE}/tea?sort=price"
    assert newest.find(f"{ATOM}link").get("href") == f"{SITE}/tea?sort=price"
    assert feed.findtext(f"{ATOM}id").endswith(":a.org")


def test_a_terminal_shows_the_newest_first_and_diffs_on_demand(crawl):
    shown = on_a_terminal(crawl, "changes", "--with", "diff")

    table, _, diffs = shown.replace("\r", "").partition("\n\n")
    assert "removed: gone" in table.splitlines()[1]
    assert "changed: 25 % of the words" in table
    assert "~ It costs [-5-]{+6+} euros a bag." in diffs


def test_a_file_holds_the_same_lines(crawl):
    assert run("changes", "-o", "events.jsonl", cwd=crawl).code == 0

    assert (crawl / "events.jsonl").read_text() == run("changes", "--json", cwd=crawl).out


def rows(ended):
    assert ended.code == 0, ended.err
    return list(csv.DictReader(ended.out.splitlines()))


def test_csv_has_a_row_per_event(crawl):
    events = lines(run("changes", "--json", cwd=crawl))
    table = rows(run("changes", "--csv", cwd=crawl))

    assert [row["cursor"] for row in table] == [event["id"] for event in events]
    assert [row["page"] for row in table] == [event["subject"] for event in events]
    changed, data = table[2], events[2]["data"]
    assert changed["kind"] == "changed"
    assert changed["seen_at"] == "2026-01-01T14:00:00Z"
    assert changed["likely"] == "2026-01-01T13:30:00Z"
    assert (changed["version"], changed["gist"]) == (data["version"], data["gist"] or "")
    assert float(changed["share"]) == pytest.approx(data["share"])
    assert (table[4]["reason"], table[4]["version"], table[4]["share"]) == ("gone", "", "")
    assert rows(run("changes", "--csv", "--newest", 2, cwd=crawl)) == table[-2:]
    assert rows(run("changes", "--csv", "--limit", 2, cwd=crawl)) == table[:2]
    assert rows(run("changes", "--csv", "--kind", "new", cwd=crawl)) == [
        row for row in table if row["kind"] == "new"
    ]
    newest = {row["page"]: row for row in table}
    latest = rows(run("changes", "--csv", "--latest", cwd=crawl))
    assert {row["page"]: row for row in latest} == newest
    assert rows(run("changes", "--csv", "--latest", "--newest", 1, cwd=crawl)) == table[-1:]


def test_a_csv_file_holds_the_same_rows(crawl):
    assert run("changes", "-o", "events.csv", cwd=crawl).code == 0

    assert (crawl / "events.csv").read_text() == run("changes", "--csv", cwd=crawl).out


def test_a_store_may_be_named_as_in_other_verbs(crawl, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    store = crawl / "recrawl.db"
    here = lines(run("changes", "--json", cwd=crawl))

    assert lines(run("changes", store, "--json", cwd=elsewhere)) == here
    assert lines(run("changes", store, "--with", "text", "--json", cwd=elsewhere))
    assert len(rows(run("changes", store, "--csv", cwd=elsewhere))) == len(here)
    assert run("changes", store, "--deliver", cwd=elsewhere).code == 2


@pytest.mark.parametrize("verb", [["changes"], ["check"], ["compact"], ["export", "visits"]])
def test_a_file_that_is_no_store_is_called_that(tmp_path, verb):
    """Also where there are no settings beside it, and in words rather than in its bytes."""
    (tmp_path / "other.db").write_bytes(b"\x01\xfe\0\x93" * 99)
    out = ["-o", "out.csv"] if verb[0] == "export" else []

    said = sentence(run(*verb, "other.db", *out, cwd=tmp_path))

    assert said == "other.db is not a recrawl store (not an SQLite database)"


def test_what_cannot_be_is_refused_in_one_sentence(crawl):
    told = run("changes", "--after", "aaaaaaaa-1", cwd=crawl)
    assert sentence(told).endswith("cursor aaaaaaaa-1 belongs to another store; take a snapshot")
    assert sentence(run("changes", "--kind", "gone", cwd=crawl)).startswith("--kind must be one of")
    assert "must be of text, markdown" in sentence(run("changes", "--with", "pdf", cwd=crawl))
    for options in (
        ("--after", "aaaaaaaa-1", "--snapshot"),
        ("--follow", "-o", "a.jsonl"),
        ("--atom", "a.xml", "--follow"),
        ("--csv", "--json"),
        ("--csv", "--snapshot"),
        ("--follow", "-o", "a.csv"),
        ("--csv", "--with", "diff"),
    ):
        assert run("changes", *options, cwd=crawl).code == 2, options
