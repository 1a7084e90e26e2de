"""Webhooks by hand, and those of a crawl, as people run them."""

import json
from contextlib import contextmanager

import pytest

from recrawl.entries.deliveries import DestinationMoved, DestinationsNamed
from recrawl.entries.records import Destination
from recrawl.store import create_store, open_for_writing, open_store
from tests.cli.running import run, sentence
from tests.publish import fed
from tests.publish.webhooks.receivers import TEXT, receiving

EVENTS = 5


@pytest.fixture
def crawl(tmp_path, monkeypatch):
    """A crawl with a feed, whose webhook was named before the first event."""
    path = fed.make(tmp_path)
    with open_for_writing(path) as store:
        store.write([DestinationsNamed(["index"])])
    fed.usual(path)
    monkeypatch.setenv("HOOK_SECRET", TEXT)
    return tmp_path


def hook(crawl, port, secret="env:HOOK_SECRET"):  # noqa: S107 - a reference
    block = f'[[webhook]]\naddress = "http://127.0.0.1:{port}/in?key=hidden"\n'
    more = f'secret = "{secret}"\nname = "index"\nlocal = true\n'
    (crawl / "recrawl.toml").write_text(fed.SETTINGS + block + more)


@contextmanager
def listening(crawl, answer=lambda number, tried: 200):
    with receiving({"/in?key=hidden": answer}) as receivers:
        hook(crawl, receivers.port)
        yield receivers


def ids(receivers):
    return [each.rpartition("-")[2] for each in receivers.ids("/in?key=hidden")]


def test_what_waits_is_delivered_once(crawl):
    with listening(crawl) as receivers:
        ended = run("changes", "--deliver", cwd=crawl)
        again = run("changes", "--deliver", cwd=crawl)

    assert (ended.code, ended.err) == (0, f"index: {EVENTS} events delivered.\n")
    assert again.err == "index: 0 events delivered.\n"
    assert ids(receivers) == ["1", "2", "3", "4", "5"]
    assert receivers.wrong == []


def test_a_receiver_that_fails_is_told_and_what_waits_stays(crawl):
    with listening(crawl, lambda number, tried: 503 if number == 3 else 200) as receivers:
        ended = run("changes", "--deliver", cwd=crawl)

    assert ended.code == 1
    assert "Webhook index: answered 503; retrying." in ended.err
    assert "events still wait to be delivered to index" in ended.err
    assert ids(receivers) == ["1", "2"]


def test_one_that_had_enough_is_asked_again_by_hand(crawl):
    with listening(crawl, lambda number, tried: 200 if tried else 410) as receivers:
        run("changes", "--deliver", cwd=crawl)
        with open_store(crawl / "recrawl.db") as reader:
            assert reader.destinations()[0].disabled
        run("changes", "--deliver", cwd=crawl)

    assert ids(receivers)[:1] == ["1"]


def test_nothing_is_delivered_while_a_crawl_holds_the_store(crawl):
    with listening(crawl) as receivers, open_for_writing(crawl / "recrawl.db"):
        said = sentence(run("changes", "--deliver", cwd=crawl))

    assert said.endswith("; a crawl delivers by itself")
    assert ids(receivers) == []


def test_what_was_given_up_is_listed_and_delivered_by_hand(crawl):
    with open_for_writing(crawl / "recrawl.db") as store:
        store.write([DestinationMoved(Destination("index", 2), 1e9, "answered 500")])

    with listening(crawl) as receivers:
        (line,) = run("changes", "--undelivered", cwd=crawl).out.splitlines()
        found = json.loads(line)
        ended = run("changes", "--redeliver", found["event"], cwd=crawl)
        left = run("changes", "--undelivered", cwd=crawl).out

    assert (found["destination"], found["problem"]) == ("index", "answered 500")
    assert found["at"] == "2001-09-09T01:46:40.000Z"
    assert (ended.code, ended.err, left) == (0, "index: delivered.\n", "")
    assert ids(receivers) == ["2"]


