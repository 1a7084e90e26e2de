"""Detail pages on other sites than their list, which lie in slots of other workers."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
import threading
from collections import Counter
from contextlib import ExitStack, contextmanager

import pytest

import recrawl
from recrawl.settings.rules import NO_RULE
from recrawl.settings.slots import slot_of
from recrawl.state.division import as_divided
from recrawl.store import open_store
from recrawl.store.settings_file import load_settings
from recrawl.visits.status import Audit, PageStatus, VisitOutcome
from tests.cli.running import run, start
from tests.servers import postgres
from tests.servers.changing_site import page
from tests.servers.loopback import servers
from tests.waiting import ending, wait_until

SLOTS = 4
# The list is on the first and goes on on the third; a block covers the second.
HOSTS = {"list": "127.0.0.21", "block": "127.0.0.22", "more": "127.0.0.24"}
FIRST = {
    "own": "list/job/own",
    "covered": "block/job/covered",
    "far": "more/job/far",
    "one": "block/both",
    "two": "block/both",
    "three": "more/both",
    "four": "more/both",
    "moves": "more/job/moves",
    "back": "more/job/back",
}
STEPS = (
    FIRST,
    # Gone, alone and with others that share the page; moved to other slots, and to none.
    {
        "own": "more/job/own",
        "two": "block/both",
        "four": "more/both",
        "moves": "block/job/moves",
        "new": "more/job/new",
    },
    {"own": "list/job/own", "moves": "", "back": "more/job/back", "new": "more/job/new"},
)
# A worker that is killed at a point, once it has come to it.
KILLED = """
import os, signal, sys
point = sys.argv.pop(1)
from recrawl.crawl.new_pages import NewPages

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

def dies_after(name):
    write = getattr(NewPages, name)
    def written(self, entry):
        future = write(self, entry)
        future.add_done_callback(die)
        return future
    setattr(NewPages, name, written)

if point == "before they are taken":
    NewPages.taken = die
else:
    dies_after({"after the sync": "synced", "after they are taken": "taken"}[point])
