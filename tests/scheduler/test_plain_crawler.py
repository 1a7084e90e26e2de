"""Somebody else's crawler: opened in a line, used by many threads, told what they know."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest
from typer.testing import CliRunner

from recrawl import Scheduler, open_store
from recrawl.cli.main import app
from recrawl.clock import ScaledClock
from recrawl.errors import (
    InvalidParameter,
    InvalidSettings,
    NotAStore,
    StoreError,
    StoreLocked,
)
from recrawl.store import open_store as open_reader
from recrawl.visits.status import VisitOutcome
from tests.scheduler.test_scheduler import HandClock

PAGE = "https://a.org/page"
HTML = b"<html><body><p>A page of %s words that says what it says about sheep and goats.</body>"
MINUTE = 1 / 1440


@pytest.fixture
def clock():
    return HandClock()


def memory(clock, **plain):
    return Scheduler.open(budget="100000/1d", delay="1s", clock=clock, **plain)


def next_due(scheduler, clock):
    """The only page, whenever it is due."""
    for _ in range(1000):
        if due := scheduler.due():
            return due[0]
        clock.at = max(scheduler.status().next_visit, clock.at + MINUTE)
    raise AssertionError


# Opening.


def test_without_a_store_nothing_is_on_disk(tmp_path, monkeypatch, clock):
    monkeypatch.chdir(tmp_path)
    with memory(clock) as scheduler:
        scheduler.add([PAGE])
        scheduler.seen(next_due(scheduler, clock), body=HTML % b"many")
        assert scheduler.status().copies == 1

    assert list(tmp_path.iterdir()) == []


def test_pages_of_any_host_are_due_without_naming_sites(clock):
    pages = {f"https://{name}.example/" for name in ("one", "two", "three")}
    with memory(clock) as scheduler:
        scheduler.add(pages)
        clock.at += MINUTE

        assert {page.address for page in scheduler.due(9)} == pages


@pytest.mark.parametrize(
    ("plain", "sentence"),
    [
        ({"budget": "lots"}, "Scheduler.open: budget must be visits over a time such as 500/1d"),
        ({"delay": "soon"}, "Scheduler.open: delay must be a time such as 1s"),
        ({"policy": "magic"}, "Scheduler.open: policy must be one of recrawl, bank"),
    ],
)
def test_what_is_no_setting_is_said_in_a_sentence(plain, sentence):
    with pytest.raises(InvalidSettings, match=sentence):
        Scheduler.open(**plain)


def test_any_policy_decides_by_its_name(clock):
    """A fixed rule of a day each, whatever is found."""
    with memory(clock, policy="stormcrawler") as scheduler:
        scheduler.add([PAGE])
        scheduler.seen(next_due(scheduler, clock))

        state = scheduler._schedule.crawl
        assert type(state.policy.rule).__name__ == "StormCrawler"


def test_a_file_of_settings_names_its_store(tmp_path, clock):
    (tmp_path / "recrawl.toml").write_text(
        'agent = "bot (me@example.org)"\n[[site]]\naddress = "https://a.org/"\n'
        '[storage]\nstore = "mine.db"\n'
    )
    with Scheduler.open(settings=tmp_path / "recrawl.toml", clock=clock) as scheduler:
        scheduler.add([PAGE, "https://elsewhere.org/"])
        clock.at += MINUTE
        assert [page.address for page in scheduler.due(9)] == [PAGE]

    assert (tmp_path / "mine.db").exists()
    with pytest.raises(InvalidParameter, match="budget must stand in the settings"):
        Scheduler.open(settings=tmp_path / "recrawl.toml", budget="5/1d")


def test_a_store_that_is_none_or_held_is_left_as_it_is(tmp_path):
    (tmp_path / "notes.txt").write_text("not a store")
    with pytest.raises(NotAStore):
        Scheduler.open(tmp_path / "notes.txt")
    assert (tmp_path / "notes.txt").read_text() == "not a store"

    with Scheduler.open(tmp_path / "pages.db"), pytest.raises(StoreLocked, match="in use"):
        Scheduler.open(tmp_path / "pages.db")


def test_the_verbs_look_at_a_store_that_has_its_own_settings(tmp_path, clock):
    store = tmp_path / "pages.db"
    with Scheduler.open(store, budget="24/1d", delay="1s", clock=clock) as scheduler:
        scheduler.add([PAGE])
        for words in (b"many", b"few"):
            scheduler.seen(next_due(scheduler, clock), body=HTML % words)

    def run(*words):
        done = CliRunner().invoke(app, [*words, "--settings", str(store)])
        assert done.exit_code == 0, done.output
        return done.stdout

    assert "of 1 copy" in run("status")
    assert PAGE in run("pages", "--csv")
    assert "changed" in run("changes", "--json")
    assert "its turn" in run("why", PAGE)
    assert "few" in run("diff", PAGE)
    refused = CliRunner().invoke(app, ["crawl", "--once", "--settings", str(store)])
    assert "is a store, not settings" in str(refused.exception)


# What a crawler says.


def visits(scheduler, clock, *reports):
    """Outcomes of visits to one page, in words."""
    scheduler.add([PAGE])
    return [scheduler.seen(next_due(scheduler, clock), **report).label for report in reports]


def test_bodies_are_compared_by_what_a_reader_sees(clock):
    one, other = HTML % b"many", HTML % b"few"
    same = one.replace(b"<html>", b"<html><!-- made at noon -->")
    with memory(clock) as scheduler:
        found = visits(
            scheduler, clock, {"body": one}, {"body": one}, {"body": same}, {"body": other}
        )

    assert found == ["first", "same", "cosmetic", "changed"]


def test_a_body_may_be_text_as_a_browser_gives_it(clock):
    one, other = "<p>Käse aus Öland", "<p>Käse aus Öland, und Brot von Ærø"
    with memory(clock) as scheduler:
        found = visits(scheduler, clock, {"body": one}, {"body": one}, {"body": other})

    assert found == ["first", "same", "changed"]


def test_digests_are_compared_with_the_last(clock):
    digests = [{"digest": each} for each in ("a", "a", "b", "b", "a")]
    with memory(clock) as scheduler:
        assert visits(scheduler, clock, *digests) == ["first", "same", "changed", "same", "changed"]


@pytest.mark.parametrize(
    ("report", "outcome"),
    [
        ({"status": 404}, "gone"),
        ({"status": 410, "body": b"gone"}, "gone"),
        ({"status": 503}, "failed"),
        ({"status": 403, "body": b"<p>No"}, "failed"),
        ({"status": 304}, "not_modified"),
        ({"status": 301, "headers": {"Location": "/new"}}, "moved"),
        ({"outcome": "refused"}, "refused"),
        ({"outcome": VisitOutcome.WALLED}, "walled"),
        ({"changed": True, "status": 200}, "changed"),
        ({"changed": False}, "same"),
    ],
)
def test_whatever_a_crawler_knows_is_enough(clock, report, outcome):
    with memory(clock) as scheduler:
        assert visits(scheduler, clock, {"body": HTML}, report)[-1] == outcome


def test_a_page_that_has_moved_is_followed_by_its_new_address(clock):
    with memory(clock) as scheduler:
        visits(scheduler, clock, {"status": 308, "headers": {"location": "/new"}})
        clock.at += MINUTE

        assert next_due(scheduler, clock).address == "https://a.org/new"


def test_validators_come_back_with_the_page(clock):
    headers = {"ETag": '"v1"', "Last-Modified": "Fri, 02 Jan 1970 00:00:00 GMT"}
    asked = {"If-None-Match": '"v1"', "If-Modified-Since": headers["Last-Modified"]}
    with memory(clock) as scheduler:
        scheduler.add([PAGE])
        page = next_due(scheduler, clock)
        assert page.headers == {}
        scheduler.seen(page, status=200, headers=headers, body=HTML)
        page = next_due(scheduler, clock)
        assert page.headers == asked
        scheduler.seen(page, status=304)
        page = next_due(scheduler, clock)
        assert page.headers == asked
        scheduler.seen(page, changed=True)  # another version, of which no validators are known

        assert next_due(scheduler, clock).headers == {}


def test_validators_of_another_address_are_none_of_the_page(clock):
    with memory(clock) as scheduler:
        scheduler.add([PAGE])
        page = next_due(scheduler, clock)
        scheduler.seen(page, headers={"ETag": '"v1"'}, body=HTML, url="https://a.org/elsewhere")

        assert next_due(scheduler, clock).headers == {}


def test_a_host_that_asks_for_a_pause_has_it(tmp_path, clock):
    """An hour by Retry-After, also after a restart; other hosts are due meanwhile."""
    store = tmp_path / "pages.db"
    with Scheduler.open(store, budget="100000/1d", clock=clock) as scheduler:
        scheduler.add([PAGE, "https://a.org/other"])
        page = next_due(scheduler, clock)
        scheduler.seen(page, status=429, headers={"Retry-After": "3600"})
    began = clock.at
    with Scheduler.open(store, budget="100000/1d", clock=clock) as scheduler:
        scheduler.add(["https://b.org/"])
        assert next_due(scheduler, clock).address == "https://b.org/"
        assert next_due(scheduler, clock).address.startswith("https://a.org/")

    assert clock.at - began >= 60 * MINUTE


def test_bodies_are_kept_as_versions(tmp_path, clock):
    store = tmp_path / "pages.db"
    with Scheduler.open(store, budget="100000/1d", clock=clock) as scheduler:
        visits(scheduler, clock, {"body": HTML % b"many"}, {"body": HTML % b"few"})

    with open_store(store) as copies:
        assert copies.copy(PAGE).body == HTML % b"few"
        assert [event.kind for event in copies.changes()] == ["new", "changed"]


def test_chunks_are_written_with_the_visit_where_settings_ask_for_them(tmp_path, clock):
    (tmp_path / "recrawl.toml").write_text(
        'agent = "bot (me@example.org)"\n[[site]]\naddress = "https://a.org/"\n'
        "[feed]\nchunks = true\n"
    )
    with Scheduler.open(settings=tmp_path / "recrawl.toml", clock=clock) as scheduler:
        visits(scheduler, clock, {"body": HTML % b"many"})

    with open_reader(tmp_path / "recrawl.db") as reader:
        ((event,),) = reader.events()
        assert event.manifest is not None


# Misuse.


def test_misuse_is_said_in_a_sentence(clock):
    with memory(clock) as scheduler:
        scheduler.add([PAGE])
        page = next_due(scheduler, clock)
        with pytest.raises(InvalidParameter, match="no copy of it yet that could be not modified"):
            scheduler.seen(page, status=304)
        with pytest.raises(InvalidParameter, match="status must be that of a response"):
            scheduler.seen(page, status=7)
        with pytest.raises(InvalidParameter, match="outcome must be one of first, same"):
            scheduler.seen(page, outcome="lost")
        with pytest.raises(
            InvalidParameter,
            match=r"'nowhere' is not an address; write it like https://example\.org/news",
        ):
            scheduler.seen(page, url="nowhere")
        scheduler.seen(page)
        for twice in (scheduler.seen, scheduler.release):
            with pytest.raises(InvalidParameter, match=f"{PAGE} is not out: it was seen"):
                twice(page)
        again = next_due(scheduler, clock)
        with pytest.raises(InvalidParameter, match="say whether it has changed, or a body"):
            scheduler.seen(again, status=200)
        with pytest.raises(InvalidParameter, match="is not out"):
            scheduler.seen(page, changed=True)  # the lease of the visit before
        scheduler.seen(again, changed=False)  # what was refused has done nothing
    for call in (scheduler.due, scheduler.status, lambda: scheduler.seen(page)):
        with pytest.raises(StoreError, match="the scheduler is closed; open it again"):
            call()
    scheduler.close()
    assert list(scheduler) == []
    assert not scheduler.wait()


# Waiting, threads, event loops.


def quick(**more):
    """A scheduler on a clock on which a day takes ten seconds."""
    clock = ScaledClock(10.0, start=20_000.0)
    return Scheduler.open(budget="100000000/1d", delay="1s", clock=clock, **more)


def test_pages_end_when_nothing_is_due_and_none_is_out():
    with quick() as scheduler:
        assert not scheduler.wait(0.01)
        assert list(scheduler.pages(patience_seconds=60)) == []  # at once
        scheduler.add([PAGE])
        (page,) = scheduler.pages(patience_seconds=0.05)  # out, and so it is waited for
        assert page.address == PAGE


def test_whoever_waits_hears_of_new_pages_and_of_the_end():
    with quick() as scheduler, ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(next, iter(scheduler))
        scheduler.add([PAGE])
        scheduler.release(waiting.result(timeout=60))
        page = next(iter(scheduler))
        ending = threads.submit(list, scheduler)
        scheduler.seen(page, status=404)
        scheduler.close()
        assert ending.result(timeout=60) == []


class Watch:
    """What is under way, and whether two of a page or a host ever were."""

    def __init__(self):
        self._lock = threading.Lock()
        self._under_way: Counter[str] = Counter()
        self.visits: Counter[str] = Counter()
        self.together = 0

    def begin(self, address):
        with self._lock:
            self._under_way[urlsplit(address).netloc] += 1
            self.together = max(self.together, *self._under_way.values())

    def end(self, address):
        with self._lock:
            self._under_way[urlsplit(address).netloc] -= 1
            self.visits[address] += 1


def test_threads_share_a_scheduler(tmp_path):
    """Eight threads visit, add and give back: never two at a host, every visit on disk."""
    watch = Watch()
    refused: list[str] = []
    hosts = [f"https://host{number}.example/" for number in range(12)]

    def work(number):
        for page in scheduler.pages(patience_seconds=2):
            watch.begin(page.address)
            if number == 0 and page.first:
                scheduler.add([f"{page.address}{leaf}" for leaf in "ab" if len(page.address) < 30])
            watch.end(page.address)
            if sum(watch.visits.values()) % 9 == 8:
                scheduler.release(page)
                refused.append(page.address)
            else:
                scheduler.seen(page, body=HTML % page.address.encode())
            if sum(watch.visits.values()) >= 600:
                return

    with quick(store=tmp_path / "pages.db") as scheduler, ThreadPoolExecutor(8) as threads:
        scheduler.add(hosts)
        for done in [threads.submit(work, number) for number in range(8)]:
            done.result()
        copies = scheduler.status().copies

    made = sum(watch.visits.values()) - len(refused)
    assert watch.together == 1
    assert copies >= len(hosts)
    with open_reader(tmp_path / "pages.db") as reader:
        assert reader.last_visit() == made
        counted = Counter(
            address
            for batch in reader.visits()
            for address in reader.addresses(batch.page.tolist())
        )
    assert counted == watch.visits - Counter(refused)


def test_an_event_loop_goes_on_while_it_waits():
    async def crawl():
        visited = []
        with quick() as scheduler:
            scheduler.add([PAGE, "https://b.org/"])

            async def add_more():
                await asyncio.sleep(0.02)
                scheduler.add(["https://c.org/"])

            adding = asyncio.create_task(add_more())
            async for page in scheduler:
                visited.append(page.address)
                await asyncio.to_thread(scheduler.seen, page, body=HTML)
                if "https://c.org/" in visited:
                    break
            await adding
        return visited

    assert {PAGE, "https://b.org/", "https://c.org/"} <= set(asyncio.run(crawl()))


KILLED = """
import sys
from recrawl import Scheduler

