"""A reader of the feed that is killed again and again has exactly what the crawl saw."""

import os
import random
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
from tests.publish import followed
from tests.waiting import started, wait_until

KILLS = 50
LONGEST_SECONDS = 0.12
ROOT = Path(__file__).parents[2]


def open_mirror(path):
    mirror = sqlite3.connect(path, isolation_level=None)
    mirror.execute("create table if not exists pages (page integer primary key, version)")
    mirror.execute("create table if not exists state (cursor, began)")
    mirror.execute("create table if not exists seen (cursor primary key)")
    return mirror


def read(store, path, *, follow):
    """Take a snapshot where there is no cursor, then follow; every statement is a commit."""
    with recrawl.open_store(str(store)) as reader, closing(open_mirror(path)) as mirror:
        enter()
        row = mirror.execute("select cursor from state").fetchone()
        cursor = row[0] if row else snapshot(reader, mirror)
        while True:
            for event in reader.changes(cursor):
                if event.kind in ("removed", "moved"):
                    mirror.execute("delete from pages where page = ?", (event.page,))
                else:
                    pair = (event.page, event.version)
                    mirror.execute("insert or replace into pages values (?, ?)", pair)
                mirror.execute("insert or ignore into seen values (?)", (event.cursor,))
                cursor = event.cursor  # after our own commit: an event may come twice
                mirror.execute("update state set cursor = ?", (cursor,))
            if not follow:
                return
            time.sleep(0.005)


def snapshot(reader, mirror):
    cursor, copies = reader.snapshot()
    seen = []
    for copy in copies:
        pair = (copy.page, copy.version)
        mirror.execute("insert or replace into pages values (?, ?)", pair)
        seen.append(copy.page)
    gone = ",".join(map(str, seen)) or "-1"
    mirror.execute(f"delete from pages where page not in ({gone})")  # noqa: S608 - numbers
    mirror.execute("insert into state values (?, ?)", (cursor, cursor))
    return cursor


def is_lively(events):
    """Whether pages came, changed, went and came back: what a reader must keep up with."""
    events = Counter(events.values())
    return events["changed"] > followed.PAGES and min(events["removed"], events["back"]) > 0


def test_fifty_kills_leave_nothing_out_and_nothing_over(tmp_path):
    store, mirror = tmp_path / "recrawl.db", tmp_path / "mirror.db"
    create_store(store).close()
    recrawl.open_store(str(store)).close()  # loads what every child would load again
    chance = random.Random(11)  # noqa: S311 - instants, no secrets
    command = [sys.executable, followed.__file__, tmp_path]
    place = os.environ | {"PYTHONPATH": str(ROOT)}
    with started(command, stdout=subprocess.PIPE, text=True, env=place) as crawl:
        assert crawl.stdout.readline() == "ready\n"
        for _ in range(KILLS):
            ended = run(
                partial(read, store, mirror, follow=True), 1, instants(chance, LONGEST_SECONDS)
            )
            assert ended.inside
        wait_until(lambda: is_lively(followed.truth_of(store)[1]))
        crawl.terminate()
        assert crawl.wait() == 0

    assert read(store, mirror, follow=False) is None
    truth, events = followed.truth_of(store)
    with closing(open_mirror(mirror)) as opened:
        assert dict(opened.execute("select * from pages")) == truth
        ((began,),) = opened.execute("select began from state")
        seen = {cursor for (cursor,) in opened.execute("select cursor from seen")}
    later = list(events)[list(events).index(began) + 1 :] if began in events else list(events)
    assert seen == set(later)  # all of them, also those that later ones made good
    assert is_lively(events)
    assert truth
