"""Pushes: feeds subscribed to at a real hub, and what whoever finds the port may do."""

import asyncio
import hmac
import socket
from contextlib import asynccontextmanager

import aiohttp
import pytest

from recrawl.errors import CannotListen
from recrawl.plan.budget import Budget
from recrawl.settings.push_keys import PushSettings
from recrawl.settings.rules import Rule
from recrawl.store import open_store
from tests.crawl.crawls import START, crawl_once, crawling, settings
from tests.servers.hub import CHALLENGE, Hub, Subscriber
from tests.waiting import HANGS_SECONDS, PatientClock

HOME = b"<p>home<link rel=alternate type=application/atom+xml href=/feed>"
LATER = "2020-01-02T00:00:00Z"


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    """Hubs are asked as soon as they are known."""
    monkeypatch.setattr("recrawl.crawl.push._EVERY_SECONDS", 0.05)


@pytest.fixture
def place():
    """A free port of this machine."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return "127.0.0.1", taken.getsockname()[1]


def asked_of(hub, place, **more):
    """Settings of a crawl of the hub's site, which takes some visits an hour."""
    push = PushSettings(place, f"http://{place[0]}:{place[1]}/in")
    rule = Rule(hub.address("/"), local=True, **more)
    return settings(rule, push=push, budget=Budget(200.0))


def site(hub, *paths):
    hub.pages |= {"/": HOME, "/feed": hub.feed(*paths)}
    hub.pages |= dict.fromkeys(paths, b"<p>as it was, word by word")


async def until(true):
    async with asyncio.timeout(HANGS_SECONDS):
        while not true():  # noqa: ASYNC110 - it may be anything
            await asyncio.sleep(0.01)


@asynccontextmanager
async def at_work(folder, asked, clock=None):
    """A crawl that goes on beside the test; its remarks."""
    remarks: list[str] = []
    clock = clock or PatientClock(60.0, START)
    async with crawling(folder, asked, clock) as crawler:
        if crawler._subscriber is not None:
            crawler._subscriber.on_remark = remarks.append
        crawl = asyncio.create_task(crawler.run(found=lambda *_: None))
        try:
            yield remarks
        finally:
            crawler.stop()
            async with asyncio.timeout(HANGS_SECONDS):
                await crawl


def subscriptions(folder):
    with open_store(folder / "recrawl.db") as reader:
        return reader.subscriptions()


def test_a_page_that_is_pushed_is_visited_long_before_its_time(tmp_path, place):
    """Twelve pages that never change share the visits; the one that is pushed comes at once."""
    paths = [f"/{number}" for number in range(12)]

    async def crawl():
        async with Hub() as hub:
            site(hub, *paths)
            async with at_work(tmp_path, asked_of(hub, place)):
                await until(lambda: hub.confirmed and set(paths) <= set(hub.asked))
                hub.pages |= {"/5": b"<p>changed from beginning to end", "/new": b"<p>new"}
                others = [path for path in paths if path != "/5"]
                before, visits = len(hub.asked), hub.asked.count("/5")
                said = await hub.publish(
                    hub.feed("/5", "/new", date=LATER).replace(b"</feed>", hub.entries(*others))
                )
                await until(lambda: hub.asked.count("/5") > visits and "/new" in hub.asked)
                since = hub.asked[before:]
            return said, [path for path in since if path in others], hub

    said, others, hub = asyncio.run(crawl())

    assert said == [202]
    assert len(others) <= 4
    (known,) = subscriptions(tmp_path)
    assert (known.feed, known.hub) == (hub.address("/feed"), hub.address("/hub"))
    assert known.pushes == 1
    form = hub.requests[0]
    assert form["hub.topic"] == hub.address("/feed")
    assert form["hub.callback"].startswith(f"http://127.0.0.1:{place[1]}/in/")
    assert min(len(form["hub.secret"]), len(form["hub.callback"].rpartition("/")[2])) >= 40
    with open_store(tmp_path / "recrawl.db") as reader:
        found = [counts for _, kind, counts in reader.signal_records() if kind == "hint"]
    assert [counts[:2] for counts in found] == [(1.0, 0.0)]  # what was known already is no hint
    everything = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert form["hub.secret"].encode() not in everything


