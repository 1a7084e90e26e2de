"""One process per store or folder: a file lock, released when the process ends, and who holds it.

Touches: files, the network.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from recrawl.errors import StoreLocked, StoreUnwritable, reason
from recrawl.parse.store_addresses import is_postgres, read_address
from recrawl.store import file_of

if TYPE_CHECKING:
    from pathlib import Path

    from recrawl.store import Address

_LONGEST = 64
_RELOADS = "reloads"


class Lock:
    """Lock held from its construction until `release` or the end of the process.

    The lock file is never deleted: deleting it could remove it under another process that is
    just locking it.
    """

    def __init__(self, store: Path) -> None:
        """Acquire the lock, or raise `StoreLocked` with the process that holds it."""
        path = _lock_file(store)
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            message = f"{store}: cannot create a lock file beside it ({reason(error)})"
            raise StoreUnwritable(message) from None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = _holder(self._file)[:1] or ["unknown"]
            os.close(self._file)
            raise StoreLocked(f"{store} is in use by another crawl (process {holder[0]})") from None
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, str(os.getpid()).encode(), 0)

    def release(self) -> None:
        """Release the lock. Idempotent."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def tell_that_it_reloads(store: Address) -> None:
    """Note that the process that holds the lock, which is this one, reads settings at SIGHUP."""
    if is_postgres(os.fspath(store)):
        from recrawl.store.postgres import holders

        holders.tell_that_it_reloads(read_address(os.fspath(store)))
        return
    with suppress(OSError):  # whoever looks for the note does without
        _lock_file(file_of(store)).write_text(f"{os.getpid()} {_RELOADS}")


def reloading_process(store: Address) -> int | None:
    """The process that holds a store and reads its settings again at SIGHUP; None for none."""
    if is_postgres(os.fspath(store)):
        from recrawl.store.postgres import holders

        return holders.reloading_process(read_address(os.fspath(store)))
    held = _held(file_of(store)) or []
    return int(held[0]) if _RELOADS in held[1:] and held[0].isdecimal() else None


def is_locked(store: Address) -> bool:
    """Whether a process holds a store."""
    if is_postgres(os.fspath(store)):
        from recrawl.store.postgres import holders

        return holders.is_locked(read_address(os.fspath(store)))
    return _held(file_of(store)) is not None


def _held(store: Path) -> list[str] | None:
    """The process that holds a store, and what it notes; None where none does."""
    try:
        file = os.open(_lock_file(store), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return _holder(file)
    finally:
        os.close(file)
    return None


def _lock_file(store: Path) -> Path:
    file = store.resolve()  # a link leads to the same store
    return file.with_name(file.name + ".lock")


def _holder(file: int) -> list[str]:
    """The process that holds a lock, and what it notes."""
    return os.pread(file, _LONGEST, 0).decode(errors="replace").split()
