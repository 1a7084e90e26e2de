"""What is imported: which files there are, what each is by its first bytes, and who reads it.

Touches: files.
"""

from __future__ import annotations

import glob
import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from recrawl.adapters.access_logs.requests import read_requests
from recrawl.adapters.access_logs.squid import LINE as SQUID_LINE
from recrawl.adapters.access_logs.squid import parse_squid
from recrawl.adapters.access_logs.w3c import W3CLines
from recrawl.adapters.access_logs.web_servers import LINE as WEB_SERVER_LINE
from recrawl.adapters.access_logs.web_servers import WebServerLines
from recrawl.adapters.cdx.index_lines import HEADER, read_index
from recrawl.adapters.cdx.json_lines import read_json_index
from recrawl.adapters.cdx.zipnum import is_zipnum_line, shards_of
from recrawl.adapters.imports.foreign_visits import MALFORMED
from recrawl.adapters.imports.streams import open_source
from recrawl.adapters.imports.visit_tables import (
    COMMON_CRAWL,
    COMMON_CRAWL_KEY,
    OUR_LOG,
    read_store,
    read_table,
)
from recrawl.adapters.tables.formats import is_table
from recrawl.adapters.tables.inputs import STANDARD_INPUT, STANDARD_INPUT_NAME, readable
from recrawl.adapters.warc.arc import ARC_BEGINS
from recrawl.errors import InvalidParameter, InvalidTable
from recrawl.store import begins_as_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from recrawl.adapters.access_logs.requests import LoggedRequest
    from recrawl.adapters.imports.foreign_visits import ForeignVisits, ImportReading
    from recrawl.adapters.imports.streams import SourceBytes
    from recrawl.adapters.tables.columns import TableFile

GIT = "git"
# Names of kinds, as after --as.
KINDS = (
    *("warc", "arc", "cdx", "cdxj", "zipnum", "cc-index"),
    *("access-log", "squid", "w3c", "crawl-log", "table", "store", GIT),
)
_TABLE = "table"
_TABLES = (_TABLE, "cc-index", "crawl-log", "store")  # a pipe of them is copied to a file first

_PARQUET = b"PAR1"
_OUR_LOG = b'{"visit": '
_CDXJ_LINE = re.compile(rb"\S+ [0-9]{14} \{")
_CDX_LINE = re.compile(rb"\S+ [0-9]{14} \S+ \S+ \S+ \S+( \S+)+")
_TRIED_LINES = 5
# Those that are no visit log, in words.
FOREIGN_KINDS = {
    "warc": "a WARC file",
    "arc": "an ARC file",
    "cdx": "a CDX index",
    "cdxj": "a CDXJ index",
    "zipnum": "a ZipNum index",
    "cc-index": "the columnar index of Common Crawl",
    "access-log": "an access log",
    "squid": "an access log of Squid",
    "w3c": "an access log in the W3C's format",
}
ACCESS_LOGS = ("access-log", "squid", "w3c")
INDEXES = ("cdx", "cdxj", "cc-index")


@dataclass(frozen=True, slots=True)
class ImportSource:
    """A file to import, or the standard input.

    Args:
        path: Where it is.
        kind: What it is, one of `KINDS`.
    """

    path: Path
    kind: str


def find_sources(names: Sequence[str], kind: str = "") -> tuple[list[ImportSource], int]:
    """Sources that names stand for, each once, and how many files of folders are no visits.

    Args:
        names: Files, patterns such as `logs/*.gz`, folders, or `-`.
        kind: What all of them are; empty to tell by their first bytes.
    """
    found: dict[Path, ImportSource] = {}
    passed = 0
    for name in names:
        inside = Path(name).is_dir() and kind != GIT and not is_repository(Path(name))
        for path in _paths(name, inside=inside):
            if inside and not path.stat().st_size:  # as `_SUCCESS` is, which says that all is there
                continue
            told = kind or kind_of(path)
            if inside and told == _TABLE and not is_table(path.name):
                passed += 1
                continue
            for each in shards_of(path) if told == "zipnum" else [path]:
                known = each if str(each) == STANDARD_INPUT else each.resolve()
                found.setdefault(known, ImportSource(each, "cdx" if told == "zipnum" else told))
    if not found:
        raise InvalidParameter(f"{' '.join(names)}: no file that can be imported")
    return list(found.values()), passed


def _paths(name: str, *, inside: bool) -> list[Path]:
    path = Path(name)
    if inside:
        files = (each for each in path.rglob("*") if each.is_file())
        return sorted(each for each in files if not each.name.startswith("."))
    if name == STANDARD_INPUT or path.exists() or not glob.has_magic(name):
        return [path]
    matches = sorted(Path(each) for each in glob.glob(name, recursive=True))  # noqa: PTH207 - any
    if not matches:
        raise InvalidTable(f"{name}: no file matches")
    return matches


def is_repository(path: Path) -> bool:
    """Whether a folder is a git repository, with or without a working tree."""
    return (path / ".git").exists() or ((path / "HEAD").is_file() and (path / "objects").is_dir())


def kind_of(path: Path) -> str:
    """What a file is, by its first bytes."""
    if path.is_dir():
        return GIT
    with open_source(path) as source:
        if begins_as_store(source.first):
            return "store"
        first = source.peek()
    if first.startswith(_PARQUET) and str(path) != STANDARD_INPUT and _is_common_crawl(path):
        return "cc-index"
    return _told(first)


