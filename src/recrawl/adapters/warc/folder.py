"""A folder of WARC files, which one crawl at a time writes to.

    recrawl-20261116101500-00000-4711.warc.gz          whole
    recrawl-20261116113000-00001-4711.warc.gz.open     being written
    known.db                                           what the files hold

A record is handed to the system as soon as it is made, and files are put on disk every few seconds.
Only then is kept what is known of them, so that no record ever refers to one that was lost.

Touches: files, the clock.
"""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Self

from recrawl import __version__
from recrawl.adapters.warc.fetches import entry_of
from recrawl.adapters.warc.files import OPEN, WarcFile, recover
from recrawl.adapters.warc.index import Known
from recrawl.adapters.warc.records import FIELDS_TYPE, Record, fields_of
from recrawl.errors import CannotWrite, InvalidParameter, reason
from recrawl.store.lock import Lock

if TYPE_CHECKING:
    from pathlib import Path

    from recrawl.adapters.warc.fetches import Fetched

LARGEST_BYTES = 1_000_000_000

_NAME = "recrawl"
_FORMAT = "WARC File Format 1.1"
_STANDARD = "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"


class WarcFolder:
    """Writes fetches to the WARC files of a folder.

    What a process that was killed left behind is cut to its whole records when the folder is
    opened. Used by one thread at a time.

    Args:
        folder: Where; made if it is not there.
        agent: What the crawl sends as `User-Agent`.
        largest_bytes: A file that has reached this size is closed, and another one begun.
    """

    def __init__(self, folder: Path, agent: str, *, largest_bytes: int = LARGEST_BYTES) -> None:
        if largest_bytes < 1:
            raise InvalidParameter(f"largest_bytes must be positive (got {largest_bytes})")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            message = f"{folder}: must be a folder that can be written to ({reason(error)})"
            raise CannotWrite(message) from None
        self._folder = folder
        self._agent = agent
        self._largest_bytes = largest_bytes
        self._file: WarcFile | None = None
        self._files = 0
        self._known: Known | None = None
        self._lock = Lock(folder / "known.db")
        try:
            for scratch in sorted(folder.glob(f"{_NAME}-*.warc.gz{OPEN}")):
                recover(scratch)
            self._known = Known(folder / "known.db")
        except BaseException:
            self._lock.release()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def write(self, fetched: Fetched) -> None:
        """Write down one fetch."""
        known = self._open_known()
        entry = entry_of(fetched, self._agent, known.find)
        self._current().write(b"".join(record.packed() for record in entry.records))
        for key, original in entry.known.items():
            known.put(key, original)

    def sync(self) -> None:
        """Put everything on disk, and then keep what is known of it."""
        if self._file is not None:
            self._file.sync()
        self._open_known().commit()

    def close(self) -> None:
        """Put everything on disk and let others have the folder; again is nothing."""
        known, file = self._known, self._file
        self._known = self._file = None
        try:
            if file is not None:
                file.close()
            if known is not None:
                known.commit()
        finally:
            if known is not None:
                known.close()
            self._lock.release()

    def _open_known(self) -> Known:
        if self._known is None:
            raise CannotWrite(f"{self._folder}: must be open to write (it is closed)")
        return self._known

    def _current(self) -> WarcFile:
        """The file to write to."""
        if self._file is not None and self._file.size >= self._largest_bytes:
            full, self._file = self._file, None
            full.close()
        if self._file is None:
            self._file = self._begin()
        return self._file

    def _begin(self) -> WarcFile:
        """A new file that says what it is."""
        now = time.time()
        stamp = datetime.fromtimestamp(now, UTC).strftime("%Y%m%d%H%M%S")
        path = self._unused(stamp)
        file = WarcFile(path)
        said = {
            "software": f"recrawl/{__version__}",
            "format": _FORMAT,
            "conformsTo": _STANDARD,
            "robots": "obey",
            "http-header-user-agent": self._agent,
        }
        fields = {"WARC-Filename": path.name}
        at = int(now * 1000)
        file.write(Record("warcinfo", at, FIELDS_TYPE, fields_of(said), fields).packed())
        return file

    def _unused(self, stamp: str) -> Path:
        """A name that no file has: in a container the next process may have the same number."""
        while True:
            name = f"{_NAME}-{stamp}-{self._files:05d}-{os.getpid()}.warc.gz"
            self._files += 1
            path = self._folder / name
            if not path.exists():
                return path