from recrawl.cli.main import main
main()
"""


class Sites:
    """Three sites, and how often each page was asked for."""

    def __init__(self):
        self.origins: dict[str, str] = {}
        self.shown: dict[str, str] = {}
        self.asked: Counter[str] = Counter()
        self.lock = threading.Lock()

    def named(self, address):
        """An address by the names of the sites; an empty one stays empty."""
        for name, origin in self.origins.items():
            address = address.replace(f"{origin}/", f"{name}/")
        return address

    def details_asked(self):
        return Counter({each: self.asked[each] for each in set(FIRST.values())})

    def answer(self, address):
        name = self.named(address)
        if name.endswith((".txt", ".xml")):
            return 404, ""
        with self.lock:
            self.asked[name] += 1
        if not name.endswith("/jobs"):
            return 200, page(name)
        mine = [key for key in self.shown if (key in {"far", "back"}) == name.startswith("more")]
        return 200, f"<html><body><ul>{''.join(map(self.item, mine))}</ul></body></html>"

    def item(self, key):
        site, _, path = self.shown[key].partition("/")
        link = f'<a href="{self.origins[site]}/{path}">{key}</a>' if path else key
        return f'<li class=job id="{key}">{link}</li>'


@contextmanager
def running_sites():
    sites = Sites()

    def answer(handler):
        status, text = sites.answer(f"http://{handler.headers['Host']}{handler.path}")
        handler.send_response(status)
        handler.send_header("Content-Type", "text/html")
        handler.send_header("Content-Length", str(len(text.encode())))
        handler.end_headers()
        handler.wfile.write(text.encode())

    with servers(HOSTS.values(), answer) as origins:
        sites.origins |= zip(HOSTS, origins, strict=True)
        yield sites


def settings_text(store, sites):
    lists = json.dumps([f"{sites.origins[each]}/jobs" for each in ("list", "more")])
    return (
        f'agent = "test-bot (me@example.org)"\nbudget = "100000/1d"\n'
        f'[storage]\nstore = "{store}"\nslots = {SLOTS}\n[politeness]\ndelay = "0.01s"\n'
        f'[[site]]\naddress = "{sites.origins["block"]}/"\nlocal = true\n'
        f'[[listing]]\nname = "jobs"\naddress = {lists}\nlocal = true\nitems = "li.job"\n'
        'key = "@id"\ndetail = "a@href"\nminimum = "1s"\nmaximum = "1s"\n'
    )


def prepared(folder, store, sites):
    folder.mkdir(exist_ok=True)
    (folder / "recrawl.toml").write_text(settings_text(store, sites))
    made = run("init", cwd=folder)
    assert made.code == 0, made.err
    return folder


@contextmanager
def worker(folder, *more, point="", name="worker"):
    words = ("worker", "--lease", "3s", *more)
    with (folder / f"{name}.txt").open("w") as said:
        how = {"cwd": folder, "stderr": said}
        fresh = [sys.executable, "-c", KILLED, point, *words]
        with ending(subprocess.Popen(fresh, **how) if point else start(*words, **how)) as process:
            yield process


def crawl_once(folder):
    ended = run("crawl", "--once", cwd=folder)
    assert ended.code == 0, ended.err


def two_workers_once(folder):
    with worker(folder, "--once") as one, worker(folder, "--once", name="other") as two:
        assert one.wait(120) == 0
        assert two.wait(120) == 0


def stands(place, sites):
    """Objects with their pages, pages with a rule, and what readers of both feeds are told."""
    named = sites.named
    with open_store(place) as reader:
        objects = reader.objects("jobs")
        addresses = dict(enumerate(named(each) for some in reader.all_addresses() for each in some))
        columns = reader.pages()
        assert reader.handed_details(0, 9) == []
        assert [problem for each in reader.check() for problem in each.problems] == []
    for each in objects:
        assert (named(each.address) or None) == addresses.get(
            -1 if each.page is None else each.page
        )
    told: dict[str, list[tuple[str, str | None]]] = {}
    with recrawl.open_store(str(place)) as store:
        for change in store.changes():
            if change.kind != "changed":
                told.setdefault(named(change.address), []).append((change.kind, change.reason))
        happened: dict[str, list[tuple[str, str, str | None]]] = {}
        for event in store.listing_changes():
            page_of = None if event.page is None else addresses[event.page]
            happened.setdefault(event.key, []).append(
                (event.kind, named(event.address or ""), page_of)
            )
    return {
        "objects": {e.key: (named(e.address), e.removed_seconds is None) for e in objects},
        "pages": {
            addresses[number]: (PageStatus(int(status)).label, bool(rule != NO_RULE))
            for number, (status, rule) in enumerate(zip(columns.status, columns.rule, strict=True))
        },
        "told": told,
        "happened": happened,
    }


def shown_by_verbs(folder, sites):
    """What people are shown of objects and their pages."""
    found = list[object]()
    for words, columns in (
        (("listing", "objects", "--csv"), ("key", "detail")),
        (("pages", "--csv"), ("page", "listing", "status")),
    ):
        ended = run(*words, cwd=folder)
        assert ended.code == 0, ended.err
        rows = csv.DictReader(ended.out.splitlines())
        found.append(sorted(tuple(row[each] for each in columns) for row in rows))
    for each in ("more/job/new", "block/both", "more/job/far"):
        site, _, path = each.partition("/")
        ended = run("why", f"{sites.origins[site]}/{path}", "--json", cwd=folder)
        found.append(json.loads(ended.out)["block"] if ended.code == 0 else None)
    status = run("status", "--json", cwd=folder)
    assert status.code == 0, status.err
    listing = json.loads(status.out)["listings"][0]
    return [*found, listing["listed"], listing["detail_pages"]]


def test_a_crawl_that_is_looked_at_as_divided_shows_pages_of_other_slots(tmp_path):
    """Of a list on one site, pages of blocks in other slots; all others are none of the crawl's."""
    with postgres.place() as place, running_sites() as sites:
        folders = tmp_path / "one", tmp_path / "two"
        for folder, store in zip(folders, ("recrawl.db", place), strict=True):
            prepared(folder, store, sites)
            text = settings_text(store, sites).replace(f', "{sites.origins["more"]}/jobs"', "")
            (folder / "recrawl.toml").write_text(text)
        one, two = folders
        for step in STEPS[:2]:
            sites.shown = step
            crawl_once(one)
            two_workers_once(two)

            assert stands(place, sites) == stands(one / "recrawl.db", sites)
            assert shown_by_verbs(two, sites) == shown_by_verbs(one, sites)
        with open_store(place) as reader:
            assert as_divided(load_settings(two / "recrawl.toml"), reader).divided
            found = {each.key: sites.named(each.address) for each in reader.objects("jobs")}
    assert found["moves"] == found["two"].replace("both", "job/moves") == "block/job/moves"
    assert found["new"] == ""


def test_the_sites_lie_in_different_slots():
    assert len({slot_of(f"http://{host}/", SLOTS) for host in HOSTS.values()}) == len(HOSTS)


