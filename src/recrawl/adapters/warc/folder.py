"""A folder of WARC files, which one crawl at a time writes to.

    recrawl-20261116101500-00000-4711.warc.gz          whole
    recrawl-20261116113000-00001-4711.warc.gz.open     being written
    index.db                                           what the files hold

A record is handed to the system as soon as it is made, and files are put on disk every few seconds.
Only then is kept what is known of them, so that no record ever refers to one that was lost.

A file has a name that ends in `.open` while it is written. A process may be killed in the middle of
a record: what lies before is whole, and the rest is cut off when the folder is opened again.

Touches: files, the clock.
"""

from __future__ import annotations

import os
import time
import zlib
from contextlib import suppress
from datetime import UTC, datetime
from typing import IO, TYPE_CHECKING, Self

from recrawl import __version__
from recrawl.adapters.warc.fetches import WarcIndex, records_of
from recrawl.adapters.warc.records import FIELDS_TYPE, Record, escaped_uri, field_lines
from recrawl.entries.records import Checked
from recrawl.errors import CannotWrite, InvalidParameter, reason
from recrawl.store.lock import Lock

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from recrawl.adapters.warc.fetches import OriginalRecord, RecordedFetch

LARGEST_BYTES = 1_000_000_000
OPEN = ".open"

_NAME = "recrawl"
_FORMAT = "WARC File Format 1.1"
_STANDARD = "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"
GZIP = 31  # of zlib: a stream with the head and the check of gzip
PIECE = 1 << 16
_STAMP = "%Y%m%d%H%M%S"
_FEWEST_FILES = 8  # in a folder with a limit: so much of it goes at a time


