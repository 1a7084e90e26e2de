"""Copies of pages as a folder of files, kept in step by exports that write only what changed.

`manifest.jsonl` says which file is which version of which page. An export

1. writes down in `manifest.log` what it is about to write, then writes it, file by file;
2. adds to the log what is to be deleted, and puts the new manifest in the place of the old one;
3. deletes what is in the log or was in the old manifest and is not in the new one, then the log.

Only files that a manifest or a log names are ever deleted or written over. An export that is
killed at any instant is finished by the next.

Touches: files.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recrawl.errors import CannotWrite, reason
from recrawl.publish.copies.file_names import ENDINGS, LOG, MANIFEST, file_name, is_file_name
from recrawl.publish.copies.rows import batched, listed_copies
from recrawl.publish.events import utc
from recrawl.store.scratch import whole_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path
    from typing import IO

    from recrawl.entries.store import ReadStore
    from recrawl.publish.copies.rows import KeptCopy

_PART = ".part"
_AT_A_TIME = 100
_LONGEST_LINE = 100_000


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export has done.

    Args:
        files: Copies that the folder holds now.
        written: Files that were written.
        deleted: Files that were deleted.
        missing: Pages whose body is not kept, so that they have no file.
    """

    files: int
    written: int
    deleted: int
    missing: int


