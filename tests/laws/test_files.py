"""The same rates from one log through every door, bit for bit.

One log is written in every format, packing, separator, encoding and form of time, by the programs
that people write logs with, and read again.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
import zstandard

from recrawl import Gamma, fit_prior, read_histories, sites_of
from tests.polars_files import polars_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

START = datetime(2026, 3, 24, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")
HEADER = ("page", "visited_at", "changed", "status")


def visits() -> list[tuple[str, datetime, bool | None, int]]:
    """40 pages, visited every 17 hours or so over the spring change of clocks, in order of time."""
    random = np.random.default_rng(4)
    rows = []
    for page in range(40):
        for number in range(12):
            at = START + timedelta(hours=17 * number + page, seconds=int(random.integers(3000)))
            changed = None if number == 0 else bool(random.random() < page / 40)
            status = 503 if random.random() < 0.05 else 200
            rows.append((f"https://site{page % 3}.org/é/{page}", at, changed, status))
    return sorted(rows, key=lambda row: row[1])


ROWS = visits()


def bits(*paths: Any, **options: Any) -> list[bytes]:
    """What is known of all pages, and their rates, as bytes; in the order of their names."""
    pages, seen = read_histories(*paths, **options)
    order = np.argsort(pages)
    seen = seen.take(order)
    site, _ = sites_of([pages[row] for row in order.tolist()])
    found = Gamma(fit_prior(seen, site)).estimate(seen)
    columns = [seen.gaps, seen.changed, seen.offsets, seen.first_visit, found.rate, found.high]
    return [column.tobytes() for column in columns]


def text(
    rows: Sequence[Sequence[Any]] = ROWS,
    time: Callable[[datetime], Any] = lambda at: at.isoformat(),
    flags: Sequence[str] = ("true", "false"),
    **dialect: Any,
) -> bytes:
    """The log as CSV."""
    out = io.StringIO()
    writer = csv.writer(out, **dialect)
    writer.writerow(HEADER)
    for page, at, changed, status in rows:
        said = "" if changed is None else flags[0 if changed else 1]
        writer.writerow([page, time(at), said, status])
    return out.getvalue().encode()


def objects(rows: Sequence[Sequence[Any]] = ROWS) -> list[dict[str, Any]]:
    return [
        {"page": page, "visited_at": at.isoformat(), "changed": changed, "status": status}
        for page, at, changed, status in rows
    ]


def frame() -> pd.DataFrame:
    table = pd.DataFrame(ROWS, columns=list(HEADER))
    return table.astype({"changed": "boolean"})


def arrow() -> Any:
    return pa.Table.from_pandas(frame(), preserve_index=False)


def save(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    return bits(save(tmp_path_factory.mktemp("law") / "visits.csv", text()))


TEXTS = {
    "semicolon": text(delimiter=";"),
    "tab": text(delimiter="\t"),
    "pipe": text(delimiter="|"),
    "all quoted": text(quoting=csv.QUOTE_ALL),
    "unix": text(lineterminator="\n"),
    "old mac": text(lineterminator="\r"),
    "byte order mark": b"\xef\xbb\xbf" + text(),
    "utf-16": text().decode().encode("utf-16"),
    "utf-16, the other order": ("\ufeff" + text().decode()).encode("utf-16-be"),
    "gzip": gzip.compress(text()),
    "gzip members": gzip.compress(text()[:5000]) + gzip.compress(text()[5000:]),
    "bzip2": bz2.compress(text()),
    "zstd": zstandard.compress(text()),
    "zstd frames": zstandard.compress(text()[:5000]) + zstandard.compress(text()[5000:]),
    "xz": lzma.compress(text()),
    "packed utf-16": gzip.compress(text(delimiter="\t").decode().encode("utf-16")),
    "json lines": "\n".join(map(json.dumps, objects())).encode(),
    "json array": json.dumps(objects()).encode(),
    "pretty json array": json.dumps(objects(), indent=2).encode(),
    "packed json array": zstandard.compress(json.dumps(objects()).encode()),
    "another order": text(ROWS[::-1]),
    "grouped by page": text(sorted(ROWS, key=lambda row: (row[0], row[1]))),
    "1 and 0": text(flags=("1", "0")),
    "Y and N": text(flags=("Y", "N")),
    "yes and no": text(flags=("Yes", "NO")),
    "t and f": text(flags=("t", "f")),
    "epoch seconds": text(time=lambda at: int(at.timestamp())),
    "epoch milliseconds": text(time=lambda at: int(at.timestamp()) * 10**3),
    "epoch microseconds": text(time=lambda at: int(at.timestamp()) * 10**6),
    "epoch nanoseconds": text(time=lambda at: int(at.timestamp()) * 10**9),
    "epoch with a part": text(time=lambda at: f"{at.timestamp():.3f}"),
    "zulu": text(time=lambda at: at.strftime("%Y-%m-%dT%H:%M:%SZ")),
    "lower case": text(time=lambda at: at.strftime("%Y-%m-%dt%H:%M:%Sz")),
    "naive, of UTC": text(time=lambda at: at.strftime("%Y-%m-%d %H:%M:%S")),
    "nanoseconds": text(time=lambda at: at.strftime("%Y-%m-%dT%H:%M:%S.000000000Z")),
    "another offset": text(time=lambda at: at.astimezone(BERLIN).isoformat()),
    "short offset": text(time=lambda at: at.astimezone(BERLIN).strftime("%Y-%m-%d %H:%M:%S%z")),
    "slashes": text(time=lambda at: at.strftime("%Y/%m/%d %H:%M:%S UTC")),
    "http": text(time=lambda at: format_datetime(at, usegmt=True)),
    "apache": text(time=lambda at: at.strftime("%d/%b/%Y:%H:%M:%S +0000")),
    "wayback": text(time=lambda at: at.strftime("%Y%m%d%H%M%S")),
}


@pytest.mark.parametrize("door", TEXTS)
def test_every_text_gives_the_same_rates(tmp_path, expected, door):
    """Told by what is in the file: its name says nothing."""
    assert bits(save(tmp_path / "log", TEXTS[door])) == expected


def _duckdb(path: Path, options: str) -> None:
    with duckdb.connect(config={"autoinstall_known_extensions": "false"}) as database:  # no fetch
        database.register("visits", arrow())
        database.execute(f"COPY (SELECT * FROM visits) TO '{path}' ({options})")  # noqa: S608 - our own path


WRITERS: dict[str, Callable[[Path], Any]] = {
    "pandas.csv": lambda path: frame().to_csv(path, index=False),
    "pandas-with-index.csv": lambda path: frame().to_csv(path),
    "pandas.csv.gz": lambda path: frame().to_csv(path, index=False),
    "pandas.csv.zst": lambda path: frame().to_csv(path, index=False),
    "pandas.jsonl": lambda path: frame().to_json(
        path, orient="records", date_format="iso", lines=True
    ),
    "pandas.json": lambda path: frame().to_json(path, orient="records", date_format="iso"),
    "pandas-iso.json.bz2": lambda path: frame().to_json(
        path, orient="records", date_format="iso", indent=1
    ),
    "pandas.parquet": lambda path: frame().to_parquet(path),
    "pandas.feather": lambda path: frame().to_feather(path),
    "polars.csv": lambda path: polars_of(arrow()).write_csv(path),
    "polars.tsv": lambda path: polars_of(arrow()).write_csv(path, separator="\t"),
    "polars.ndjson": lambda path: polars_of(arrow()).write_ndjson(path),
    "polars.parquet": lambda path: polars_of(arrow()).write_parquet(path),
    "polars.arrow": lambda path: polars_of(arrow()).write_ipc(path),
    "polars.arrows": lambda path: polars_of(arrow()).write_ipc_stream(path),
    "arrow.parquet": lambda path: pq.write_table(arrow(), path, row_group_size=100),
    "arrow.feather": lambda path: pa.feather.write_feather(arrow(), str(path)),
    "duckdb.csv": lambda path: _duckdb(path, "FORMAT csv"),
    "duckdb.psv": lambda path: _duckdb(path, "FORMAT csv, DELIMITER '|', HEADER"),
    "duckdb.json": lambda path: _duckdb(path, "FORMAT json, ARRAY true"),
    "duckdb.jsonl.gz": lambda path: _duckdb(path, "FORMAT json, COMPRESSION gzip"),
    "duckdb.parquet": lambda path: _duckdb(path, "FORMAT parquet"),
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_writer_gives_the_same_rates(tmp_path, expected, name):
    WRITERS[name](tmp_path / name)

    assert bits(tmp_path / name) == expected


def test_local_times_give_the_same_rates(tmp_path, expected):
    """Over the night in which an hour is missing; the one that is shown twice is not unique."""
    local = text(time=lambda at: at.astimezone(BERLIN).strftime("%Y-%m-%d %H:%M:%S"))
    naive = frame()
    naive["visited_at"] = naive["visited_at"].dt.tz_convert("Europe/Berlin").dt.tz_localize(None)
    naive.to_parquet(tmp_path / "log.parquet")

    assert bits(save(tmp_path / "log", local), tz="Europe/Berlin") == expected
    assert bits(tmp_path / "log.parquet", tz="Europe/Berlin") == expected


def test_several_files_give_the_same_rates(tmp_path, expected):
    """In several formats, rows of a page in each of them, and in a folder."""
    save(tmp_path / "a.csv.gz", gzip.compress(text(ROWS[::3])))
    save(tmp_path / "b.json", json.dumps(objects(ROWS[1::3])).encode())
    rest = pd.DataFrame(ROWS[2::3], columns=list(HEADER)).astype({"changed": "boolean"})
    rest.to_parquet(tmp_path / "c.parquet")

    assert bits(tmp_path) == expected
    assert bits(tmp_path / "*.*") == expected
    assert bits(tmp_path / "c.parquet", tmp_path / "a.csv.gz", tmp_path / "b.json") == expected


def _versions(rows: Sequence[Sequence[Any]]) -> list[str]:
    """A digest for each visit: another one after each change; none of a failed visit."""
    version: dict[str, int] = {}
    found = []
    for page, _, changed, status in rows:
        version[page] = version.get(page, 0) + bool(changed and status == 200)
        found.append("" if status != 200 else f"{version[page]:040x}")
    return found


def test_digests_give_the_same_rates(tmp_path):
    """As `changed` gives from visits that were answered: a change seen by a failed one is none."""
    answered = [row for row in ROWS if row[3] == 200]
    begins = {page: at for page, at, _, _ in reversed(answered)}
    said = [
        (page, at, None if begins[page] == at else changed, status)
        for page, at, changed, status in answered
    ]
    digests = [
        (p, at.isoformat(), d, s) for (p, at, _, s), d in zip(ROWS, _versions(ROWS), strict=True)
    ]
    table = pa.table(
        dict(
            zip(("page", "visited_at", "digest", "status"), zip(*digests, strict=True), strict=True)
        )
    )
    pq.write_table(table, tmp_path / "log.parquet")
    polars_of(table).write_csv(tmp_path / "log.csv")

    expected = bits(save(tmp_path / "said.csv", text(said)))
    assert bits(tmp_path / "log.parquet") == expected
    assert bits(tmp_path / "log.csv") == expected
