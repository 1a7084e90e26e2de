"""Entries of `adapters/tables/`: visit logs, rates, worlds and listings in files."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from contextlib import contextmanager
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

from recrawl.adapters.tables.columns import TableInput
from recrawl.adapters.tables.frames import frame_input, whole_frame_input
from recrawl.adapters.tables.listing_snapshots import date_in
from recrawl.adapters.tables.listings import read_listing
from recrawl.adapters.tables.plain_bytes import packing_of, plain_bytes
from recrawl.adapters.tables.rates import hosts_of, read_rates
from recrawl.adapters.tables.table_options import TableOptions
from recrawl.adapters.tables.text_files import json_object
from recrawl.adapters.tables.visits import VisitReading, read_batches
from recrawl.adapters.tables.weights import read_weights
from recrawl.adapters.tables.whole import WholeTable
from recrawl.adapters.tables.worlds import read_world_and_count
from recrawl.errors import InvalidInput, InvalidTable, StoreError
from tests.fuzz.parser import Parser

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from random import Random

    from recrawl.errors import RecrawlError

_CUT = b"\n====\n"


@contextmanager
def files(data: bytes, *names: str) -> Iterator[list[Path]]:
    """Files for a moment: one for each part of an input, up to as many as there are names."""
    with TemporaryDirectory(prefix="recrawl-fuzz-") as folder:
        paths = []
        for name, content in zip(names, data.split(_CUT), strict=False):
            path = Path(folder) / name
            path.write_bytes(content)
            paths.append(path)
        yield paths


def _refused(read: Callable[[], object]) -> RecrawlError | None:
    try:
        read()
    except (InvalidInput, StoreError) as error:
        return error
    return None


def _read_visits(data: bytes) -> None:
    with files(data, "log") as (path, *_):
        _check_visits(path)


def _check_visits(path: Path) -> None:
    """Read a log; where bad rows are skipped, no more rows are left than it has."""
    renamed = TableInput(path, {"page": "url", "site": "host"}, skip_bad_rows=True)
    _refused(lambda: list(read_batches(VisitReading(renamed))))
    lenient = TableInput(path, skip_bad_rows=True, progress=lambda share: None)
    batches: list[Any] = []
    error = _refused(lambda: batches.extend(read_batches(VisitReading(lenient, change_times=True))))
    for batch in batches:
        assert len(batch.at) == len(batch.changed)
        assert set(batch.changed.tolist()) <= {-1, 0, 1}
        assert all(name.strip() for name in batch.names.tolist())
    if error is not None:
        raise error
    strict = TableInput(path)
    rows = sum(len(batch.at) for batch in read_batches(VisitReading(strict, change_times=True)))
    assert lenient.skipped == 0
    assert rows == sum(len(batch.at) for batch in batches)


def _check_whole(path: Path) -> None:
    """Read every column of a table in every way."""
    table = WholeTable(path)
    count = len(table)
    refused: list[str] = []
    for name in table.names:
        reads: tuple[Callable[[], Any], ...] = (
            partial(table.times, name, optional=True),
            partial(table.flags, name),
            partial(table.numbers, name),
            partial(table.texts, name),
            partial(table.keys, name),
            partial(table.places, name, table),
            partial(table.attribute, name),
        )
        for read in reads:
            try:
                found = read()
            except InvalidTable as error:
                refused.append(str(error))
            else:
                assert len(found) == count
        _refused(partial(table.is_unique, name))
    assert all(map(str.isprintable, refused))


def _read_parquet(data: bytes) -> None:
    with files(data.replace(_CUT, b"") + _CUT + _LOG, "log.parquet", "log.csv") as (path, other):
        _check_whole(path)
        _check_visits(path)
        table, text = WholeTable(path), WholeTable(other)
        if "page" in table:
            _refused(lambda: table.places("page", text))


def _read_frame(data: bytes) -> None:
    """Columns that are lists of whatever JSON has, each of any type."""
    columns = json_object(data) or {}
    _refused(lambda: read_rates(whole_frame_input(columns)))
    lenient = frame_input(columns, TableOptions(skip_bad_rows=True))
    batches = list(read_batches(VisitReading(lenient)))
    assert all(name.strip() for batch in batches for name in batch.names.tolist())
    strict = frame_input(columns)
    rows = sum(len(batch.at) for batch in read_batches(VisitReading(strict)))
    assert lenient.skipped == 0
    assert rows == sum(len(batch.at) for batch in batches)


def _read_arrow(data: bytes) -> None:
    with files(data.replace(_CUT, b""), "log.arrow") as (path,):
        _refused(lambda: _check_whole(path))
        _check_visits(path)


def _read_packed(data: bytes) -> None:
    """Read a file as it is, and once more packed: the same comes of it."""

    def refuse(sentence: str) -> NoReturn:
        raise InvalidTable(sentence)

    def read(content: bytes) -> bytes:
        with plain_bytes(io.BufferedReader(io.BytesIO(content)), refuse) as plain:
            return plain.read(1 << 20)

    found = read(data)
    if packing_of(data) is None:
        for pack in (gzip.compress, bz2.compress, zstandard.compress, lzma.compress):
            assert read(pack(data)) == found


def _read_rates(data: bytes) -> None:
    with files(data, "rates") as (path, *_):
        _refused(lambda: _check_whole(path))
        found = read_rates(path)
        for figures in found.figures.values():
            assert len(figures) == len(found.pages)
            assert not (figures < 0).any()
        assert len(set(found.pages)) == len(found.pages)
        assert len(hosts_of(path, found.pages)) == len(found.pages)


def _read_weights(data: bytes) -> None:
    with files(data, "views") as (path, *_):
        found = read_weights(TableInput(path))
        assert 0 < found.least <= found.most < np.inf
        assert len(found) == len(found.weight) == len(np.unique(found.keys))


def _read_world(data: bytes) -> None:
    with files(data, "pages", "changes") as paths:
        pages, changes = (*paths, *paths)[:2]
        assert _refused(lambda: read_world_and_count(pages, changes, ignore=("x",))) is not None
        world, outside = read_world_and_count(pages, changes)
        assert outside >= 0
        assert len(world.changes) >= 0
        less, _ = read_world_and_count(pages, changes, ignore=("bulk", "revert"))
        assert len(less.changes) <= len(world.changes)


def _read_listing(data: bytes) -> None:
    with files(data, "objects.csv", "events.csv", "crawls.csv") as paths:
        error = _refused(lambda: _check_listing(read_listing(*paths, lenient=True)))
        _check_listing(read_listing(paths[0].parent))
        _check_listing(read_listing(*paths))
        assert error is None, "what is right must be right where more is forgiven"


def _read_snapshots(data: bytes) -> None:
    names = ["cars-2026-01-02.csv", "cars-2026-01-03.csv", "20260104T030405Z.csv"]
    first = date_in(data[:60].decode("latin-1"))
    if data[:1] in (b"?", b"2"):  # names without a date, and two of one
        names[:2] = ("cars.csv", "a.csv") if first is None else ("2026-01-02.csv", names[0])
    with files(data, *names) as paths:
        _refused(lambda: _check_listing(read_listing(paths[0].parent, key="make")))
        _check_listing(read_listing(paths[0].parent))


def _check_listing(listing: Any) -> None:
    spells = len(listing.object)
    assert spells == len(listing.first) == len(listing.gone)
    assert (listing.first < listing.gone).all()
    assert (listing.gone <= len(listing.crawls)).all()
    assert (np.diff(listing.crawls) > np.timedelta64(0, "us")).all()
    for attribute in listing.attributes.values():
        assert len(attribute) == len(listing)


_LOG = b"""page,visited_at,changed,last_modified,status
https://a.org/,2026-01-02,,2026-01-01T00:00:00Z,200
https://a.org/,2026-01-03,true,,304
https://b.org/x,1767398400,false,2025,gone
"b,c",2026-01-04 05:06:07,1,,
"""
_CHANGES = b"page,changed_at\n/a,2026-01-02\n/a,2026-01-03\n"
_JSON = b"""{"page": "/a", "visited_at": 1767225600, "changed": null}
{"page": 7, "visited_at": "2026-01-03", "changed": true, "status": 404}

