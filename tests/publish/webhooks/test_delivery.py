"""Webhooks: every event in order, at least once, whatever a receiver does."""

import asyncio
import json

import pytest

from recrawl.entries.deliveries import DestinationsNamed
from recrawl.entries.entries import Prune
from recrawl.publish.retries import MOST_ATTEMPTS
from recrawl.store import open_for_writing, open_store
from recrawl.store.retention import Retention
from recrawl.visits.status import FeedKind
from tests.publish import fed
from tests.publish.webhooks.receivers import delivering, receiving
from tests.store.made import NOON
from tests.waiting import HANGS_SECONDS

EVENTS = 5


def fine(number, tried):
    return 200


@pytest.fixture
def path(tmp_path):
    return fed.make(tmp_path)


@pytest.fixture
def store(path):
    """A store whose destinations were named before its events came."""
    name(path, "/a", "/b")
    fed.usual(path)
    return path


def name(path, *names):
    with open_for_writing(path) as store:
        store.write([DestinationsNamed(names)])


def ids_in(path):
    with open_store(path) as reader:
        feed = reader.feed_range().feed
        return [f"{feed}-{event.number}" for batch in reader.events() for event in batch]


def states(path):
    with open_store(path) as reader:
        found = {each.name: each for each in reader.destinations()}
        return found, [(each.destination, each.number) for each in reader.undelivered()]


def deliver(path, answers, *, until=bool, said=bool, reply=b"", **more):
    """Deliver until something holds of the receivers, and everything left after that."""

    async def work(receivers):
        targets = [receivers.target(each, **more) for each in answers]
        async with delivering(path, *targets, said=said), asyncio.timeout(HANGS_SECONDS):
            while not until(receivers):  # noqa: ASYNC110 - threads tell it
                await asyncio.sleep(0.01)

    with receiving(answers) as receivers:
        receivers.reply = reply
        asyncio.run(work(receivers))
        return receivers


def all_taken(receivers):
    return all(len(set(receivers.ids(path))) == EVENTS for path in receivers.answers)


def test_every_event_comes_once_in_order_and_signed(store):
    receivers = deliver(store, {"/a": fine, "/b": fine}, until=all_taken)

    assert receivers.wrong == []
    assert receivers.ids("/a") == receivers.ids("/b") == ids_in(store)
    found, given_up = states(store)
    assert {each.cursor for each in found.values()} == {EVENTS}
    assert given_up == []


@pytest.mark.parametrize("answer", [500, 404, 301, 307, 0, -1])
def test_what_fails_twice_comes_again_in_order(store, answer):
    """-1 hangs up after it took the event, which so comes again, under the same id."""
    failing = {"/a": lambda number, tried: answer if number == 2 and tried < 2 else 200}

    receivers = deliver(store, failing, until=all_taken)

    assert receivers.wrong == []  # no redirect is followed
    assert list(dict.fromkeys(receivers.ids("/a"))) == ids_in(store)
    assert receivers.tried["/a", ids_in(store)[1]] == 3


def test_a_dead_receiver_holds_up_itself_alone(store):
    dead = {"/a": lambda number, tried: 0, "/b": fine}

    receivers = deliver(store, dead, until=lambda each: len(each.taken["/b"]) == EVENTS)

    assert receivers.ids("/b") == ids_in(store)
    assert receivers.taken["/a"] == []
    found, _ = states(store)
    assert found["/a"].cursor == 0


def test_after_ten_attempts_an_event_is_given_up_and_the_next_follows(store):
    said: list[str] = []
    refusing = {"/a": lambda number, tried: 400 if number == 2 else 200}

    receivers = deliver(
        store, refusing, until=lambda each: len(each.taken["/a"]) == EVENTS - 1, said=said.append
    )

    number = ids_in(store)[1]
    assert receivers.tried["/a", number] == MOST_ATTEMPTS
    assert receivers.ids("/a") == [each for each in ids_in(store) if each != number]
    assert states(store)[1] == [("/a", 2)]
    assert [sentence for sentence in said if "given up (answered 400)" in sentence]


