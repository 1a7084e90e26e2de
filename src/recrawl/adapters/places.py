"""Places of files: paths of this machine, and addresses that fsspec knows, such as `s3://`.

What lies elsewhere is copied to a temporary file to be read, and written to one before it is sent:
readers go through a file twice, and a file appears whole or not at all. A place is a text, since a
`Path` would shorten `s3://a` to `s3:/a`.

Touches: files, and whatever fsspec reaches.
"""

from __future__ import annotations

import glob
import re
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recrawl.adapters.tables.inputs import expand
from recrawl.errors import CannotWrite, InvalidTable, MissingExtra, reason
from recrawl.store.scratch import scratch_folder, whole_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

KEPT = "_recrawl"  # folder of what a run keeps beside its results
PASSES = f"{KEPT}/passes"  # in it: what one pass of a run leaves to the next
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


def is_remote(place: str) -> bool:
    """Whether a place is an address for fsspec.

    >>> is_remote("s3://bucket/part-0.parquet"), is_remote("rates/part-0.parquet")
    (True, False)
    """
    return _ADDRESS.match(place) is not None


def name_of(place: str) -> str:
    """What stands after the last slash.

    >>> name_of("s3://bucket/part-0.parquet")
    'part-0.parquet'
    """
    return place.rstrip("/").rpartition("/")[2]


def inside(folder: str, name: str) -> str:
    """A place in a folder.

    >>> inside("s3://bucket/rates/", "part-0.parquet")
    's3://bucket/rates/part-0.parquet'
    """
    return f"{folder.rstrip('/')}/{name}"


def files_at(given: Sequence[str]) -> list[str]:
    """Files that names, patterns and folders stand for, in this order, without repetition."""
    found: list[str] = []
    for place in given:
        if not is_remote(place):
            found += [str(path) for path in expand([place])]
            continue
        files, path = _files(place)
        named = [path]
        if glob.has_magic(path):
            named = sorted(_read(place, lambda files=files, path=path: files.glob(path)))
        if not named:
            raise InvalidTable(f"{place}: no file matches")
        found += [files.unstrip_protocol(each) for each in named]
    return list(dict.fromkeys(found))


def is_there(place: str) -> bool:
    """Whether a file is there."""
    if not is_remote(place):
        return Path(place).exists()
    files, path = _files(place)
    return bool(_read(place, lambda: files.exists(path)))


def version_of(place: str) -> str:
    """What tells a file from the same one written anew: its size, and its time or tag."""
    if is_remote(place):
        files, path = _files(place)
        return str(_read(place, lambda: files.ukey(path)))
    try:
        found = Path(place).stat()
    except OSError as error:
        raise InvalidTable(f"{place} cannot be read ({reason(error)})") from None
    return f"{found.st_size} {found.st_mtime_ns}"


@contextmanager
def copied(place: str) -> Iterator[Path]:
    """The file, or a copy of what lies elsewhere, until the block ends."""
    if not is_remote(place):
        yield Path(place)
        return
    files, path = _files(place)
    with scratch_folder(Path(tempfile.gettempdir()), "recrawl-") as folder:
        copy = folder / name_of(place)
        _read(place, lambda: files.get_file(path, str(copy)))
        yield copy


@contextmanager
def written(place: str) -> Iterator[Path]:
    """Where to write a file; it appears at its place, whole, when the block ends well.

    The folder of that place is for further temporary files. It lies among what a run keeps, if
    there is a run, so that the next one removes what was left by a process that was killed.
    """
    if not is_remote(place):
        parent = Path(place).parent
        passes = parent / PASSES
        with scratch_folder(passes if passes.is_dir() else parent, ".recrawl-") as folder:
            scratch = folder / name_of(place)
            yield scratch
            scratch.replace(place)
        return
    with scratch_folder(Path(tempfile.gettempdir()), "recrawl-") as folder:
        scratch = folder / name_of(place)
        yield scratch
        _send(scratch, place)


def write_text(place: str, text: str) -> None:
    """Write a small file."""
    if not is_remote(place):
        with whole_file(Path(place)) as raw:
            raw.write(text.encode())
        return
    with written(place) as scratch:
        scratch.write_text(text, encoding="utf-8")


def make_folder(place: str) -> None:
    """Make a folder, where there is such a thing; it may be there already."""
    try:
        if is_remote(place):
            files, path = _files(place)
            files.makedirs(path, exist_ok=True)
        else:
            Path(place).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotWrite(f"{place}: the folder cannot be made ({reason(error)})") from None


def remove_folder(place: str) -> None:
    """Remove a folder with all that is in it, if it is there."""
    if not is_remote(place):
        shutil.rmtree(place, ignore_errors=True)
        return
    files, path = _files(place)
    if files.exists(path):
        files.rm(path, recursive=True)


def _send(scratch: Path, place: str) -> None:
    """Copy a file under another name, then give it its own: who is interrupted leaves no half."""
    files, path = _files(place)
    parent, _, name = path.rpartition("/")
    waiting = f"{parent}/{KEPT}/{name}.part"
    try:
        files.makedirs(f"{parent}/{KEPT}", exist_ok=True)
        files.put_file(str(scratch), waiting)
        files.mv(waiting, path)
    except OSError as error:
        raise CannotWrite(f"{place} could not be written ({reason(error)})") from None


def _files(place: str) -> tuple[Any, str]:
    """The file system that an address is in, and the path in it."""
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise MissingExtra(f"{place.partition('://')[0]}://", "remote") from None

    try:
        files, path = url_to_fs(place)
    except (ImportError, ValueError) as error:  # says which package knows such addresses
        raise InvalidTable(f"{place} cannot be reached ({error})") from None
    return files, path


def _read(place: str, look: Any) -> Any:  # noqa: ANN401 - no types
    try:
        return look()
    except OSError as error:
        raise InvalidTable(f"{place} cannot be read ({reason(error)})") from None