def test_what_is_not_signed_as_agreed_is_ignored(tmp_path, place):
    async def crawl():
        async with Hub() as hub:
            site(hub, "/a")
            async with at_work(tmp_path, asked_of(hub, place)) as remarks:
                await until(lambda: hub.confirmed and "/a" in hub.asked)
                (to,) = hub.confirmed
                body = hub.feed("/forged", date=LATER)
                sha1 = hmac.new(to.secret.encode(), body, "sha1").hexdigest()
                wrong = hmac.new(b"guess", body, "sha256").hexdigest()
                forged = (None, "", f"sha1={sha1}", f"sha256={wrong}", "sha256=é", "md5=00")
                said = [await hub.push(to, body, each) for each in forged]
                right = hmac.new(to.secret.encode(), body, "sha512").hexdigest()
                hub.pages["/forged"] = b"<p>page"
                said.append(await hub.push(to, b"<feed>", f"sha512={right}"))
                unread = subscriptions(tmp_path)[0].pushes, "/forged" in hub.asked
                said.append(await hub.push(to, body, f"sha512={right}"))
                await until(lambda: "/forged" in hub.asked)
            return said, unread, remarks, hub.address("/feed")

    said, unread, remarks, feed = asyncio.run(crawl())

    assert said == [202] * 8  # nobody learns which was right
    assert unread == (0, False)
    assert set(remarks) == {f"{feed}: a push without a right signature is ignored."}


def test_nobody_is_confirmed_who_was_not_asked(tmp_path, place):
    async def crawl():
        async with Hub() as hub:
            site(hub)
            async with at_work(tmp_path, asked_of(hub, place)):
                await until(lambda: hub.confirmed)
                (to,) = hub.confirmed
                asks = {"topic": to.topic, "challenge": CHALLENGE}
                guessed = to.callback.rpartition("/")[0] + "/guess"
                said = [
                    await hub.ask(
                        to.callback, mode="subscribe", **asks | {"topic": "https://a.org/"}
                    ),
                    await hub.ask(to.callback, mode="unsubscribe", **asks),
                    await hub.ask(to.callback, mode="subscribe", topic=to.topic),
                    await hub.ask(guessed, mode="subscribe", **asks),
                    await hub.ask(guessed, mode="denied", topic=to.topic),
                ]
                stranger = Subscriber(to.topic, guessed, to.secret, 60)
                gone = await hub.push(stranger, hub.feed("/a"), "sha256=00")
            return said, gone

    said, gone = asyncio.run(crawl())

    assert said == [(404, "")] * 5
    assert gone == 410


def test_whoever_sends_too_much_is_sent_away(tmp_path, place, monkeypatch):
    monkeypatch.setattr("recrawl.crawl.push._MOST_BYTES", 1000)
    monkeypatch.setattr("recrawl.crawl.push._BODY_SECONDS", 0.2)
    monkeypatch.setattr("recrawl.crawl.push._MOST_CONNECTIONS", 5)

    async def slow():
        yield b"<feed>"
        await asyncio.sleep(HANGS_SECONDS)

    async def crawl():
        async with Hub() as hub:
            site(hub)
            async with at_work(tmp_path, asked_of(hub, place)):
                await until(lambda: hub.confirmed)
                (to,) = hub.confirmed
                said = [await hub.push(to, b"a" * 1001, "sha256=00")]
                said.append(await hub.push(to, slow(), "sha256=00"))
                async with aiohttp.ClientSession() as other:
                    packed = {"Content-Encoding": "gzip"}
                    said.append((await other.post(to.callback, data=b"a", headers=packed)).status)
                    said.append((await other.put(to.callback)).status)
                many = [await asyncio.open_connection(*place) for _ in range(8)]
                await until(lambda: sum(reader.at_eof() for reader, _ in many) >= 3)
                for _, writer in many:
                    writer.close()
                monkeypatch.setattr("recrawl.crawl.push._MOST_CONNECTIONS", 50)
                monkeypatch.setattr("recrawl.crawl.push._MOST_A_MINUTE", 0)
                said.append(await hub.push(to, b"<feed>", "sha256=00"))
            return said

    assert asyncio.run(crawl()) == [413, 413, 415, 405, 429]


