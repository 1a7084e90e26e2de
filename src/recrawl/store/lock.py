"""One process per store or folder: a lock that ends with its process, however that ends.

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
    """Held from the moment it is made until it is released or the process ends.

    The file beside the store stays: a crawl that removed it could take it away from under
    another that is just locking it.
    """

    def __init__(self, store: Path) -> None:
        """Take the lock, or say who has it."""
        path = store.with_name(store.name + ".lock")
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            message = f"{store}: its folder must be writable ({reason(error)})"
            raise StoreUnwritable(message) from None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.read(self._file, 20).decode(errors="replace").strip() or "unknown"
            os.close(self._file)
            message = f"{store}: must be used by one crawl at a time (process {holder} has it)"
            raise StoreLocked(message) from None
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, str(os.getpid()).encode(), 0)

    def release(self) -> None:
        """Let others have it. Idempotent."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
