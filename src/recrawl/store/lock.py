"""Advisory file lock: one process per store or folder, released when the process ends.

Touches: files.
"""

from __future__ import annotations

import fcntl
import os
from typing import TYPE_CHECKING

from recrawl.errors import StoreLocked, StoreUnwritable, reason

if TYPE_CHECKING:
    from pathlib import Path


class Lock:
    """Lock held from its construction until `release` or the end of the process.

    The lock file is never deleted: deleting it could remove it under another process that is
    just locking it.
    """

    def __init__(self, store: Path) -> None:
        """Acquire the lock, or raise `StoreLocked` with the process that holds it."""
        file = store.resolve()  # a link leads to the same store
        path = file.with_name(file.name + ".lock")
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            message = f"{store}: cannot create a lock file beside it ({reason(error)})"
            raise StoreUnwritable(message) from None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.read(self._file, 20).decode(errors="replace").strip() or "unknown"
            os.close(self._file)
            raise StoreLocked(f"{store} is in use by another crawl (process {holder})") from None
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, str(os.getpid()).encode(), 0)

    def release(self) -> None:
        """Release the lock. Idempotent."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
