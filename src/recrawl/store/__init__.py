"""Persistent storage of a crawl.

Stores are used through the protocols of `recrawl.entries.store`. A store is opened by its address,
which is a plain path or a URL. The scheme of a URL names the backend; a path is a SQLite file:

    recrawl.db, sqlite:///recrawl.db       a file in the working directory
    /var/a.db, sqlite:////var/a.db         a file anywhere
    postgresql://user@host/database        a schema of a PostgreSQL database (`places`)

Touches: files, the network, threads.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from recrawl.errors import InvalidParameter, NotAStore
from recrawl.parse.store_addresses import is_postgres, read_address

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recrawl.entries.store import ReadStore, WriteStore
    from recrawl.store.retention import Retention
    from recrawl.store.rows.write_store import RowWriteStore

Address: TypeAlias = "str | os.PathLike[str]"

# How a store's file begins: SQLite's own mark, and the number by which it tells applications apart.
_MAGIC = b"SQLite format 3\0"
APPLICATION = 0x52435231  # "RCR1"
_HEADER_BYTES = 100
_APPLICATION_AT = 68
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)


def open_store(address: Address) -> ReadStore:
    """Open a store for reading, whoever writes meanwhile.

    Args:
        address: Path or URL of the store.

    Examples:
        >>> import tempfile
        >>> from recrawl.entries.entries import PagesFound, VisitMade
        >>> from recrawl.visits.status import VisitOutcome
        >>> folder = tempfile.TemporaryDirectory()
        >>> with create_store(f"{folder.name}/pages.db") as store:
        ...     found = PagesFound(["https://a.org/"], ["a.org"], rules=[0], at_seconds=0.0)
        ...     store.write([found])
        ...     first = VisitMade(0, 60.0, VisitOutcome.FIRST)
        ...     store.write([first, VisitMade(0, 90.0, VisitOutcome.SAME)])
        [Found(pages=[0], known=0)]
        [1, 2]
        >>> with open_store(f"{folder.name}/pages.db") as store:
        ...     store.addresses([0]), store.last_visit()
        (['https://a.org/'], 2)
        >>> folder.cleanup()
    """
    if is_postgres(os.fspath(address)):
        from recrawl.store.postgres.read_store import PostgresReadStore

        return PostgresReadStore(read_address(os.fspath(address)))
    path = file_of(address)
    from recrawl.store.sqlite.read_store import SqliteReadStore

    return SqliteReadStore(path)


def open_for_writing(address: Address, retention: Retention | None = None) -> WriteStore:
    """Open a store for writing, and migrate it to the current format.

    Args:
        address: Path or URL of the store.
        retention: Which versions of pages to keep; all by default.
    """
    opened = open_rows(address, retention)
    try:
        opened.refuse_half_moved()
    except BaseException:
        opened.abandon()
        raise
    return opened


def open_rows(address: Address, retention: Retention | None = None) -> RowWriteStore:
    """The same, also of a store that is not whole, with its tables: for what moves stores."""
    if is_postgres(os.fspath(address)):
        from recrawl.store.postgres.write_store import PostgresWriteStore

        return PostgresWriteStore.open(read_address(os.fspath(address)), retention)
    path = file_of(address)
    from recrawl.store.sqlite.write_store import SqliteWriteStore

    return SqliteWriteStore.open(path, retention)


def create_store(address: Address, retention: Retention | None = None) -> WriteStore:
    """Create a store and open it for writing; arguments as for `open_for_writing`."""
    if is_postgres(os.fspath(address)):
        from recrawl.store.postgres.write_store import PostgresWriteStore

        return PostgresWriteStore.create(read_address(os.fspath(address)), retention)
    path = file_of(address)
    from recrawl.store.sqlite.write_store import SqliteWriteStore

    return SqliteWriteStore.create(path, retention)


def create_in_memory(retention: Retention | None = None) -> WriteStore:
    """Create a store that is never on disk, and gone when it is closed.

    `open_store` reads it by its name, in this process; nobody reads while an entry is written.

    Args:
        retention: Which versions of pages to keep; all by default.

    Examples:
        >>> with create_in_memory() as written, open_store(written.name) as reader:
        ...     reader.page_count()
        0
    """
    from recrawl.store.sqlite.write_store import SqliteWriteStore

    return SqliteWriteStore.create_in_memory(retention)


def hold_store(address: Address | None, retention: Retention | None = None) -> WriteStore:
    """Open a store for writing; a new one where there is none, in memory where none is named.

    Args:
        address: Path or URL of the store; None for one in memory.
        retention: Which versions of pages to keep; all by default.
    """
    if address is None:
        return create_in_memory(retention)
    if not is_taken(address):
        return create_store(address, retention)
    return open_for_writing(address, retention)


def is_taken(address: Address) -> bool:
    """Whether there is a store, or something else, where a store would be created."""
    if is_postgres(os.fspath(address)):
        from recrawl.store.postgres.write_store import is_taken

        return is_taken(read_address(os.fspath(address)))
    path = file_of(address)
    return path.exists() and path.stat().st_size > 0


def add_hints(address: Address, pages: Sequence[str], at_seconds: float) -> None:
    """Note in a store that pages are said to have changed; a crawl may be running.

    Args:
        address: Path or URL of the store.
        pages: Canonical addresses of the pages.
        at_seconds: The current time.
    """
    if is_postgres(os.fspath(address)):
        from recrawl.store.postgres import write_store

        write_store.add_hints(read_address(os.fspath(address)), pages, at_seconds)
        return
    path = file_of(address)
    from recrawl.store.sqlite import hints

    hints.add_hints(path, pages, at_seconds)


def back_up(address: Address, copy: Path, on_progress: Callable[[float], object] = bool) -> int:
    """Copy a store to a new file while others write to it; returns the number of its last visit.

    Args:
        address: Path or URL of the store.
        copy: File of the copy, which appears once it is whole and checked.
        on_progress: Called now and then with the share that is done.

    Raises:
        CannotWrite: There is such a file, or it cannot be written.
        InvalidParameter: The store is not a file.
    """
    if is_postgres(os.fspath(address)):
        name = read_address(os.fspath(address)).name
        raise InvalidParameter(
            f"{name} is not a file; `recrawl move` copies it to one, and pg_dump backs up databases"
        )
    path = file_of(address)
    from recrawl.store.sqlite import backup

    return backup.back_up(path, copy, on_progress)


def delete_store(address: Address) -> None:
    """Delete all files of a store, such as one whose creation failed half-way."""
    if is_postgres(os.fspath(address)):
        from recrawl.store.postgres import write_store

        write_store.delete(read_address(os.fspath(address)))
        return
    path = file_of(address)
    from recrawl.store.sqlite.write_store import delete_files

    delete_files(path)


def is_store(address: Address) -> bool:
    """Whether a file is a store, by its first bytes; False if it cannot be read, or only once.

    An address in PostgreSQL can be nothing else. Not for a process that has the store open: closing
    the file would release SQLite's locks on it.
    """
    if is_postgres(os.fspath(address)):
        return True
    try:
        path = file_of(address)
        if not path.is_file():  # a pipe must keep its first bytes
            return False
        with path.open("rb") as file:
            return begins_as_store(file.read(_HEADER_BYTES))
    except OSError:
        return False


def begins_as_store(header: bytes) -> bool:
    """Whether the first hundred bytes of a file are those of a store.

    >>> begins_as_store(b"page,visited_at,changed")
    False
    """
    application = header[_APPLICATION_AT : _APPLICATION_AT + 4]
    return is_sqlite(header) and application == APPLICATION.to_bytes(4, "big")


def is_sqlite(header: bytes) -> bool:
    """Whether the first bytes of a file are those of an SQLite database, a store or not."""
    return header.startswith(_MAGIC)


def file_of(address: Address) -> Path:
    """The file of a store.

    Raises:
        NotAStore: The address is a URL without a path or of another scheme.

    >>> file_of("a.db"), file_of("sqlite:///a.db"), file_of("sqlite:////var/a.db")
    (PosixPath('a.db'), PosixPath('a.db'), PosixPath('/var/a.db'))
    """
    url = _URL.fullmatch(os.fspath(address))
    if url is None:
        return Path(address)
    scheme, rest = url.groups()
    if scheme.lower() != "sqlite":
        raise NotAStore(
            f"{scheme}://...: unknown kind of store; expected a path, sqlite:///path or "
            "postgresql://host/database"
        )
    if not rest.startswith("/") or rest == "/":
        raise NotAStore(f"{address} has no path; expected sqlite:///path")
    return Path(rest[1:])
