"""Looks at listings: what is written comes back, whole or not at all."""

import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.entries.listings import (
    EventKind,
    ForecastInterval,
    ListingSynced,
    Quality,
    SyncOutcome,
)
from recrawl.errors import InvalidParameter
from recrawl.store import create_store, open_for_writing, open_store

lists = st.lists(
    st.dictionaries(st.sampled_from("abcdef"), st.fixed_dictionaries({"x": st.text(max_size=2)})),
    min_size=1,
    max_size=6,
)


def look(at=0.0, outcome=SyncOutcome.DONE, **more):
    return ListingSynced("jobs", at, outcome, at + 86_400, "recall", **more)


def difference(before, now):
    """What a look writes down that found `now` after `before`."""
    return {
        "inserted": {key: each for key, each in now.items() if key not in before},
        "updated": {k: each for k, each in now.items() if k in before and before[k] != each},
        "deleted": [key for key in before if key not in now],
        "items": len(now),
    }


def test_a_look_comes_back_with_all_that_is_known_of_it(tmp_path):
    quality = Quality(0.9, 0.8, ForecastInterval(0.7, 0.85, 1.0), None)
    first = look(60.0, SyncOutcome.FIRST, inserted={"a": {"title": "Baker"}, "ü": {}}, items=2)
    second = look(
        120.5,
        SyncOutcome.DOUBTED,
        detail="list must show objects",
        took_seconds=1.25,
        pages=3,
        items=7,
        quality=quality,
        sketch=b"12345678",
    )
    with create_store(tmp_path / "a.db") as store:
        assert store.write([first, second]) == [1, 2]

    with open_store(tmp_path / "a.db") as reader:
        one, other = reader.syncs("jobs")
        assert reader.listing_names() == ["jobs"]
        assert reader.listed_objects("jobs") == {"a": {"title": "Baker"}, "ü": {}}
    assert (one.listed, one.items, one.quality, one.next_at_seconds) == (2, 2, None, 86_460.0)
    assert (other.at_seconds, other.took_seconds, other.pages, other.items) == (120.5, 1.25, 3, 7)
    assert (other.outcome, other.detail) == (SyncOutcome.DOUBTED, "list must show objects")
    assert (other.reason, other.quality, other.sketch) == ("recall", quality, b"12345678")
    assert other.listed == 2


@settings(deadline=None, max_examples=40)
@given(lists)
def test_events_tell_every_list_there_was(shown):
    """A model: the lists themselves."""
    before: dict[str, dict[str, str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.db"
        with create_store(path) as store:
            for number, now in enumerate(shown):
                store.write([look(60.0 * number, **difference(before, now))])
                before = now
        with open_store(path) as reader:
            history = reader.listing_history("jobs")
            assert reader.listed_objects("jobs") == before

    replayed: dict[str, object] = {}
    for sync, now in zip(history.syncs, shown, strict=True):
        for event in history.events:
            if event.sync == sync.number:
                key = history.keys[event.object]
                if event.kind is EventKind.DELETE:
                    del replayed[key]
                else:
                    assert (key in replayed) == (event.kind is EventKind.UPDATE)
                    replayed[key] = event.attributes
        assert replayed == now
        assert sync.listed == len(now)


def test_listings_do_not_mix(tmp_path):
    other = ListingSynced("cars", 0.0, SyncOutcome.FIRST, 1.0, inserted={"a": {"make": "Fiat"}})
    with create_store(tmp_path / "a.db") as store:
        store.write([look(inserted={"a": {}}), other, look(1.0, deleted=["a"])])

    with open_store(tmp_path / "a.db") as reader:
        assert reader.listing_names() == ["jobs", "cars"]
        assert reader.listed_objects("jobs") == {}
        assert reader.listed_objects("cars") == {"a": {"make": "Fiat"}}
        assert len(reader.listing_history("cars").events) == 1
        assert reader.listing_history("boats").syncs == []


@pytest.mark.parametrize("more", [{"deleted": ["b"]}, {"updated": {"b": {}}}], ids=["gone", "new"])
def test_what_is_not_there_cannot_change_and_nothing_is_written(tmp_path, more):
    with create_store(tmp_path / "a.db") as store:
        store.write([look(inserted={"a": {}})])
        with pytest.raises(InvalidParameter, match="cannot update or delete an object"):
            store.write([look(1.0, inserted={"c": {}}, **more)])

    with open_store(tmp_path / "a.db") as reader:
        assert list(reader.listed_objects("jobs")) == ["a"]
        assert len(reader.syncs("jobs")) == 1


WRITES = """
import asyncio, os, sys
from recrawl.entries.listings import ListingSynced, SyncOutcome
from recrawl.store import create_store, open_for_writing, open_store
from recrawl.store.writer import Writer

async def go():
    writer = Writer(open_for_writing(sys.argv[1]), longest_wait_seconds=0.001)
    before = []
    for number in range(10**6):
        now = [str(number * 3 + each) for each in range(300)]
        new = {key: {"n": key} for key in now if key not in before}
        gone = [key for key in before if key not in now]
        await writer.put(ListingSynced("jobs", number, SyncOutcome.DONE, 0.0, inserted=new,
                                       deleted=gone, items=300))
        os.write(1, f"{number}\\n".encode())
        before = now

asyncio.run(go())
"""


def test_a_look_that_was_acknowledged_survives_a_kill_and_none_is_written_in_part(tmp_path):
    for kill in range(4):
        path = tmp_path / f"{kill}.db"
        create_store(path).close()
        process = subprocess.Popen(
            [sys.executable, "-c", WRITES, str(path)], stdout=subprocess.PIPE, cwd=Path.cwd()
        )
        assert process.stdout is not None
        told = process.stdout.readline()
        time.sleep(0.05 * kill)
        process.send_signal(signal.SIGKILL)
        told += process.stdout.read()
        process.wait()
        process.stdout.close()

        last = int(told.split()[-1])
        open_for_writing(path).close()
        with open_store(path) as reader:
            syncs = reader.syncs("jobs")
            keys = sorted(map(int, reader.listed_objects("jobs")))
        assert len(syncs) in (last + 1, last + 2)
        assert all(sync.listed == 300 for sync in syncs)
        assert keys == list(range((len(syncs) - 1) * 3, (len(syncs) - 1) * 3 + 300))
