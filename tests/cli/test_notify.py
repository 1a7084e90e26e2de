"""Notifications as people run them, and what nobody gets to see of their addresses."""

import json
import sqlite3
from contextlib import contextmanager

import pytest

from recrawl.entries.deliveries import DestinationMoved, DestinationsNamed
from recrawl.entries.records import Destination
from recrawl.store import create_store, open_for_writing, open_store
from tests.cli.running import run, sentence
from tests.publish import fed
from tests.publish.notify.people import HIDDEN, chatting

EVENTS = 5
WEBHOOK = "its receiver would take a test for a real event"


@pytest.fixture
def crawl(tmp_path):
    """A crawl with a feed, whose recipient was named before the first event."""
    path = fed.make(tmp_path)
    with open_for_writing(path) as store:
        store.write([DestinationsNamed(["me"])])
    fed.usual(path)
    return tmp_path


def settings(crawl, more=""):
    block = f'[[notify]]\naddress = "env:CHAT"\nname = "me"\n{more}\n'
    (crawl / "recrawl.toml").write_text(fed.SETTINGS + block)


@contextmanager
def listening(crawl, monkeypatch, answer=lambda tried: 200, more=""):
    settings(crawl, more)
    with chatting(answer) as chat:
        monkeypatch.setenv("CHAT", chat.address)
        yield chat


def test_what_waits_is_told_at_once_in_one_message(crawl, monkeypatch):
    with listening(crawl, monkeypatch) as chat:
        ended = run("changes", "--deliver", cwd=crawl)
        again = run("changes", "--deliver", cwd=crawl)

    assert (ended.code, ended.err) == (0, "me: 1 message delivered.\n")
    assert (again.code, again.err) == (0, "me: 0 messages delivered.\n")
    (message,) = chat.messages
    assert message["title"] == "5 changes at a.org"
    assert "Tea: changed: 25 % of the words, last of 2 changes" in message["message"]


def test_what_fails_is_told_kept_and_nowhere_shows_the_address(crawl, monkeypatch):
    with listening(crawl, monkeypatch, lambda tried: 503):
        ended = run("changes", "--deliver", cwd=crawl)
        found = run("status", "--json", cwd=crawl)
        words = run("status", cwd=crawl)

    assert ended.code == 1
    assert "Notification me: answered 503; retrying." in ended.err
    assert "events still wait to be delivered to me" in ended.err
    (standing,) = json.loads(found.out)["destinations"]
    assert (standing["name"], standing["kind"], standing["waiting"]) == ("me", "notify", EVENTS)
    assert (standing["attempts"], standing["problem"]) == (1, "answered 503")
    assert (standing["disabled"], standing["given_up"]) == (False, 0)
    (line,) = (line for line in words.out.splitlines() if line.startswith("delivery"))
    assert "me: 5 events waiting, the oldest for " in line
    assert "; last: answered 503, tried 1 time, again in " in line
    said = "".join(each.out + each.err for each in (ended, found, words))
    assert HIDDEN not in said
    for file in crawl.iterdir():
        assert HIDDEN.encode() not in file.read_bytes(), file


def test_what_was_given_up_is_listed_and_told_by_hand(crawl, monkeypatch):
    with open_for_writing(crawl / "recrawl.db") as store:
        lost = DestinationMoved(Destination("me", 5, problem="gone"), 1e9, "no connection", (2, 3))
        store.write([lost])

    with listening(crawl, monkeypatch) as chat:
        lines = run("changes", "--undelivered", cwd=crawl).out.splitlines()
        events = [json.loads(line) for line in lines]
        status = run("status", cwd=crawl).out
        ended = run("changes", "--redeliver", events[1]["event"], cwd=crawl)
        left = run("changes", "--undelivered", cwd=crawl).out.splitlines()

    assert [(each["destination"], each["problem"]) for each in events] == [
        ("me", "no connection"),
        ("me", "no connection"),
    ]
    assert "2 events given up, see `recrawl changes --undelivered`" in status
    assert (ended.code, ended.err, left) == (0, "me: delivered.\n", lines[:1])
    assert [each["title"] for each in chat.messages] == ["changed at a.org: Tea"]


