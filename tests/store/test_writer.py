"""Entries are written in their order, in batches, and acknowledged once they are on disk."""

import asyncio
import time

import pytest

from recrawl.entries.entries import Checkpoint, Found
from recrawl.errors import InvalidParameter, StoreError, StoreFull
from recrawl.store import create_store, open_store
from recrawl.store import writer as writer_module
from recrawl.store.writer import Writer
from tests.noise import noise
from tests.store.made import found, numbered, store_with, visit
from tests.store.sqlite.connection import connection_of


@pytest.fixture
def path(tmp_path):
    return tmp_path / "pages.db"


@pytest.fixture
def store(path):
    opened = store_with(path, *numbered(3))
    yield opened
    opened.close()


def batches_of(store, monkeypatch):
    """How many entries each transaction had, as they are written."""
    sizes, write = [], store.write

    def counted(entries):
        sizes.append(len(entries))
        return write(entries)

    monkeypatch.setattr(store, "write", counted)
    return sizes


def test_receipts_come_in_order_and_what_has_one_is_on_disk(store, path):
    async def crawl():
        writer = Writer(store)
        futures = [writer.put(visit(number % 3, number)) for number in range(250)]
        receipts = [await future for future in futures]
        with open_store(path) as reader:  # the writer is still open
            seen = reader.last_visit()
        await writer.close()
        return receipts, seen

    receipts, seen = asyncio.run(crawl())

    assert receipts == list(range(1, 251))
    assert seen == 250


def test_visits_are_answered_without_futures_in_the_same_order(store, path):
    async def crawl():
        writer = Writer(store)
        answers: list[object] = []
        for number in range(150):
            writer.put_visit(visit(number % 3, number), answers.append)
        last = writer.put(visit(0, 150))
        last.add_done_callback(lambda done: answers.append(done.result()))
        writer.put_visit(visit(99), lambda error: answers.append(type(error)))
        await writer.written()
        with open_store(path) as reader:
            seen = reader.last_visit()
        await asyncio.sleep(0)
        await writer.close()
        return answers, seen, writer.queued

    answers, seen, queued = asyncio.run(crawl())

    assert sorted(answers, key=str) == sorted([*range(1, 152), InvalidParameter], key=str)
    assert answers[:100] == list(range(1, 101))
    assert (seen, queued) == (151, 0)


def test_a_full_batch_goes_at_once_and_the_rest_after_a_moment(store, monkeypatch):
    sizes = batches_of(store, monkeypatch)

    async def crawl():
        writer = Writer(store, longest_wait_seconds=0.02)
        futures = [writer.put(visit(0, number)) for number in range(250)]
        await futures[199]
        before = list(sizes)
        await futures[249]  # without another entry or closing
        await asyncio.sleep(0)
        assert writer.queued == 0
        await writer.close()
        return before

    before = asyncio.run(crawl())

    assert before[:2] == [100, 100]
    assert sizes == [100, 100, 50]


def test_an_entry_is_queued_until_its_callbacks_have_run(store):
    """Whoever stops when nothing is queued would miss what a callback does with the receipt."""
    told: list[object] = []
    looks: list[tuple[int, list[object]]] = []

    async def crawl():
        writer = Writer(store, longest_wait_seconds=0)
        # Whatever else is ready when a batch is on disk may run before the callbacks.
        writer.on_commit = lambda: looks.append((writer.queued, list(told)))
        writer.put(visit(0, 1)).add_done_callback(lambda done: told.append(done.result()))
        while writer.queued:  # noqa: ASYNC110 - every step is looked at
            await asyncio.sleep(0)
        looks.append((writer.queued, list(told)))
        await writer.close()

    asyncio.run(crawl())

    assert looks == [(1, []), (0, [1])]


def test_closing_writes_what_is_queued(store, path):
    async def crawl():
        writer = Writer(store, longest_wait_seconds=3600)
        futures = [
            writer.put(found("https://b.org/")),
            writer.put(visit(3)),
            writer.put(Checkpoint({"a": 1}, 1)),
        ]
        await writer.close()
        await writer.close()
        with pytest.raises(StoreError, match="is being closed"):
            writer.put(visit(0))
        return [await future for future in futures]

    assert asyncio.run(crawl()) == [Found([3], known=3), 1, None]
    with open_store(path) as reader:
        assert reader.checkpoint() == ({"a": 1}, 1)


def test_a_wrong_entry_fails_alone(store):
    async def crawl():
        writer = Writer(store)
        futures = [writer.put(visit(page)) for page in (0, 99, 1)]
        await writer.close()
        return await asyncio.gather(*futures, return_exceptions=True)

    first, wrong, last = asyncio.run(crawl())

    assert (first, last) == (1, 2)
    assert isinstance(wrong, InvalidParameter)


def test_when_the_disk_is_full_everything_after_is_refused_too(store, path):
    """Also what would fit: a later visit must not be there when an earlier one is missing."""
    connection_of(store).execute("pragma max_page_count = 100")

    async def crawl():
        writer = Writer(store, most_entries=5)
        futures = [writer.put(visit(0, number, body=noise(20_000, number))) for number in range(40)]
        futures += [writer.put(visit(0, 100))]
        answers = await asyncio.gather(*futures, return_exceptions=True)
        await writer.close()
        return answers

    answers = asyncio.run(crawl())

    taken = [answer for answer in answers if isinstance(answer, int)]
    refused = answers[len(taken) :]
    assert taken == list(range(1, len(taken) + 1))
    assert len(taken) % 5 == 0
    assert {str(answer) for answer in refused} == {f"{path}: the disk is full"}
    assert all(isinstance(answer, StoreFull) for answer in refused)
    assert store.last_visit() == len(taken)


def test_what_no_table_takes_fails_alone_too(store):
    async def crawl():
        writer = Writer(store)
        future = writer.put("no entry")  # type: ignore[arg-type] # what is tested
        others = [writer.put(visit(0, size=size)) for size in ("large", 2**70, 7)]
        answers = await asyncio.gather(future, *others, return_exceptions=True)
        await writer.close()
        return answers

    *wrong, right = asyncio.run(crawl())

    assert all(isinstance(answer, Exception) for answer in wrong)
    assert right == store.last_visit() == 1


def test_whoever_no_longer_waits_does_not_hold_up_the_rest(store):
    async def crawl():
        writer = Writer(store)
        futures = [writer.put(visit(0, number)) for number in range(3)]
        futures[1].cancel()
        await writer.close()
        return [await futures[0], await futures[2]]

    assert asyncio.run(crawl()) == [1, 3]
    assert store.last_visit() == 3  # what was put is written all the same


def test_there_is_room_again_once_the_queue_is_shorter(store, monkeypatch):
    monkeypatch.setattr(writer_module, "_MOST_QUEUED", 5)

    async def crawl():
        writer = Writer(store, longest_wait_seconds=0.02)
        await writer.room()
        begun = time.monotonic()
        for number in range(5):
            writer.put(visit(0, number))
        await writer.room()
        waited = time.monotonic() - begun
        await writer.close()
        return waited

    assert asyncio.run(crawl()) > 0.01


def test_the_loop_goes_on_while_the_thread_writes(path):
    """A saving of many megabytes does not stop the loop."""
    import numpy as np

    async def crawl(store):
        writer = Writer(store)
        saving = writer.put(Checkpoint({"a": np.zeros(8_000_000)}, 0))
        turns = 0
        while not saving.done():
            await asyncio.sleep(0.001)
            turns += 1
        await writer.close()
        return turns

    with create_store(path) as store:
        assert asyncio.run(crawl(store)) > 20
