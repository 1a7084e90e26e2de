"""An index of vectors whose reader is killed again and again has exactly what the crawl saw."""

import os
import random
import subprocess
import sys
import time
from contextlib import closing
from functools import partial
from importlib import import_module
from pathlib import Path

import pytest

import recrawl
from recrawl.store import create_store
from tests.kills.killing import enter, instants, run
from tests.publish import followed
from tests.waiting import started, wait_until

KILLS = int(os.environ.get("RECRAWL_INDEX_KILLS", "25"))  # of each of two readers
LONGEST_SECONDS = 0.15
ROOT = Path(__file__).parents[2]


def example():
    """The example; it loads much, so whoever only collects tests does not."""
    return import_module("examples.vector_index")


def read(store, index, *, follow):
    """Run it again and again."""
    with (
        recrawl.open_store(str(store)) as reader,
        closing(example().open_index(index)) as client,
    ):
        enter()
        while True:
            example().bring_up_to_date(reader, client, index / "cursor")
            if not follow:
                return
            time.sleep(0.005)


def indexed(index):
    """Page, hash and text of each point, by its id."""
    with closing(example().open_index(index)) as client:
        points, _ = client.scroll(example().CHUNKS, limit=10_000)
    return {
        point.id: tuple((point.payload or {})[name] for name in ("page", "hash", "text"))
        for point in points
    }


def expected(store):
    """The same of the copies that the crawl keeps, whatever its feed says."""
    with recrawl.open_store(str(store)) as reader:
        return {
            chunk.id: (page, chunk.hash, chunk.text)
            for page in followed.truth_of(store)[0]
            for chunk in reader.copy(page).chunks
        }


def check_feed(store):
    """What each event says of chunks follows from the events before it, also of what was pruned."""
    known: dict[int, dict[str, str]] = {}
    dropped = 0
    with recrawl.open_store(str(store)) as reader:
        for event in reader.changes(include={"chunks"}):
            chunks, removed = event.content["chunks"], event.content["removed"]
            dropped += any(chunk["text"] is None for chunk in chunks)
            before, now = known.get(event.page, {}), {each["id"]: each["hash"] for each in chunks}
            assert set(removed) == before.keys() - now.keys()
            ops = {each["id"]: each["op"] for each in chunks}
            assert {name for name, op in ops.items() if op == "same"} == {
                name for name, digest in now.items() if before.get(name) == digest
            }
            assert {name for name, op in ops.items() if op in ("new", "moved")} == (
                now.keys() - before.keys()
            )
            known[event.page] = now
    assert dropped > followed.PAGES


def is_lively(events):
    """Whether pages changed, went and came back: what an index must keep up with."""
    kinds = list(events.values())
    return kinds.count("changed") > 3 * followed.PAGES and {"removed", "back"} <= set(kinds)


@pytest.mark.parametrize("listed", [False, True], ids=["ten versions", "one version and lists"])
def test_kills_leave_no_chunk_missing_left_over_or_stale(tmp_path, listed):
    store, index = tmp_path / "recrawl.db", tmp_path / "index"
    create_store(store).close()
    example().open_index(index).close()  # loads what every child would load again
    chance = random.Random(12)  # noqa: S311 - instants, no secrets
    command = [sys.executable, followed.__file__, tmp_path, *(["--listed"] if listed else [])]
    place = os.environ | {"PYTHONPATH": str(ROOT)}
    with started(command, stdout=subprocess.PIPE, text=True, env=place) as crawl:
        assert crawl.stdout.readline() == "ready\n"
        for _ in range(KILLS):
            work = partial(read, store, index, follow=True)
            assert run(work, 1, instants(chance, LONGEST_SECONDS)).inside
        wait_until(lambda: is_lively(followed.truth_of(store)[1]))
        crawl.terminate()
        assert crawl.wait() == 0

    read(store, index, follow=False)

    assert indexed(index) == expected(store) != {}
    if listed:
        check_feed(store)