class CopyFolder:
    """A folder of copies.

    Args:
        path: The folder, made if there is none.
        form: `html` (bodies as they came), `text` or `markdown`.

    Raises:
        CannotWrite: It cannot be made, or its manifest cannot be read.
    """

    def __init__(self, path: Path, form: str) -> None:
        self._path = path
        self._root = str(path)
        self._form = form
        self._folders: set[str] = set()
        self._taken: set[str] = set()
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CannotWrite(f"{path} is not a folder ({reason(error)})") from None
        self._old = self._manifest()
        self._unfinished = set(self._log())
        self._ours = {row["file"] for row in self._old.values()} | self._unfinished

    def export(self, store: ReadStore, content: Callable[[KeptCopy], bytes | None]) -> Exported:
        """Bring the folder in step with a store.

        Args:
            store: The store.
            content: What to write of a copy; None where it is not kept, or is no text.
        """
        rows: dict[int, dict[str, Any]] = {}
        written, missing = 0, 0
        self._taken.clear()
        try:
            with (self._path / LOG).open("a", encoding="utf-8") as log:
                log.write("\n")  # what a kill has cut off is a line of its own
                for some in batched(listed_copies(store), _AT_A_TIME):
                    names = self._names(some)
                    new = [copy for copy in some if not self._is_there(copy, names[copy.page])]
                    _note(log, (names[copy.page] for copy in new))
                    for copy in new:
                        found = content(copy)
                        if found is None:
                            missing += 1
                            del names[copy.page]
                        else:
                            self._write(names[copy.page], found)
                            written += 1
                    rows |= {
                        copy.page: self._row(copy, names[copy.page])
                        for copy in some
                        if copy.page in names
                    }
                kept = {row["file"] for row in rows.values()}
                stale = sorted(self._ours - kept)
                _note(log, stale)
            self._write_manifest(rows)
            for name in self._unfinished:
                self._part(name).unlink(missing_ok=True)
            deleted = sum(self._delete(name) for name in stale)
            (self._path / LOG).unlink()
        except OSError as error:
            raise CannotWrite(f"{self._path} could not be written ({reason(error)})") from None
        return Exported(len(rows), written, deleted, missing)

    # What is there.

    def _manifest(self) -> dict[int, dict[str, Any]]:
        """Rows of the last export by page; none where there was none."""
        found: dict[int, dict[str, Any]] = {}
        for line in self._lines(MANIFEST):
            try:
                row = json.loads(line)
                # The number was called `page` once, and a folder may be as old as that.
                page, file = int(row["page_id" if "page_id" in row else "page"]), row["file"]
            except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError):
                raise self._damaged(line) from None
            if not isinstance(file, str) or not is_file_name(file):
                raise self._damaged(line)
            found[page] = row
        return found

    def _damaged(self, line: str) -> CannotWrite:
        message = f"{self._path / MANIFEST} is damaged (at {line[:60]!r}); delete it and the files"
        return CannotWrite(message)

    def _log(self) -> Iterator[str]:
        """Names in the log of an export that did not end; the last may be cut off."""
        return (line for line in self._lines(LOG) if is_file_name(line))

    def _lines(self, name: str) -> Iterator[str]:
        try:
            with (self._path / name).open(encoding="utf-8", errors="replace") as file:
                while line := file.readline(_LONGEST_LINE):
                    yield line.removesuffix("\n")
        except FileNotFoundError:
            return
        except OSError as error:
            raise CannotWrite(f"{self._path / name} cannot be read ({reason(error)})") from None

    def _is_there(self, copy: KeptCopy, name: str) -> bool:
        row = self._old.get(copy.page)
        if name in self._unfinished:  # it may hold another page, which had this name meanwhile
            return False
        if row is None or (row["file"], row.get("version")) != (name, copy.digest.hex()):
            return False
        with suppress(OSError):
            return os.lstat(self._place(name)).st_size == row.get("size_bytes")
        return False

    # What is written.

    def _names(self, copies: Iterable[KeptCopy]) -> dict[int, str]:
        """File of each page; of two that could have one, the older page has it."""
        found = {}
        for copy in copies:
            name = file_name(copy.address, ENDINGS[self._form], taken=self._taken)
            self._taken.add(name)
            found[copy.page] = name
        return found

    def _row(self, copy: KeptCopy, name: str) -> dict[str, Any]:
        return {
            "page": copy.address,
            "page_id": copy.page,
            "file": name,
            "version": copy.digest.hex(),
            "seen_at": utc(copy.at_seconds),
            "size_bytes": os.lstat(self._place(name)).st_size,
        }

    def _write(self, name: str, content: bytes) -> None:
        path = self._place(name)
        self._make_folder(name)
        if name not in self._ours and os.path.lexists(path):
            raise CannotWrite(f"{path} exists and was not written by an export; move it away")
        part = path + _PART
        # Not to follow a link that somebody has put there.
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o666)
        with os.fdopen(handle, "wb", buffering=0) as file:
            left = memoryview(content)
            while left:
                left = left[file.write(left) :]
        os.replace(part, path)  # noqa: PTH105 - a Path for each file takes as long as the file
        self._ours.add(name)

    def _place(self, name: str) -> str:
        return f"{self._root}/{name}"

    def _make_folder(self, name: str) -> None:
        """Make the folders of a file; none of them may be a link to elsewhere."""
        folder = name.rpartition("/")[0]
        if folder in self._folders:
            return
        path = self._path
        for part in folder.split("/"):
            path /= part
            if path.is_symlink():
                raise CannotWrite(f"{path} is a symbolic link; an export does not follow links")
            path.mkdir(exist_ok=True)
        self._folders.add(folder)

    def _write_manifest(self, rows: Mapping[int, Mapping[str, Any]]) -> None:
        with whole_file(self._path / MANIFEST) as file:
            for row in rows.values():
                file.write(f"{json.dumps(row)}\n".encode())

    def _delete(self, name: str) -> int:
        """Delete a file, and folders that are empty then."""
        path = self._path / name
        folders = list(path.parents)[: name.count("/")]
        if any(folder.is_symlink() for folder in folders):
            return 0
        try:
            path.unlink()
        except FileNotFoundError:
            return 0
        for folder in folders:
            with suppress(OSError):  # it is not empty
                folder.rmdir()
        return 1

    def _part(self, name: str) -> Path:
        """Where a file is until it is whole."""
        return self._path / (name + _PART)


def _note(log: IO[str], names: Iterable[str]) -> None:
    """Write names to the log before anything is done to their files."""
    log.writelines(f"{name}\n" for name in names)
    log.flush()