{"page": ["x"], "visited_at": 1e400, "changed": 2.0, "extra": {"a": 1}}
"""
_RATES = (
    b"page,rate_per_day,low,shape,exposure_days,weight,host\nhttps://a.org/x,0.5,0.1,,9,1,a\n"
    b"https://b.org/,1e-3,,2,,2,b\n"
)
_PAGES = b"page,first_seen,url,removed_at,weight\n1,2026-01-01,/a,,\n2,2026-01-02,/b,2026-02-01,2\n"
_HAPPENED = b"page,changed_at,bulk,revert\n1,2026-01-05,,true\n2,2026-01-03,true,\n1,2025-01-05,,\n"
_OBJECTS = b"""object,appeared_at,removed_at,last_seen_at,prev_crawl_at,make,price
a,2026-01-01,2026-01-05,2026-01-04,,BMW,100
b,2026-01-02,,2026-01-06,2026-01-01,Fiat,x
c,2026-01-03,2026-01-04,,,,3e4
"""
_EVENTS = b"""object,at,event,attribute
a,2026-01-01,appear,
b,2026-01-02,appear,
a,2026-01-03,update,price
a,2026-01-05,remove,
c,2026-01-03,appear,
c,2026-01-04,remove,
c,2026-01-06,reappear,
"""
_CRAWLS = b"crawl_at\n2026-01-01\n2026-01-02\n2026-01-03\n2026-01-06\n"
_LONG = b"snapshot_at,key,make\n2026-01-01,a,BMW\n2026-01-01,b,\n2026-01-02,a,BMW\n"
_SNAPSHOTS = (b"id,make\n1,BMW\n2,Fiat\n", b"id,price\n1,5\n3,6\n", b'{"id": 1, "make": "BMW"}\n')
_TOKENS = (
    *(
        b",",
        b"\n",
        b'"',
        b'""',
        b"\r\n",
        b"page",
        b"visited_at",
        b"changed",
        b"true",
        b"2026-01-02",
    ),
    *(b"appear", b"remove", b"update", b"event", b"object", b"key", b"snapshot_at", b"nan", b"-1"),
    *(
        b"changed_at",
        b"last_modified",
        b"status",
        b"rate_per_day",
        b"{",
        b"}",
        b": ",
        b"null",
        b"[]",
    ),
    *(
        _CUT,
        b";",
        b"\t",
        b"PAR1",
        b"\x1f\x8b",
        b"SQLite format 3\0",
        b"url",
        b"host",
        b"removed_at",
    ),
)


def _some(random: Random, values: tuple[Any, ...], rows: int) -> list[Any]:
    run = random.random() < 0.5  # equal neighbours
    found = [random.choice((*values, None)) for _ in range(rows)]
    return sorted(found, key=str) if run else found


_COLUMNS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "text": (pa.string(), ("/a", "/b", "", "  ", "é\u2028", "true", "2026-01-02", "404")),
    "long": (pa.large_string(), ("/a", "x" * 90, "")),
    "bytes": (pa.binary(), (b"/a", b"\xff\xfe", b"", b"\xa9x", b"\xc3")),
    "flag": (pa.bool_(), (True, False)),
    "whole": (pa.int64(), (0, 1, 1_767_225_600, -(2**63), 2**63 - 1, 404)),
    "number": (pa.float64(), (0.5, float("nan"), float("inf"), 1e300, 1_767_225_600.5)),
    "seconds": (pa.timestamp("s"), (datetime(2026, 1, 2), datetime(1800, 1, 1))),  # noqa: DTZ001
    "nanoseconds": (pa.timestamp("ns", "UTC"), (datetime(2026, 1, 2, tzinfo=UTC),)),
    "day": (pa.date32(), (date(2026, 1, 2), date(1, 1, 1))),
    "millisecond day": (pa.date64(), (date(2026, 1, 2),)),
    "decimal": (pa.decimal128(20, 2), (Decimal("1.50"), Decimal(-3))),
    "list": (pa.list_(pa.int64()), ([1], [])),
    "null": (pa.null(), ()),
    "duration": (pa.duration("us"), (5, -1)),
    "time": (pa.time64("us"), (5, 86_399_999_999)),
}
_NAMES = ("page", "visited_at", "changed", "last_modified", "status", "url", "host", "changed_at")


def _made_parquet(random: Random) -> bytes:
    """A file with columns of any types, not compressed: what is changed in it stays readable."""
    rows = random.choice((0, 1, 3, 8))
    arrays, names = [], []
    for name in (*_NAMES[:3], *random.sample(_NAMES, random.randint(0, 3))):
        kind = random.choice(tuple(_COLUMNS))
        if random.random() < 0.5:
            kind = {"page": "text", "visited_at": "seconds", "changed": "flag"}.get(name, kind)
        column = pa.array(_some(random, _COLUMNS[kind][1], rows), _COLUMNS[kind][0])
        if kind in {"text", "long", "whole"} and random.random() < 0.3:
            column = column.dictionary_encode()
        arrays.append(column)
        names.append(name)
    out = io.BytesIO()
    pq.write_table(
        pa.Table.from_arrays(arrays, names),
        out,
        compression="none",
        row_group_size=random.choice((2, 100)),
        use_dictionary=random.random() < 0.5,
    )
    return out.getvalue()


def _made_arrow(random: Random) -> bytes:
    """The same as an Arrow file or stream."""
    table = pq.ParquetFile(io.BytesIO(_made_parquet(random))).read()
    out = io.BytesIO()
    kind = random.choice((pa.ipc.new_file, pa.ipc.new_stream))
    with kind(out, table.schema) as writer:
        writer.write_table(table, max_chunksize=random.choice((2, 100)))
    return out.getvalue()


def _arrow_seed(kind: Callable[..., Any]) -> bytes:
    out = io.BytesIO()
    rows = {"page": ["/a", "/a", "/b"], "visited_at": [1, 2, 3], "changed": [True, False, None]}
    with kind(out, pa.table(rows).schema) as writer:
        writer.write_table(pa.table(rows))
    return out.getvalue()


def _parquet_seed() -> bytes:
    rows = {"page": ["/a", "/a", "/b"], "visited_at": [1, 2, 3], "changed": [True, False, None]}
    out = io.BytesIO()
    pq.write_table(pa.table(rows), out, compression="none")
    return out.getvalue()


_TABLES = "recrawl.adapters.tables"

PARSERS = (
    Parser(
        "visit logs",
        _read_visits,
        seeds=(
            *(
                _LOG,
                _JSON,
                _CHANGES,
                b"\xef\xbb\xbf" + _LOG,
                b"page;visited_at\n",
                b"a,b\n1\n",
                b"",
            ),
            *(_LOG.replace(b"\n", b"\r\n"), b"page,page,visited_at,changed\n", _LOG + b'"'),
            *(
                _LOG + b"\0",
                _LOG + b"\xff",
                b"{}\n",
                b"{\n",
                b"[1]\n",
                _JSON * 2,
                b"\n\n",
                b"{" * 999,
            ),
            _LOG.replace(b"page,", b"url,").replace(b"status", b"host"),
            b"\x1f\x8b",
            b"SQLite format 3\0" + bytes(52) + b"RCR1" + bytes(40),
            b'{"a": 1}\n' + _JSON,
            b"[" + _JSON.strip().replace(b"\n\n", b"\n").replace(b"}\n{", b"},\n{") + b"]",
            b'[{"page": "/a"}, 5, "x"] {}',
            _LOG.replace(b",", b";"),
            _LOG.decode().encode("utf-16"),
            gzip.compress(_LOG),
            b"url,ts,sha1\n/a,1767225600000,x\n/a,1767312000000,y\n/a,1767398400000,x\n",
            b"address,at,outcome\n/a,2026-01-01T00:00:00Z,first\n/a,2026-01-02T00:00:00Z,same\n",
        ),
        modules=(
            *(
                f"{_TABLES}.{name}"
                for name in ("column_names", "columns", "formats", "text_files", "visits")
            ),
            "recrawl.store:begins_as_store",
        ),
        tokens=_TOKENS,
        raises=(InvalidTable, StoreError),
    ),
    Parser(
        "parquet",
        _read_parquet,
        seeds=(_parquet_seed(), b"PAR1"),
        modules=(f"{_TABLES}.arrow_files", f"{_TABLES}.arrow_cells", f"{_TABLES}.whole"),
        raises=(InvalidTable,),
        generate=_made_parquet,
        longest=1 << 14,
    ),
    Parser(
        "frames",
        _read_frame,
        seeds=(
            b'{"page": ["/a", "/a"], "visited_at": [0, 86400], "changed": [null, true]}',
            b'{"page": ["/a"], "visited_at": ["2026-01-02"], "changed": ["1"], "status": [304]}',
            b'{"page": ["/a", "/b"], "rate_per_day": [0.5, null], "host": ["a", "b"]}',
            b'{"page": [["/a"]], "visited_at": [{"a": 1}], "changed": [1e300]}',
        ),
        modules=(f"{_TABLES}.frames",),
        tokens=(*_TOKENS, b"null", b"[", b"]", b"{", b"1e400", b'"last_modified": ['),
        raises=(InvalidTable,),
    ),
    Parser(
        "arrow",
        _read_arrow,
        seeds=(_arrow_seed(pa.ipc.new_file), _arrow_seed(pa.ipc.new_stream), b"ARROW1"),
        modules=(f"{_TABLES}.arrow_files:read_arrow",),
        raises=(InvalidTable,),
        generate=_made_arrow,
        longest=1 << 14,
    ),
    Parser(
        "packed files",
        _read_packed,
        seeds=(
            *(_LOG, b"", _LOG.decode().encode("utf-16"), b"\xef\xbb\xbf" + _LOG),
            *(pack(_LOG) for pack in (gzip.compress, bz2.compress, lzma.compress)),
            *(zstandard.compress(_LOG), zstandard.compress(bytes(9999)) * 2),
            *(gzip.compress(_LOG) * 2 + bytes(9), lzma.compress(_LOG) + b"x"),
        ),
        modules=(f"{_TABLES}.plain_bytes",),
        raises=(InvalidTable,),
    ),
    Parser(
        "rates",
        _read_rates,
        seeds=(_RATES, b'{"page": "http://a/", "rate_per_day": 1.5}\n', b"page,rate_per_day\n"),
        modules=(f"{_TABLES}.rates", f"{_TABLES}.whole"),
        tokens=_TOKENS,
        raises=(InvalidTable,),
    ),
    Parser(
        "weights",
        _read_weights,
        seeds=(
            b"page,weight\nhttp://a/,3\nhttp://a/b,0.5\n",
            b'{"url": "http://a/", "views": 7}\n',
        ),
        modules=(f"{_TABLES}.weights", "recrawl.settings.page_weights"),
        tokens=_TOKENS,
        raises=(InvalidTable,),
    ),
    Parser(
        "worlds",
        _read_world,
        seeds=(
            _PAGES + _CUT + _HAPPENED,
            b"page,first_seen\n" + _CUT + _HAPPENED,
            b'{"page": 1, "first_seen": 0}' + _CUT + b'{"page": 1, "changed_at": 5, "bulk": true}',
        ),
        modules=(f"{_TABLES}.worlds",),
        tokens=_TOKENS,
        raises=(InvalidTable,),
    ),
    Parser(
        "listings",
        _read_listing,
        seeds=(
            _OBJECTS,
            _OBJECTS + _CUT + _EVENTS,
            _OBJECTS + _CUT + _EVENTS + _CUT + _CRAWLS,
            _OBJECTS + _CUT + _CRAWLS,
            b"id,appeared_at,last_seen_at\na,2026-01-01,2026-01-02\n",
            b"id,appeared_at\na,2026-01-01\n",
            _LONG,
            _LONG + _CUT + _CRAWLS,
            _OBJECTS + _CUT + _OBJECTS,
            _EVENTS,
            b"a,b\n1,2\n",
        ),
        modules=(f"{_TABLES}.listings",),
        tokens=_TOKENS,
        raises=(InvalidInput,),
    ),
    Parser(
        "listing snapshots",
        _read_snapshots,
        seeds=(
            *(_CUT.join(_SNAPSHOTS), _SNAPSHOTS[0], b"2026-13-02 2026-01-02.csv", _LONG),
            *(b"?" + _SNAPSHOTS[0], b"2026-01-02,id\n1,2" + _CUT + _SNAPSHOTS[0]),
        ),
        modules=(f"{_TABLES}.listing_snapshots",),
        tokens=_TOKENS,
        raises=(InvalidInput,),
    ),
)
