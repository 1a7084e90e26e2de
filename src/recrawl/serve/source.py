"""The crawl that is served: its store, and its settings as they are now.

Touches: files, the clock.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from recrawl.state.division import as_divided
from recrawl.store import is_store, open_store
from recrawl.store.settings_file import load_settings, settings_in, store_of
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from pathlib import Path

    from recrawl.entries.store import ReadStore
    from recrawl.settings.settings import Settings


@dataclass
class ServedCrawl:
    """A crawl by the file of its settings, or by a store that has them.

    Args:
        file: That file.
    """

    file: Path
    _read: tuple[tuple[int, int], Settings] | None = field(default=None, repr=False)
    _is_store: bool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Look at the file once: a process that has a store open must not open its file besides."""
        self._is_store = is_store(self.file)

    def settings(self, reader: ReadStore) -> Settings:
        """The settings as they are now; the file is read again when it has changed."""
        asked = settings_in(reader) if self._is_store else self._in_file()
        return as_divided(asked, reader)

    def open(self) -> ReadStore:
        """Open the store for one more reader."""
        return open_store(self.store())

    def store(self) -> Path:
        """File of the store."""
        if self._is_store:
            return self.file
        return store_of(self.file, self._in_file())

    def _in_file(self) -> Settings:
        stat = self.file.stat()
        stamp = stat.st_mtime_ns, stat.st_size
        if self._read is None or self._read[0] != stamp:
            self._read = stamp, load_settings(self.file)
        return self._read[1]


def today() -> float:
    """The current time in days after 1970."""
    return time.time() / SECONDS_A_DAY


def now(reader: ReadStore) -> float:
    """The current time in days after 1970, or that of a crawl whose clock was ahead of ours."""
    return max(today(), reader.newest_instant() / SECONDS_A_DAY)