def _told(first: bytes) -> str:
    """What begins with these bytes."""
    begins = {
        b"WARC/": "warc",
        ARC_BEGINS: "arc",
        _PARQUET: _TABLE,
        HEADER: "cdx",
        _OUR_LOG: "crawl-log",
        b"#Version:": "w3c",
        b"#Software:": "w3c",
        b"#Fields:": "w3c",
    }
    known = next((kind for start, kind in begins.items() if first.startswith(start)), "")
    lines = first.splitlines()[:_TRIED_LINES]
    tests: tuple[tuple[str, Callable[[bytes], object]], ...] = (
        ("zipnum", is_zipnum_line),
        ("cdxj", _CDXJ_LINE.match),
        ("cdx", _CDX_LINE.match),
        ("squid", SQUID_LINE.fullmatch),
        ("access-log", WEB_SERVER_LINE.match),
    )
    told = (kind for kind, fits in tests if any(fits(line) for line in lines))
    return known or next(told, _TABLE)


def _is_common_crawl(path: Path) -> bool:
    from recrawl.adapters.tables.columns import TableInput
    from recrawl.adapters.tables.formats import read_columns

    names: list[str] = []

    def choose(header: Sequence[str]) -> list[str]:
        names.extend(header)
        return []

    next(iter(read_columns(TableInput(path), choose)), None)
    return {"url", "fetch_time", "fetch_status"} <= set(names)


def read_sources(
    sources: Sequence[ImportSource],
    reading: ImportReading,
    progress: Callable[[float], None] | None = None,
) -> Iterator[ForeignVisits]:
    """Visits of all sources, one after the other; raises where there is none, or hardly any.

    Args:
        sources: The sources.
        reading: How they are read, and what was left out.
        progress: Called with the share of all that is read, from 0 to 1.
    """
    reader, found = ImportReader(reading), 0
    for number, source in enumerate(sources):
        if progress is not None:
            reading.progress = partial(_report, progress, number, len(sources))
        for visits in reader.visits(source):
            if len(visits):
                found += len(visits)
                yield visits
    first = sources[0].path
    named = STANDARD_INPUT_NAME if str(first) == STANDARD_INPUT else str(first)
    names = f"{named}{' and others' * (len(sources) > 1)}"
    malformed = reading.left_out[MALFORMED]
    others = found + reading.left_out.total() - malformed
    if malformed > others and not reading.table.skip_bad_rows:
        raise InvalidTable(
            f"{names}: most lines are malformed ({malformed:,}, the first in "
            f"{reading.first_malformed})"
        )
    if not found:
        left = " ".join(reading.left_out_sentences()).removesuffix(".")
        raise InvalidTable(f"{names}: no visits found{f' ({left})' if left else ''}")


def _report(progress: Callable[[float], None], number: int, count: int, share: float) -> None:
    """Tell of progress in one of several sources."""
    progress((number + share) / count)


class ImportReader:
    """Reads sources one after the other.

    Args:
        reading: How, and what is left out.
    """

    def __init__(self, reading: ImportReading) -> None:
        self._reading = reading

    def visits(self, source: ImportSource) -> Iterator[ForeignVisits]:
        """Visits of a source."""
        if source.kind in _TABLES:
            with readable([source.path]) as (file,):
                kind = source.kind
                if kind == _TABLE and str(source.path) == STANDARD_INPUT:
                    kind = kind_of(file.path)  # whose index it is, its first bytes do not tell
                yield from self._of_table(file, kind)
        else:
            with open_source(source.path) as opened:
                yield from self._of_bytes(opened, source.kind)

    def _of_table(self, file: TableFile, kind: str) -> Iterator[ForeignVisits]:
        reading = self._reading
        match kind:
            case "store":
                yield from read_store(file, reading)
            case "cc-index":
                key = {"page": COMMON_CRAWL_KEY} if reading.by_key else {}
                yield from read_table(file, reading, COMMON_CRAWL | key)
            case "crawl-log":
                yield from read_table(file, reading, OUR_LOG)
            case _:
                yield from read_table(file, reading)

    def _of_bytes(self, source: SourceBytes, kind: str) -> Iterator[ForeignVisits]:
        from recrawl.adapters.warc.visits import read_arc, read_warc

        reading, name = self._reading, source.name
        match kind:
            case "warc":
                yield from read_warc(source, reading)
            case "arc":
                yield from read_arc(source, reading)
            case "cdx":
                yield from read_index(source.line_blocks(reading), reading, name)
            case "cdxj":
                yield from read_json_index(source.line_blocks(reading), reading, name)
            case _:
                yield from self._of_log(source, kind)

    def _of_log(self, source: SourceBytes, kind: str) -> Iterator[ForeignVisits]:
        parse = _parser(kind, self._reading.site)
        blocks = source.line_blocks(self._reading)
        for visits in read_requests(blocks, parse, source.name, self._reading):
            if isinstance(parse, WebServerLines | W3CLines) and parse.nameless:
                raise InvalidTable(
                    f"{source.name}: has paths without a host; add --site https://example.org"
                )
            yield visits


def _parser(kind: str, site: str) -> Callable[[bytes], LoggedRequest | None]:
    if kind == "squid":
        return parse_squid
    return W3CLines(site) if kind == "w3c" else WebServerLines(site)
