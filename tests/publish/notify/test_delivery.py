"""Digests: at most one in `every`, with all that changed since, whatever a service does."""

import asyncio

import pytest

from recrawl.entries.deliveries import DestinationsNamed
from recrawl.entries.entries import Prune
from recrawl.publish.notify import digest
from recrawl.publish.retries import MOST_ATTEMPTS, gap_seconds
from recrawl.store import open_for_writing, open_store
from recrawl.store.retention import Retention
from recrawl.visits.status import FeedKind
from tests.publish import fed
from tests.publish.notify.notifying import HOUR, SetClock, Told, notifying, target
from tests.store.made import NOON

NEW, CHANGED, REMOVED = FeedKind.NEW, FeedKind.CHANGED, FeedKind.REMOVED


@pytest.fixture
def path(tmp_path):
    path = fed.make(tmp_path)
    name(path)
    return path


def name(path, *names):
    with open_for_writing(path) as store:
        store.write([DestinationsNamed(names or ["me"])])


def state(path, name="me"):
    with open_store(path) as reader:
        (found,) = (each for each in reader.destinations() if each.name == name)
        return found, [each.number for each in reader.undelivered()]


def titles(told):
    return [each.partition("\n")[0] for each in told.taken]


def test_the_first_change_waits_a_little_and_the_next_ones_for_the_next_message(path):
    told = Told()

    async def work():
        async with notifying(path, told, target()) as crawl:
            await crawl.event(NEW, 0, fed.page("Home"), hour=0)
            await crawl.at(0.05)
            assert told.taken == []  # others may come with it
            await crawl.event(NEW, 1, fed.page("Tea"), hour=0)
            await crawl.at(0.11)
            assert titles(told) == ["2 changes at a.org"]
            await crawl.event(CHANGED, 1, fed.page("Tea", 6), hour=1)
            await crawl.at(1.05)
            assert len(told.taken) == 1  # within the hour
            await crawl.at(1.12)
            assert titles(told)[1:] == ["changed at a.org: Tea"]
            await crawl.at(9)

    asyncio.run(work())

    assert len(told.taken) == 2  # none where nothing changed
    assert "- It costs 5 euros a bag.\n+ It costs 6 euros a bag." in told.taken[1]
    found, _ = state(path)
    assert (found.cursor, found.next_at_seconds) == (3, pytest.approx(NOON + 2.12 * HOUR))


def test_what_nobody_asked_for_moves_the_place_and_sends_nothing(path):
    told = Told()
    fed.usual(path)

    async def work():
        async with notifying(path, told, target(hosts=("b.org",))) as crawl:
            await crawl.at(9)

    asyncio.run(work())

    assert told.tried == []
    assert state(path)[0].cursor == 5


def test_a_restart_keeps_the_schedule(path):
    """What was due while no crawl ran is told at the start; what was not waits for its time."""
    told = Told()
    clock = SetClock()

    async def run(*hours):
        async with notifying(path, told, target(every=1.0), clock=clock) as crawl:
            for each in hours:
                await crawl.at(each)

    fed.tell(path, (NEW, 0, fed.page("Home")))
    asyncio.run(run(2.5))
    assert titles(told) == ["new at a.org: Home"]
    fed.tell(path, (NEW, 1, fed.page("Tea")), start=3)
    clock.hours = 6.0
    asyncio.run(run(6.0, 20.0))
    assert len(told.taken) == 1
    clock.hours = 30.0
    asyncio.run(run(30.0))
    assert titles(told)[1:] == ["new at a.org: Tea"]


@pytest.mark.parametrize(("hours", "messages"), [(0.5, 1), (0.85, 1), (0.95, 2)])
def test_the_end_of_a_crawl_tells_what_is_due_and_does_not_wait_for_more(path, hours, messages):
    """Crawls that are begun once an hour end a little sooner or later: a tenth does not matter."""
    told = Told()
    clock = SetClock()

    async def run():
        async with notifying(path, told, target(), clock=clock) as crawl:
            await crawl.at(clock.hours)

    fed.tell(path, (NEW, 0, fed.page("Home")))
    asyncio.run(run())
    assert len(told.taken) == 1  # at the end, after no time at all
    clock.hours = hours
    fed.tell(path, (NEW, 1, fed.page("Tea")), start=1)
    asyncio.run(run())

    assert len(told.taken) == messages
    assert state(path)[0].cursor == messages


def test_what_fails_comes_again_with_what_came_meanwhile(path):
    said: list[str] = []
    told = Told(lambda tried: "answered 500" if tried < 2 else "")

    async def work():
        async with notifying(path, told, target(), said=said.append) as crawl:
            await crawl.event(NEW, 0, fed.page("Home"), hour=0)
            await crawl.at(0.2)
            assert len(told.tried) == 1
            await crawl.event(NEW, 1, fed.page("Tea"), hour=0)
            await crawl.at(0.2 + 7 / HOUR)
            assert len(told.tried) == 2
            await crawl.at(0.2 + 45 / HOUR)

    asyncio.run(work())

    assert titles(told) == ["2 changes at a.org"]
    assert said == [
        "Notification me: answered 500; retrying.",
        "Notification me: works again.",
    ]
    found, given_up = state(path)
    assert (found.cursor, found.attempts, found.problem, given_up) == (2, 0, "", [])