scheduler = Scheduler.open(sys.argv[1], budget="100000000/1d", delay="0.001s")
scheduler.add([f"https://host{number}.example/" for number in range(40)])
held = scheduler.due()
for page in scheduler:
    scheduler.seen(page, body=page.address.encode())
    print(page.address, flush=True)
"""


def test_a_process_that_is_killed_loses_no_visit_and_holds_no_page(tmp_path):
    store = tmp_path / "pages.db"
    child = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(store)], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    acknowledged = [child.stdout.readline().strip() for _ in range(25)]
    os.kill(child.pid, signal.SIGKILL)
    acknowledged += [line.strip() for line in child.stdout if line.endswith("\n")]
    child.stdout.close()
    child.wait()

    with Scheduler.open(store, budget="100000000/1d", delay="0.001s") as scheduler:
        with open_reader(store) as reader:
            on_disk = [each for batch in reader.visits() for each in batch.page.tolist()]
            copies = scheduler.status().copies
            known = set(reader.addresses(on_disk))
        assert set(acknowledged) <= known
        assert len(acknowledged) <= len(on_disk) <= len(acknowledged) + 1
        assert copies == len(known)
        rest = {page.address for page in scheduler.pages(patience_seconds=0.5) if page.first}
    assert len(known | rest) == 40  # with the one that was held