def test_a_lease_is_renewed_before_it_ends(tmp_path, place):
    async def crawl():
        clock = PatientClock(24.0, START)
        async with Hub(lease_seconds=3600) as hub:
            site(hub)
            async with at_work(tmp_path, asked_of(hub, place), clock):
                await until(lambda: hub.confirmed)
                at = clock.now()
                await until(lambda: len(hub.requests) >= 2)
            return clock.now() - at, hub.requests

    days, requests = asyncio.run(crawl())

    assert 0.5 / 24 < days < 1.5 / 24
    assert requests[0] == requests[1]  # the same callback and secret


def test_a_hub_may_deny(tmp_path, place):
    async def crawl():
        async with Hub(deny=True) as hub:
            site(hub)
            async with at_work(tmp_path, asked_of(hub, place)) as remarks:
                await until(lambda: remarks)
            return remarks, hub.address("/feed"), len(hub.requests)

    remarks, feed, requests = asyncio.run(crawl())

    assert remarks == [f"{feed}: its hub denies the subscription."]
    assert requests == 1
    assert subscriptions(tmp_path)[0].until_seconds is None


def test_a_hub_that_leads_to_a_private_address_is_not_followed(tmp_path, place):
    """The site may be on this machine, but not whatever it names."""

    async def crawl():
        async with Hub() as hub:
            site(hub)
            hub.redirect = f"http://127.0.0.2:{hub.port}/hub2"
            async with at_work(tmp_path, asked_of(hub, place)) as remarks:
                await until(lambda: remarks)
            return remarks, hub

    remarks, hub = asyncio.run(crawl())

    assert remarks[0].startswith(
        f"{hub.address('/feed')}: not subscribed to at {hub.address('/hub')} ("
    )
    assert "127.0.0.2" in remarks[0]
    assert hub.requests == []


def test_a_hub_may_move(tmp_path, place):
    async def crawl():
        async with Hub(redirect="/hub2") as hub:
            site(hub)
            async with at_work(tmp_path, asked_of(hub, place)):
                await until(lambda: hub.confirmed)
            return hub.requests[0]["hub.topic"] == hub.address("/feed")

    assert asyncio.run(crawl())


def test_each_start_subscribes_anew(tmp_path, place):
    async def crawl():
        async with Hub() as hub:
            site(hub)
            for count in (1, 2):
                async with at_work(tmp_path, asked_of(hub, place)):
                    await until(lambda count=count: len(hub.confirmed) == count)
                    said = await hub.publish(hub.feed(date=LATER))
            return said, subscriptions(tmp_path)[0].pushes, hub.requests

    said, pushes, requests = asyncio.run(crawl())

    assert said == [410, 202]  # what the first crawl had asked for is over
    assert pushes == 2
    assert requests[0]["hub.secret"] != requests[1]["hub.secret"]


def test_a_port_that_is_taken_is_told(tmp_path, place):
    async def crawl():
        async with Hub() as hub:
            site(hub)
            asked = asked_of(hub, ("127.0.0.1", hub.port))
            async with crawling(tmp_path, asked) as crawler:
                with pytest.raises(CannotListen) as raised:
                    await crawler.run(found=lambda *_: None)
            return str(raised.value), hub.port

    said, port = asyncio.run(crawl())

    assert said == f"[push] cannot listen on 127.0.0.1 at port {port} (address already in use)"


def test_a_crawl_that_ends_by_itself_listens_to_nobody(tmp_path, place):
    async def crawl():
        async with Hub() as hub:
            site(hub)
            await crawl_once(tmp_path, asked_of(hub, place))
            return hub.requests

    assert asyncio.run(crawl()) == []