def test_a_recipient_is_tried_also_while_a_crawl_runs(crawl, monkeypatch):
    """The newest changes that were asked for are sent, and no place moves."""
    with (
        listening(crawl, monkeypatch, more='kinds = ["changed"]') as chat,
        open_for_writing(crawl / "recrawl.db"),
    ):
        ended = run("changes", "--test", "me", cwd=crawl)

    assert (ended.code, ended.err) == (0, "me: a message was sent.\n")
    assert [each["title"] for each in chat.messages] == ["changed at a.org: Tea"]
    with open_store(crawl / "recrawl.db") as reader:
        assert reader.destinations()[0].cursor == 0


def test_without_a_change_a_try_says_so(crawl, monkeypatch):
    with listening(crawl, monkeypatch, more='hosts = ["b.org"]') as chat:
        run("changes", "--test", "me", cwd=crawl)

    assert chat.bodies == ["Nothing that this [[notify]] asks for has changed yet."]


def test_a_try_that_fails_is_an_error(crawl, monkeypatch):
    with listening(crawl, monkeypatch, lambda tried: 401):
        said = sentence(run("changes", "--test", "me", cwd=crawl))

    assert said == "no message could be sent to me (answered 401)"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("you", "recrawl.toml has no [[notify]] called you (me)"),
        ("index", f"index is a [[webhook]]: {WEBHOOK}; --redeliver posts an event again"),
    ],
)
def test_only_people_are_tried(crawl, name, said):
    settings(
        crawl,
        '[[webhook]]\naddress = "https://example.org/in"\nsecret = "env:KEY"\nname = "index"\n',
    )

    assert sentence(run("changes", "--test", name, cwd=crawl)) == said


@pytest.mark.parametrize("verb", [("changes", "--deliver"), ("crawl", "--once")])
def test_an_address_that_cannot_be_used_is_one_sentence(crawl, monkeypatch, verb):
    settings(crawl)
    missing = sentence(run(*verb, cwd=crawl))
    monkeypatch.setenv("CHAT", f"nonsense://{HIDDEN}")
    unknown = sentence(run(*verb, cwd=crawl))

    assert missing == "address env:CHAT: no such environment variable is set"
    rule = "it must be one that apprise knows, such as mailto://... or json://..."
    assert unknown == f"address env:CHAT: {rule}"


def test_status_is_short_where_all_is_well(crawl, monkeypatch):
    with listening(crawl, monkeypatch):
        run("changes", "--deliver", cwd=crawl)
        lines = run("status", cwd=crawl).out.splitlines()

    assert [line for line in lines if line.startswith("delivery")] == [
        "delivery   me; nothing waiting"
    ]


def test_a_crawl_tells_what_it_found_before_it_ends(tmp_path, monkeypatch):
    create_store(tmp_path / "recrawl.db").close()
    with chatting() as chat:
        monkeypatch.setenv("CHAT", chat.address)
        chat.pages = lambda path, _: (
            (200, b"<title>Tea</title><p>tea", "") if path == "/tea" else (404, b"", "")
        )
        (tmp_path / "recrawl.toml").write_text(
            'agent = "bot (me@example.org)"\n[[page]]\nlocal = true\n'
            f'address = "http://127.0.0.1:{chat.port}/tea"\n[[notify]]\naddress = "env:CHAT"\n'
        )
        ended = run("crawl", "--once", cwd=tmp_path)

    assert ended.code == 0, ended.err
    (message,) = chat.messages
    assert message["title"] == f"new at 127.0.0.1:{chat.port}: Tea"
    assert HIDDEN not in ended.out + ended.err
    with sqlite3.connect(tmp_path / "recrawl.db") as store:
        assert store.execute("select name from destinations").fetchall() == [("env:CHAT",)]
    store.close()