def test_after_ten_attempts_the_changes_are_given_up_and_the_next_follow(path):
    said: list[str] = []
    told = Told(lambda tried: "no connection" if tried < MOST_ATTEMPTS else "")

    async def work():
        async with notifying(path, told, target(kinds=("new",)), said=said.append) as crawl:
            await crawl.event(NEW, 0, fed.page("Home"), hour=0)
            await crawl.event(CHANGED, 0, fed.page("Home", 6), hour=0)
            await crawl.event(NEW, 1, fed.page("Tea"), hour=0)
            hours = 0.2
            await crawl.at(hours)
            for attempts in range(1, MOST_ATTEMPTS):
                assert len(told.tried) == attempts
                hours += 1.21 * gap_seconds(attempts) / HOUR
                await crawl.at(hours)
            await crawl.event(NEW, 2, fed.page("Sorted"), hour=99)
            await crawl.at(hours + 1.2)

    asyncio.run(work())

    assert titles(told) == ["new at a.org: Sorted"]
    found, given_up = state(path)
    assert (found.cursor, found.problem, given_up) == (4, "", [1, 3])
    assert "a message on 2 events was given up (no connection)" in said[1]


def test_a_dead_service_holds_up_itself_alone(path):
    name(path, "dead")
    told = Told()

    async def send(service, message):
        if service.address == "dead":
            return await Told(lambda _: "hang")(service, message)
        return await told(service, message)

    async def work():
        dead = target("dead", "dead")
        async with asyncio.timeout(60), notifying(path, send, dead, target()) as crawl:
            for hours, number in enumerate(range(3)):
                await crawl.event(NEW, number, fed.page(f"Page {number}"), hour=hours * 2)
                await crawl.at(hours * 2 + 0.2)
            raise _EndAtOnceError

    with pytest.raises(_EndAtOnceError):
        asyncio.run(work())

    assert len(told.taken) == 3
    assert state(path, "dead")[0].cursor == 0


class _EndAtOnceError(Exception):
    """Ends the block without waiting for what hangs."""


def test_what_fails_for_want_of_our_own_is_not_held_against_the_service(path):
    told = Told(lambda tried: "ours" if tried < 20 else "")

    async def work():
        async with notifying(path, told, target()) as crawl:
            await crawl.event(NEW, 0, fed.page("Home"), hour=0)
            for minutes in range(10, 40):
                await crawl.at(minutes / 60 * 1.1)

    asyncio.run(work())

    assert titles(told) == ["new at a.org: Home"]
    assert len(told.tried) == 21


def test_more_changes_than_one_message_holds_come_with_the_next(path, monkeypatch):
    monkeypatch.setattr(digest, "MOST_EVENTS", 2)
    monkeypatch.setattr("recrawl.publish.outbox._EVENTS_AT_A_TIME", 2)
    told = Told()
    fed.usual(path)

    async def work():
        async with notifying(path, told, target()) as crawl:
            for hours in (5.0, 6.2, 7.4):
                await crawl.at(hours)

    asyncio.run(work())

    assert titles(told) == ["2 changes at a.org", "2 changes at a.org", "removed at a.org: Home"]
    assert state(path)[0].cursor == 5


def test_pages_beyond_the_first_are_counted_and_how_to_see_them_is_said(path, monkeypatch):
    monkeypatch.setattr(digest, "MOST_PAGES", 1)
    told = Told()
    fed.usual(path)

    async def work():
        async with notifying(path, told, target()) as crawl:
            await crawl.at(9)

    asyncio.run(work())

    with open_store(path) as reader:
        feed = reader.feed_range().feed
    (message,) = told.taken
    assert message.startswith("5 changes at a.org\nHome: removed: gone, last of 2 changes\n")
    assert message.endswith(f"\n\nand 2 more pages: recrawl changes --after {feed}-0")


def test_events_dropped_before_they_were_told_are_said(path):
    said: list[str] = []
    fed.usual(path)
    fed.tell(path, (FeedKind.BACK, 0, fed.page("Home")), start=4800, retention=Retention(events=90))
    with open_for_writing(path, Retention(events=90)) as opened:
        opened.write([Prune(NOON + 4800 * HOUR)])

    async def work():
        async with notifying(path, Told(), target(), said=said.append) as crawl:
            await crawl.at(4800)

    asyncio.run(work())

    assert said == ["Notification me: 5 events dropped before being sent."]