def test_410_disables_and_keeps_the_place(store):
    leaving = {"/a": lambda number, tried: 410 if number == 3 else 200}

    receivers = deliver(store, leaving, until=lambda each: each.tried["/a", ids_in(store)[2]])

    assert receivers.ids("/a") == ids_in(store)[:2]
    found, given_up = states(store)
    assert (found["/a"].cursor, found["/a"].disabled, given_up) == (2, True, [])
    again = deliver(store, {"/a": fine})
    assert again.taken["/a"] == []  # only a person may ask it again


def test_only_kinds_and_hosts_that_are_wanted(store):
    receivers = deliver(
        store,
        {"/a": fine, "/b": fine},
        until=lambda each: len(each.taken["/b"]) == 2,
        kinds=("changed", "removed"),
    )
    elsewhere = deliver(store, {"/c": fine}, hosts=("b.org",))

    assert [each["type"] for each in receivers.taken["/a"]] == [
        "recrawl.page.changed",
        "recrawl.page.removed",
    ]
    assert elsewhere.taken["/c"] == []
    assert {each.cursor for each in states(store)[0].values()} == {EVENTS}


def test_who_is_added_later_is_told_of_what_comes_from_then_on(path):
    fed.usual(path)
    name(path, "/a")
    fed.tell(path, (FeedKind.BACK, 0, fed.page("Home")), start=9)

    receivers = deliver(path, {"/a": fine}, until=lambda each: each.taken["/a"])

    assert receivers.ids("/a") == ids_in(path)[-1:]


def test_large_parts_are_left_out(path):
    name(path, "/a")
    words = " ".join(f"word{number}" for number in range(5000))
    fed.tell(path, (FeedKind.NEW, 0, f"<title>Long</title><main><p>{words}</main>".encode()))

    receivers = deliver(
        path, {"/a": fine}, until=lambda each: each.taken["/a"], parts=("markdown", "text")
    )

    (event,) = receivers.taken["/a"]
    data = event["data"]
    assert (data["title"], data["markdown"], data["text"]) == ("Long", None, None)
    assert sorted(data["left_out"]) == ["markdown", "text"]
    assert len(json.dumps(event)) < 2000


def test_content_comes_with_an_event(store):
    receivers = deliver(store, {"/a": fine}, until=all_taken, parts=("markdown", "diff"))

    new, changed = receivers.taken["/a"][1], receivers.taken["/a"][2]
    assert new["data"]["markdown"].startswith("# Tea")
    assert '["removed", "5"], ["added", "6"]' in json.dumps(changed["data"]["diff"])
    assert changed["data"]["left_out"] == []


def test_a_private_address_is_refused_like_that_of_a_page(store):
    said: list[str] = []
    receivers = deliver(store, {"/a": fine}, until=lambda _: said, said=said.append, local=False)

    assert receivers.taken["/a"] == []
    assert said[0] == "Webhook /a: private; retrying."


def test_events_dropped_before_they_were_delivered_are_told(store):
    said: list[str] = []
    fed.tell(
        store,
        (FeedKind.BACK, 0, fed.page("Home")),
        start=24 * 200,
        retention=Retention(events=90),
    )
    with open_for_writing(store, Retention(events=90)) as opened:
        opened.write([Prune(NOON + 86_400 * 200)])

    receivers = deliver(store, {"/a": fine}, until=lambda each: each.taken["/a"], said=said.append)

    assert said == ["Webhook /a: 5 events dropped before being delivered."]
    assert receivers.ids("/a") == ids_in(store)


def test_a_large_answer_is_not_taken_in(store):
    """The status is what counts; of the rest no more is read than a few words take."""
    receivers = deliver(store, {"/a": fine}, until=all_taken, reply=bytes(5_000_000))

    assert receivers.ids("/a") == ids_in(store)