class WarcFolder:
    """Writes fetches to the WARC files of a folder.

    What a process that was killed left behind is cut to its whole records when the folder is
    opened. Used by one thread at a time.

    Args:
        folder: Where; made if it is not there.
        agent: What the crawl sends as `User-Agent`.
        largest_bytes: A file that has reached this size is closed, and another one begun.
        total_bytes: Room for all files together, for which the oldest are deleted when another one
            is begun; None to keep them all.
    """

    def __init__(
        self,
        folder: Path,
        agent: str,
        *,
        largest_bytes: int = LARGEST_BYTES,
        total_bytes: int | None = None,
    ) -> None:
        if largest_bytes < 1:
            raise InvalidParameter(f"largest_bytes must be positive (got {largest_bytes})")
        if total_bytes is not None:
            largest_bytes = max(min(largest_bytes, total_bytes // _FEWEST_FILES), 1)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            message = f"{folder} cannot be written to ({reason(error)})"
            raise CannotWrite(message) from None
        self._folder = folder
        self._agent = agent
        self._largest_bytes = largest_bytes
        self._total_bytes = total_bytes
        self._file: WarcFile | None = None
        self._files = 0
        self._index: WarcIndex | None = None
        self._lock = Lock(folder / "index.db")
        try:
            for scratch in sorted(folder.glob(f"{_NAME}-*.warc.gz{OPEN}")):
                recover(scratch)
            self._index = WarcIndex(folder / "index.db")
        except BaseException:
            self._lock.release()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def write(self, fetched: RecordedFetch) -> None:
        """Write down one fetch."""
        index = self._open_index()
        found = records_of(fetched, self._agent, index.find)
        self._current().write(b"".join(record.packed() for record in found.records))
        for key, original in found.index.items():
            index.put(key, original)

    def forget(self, wanted: Callable[[str], bool]) -> None:
        """Let nothing lead to the records of some addresses any more, as records write them."""
        self._open_index().forget(lambda address: wanted(escaped_uri(address)))

    def remember(self, moved: Mapping[bytes, OriginalRecord]) -> None:
        """Let keys lead to records, and leave no byte of others that were forgotten."""
        for key, original in moved.items():
            self._open_index().put(key, original)
        self._open_index().wipe()

    def sync(self) -> None:
        """Put everything on disk, and then keep what is known of it."""
        if self._file is not None:
            self._file.sync()
        self._open_index().commit()

    def close(self) -> None:
        """Put everything on disk and let others have the folder; idempotent."""
        index, file = self._index, self._file
        self._index = self._file = None
        try:
            if file is not None:
                file.close()
            if index is not None:
                index.commit()
        finally:
            if index is not None:
                index.close()
            self._lock.release()

    def _open_index(self) -> WarcIndex:
        if self._index is None:
            raise CannotWrite(f"{self._folder}: closed already")
        return self._index

    def _current(self) -> WarcFile:
        """The file to write to."""
        if self._file is not None and self._file.size >= self._largest_bytes:
            full, self._file = self._file, None
            full.close()
        if self._file is None:
            if self._total_bytes is not None:
                self._make_room(self._total_bytes - self._largest_bytes)
            self._file = self._begin()
        return self._file

    def _make_room(self, room: int) -> None:
        """Delete the oldest files until the others have room; no record refers to them again."""
        files = sorted(self._folder.glob(f"{_NAME}-*.warc.gz"))
        sizes = [path.stat().st_size for path in files]
        going = 0
        while sum(sizes[going:]) > room:
            going += 1
        if not going:
            return
        kept = files[going:]
        until = _begun(kept[0]) if kept else time.time()
        index = self._open_index()
        index.forget_before(int((until + 1) * 1000))  # names have whole seconds
        index.commit()
        try:
            for path in files[:going]:
                path.unlink()
        except OSError as error:
            raise CannotWrite(f"{path} cannot be deleted ({reason(error)})") from None

    def _begin(self) -> WarcFile:
        """A new file that says what it is."""
        now = time.time()
        stamp = datetime.fromtimestamp(now, UTC).strftime(_STAMP)
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
        file.write(Record("warcinfo", at, FIELDS_TYPE, field_lines(said), fields).packed())
        return file

    def _unused(self, stamp: str) -> Path:
        """A name that no file has: in a container the next process may have the same number."""
        while True:
            name = f"{_NAME}-{stamp}-{self._files:05d}-{os.getpid()}.warc.gz"
            self._files += 1
            path = self._folder / name
            if not path.exists():
                return path


class WarcFile:
    """A file of records that is being written.

    Args:
        path: Its name once it is closed; there must be no such file.

    Attributes:
        size: Bytes of the records in it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = 0
        self._scratch = path.with_name(path.name + OPEN)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
        try:
            self._handle = os.open(self._scratch, flags, 0o644)
            sync_folder(path.parent)
        except OSError as error:
            raise self._refused(error) from None

    def write(self, raw: bytes) -> None:
        """Append whole records, and hand them to the system at once; all of them, or none."""
        left = memoryview(raw)
        try:
            while left:
                left = left[os.write(self._handle, left) :]
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._handle, self.size)
            raise self._refused(error) from None
        self.size += len(raw)

    def sync(self) -> None:
        """Wait until all is on disk."""
        try:
            os.fsync(self._handle)
        except OSError as error:
            raise self._refused(error) from None

    def close(self) -> None:
        """Give the file its name; without records there is none."""
        try:
            try:
                os.fsync(self._handle)
            finally:
                os.close(self._handle)
            if self.size:
                self._scratch.rename(self.path)
            else:
                self._scratch.unlink()
        except OSError as error:
            raise self._refused(error) from None

    def _refused(self, error: OSError) -> CannotWrite:
        return CannotWrite(f"{self.path} cannot be written ({reason(error)})")


def _begun(path: Path) -> float:
    """When a file was begun, in epoch seconds, as its name says."""
    stamp = path.name.split("-")[1]
    return datetime.strptime(stamp, _STAMP).replace(tzinfo=UTC).timestamp()


def sync_folder(folder: Path) -> None:
    """Have the names of its files on disk: what is in a file that has none is lost."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def recover(scratch: Path) -> None:
    """Cut a file that nobody writes any more to its whole records, and give it its name."""
    path = scratch.with_name(scratch.name.removesuffix(OPEN))
    try:
        with scratch.open("rb") as file:
            whole = whole_bytes(file)
        if not whole:
            scratch.unlink()
            return
        os.truncate(scratch, whole)
        if path.exists():
            raise CannotWrite(f"{path} and {scratch.name} both exist; move one of them away")
        scratch.rename(path)
    except OSError as error:
        raise CannotWrite(f"{scratch} cannot be continued ({reason(error)})") from None


def whole_bytes(file: IO[bytes]) -> int:
    """Bytes up to the end of the last whole record.

    >>> import gzip, io
    >>> one, two = gzip.compress(b"one"), gzip.compress(b"two")
    >>> whole_bytes(io.BytesIO(one + two)) == len(one + two)
    True
    >>> whole_bytes(io.BytesIO(one + two[:-1])) == len(one)
    True
    """
    whole = read = 0
    stream = zlib.decompressobj(GZIP)
    while piece := file.read(PIECE):
        read += len(piece)
        while piece:
            try:
                stream.decompress(piece, PIECE)
            except zlib.error:
                return whole
            if stream.eof:
                piece = stream.unused_data
                whole = read - len(piece)
                stream = zlib.decompressobj(GZIP)
            else:
                piece = stream.unconsumed_tail
    return whole


def check_files(folder: Path) -> Checked:
    """Look for files of a folder that are not whole records from beginning to end."""
    files = sorted(folder.glob(f"{_NAME}-*.warc.gz"))
    if not files:
        raise InvalidParameter(f"{folder} has no WARC files of a crawl")
    problems = []
    for path in files:
        with path.open("rb") as file:
            whole = whole_bytes(file)
        if whole < path.stat().st_size:
            problems.append(f"{path.name}: no whole record after {whole:,} bytes")
    return Checked("warc", len(files), len(problems), tuple(problems))
