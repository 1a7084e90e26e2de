"""What is killed: a crawl that writes, one that saves, one that goes on to another WARC file, one
that migrates its store; and what must hold afterwards.

Touches: processes, files.
"""

from __future__ import annotations

import asyncio
import shutil
import signal
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Protocol

import numpy as np

from recrawl.adapters.warc import folder as warc_folder
from recrawl.adapters.warc.fetches import RecordedFetch
from recrawl.entries.entries import Checkpoint
from recrawl.parse.messages import Request, Response
from recrawl.store import open_for_writing, open_store
from recrawl.store.rows import checkpoints
from recrawl.store.sqlite import schema
from recrawl.store.sqlite.connections import connect_new
from tests.adapters.warc import killed
from tests.adapters.warc.warcs import of_kind, read_folder
from tests.kills.killing import enter, entering, instants, leave, run, tell, took_seconds
from tests.store.made import numbered, store_with, visit
from tests.store.sqlite import crashing

if TYPE_CHECKING:
    import random
    from collections.abc import Callable
    from pathlib import Path

    from tests.kills.killing import Killed

PAGES = 40
_ROWS = 100_000  # of an array in a checkpoint
_OLD_VISITS = 2000
_SMALL_FILE = 60_000


class _Store:
    """Kills of a crawl that writes to one store, again and again."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "pages.db"
        store_with(self.path, *numbered(PAGES)).close()
        self.acknowledged: dict[int, int] = {}

    def check(self, ended: Killed) -> None:
        """Nothing that was told is missing or doubled, and all rows fit each other."""
        for line in ended.told:
            if line.startswith("visit "):
                number, mark = map(int, line.split()[1:])
                assert number not in self.acknowledged
                self.acknowledged[number] = mark
        with open_store(self.path) as reader:
            size = np.concatenate([np.empty(0, np.int64), *(v.size for v in reader.visits())])
            events = [event for batch in reader.events() for event in batch]
            saved = reader.checkpoint()
            assert list(reader.remarks) == []
            assert [part for part in reader.check() if part.found] == []
        assert size.tolist() == list(range(1, len(size) + 1))
        assert all(size[number - 1] == each for number, each in self.acknowledged.items())
        # No visit without its event, no event without its visit, in the order of both.
        assert [event.number for event in events] == list(range(1, len(events) + 1))
        assert [event.visit for event in events] == (np.flatnonzero(size % 2 == 0) + 1).tolist()
        assert [event.latest_seconds for event in events] == size[size % 2 == 0].tolist()
        told = [int(line.split()[1]) for line in ended.told if line.startswith("checkpoint ")]
        if saved is not None:
            parts, number = saved
            assert number >= max(told, default=0)
            assert (parts["a"] == number).all()
            assert (parts["b"] == number).all()
        assert saved is not None or not told


class Visits(_Store):
    """A crawl that writes visits, versions and checkpoints, at any instant."""

    def work(self) -> None:
        enter()
        asyncio.run(crashing.crawl(open_for_writing(self.path)))

    def kill(self, chance: random.Random) -> bool:
        ended = run(self.work, 1, instants(chance, chance.choice([0.02, 0.1, 0.3])))
        self.check(ended)
        return ended.inside


class Saving(_Store):
    """A crawl that saves what it has learned, in the middle of that."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._longest = took_seconds(lambda: self.work(5))

    def work(self, most: int | None = None) -> None:
        with open_for_writing(self.path) as store, entering(checkpoints, "save"):
            first = store.last_visit() + 1
            for number in count(first) if most is None else range(first, first + most):
                event = crashing.event_of(number)
                store.write([visit(number % PAGES, number, size=number, event=event)])
                tell("visit", number, number)
                array = np.full(_ROWS, number)
                store.write([Checkpoint({"a": array, "b": array, "number": number}, number)])
                leave()
                tell("checkpoint", number)

    def kill(self, chance: random.Random) -> bool:
        ended = run(self.work, chance.randrange(1, 5), instants(chance, self._longest))
        self.check(ended)
        return ended.inside


