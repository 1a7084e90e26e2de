"""Files that appear whole or not at all: written beside their place, and moved there at the end.

Also folders for what is needed for a while. An interrupt leaves neither behind, whenever it comes:
names are chosen before anything is made, and what is cut short while it removes is done again.

Touches: files, the clock.
"""

from __future__ import annotations

import errno
import fcntl
import glob
import os
import secrets
import shutil
import time
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING

from recrawl.errors import CannotWrite, reason

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_PART = ".part"  # ends the name of a file that is being written
_MOMENT_SECONDS = 1.0


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A file that appears, whole, when the block ends well, and not at all otherwise."""
    with scratch_file(path) as (raw, scratch):
        yield raw
        _flush(raw)
        scratch.replace(path)


@contextmanager
def new_file(path: Path) -> Iterator[tuple[IO[bytes], Path]]:
    """The same for a file that must not be there yet: the file, and where it lies until then."""
    with scratch_file(path) as (raw, scratch):
        yield raw, scratch
        _flush(raw)
        try:
            path.hardlink_to(scratch)
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS):
                raise
            if path.exists():  # on a disk without links
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from None
            scratch.rename(path)


@contextmanager
def scratch_file(path: Path) -> Iterator[tuple[IO[bytes], Path]]:
    """A file beside the place of another, until the block ends.

    It is locked meanwhile: what a process that was killed has left is not, and is removed.
    """
    scratch = path.with_name(f".{path.name}.{_token()}{_PART}")
    try:
        with _created(path, scratch) as raw:
            fcntl.flock(raw, fcntl.LOCK_EX)
            yield raw, scratch
    except OSError as error:
        raise CannotWrite(f"{path} could not be written ({reason(error)})") from None
    finally:
        try:
            scratch.unlink(missing_ok=True)
        finally:
            scratch.unlink(missing_ok=True)


def _created(path: Path, scratch: Path) -> IO[bytes]:
    try:
        _remove_leftovers(path)
        return scratch.open("xb")
    except OSError as error:
        message = f"{path} cannot be written ({reason(error)})"
        raise CannotWrite(message) from None


@contextmanager
def scratch_folder(parent: Path, prefix: str) -> Iterator[Path]:
    """A folder that others cannot read, until the block ends.

    Args:
        parent: Folder that it is made in.
        prefix: Begins its name.
    """
    folder = parent / f"{prefix}{_token()}"
    try:
        try:
            folder.mkdir(mode=0o700)
        except OSError as error:
            raise CannotWrite(
                f"{parent}: temporary files must be in a folder that can be written to "
                f"({reason(error)})"
            ) from None
        yield folder
    finally:
        try:
            shutil.rmtree(folder, ignore_errors=True)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _token() -> str:
    return secrets.token_hex(4)


def _flush(raw: IO[bytes]) -> None:
    raw.flush()
    os.fsync(raw.fileno())


def _remove_leftovers(path: Path) -> None:
    """Remove what processes that were killed while they wrote this file have left beside it."""
    for leftover in path.parent.glob(f".{glob.escape(path.name)}.????????{_PART}"):
        with suppress(OSError), leftover.open("rb") as file:  # others may remove it, too
            if time.time() - leftover.stat().st_mtime > _MOMENT_SECONDS:  # one may just begin
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                leftover.unlink()
