"""Files that the tables of a user lie in: names, patterns, folders and pipes in, a table out.

    visits.csv 'logs/*.csv.gz' archive/ -   ->   one `TableInput` of many files

What can be read only once, as a pipe can, is copied to a temporary file first, for most readers
read a file twice.

Touches: files, the standard input.
"""

from __future__ import annotations

import glob
import shutil
import stat
import sys
import tempfile
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from recrawl.adapters.tables.columns import TableFile, TableInput
from recrawl.adapters.tables.formats import is_table
from recrawl.adapters.tables.table_options import TableOptions
from recrawl.errors import CannotWrite, InvalidTable, reason
from recrawl.parse.cells import CHANGE_WORDS
from recrawl.parse.time_zones import Zone
from recrawl.store.places import ServerPlace, place_of
from recrawl.store.scratch import scratch_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

STANDARD_INPUT = "-"
STANDARD_INPUT_NAME = "standard input"
_BLOCK = 1 << 20


@contextmanager
def open_table(
    given: Sequence[str | Path],
    options: TableOptions | None = None,
    progress: Callable[[float], None] | None = None,
) -> Iterator[TableInput]:
    """A table in all the files that are named; temporary files are removed in the end."""
    with readable(expand(given)) as files:
        yield table_of(files, options, progress)


def table_of(
    files: Sequence[TableFile],
    options: TableOptions | None = None,
    progress: Callable[[float], None] | None = None,
) -> TableInput:
    """A table in some files."""
    options = options or TableOptions()
    first, *more = files
    return TableInput(
        *(first.path, options.columns, options.skip_bad_rows, progress),
        label=first.label,
        more=tuple(more),
        delimiter=options.delimiter,
        zone=Zone(options.time_zone, options.time_form),
        change_words=options.change_words or CHANGE_WORDS,
        remarks=options.remarks,
        rename=options.rename,
        encoding=options.encoding or "utf-8",
    )


def expand(given: Sequence[str | Path], *, folders: bool = True) -> list[Path]:
    """Files that names, patterns and folders stand for, in this order.

    Args:
        given: Names; a pattern such as `logs/*.csv` stands for its files, in the order of names,
            where there is no file of that very name.
        folders: Whether a folder stands for the tables in it.
    """
    found: list[Path] = []
    for each in given:
        path = place_of(each)
        files = [path] if path.is_dir() and not folders else named_files([path])
        if not files:
            what = "no table in this folder" if path.is_dir() else "no file matches"
            raise InvalidTable(f"{path}: {what}")
        found += files
    if not found:
        raise InvalidTable("no file given")
    if found.count(Path(STANDARD_INPUT)) > 1:
        raise InvalidTable(f"{STANDARD_INPUT_NAME} can be read only once; give - once")
    return found


def named_files(given: Sequence[Path]) -> list[Path]:
    """The same, without a word of what stands for no file."""
    found: list[Path] = []
    for path in given:
        if path.is_dir():
            found += tables_in(path)
        elif isinstance(path, ServerPlace):
            found.append(path)
        elif glob.has_magic(str(path)) and not path.exists():
            names = sorted(glob.glob(str(path), recursive=True))  # noqa: PTH207 - may be absolute
            found += [Path(name) for name in names if not Path(name).is_dir()]
        else:
            found.append(path)
    return found


def tables_in(folder: Path) -> list[Path]:
    """Tables in a folder, by their names, in the order of these."""
    try:
        return sorted(
            file for file in folder.iterdir() if is_table(file.name) and not file.is_dir()
        )
    except OSError as error:
        raise InvalidTable(f"{folder} cannot be read ({reason(error)})") from None


@contextmanager
def readable(files: Sequence[Path]) -> Iterator[list[TableFile]]:
    """The same files, pipes as temporary files, which are removed in the end."""
    with ExitStack() as stack:
        yield [_readable(file, stack) for file in files]


def _readable(file: Path, stack: ExitStack) -> TableFile:
    if str(file) == STANDARD_INPUT:
        if sys.stdin is None:
            raise InvalidTable(f"{STANDARD_INPUT_NAME} is closed")
        return TableFile(_copy(sys.stdin.buffer, STANDARD_INPUT_NAME, stack), STANDARD_INPUT_NAME)
    if isinstance(file, ServerPlace):
        return TableFile(file, str(file))
    try:
        kind = file.stat().st_mode
        if not stat.S_ISFIFO(kind) and not stat.S_ISCHR(kind):
            return TableFile(file, str(file))
        with file.open("rb") as pipe:
            return TableFile(_copy(pipe, str(file), stack), str(file))
    except OSError as error:
        raise InvalidTable(f"{file} cannot be read ({reason(error)})") from None


def _copy(source: IO[bytes], name: str, stack: ExitStack) -> Path:
    """Copy what can be read once; it may take half of the room that there is."""
    beside = Path(tempfile.gettempdir())
    try:
        room = shutil.disk_usage(beside).free // 2
        folder = stack.enter_context(scratch_folder(beside, "recrawl-"))
        out = stack.enter_context((folder / "input").open("wb"))
        while block := source.read(_BLOCK):
            room -= len(block)
            if room < 0:
                raise InvalidTable(
                    f"{name} is larger than half of the free space in {beside}; "
                    "write it to a file first"
                )
            out.write(block)
        out.flush()
    except OSError as error:
        raise CannotWrite(f"{beside}: {name} could not be copied ({reason(error)})") from None
    return Path(out.name)