class Rollover:
    """A crawl that closes a WARC file and begins another, in the middle of that."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "archive"
        self._first = 0
        self._acknowledged: set[int] = set()
        self._longest = took_seconds(lambda: self.work(60))
        shutil.rmtree(self.folder)

    def work(self, most: int | None = None) -> None:
        files = warc_folder.WarcFolder(self.folder, "test-bot", largest_bytes=_SMALL_FILE)
        begin = files._begin

        def begun() -> warc_folder.WarcFile:
            file = begin()
            leave()
            return file

        with files, entering(warc_folder.WarcFile, "close"):
            files._begin = begun  # type: ignore[method-assign]
            enter()  # for the first, which closes none
            for number in count(self._first) if most is None else range(most):
                address = killed.address_of(number)
                answer = Response(address, 200, {}, killed.body_of(number))
                files.write(RecordedFetch(Request(address), answer, number))
                tell("record", number)
            leave()

    def kill(self, chance: random.Random) -> bool:
        ended = run(self.work, chance.randrange(1, 6), instants(chance, self._longest / 4))
        numbers = [int(line.split()[1]) for line in ended.told if line.startswith("record")]
        self._acknowledged.update(numbers)
        self._first = max(numbers, default=self._first) + 2  # the next may be written, and not told
        warc_folder.WarcFolder(self.folder, "test-bot").close()
        records = of_kind(read_folder(self.folder), "response", "revisit")
        bodies = {each.fields["warc-record-id"]: each.body for each in records if each.body}
        kept = [int(each.address.rpartition("/")[2]) for each in records]
        assert len(kept) == len(set(kept))
        assert self._acknowledged <= set(kept)
        for record, number in zip(records, kept, strict=True):
            which = record.fields.get("warc-refers-to", record.fields["warc-record-id"])
            assert bodies[which] == killed.body_of(number)
        return ended.inside


class Migration:
    """A store of the first format that is brought up to date, in the middle of that."""

    def __init__(self, folder: Path) -> None:
        self._old, self._path = folder / "old.db", folder / "pages.db"
        self._make_old()
        shutil.copy(self._old, self._path)
        self._longest = took_seconds(self.work)

    def work(self, *, wait: bool = False) -> None:
        with entering(schema, "upgrade"):
            store = open_for_writing(self._path)
            leave()
            store.close()
            if wait:  # one that is late is killed as well
                signal.pause()

    def kill(self, chance: random.Random) -> bool:
        for beside in self._path.parent.glob("pages.db*"):
            beside.unlink()
        shutil.copy(self._old, self._path)
        ended = run(partial(self.work, wait=True), 1, instants(chance, self._longest / 3))
        with open_for_writing(self._path) as store:
            assert store.last_visit() == _OLD_VISITS
        with open_store(self._path) as reader:
            assert [part for part in reader.check() if part.found] == []
            assert len(reader.addresses(list(range(PAGES)))) == PAGES
        return ended.inside

    def _make_old(self) -> None:
        """A store as the first version left it, with rows that a later step drops."""
        connection = connect_new(self._old)
        schema.upgrade(self._old, connection, schema.steps_in()[:1])
        connection.execute("pragma journal_mode = wal")
        with connection:
            connection.execute("insert into hosts (id, name) values (1, 'a.org')")
            pages = [(page + 1, f"https://a.org/{page}", page) for page in range(PAGES)]
            connection.executemany(
                "insert into pages (id, address, key, host, rule, found_at) "
                "values (?, ?, ?, 1, 0, 0)",
                pages,
            )
            visits = [
                (number, number % PAGES + 1, max(number - PAGES, 0), number * 1000)
                for number in range(1, _OLD_VISITS + 1)
            ]
            connection.executemany(
                "insert into visits (id, page, before, at, outcome) values (?, ?, ?, ?, 1)", visits
            )
            connection.execute("insert into days values (0, 1, ?)", (_OLD_VISITS,))
            robots = [(number, bytes(1000)) for number in range(1, 500)]
            connection.executemany("insert into robots values (?, 0, 200, ?)", robots)
        connection.close()


class Kind(Protocol):
    """Something to be killed, in a folder of its own."""

    def kill(self, chance: random.Random) -> bool:
        """Kill it once, check what it left, and say whether it was inside of what was meant."""


KINDS: dict[str, Callable[[Path], Kind]] = {
    "visits": Visits,
    "saving": Saving,
    "rollover": Rollover,
    "migration": Migration,
}
