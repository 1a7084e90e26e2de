"""The writing side of a store: one process, whole transactions.

A crawl keeps its schedule in memory and writes down here what it must find again: pages, visits,
copies, versions, and now and then all that it has learnt. Others read meanwhile (`Reader`).

Touches: files.
"""

from __future__ import annotations

import secrets
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import apsw

from recrawl.errors import StoreError, StoreUnwritable, reason
from recrawl.store.retention import Retention
from recrawl.store.sqlite import checkpoints as learnt
from recrawl.store.sqlite import meta, schema
from recrawl.store.sqlite.connections import (
    as_it_was_written,
    connect,
    connect_new,
    connect_to_read,
    in_plain_words,
    one_view,
    prepare_to_write,
    transaction,
)
from recrawl.store.sqlite.latest_visits import SAVED_EVERY, Heads
from recrawl.store.sqlite.lock import Lock
from recrawl.store.sqlite.transaction import Draft

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from recrawl.entries.entries import Entry, Receipt

_SEED_BITS = 62


class Store:
    """A store held for writing; every call must come from one thread at a time.

    Args:
        path: The file.
        connection: To it; the store closes it.
        lock: Held on it; the store releases it.
        retention: Which versions to keep.

    Examples:
        >>> import tempfile
        >>> from recrawl.entries.entries import PagesFound, VisitMade
        >>> from recrawl.visits.status import Outcome
        >>> folder = tempfile.TemporaryDirectory()
        >>> with Store.create(Path(folder.name) / "pages.db") as store:
        ...     found = PagesFound(["https://a.org/"], ["a.org"], rules=[0], at_seconds=0.0)
        ...     store.write([found])
        ...     store.write([VisitMade(1, 60.0, Outcome.FIRST), VisitMade(1, 90.0, Outcome.SAME)])
        [Found(pages=[1], known=0)]
        [1, 2]
        >>> folder.cleanup()
    """

    def __init__(
        self, path: Path, connection: apsw.Connection, lock: Lock, retention: Retention
    ) -> None:
        """Find the place where the last writer stopped."""
        self.path = path
        self.retention = retention
        self._connection = connection
        self._lock = lock
        self._closed = False
        self._seed = meta.get(connection, "seed")
        self._pages = _largest(connection, "pages")
        self._visit = _largest(connection, "visits")
        self._heads = Heads(connection, self._pages)

    @classmethod
    def create(cls, path: Path | str, retention: Retention | None = None) -> Self:
        """Make a new store in a file that must not be there yet."""
        path = Path(path)
        try:
            if path.exists() and path.stat().st_size:
                raise StoreError(f"{path}: must not be there yet (there is such a file)")
        except OSError as error:
            raise StoreUnwritable(f"{path}: must be writable ({reason(error)})") from None
        lock = Lock(path)
        try:
            return cls._opened(path, connect_new(path), lock, retention)
        except BaseException:
            lock.release()
            raise

    @classmethod
    def open(cls, path: Path | str, retention: Retention | None = None) -> Self:
        """Open a store, and bring its tables up to date."""
        path = Path(path)
        connect_to_read(path).close()  # what is no store must not get a lock beside it
        lock = Lock(path)
        try:
            return cls._opened(path, connect(path), lock, retention)
        except BaseException:
            lock.release()
            raise

    @classmethod
    def _opened(
        cls, path: Path, connection: apsw.Connection, lock: Lock, retention: Retention | None
    ) -> Self:
        try:
            schema.upgrade(path, connection, schema.steps_in())
            with as_it_was_written(path):
                prepare_to_write(connection)
                if not meta.get(connection, "seed"):
                    meta.put(connection, "seed", secrets.randbits(_SEED_BITS) | 1)
                return cls(path, connection, lock, retention or Retention())
        except BaseException:
            connection.close()
            raise

    @property
    def pages(self) -> int:
        """How many pages there are: numbers run from 1 to this."""
        return self._pages

    @property
    def last_visit(self) -> int:
        """Number of the last visit, 0 before the first."""
        return self._visit

    def write(self, entries: Sequence[Entry]) -> list[Receipt]:
        """Write all entries or none, and return a receipt for each."""
        with in_plain_words(self.path):
            if self._visit - self._heads.saved_visit >= SAVED_EVERY:
                self._save_heads()  # before, so that what fails has written none of the entries
            with transaction(self._connection):
                draft = Draft(
                    self._connection,
                    self._heads,
                    seed=self._seed,
                    pages=self._pages,
                    visit=self._visit,
                )
                receipts = [draft.add(entry, self.retention) for entry in entries]
                draft.finish()
            self._pages, self._visit = draft.pages, draft.visit
            self._heads.move(draft.pages, draft.newest)
        return receipts

    def save_learnt(self, parts: dict[str, Any], visit: int) -> None:
        """Replace everything learnt; `visit` is the last one that it takes into account."""
        with in_plain_words(self.path), transaction(self._connection):
            learnt.save(self._connection, parts, visit)

    def load_learnt(self) -> tuple[dict[str, Any], int] | None:
        """Parts by name and the last visit they know of; None where nothing was ever saved."""
        with as_it_was_written(self.path), one_view(self._connection):
            return learnt.load(self._connection)

    def check(self) -> list[str]:
        """What is wrong with the file, read as a whole; empty for nothing."""
        said = []
        try:
            for (text,) in self._connection.execute("pragma integrity_check"):
                said.append(str(text))
        except apsw.CorruptError as error:
            said.append(str(error))
        return [text for text in said if text != "ok"]

    def close(self) -> None:
        """Leave one whole file behind; again is nothing."""
        if self._closed:
            return
        try:
            # Without room the log stays beside the file: nothing is lost by that.
            with in_plain_words(self.path), suppress(apsw.FullError):
                if self._visit > self._heads.saved_visit:
                    self._save_heads()
                self._connection.execute("pragma wal_checkpoint(truncate)")
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Let go of the file as it is; what was written stays written."""
        self._closed = True
        self._connection.close(True)  # noqa: FBT003 - also with a statement half done
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(error, StoreError):  # the disk has failed: it would only fail again
            self.abandon()
        else:
            self.close()

    def _save_heads(self) -> None:
        with transaction(self._connection):
            self._heads.save(self._connection, self._visit)
        self._heads.saved_visit = self._visit


def _largest(connection: apsw.Connection, table: str) -> int:
    """Largest number in a table; names come from this file alone."""
    return int(connection.execute(f"select coalesce(max(id), 0) from {table}").get)  # noqa: S608
