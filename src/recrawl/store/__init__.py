"""Disk: what a crawl must find again after any crash.

Stores are used through the protocols of `recrawl.entries.store`. A store is opened by its address,
which is a plain path or a URL. The scheme of a URL names the backend; a path is a SQLite file:

    recrawl.db, sqlite:///recrawl.db       a file in the working directory
    /var/a.db, sqlite:////var/a.db         a file anywhere

Touches: files, threads.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from recrawl.errors import NotAStore

if TYPE_CHECKING:
    from recrawl.entries.store import ReadStore, WriteStore
    from recrawl.store.retention import Retention

Address: TypeAlias = "str | os.PathLike[str]"

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
    path = file_of(address)
    from recrawl.store.sqlite.read_store import SqliteReadStore

    return SqliteReadStore(path)


def open_for_writing(address: Address, retention: Retention | None = None) -> WriteStore:
    """Open a store for writing, and bring its tables up to date.

    Args:
        address: Path or URL of the store.
        retention: Which versions of pages to keep; all by default.
    """
    path = file_of(address)
    from recrawl.store.sqlite.write_store import SqliteWriteStore

    return SqliteWriteStore.open(path, retention)


def create_store(address: Address, retention: Retention | None = None) -> WriteStore:
    """Make a new store where there is none yet, and open it for writing; arguments as above."""
    path = file_of(address)
    from recrawl.store.sqlite.write_store import SqliteWriteStore

    return SqliteWriteStore.create(path, retention)


def delete_store(address: Address) -> None:
    """Delete whatever there is of a store; for one that could not be made as a whole."""
    path = file_of(address)
    from recrawl.store.sqlite.write_store import delete_files

    delete_files(path)


def is_store(address: Address) -> bool:
    """Whether there is a store, told without opening it; False where that cannot be read.

    Not for a process that has the store open: closing the file would lose SQLite's locks on it.
    """
    from recrawl.store.sqlite.file_magic import has_store_header

    return has_store_header(file_of(address))


def begins_as_store(header: bytes) -> bool:
    """Whether the first hundred bytes of a file are those of a store.

    >>> begins_as_store(b"page,visited_at,changed")
    False
    """
    from recrawl.store.sqlite.file_magic import is_store_header

    return is_store_header(header)


def file_of(address: Address) -> Path:
    """The file of a store.

    Raises:
        NotAStore: The address is a URL of no kind that there is a backend for.

    >>> file_of("a.db"), file_of("sqlite:///a.db"), file_of("sqlite:////var/a.db")
    (PosixPath('a.db'), PosixPath('a.db'), PosixPath('/var/a.db'))
    """
    url = _URL.fullmatch(os.fspath(address))
    if url is None:
        return Path(address)
    scheme, rest = url.groups()
    if scheme.lower() != "sqlite":
        message = f"{address}: no store has addresses like this; write a path or sqlite:///path"
        raise NotAStore(message)
    if not rest.startswith("/") or rest == "/":
        raise NotAStore(f"{address}: has no path; write sqlite:///path")
    return Path(rest[1:])