def test_an_event_that_was_delivered_can_be_replayed(crawl):
    with listening(crawl) as receivers:
        run("changes", "--deliver", cwd=crawl)
        run("changes", "--redeliver", receivers.ids("/in?key=hidden")[3], cwd=crawl)

    assert ids(receivers) == ["1", "2", "3", "4", "5", "4"]


def test_an_event_that_nobody_takes_is_an_error(crawl):
    with listening(crawl, lambda number, tried: 500):
        with open_store(crawl / "recrawl.db") as reader:
            feed = reader.feed_range().feed
        said = sentence(run("changes", "--redeliver", f"{feed}-2", cwd=crawl))

    assert said == f"event {feed}-2 could not be delivered to index (answered 500)"


@pytest.mark.parametrize(
    ("secret", "said"),
    [
        ("env:NO_SUCH", "secret env:NO_SUCH: no such environment variable is set"),
        ("file:gone.txt", "secret file:gone.txt: the file cannot be read"),
        ("file:weak.txt", "secret file:weak.txt: it must be whsec_ and the base64 of 24 to 64"),
    ],
)
@pytest.mark.parametrize("verb", [("changes", "--deliver"), ("crawl", "--once")])
def test_a_secret_that_cannot_be_used_is_one_sentence(crawl, secret, said, verb):
    (crawl / "weak.txt").write_text("whsec_YWJj")
    hook(crawl, 8080, secret)

    told = sentence(run(*verb, cwd=crawl))

    assert told.startswith(said)
    assert "YWJj" not in told


def test_a_secret_in_a_file_is_used(crawl):
    (crawl / "secret.txt").write_text(TEXT + "\n")
    with listening(crawl) as receivers:
        hook(crawl, receivers.port, "file:secret.txt")
        ended = run("changes", "--deliver", cwd=crawl)

    assert ended.code == 0
    assert (receivers.wrong, len(ids(receivers))) == ([], EVENTS)
    assert TEXT not in ended.err


def test_a_crawl_tells_webhooks_and_a_program_before_it_ends(tmp_path, monkeypatch):
    """What the last visits found is told, too."""
    monkeypatch.setenv("HOOK_SECRET", TEXT)
    script, out = tmp_path / "take.sh", tmp_path / "out.jsonl"
    script.write_text(f"#!/bin/sh\ncat >> '{out}'\n")
    script.chmod(0o755)
    with receiving({"/in?key=hidden": lambda number, tried: 200}) as receivers:
        receivers.pages = lambda path: (200, b"<p>tea") if path in "/a/b" else (404, b"")
        site = f"http://127.0.0.1:{receivers.port}"
        pages = "".join(
            f'[[page]]\naddress = "{site}/{name}"\nlocal = true\n' for name in ("a", "b")
        )
        top = 'agent = "bot (me@example.org)"\n[politeness]\ndelay = "1s"\n'
        hook(tmp_path, receivers.port)
        block = (tmp_path / "recrawl.toml").read_text().partition("[[webhook]]")[2]
        (tmp_path / "recrawl.toml").write_text(f"{top}{pages}[[webhook]]{block}")
        create_store(tmp_path / "recrawl.db").close()
        ended = run("crawl", "--once", "--on-change", str(script), cwd=tmp_path)

    assert ended.code == 0, ended.err
    events = [json.loads(line) for line in out.read_text().splitlines()]
    assert sorted(each["subject"] for each in events) == [f"{site}/a", f"{site}/b"]
    assert [each["id"] for each in events] == receivers.ids("/in?key=hidden")
    assert receivers.wrong == []


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("/no/such/program", "program not found, or not executable (got '/no/such/program')"),
        (" ", "program not found, or not executable (got ' ')"),
        ("'", "must be a program and its arguments (no closing quotation)"),
    ],
)
def test_a_program_that_cannot_be_run_is_refused_at_once(crawl, command, said):
    ended = run("crawl", "--once", "--on-change", command, cwd=crawl)

    assert said in sentence(ended)


def test_without_a_webhook_there_is_nothing_to_deliver(crawl):
    said = sentence(run("changes", "--deliver", cwd=crawl))

    assert said == "recrawl.toml has no [[webhook]] or [[notify]] to deliver to"
