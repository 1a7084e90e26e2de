"""A crawl of a listing and its readers, all killed again and again: mirrors equal the truth."""

import os
import random
import socket
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from functools import partial
from pathlib import Path

import recrawl
from recrawl.store import create_store
from tests.kills.killing import enter, instants, run
from tests.publish import board_crawl
from tests.waiting import started, wait_until

CRAWLS, KILLS_A_CRAWL = 3, 5
LONGEST_SECONDS = 0.15
ROOT = Path(__file__).parents[2]


def open_mirror(path):
    mirror = sqlite3.connect(path, isolation_level=None)
    mirror.execute("create table if not exists objects (key primary key, pay)")
    mirror.execute("create table if not exists pages (page integer primary key, version)")
    mirror.execute("create table if not exists cursors (feed primary key, cursor)")
    return mirror


def read(store, path, *, follow):
    """Follow both feeds from their beginning; every statement is a commit."""
    with recrawl.open_store(str(store)) as reader, closing(open_mirror(path)) as mirror:
        enter()
        while True:
            cursors = dict(mirror.execute("select * from cursors"))
            for event in reader.listing_changes(cursors.get("objects")):
                if event.kind == "vanished":
                    mirror.execute("delete from objects where key = ?", (event.key,))
                else:
                    pair = event.key, (event.attributes or {})["pay"]
                    mirror.execute("insert or replace into objects values (?, ?)", pair)
                keep(mirror, "objects", event.cursor)
            for change in reader.changes(cursors.get("pages")):
                if change.kind in ("removed", "moved"):
                    mirror.execute("delete from pages where page = ?", (change.page,))
                else:
                    copy = change.page, change.version
                    mirror.execute("insert or replace into pages values (?, ?)", copy)
                keep(mirror, "pages", change.cursor)
            if not follow:
                return
            time.sleep(0.005)


def keep(mirror, feed, cursor):
    """Keep a cursor after our own commit: an event may come twice."""
    mirror.execute("insert or replace into cursors values (?, ?)", (feed, cursor))


def told(store):
    """How often each kind of event was told, of objects and of pages."""
    with recrawl.open_store(str(store)) as reader:
        objects = Counter(event.kind for event in reader.listing_changes())
        return objects + Counter(f"page {event.kind}" for event in reader.changes())


def is_lively(store):
    """Whether objects and their pages came, changed, went and came back."""
    found = told(store)
    wanted = ("arrived", "changed", "vanished", "back", "page removed", "page back")
    return all(found[kind] for kind in wanted)


def test_mirrors_of_a_killed_crawl_equal_the_truth(tmp_path):
    store, mirror = tmp_path / "recrawl.db", tmp_path / "mirror.db"
    create_store(store).close()
    recrawl.open_store(str(store)).close()  # loads what every child would load again
    (tmp_path / "began").write_text(str(time.time()))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    chance = random.Random(7)  # noqa: S311 - instants, no secrets
    command = [sys.executable, board_crawl.__file__, tmp_path, port]
    place = os.environ | {"PYTHONPATH": str(ROOT)}
    for number in range(CRAWLS):
        with started(command, stdout=subprocess.PIPE, text=True, env=place) as crawl:
            assert crawl.stdout.readline() == "ready\n"
            for _ in range(KILLS_A_CRAWL):
                work = partial(read, store, mirror, follow=True)
                assert run(work, 1, instants(chance, LONGEST_SECONDS)).inside
            time.sleep(instants(chance, 1.0))
            if number < CRAWLS - 1:
                crawl.kill()
                crawl.wait()
            else:
                wait_until(lambda: is_lively(store))
                crawl.terminate()
                assert crawl.wait() == 0

    assert read(store, mirror, follow=False) is None
    listed, pages = board_crawl.truth_of(store)
    with closing(open_mirror(mirror)) as opened:
        assert dict(opened.execute("select * from objects")) == listed
        assert dict(opened.execute("select * from pages")) == pages
    assert listed