def test_workers_have_the_detail_pages_that_one_process_has(tmp_path):
    with postgres.place() as place, running_sites() as sites:
        file = tmp_path / "one" / "recrawl.db"
        one = prepared(tmp_path / "one", "recrawl.db", sites)
        two = prepared(tmp_path / "two", place, sites)
        for step in STEPS:
            sites.shown = step
            crawl_once(one)
            two_workers_once(two)

            assert stands(place, sites) == stands(file, sites)
            assert shown_by_verbs(two, sites) == shown_by_verbs(one, sites)
        found = stands(place, sites)
    assert found["pages"]["more/job/far"] == ("copied", False)
    assert found["pages"]["block/job/covered"] == ("copied", True)
    assert found["objects"]["back"] == ("more/job/back", True)
    assert found["told"]["more/job/back"] == [
        *(("new", None), ("removed", "unlisted"), ("back", None))
    ]
    assert [each[:2] for each in found["happened"]["moves"]] == [
        *(("arrived", "more/job/moves"), ("changed", "block/job/moves"), ("changed", ""))
    ]


@pytest.mark.parametrize(
    "point", ["after the sync", "before they are taken", "after they are taken"]
)
def test_a_worker_that_is_killed_loses_no_detail_page(tmp_path, point):
    """Whatever was written down is there: others go on from it, and nobody visits a page twice."""
    with postgres.place() as place, running_sites() as sites, ExitStack() as stack:
        one = prepared(tmp_path / "one", "recrawl.db", sites)
        two = prepared(tmp_path / "two", place, sites)
        sites.shown = FIRST
        crawl_once(one)
        expected = stands(tmp_path / "one" / "recrawl.db", sites)
        sites.asked.clear()

        killed = stack.enter_context(worker(two, point=point))
        assert killed.wait(120) == -signal.SIGKILL
        with open_store(place) as reader:
            assert reader.listed_objects("jobs").keys() == FIRST.keys()
            waiting = {sites.named(address) for _, _, address in reader.handed_details(0, 99)}
            shown = {each.key: sites.named(each.address) for each in reader.objects("jobs")}
        assert shown == FIRST  # also before the pages are there
        elsewhere = {each for each in FIRST.values() if not each.startswith("list/")}
        assert waiting <= elsewhere
        assert (waiting == elsewhere) == (point != "after they are taken")

        # A visit whose answer was not written is made again.
        lost = sites.details_asked() - requests_written(place, sites)
        names = ("left", "right")
        workers = [stack.enter_context(worker(two, name=name)) for name in names]

        def is_done():
            assert all(each.poll() is None for each in workers)
            if not all("Took slot" in (two / f"{name}.txt").read_text() for name in names):
                return False
            with open_store(place) as reader:
                new = int((reader.pages().status == PageStatus.NEW).sum())
                return not new and not reader.handed_details(0, 1)

        wait_until(is_done)
        for each in workers:
            each.terminate()
            assert each.wait(60) == 0
        found = stands(place, sites)
        assert found == expected
        assert requests_written(place, sites) + lost == sites.details_asked()


def requests_written(place, sites):
    """How often each detail page was asked for, by the visits on disk."""
    found: Counter[str] = Counter()
    with open_store(place) as reader:
        for address in set(FIRST.values()):
            site, _, path = address.partition("/")
            (number,) = reader.find_pages([f"{sites.origins[site]}/{path}"])
            if number is not None:
                visits = reader.history(number)
                # Some are asked again at once, to compare.
                found[address] = len(visits.visit) + int((visits.audit != Audit.NONE).sum())
                assert list(visits.outcome).count(VisitOutcome.FIRST) <= 1
    return found


def test_what_waits_is_moved_and_taken_by_one_process(tmp_path):
    """Workers have stopped before all was taken; a single process goes on, in a file."""
    with postgres.place() as place, running_sites() as sites:
        one = prepared(tmp_path / "one", "recrawl.db", sites)
        two = prepared(tmp_path / "two", place, sites)
        sites.shown = FIRST
        crawl_once(one)
        with worker(two, point="after the sync") as killed:
            assert killed.wait(120) == -signal.SIGKILL
        moved = run("move", place, two / "moved.db", cwd=two)
        assert moved.code == 0, moved.err
        (two / "recrawl.toml").write_text(settings_text("moved.db", sites))
        with open_store(two / "moved.db") as reader:
            assert reader.handed_details(0, 1)
        crawl_once(two)

        assert stands(two / "moved.db", sites) == stands(one / "recrawl.db", sites)


def test_a_listing_is_synced_where_its_slot_has_nothing_else(tmp_path):
    with postgres.place() as place, running_sites() as sites:
        two = prepared(tmp_path / "two", place, sites)
        text = settings_text(place, sites).replace('detail = "a@href"\n', "")
        (two / "recrawl.toml").write_text(text)
        sites.shown = FIRST
        two_workers_once(two)

        with open_store(place) as reader:
            assert reader.listed_objects("jobs").keys() == FIRST.keys()
        status = run("status", cwd=two)
        assert status.code == 0, status.err
