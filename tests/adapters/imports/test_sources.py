"""What a source is, is told by its bytes; all kinds of one archive hold the same visits."""

import bz2
import gzip
import json
import lzma
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from recrawl.adapters.imports.foreign_visits import MALFORMED, NOT_A_PAGE, ImportReading
from recrawl.adapters.imports.sources import KINDS, find_sources, kind_of
from recrawl.adapters.imports.streams import open_source
from recrawl.adapters.tables.table_options import TableOptions
from recrawl.errors import InvalidParameter, InvalidTable, RecrawlError
from tests.adapters.imports.archives import Visited, imported, needs_real_archives
from tests.fuzz.real_files import FOLDER

DIGESTS = ["B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A", "OSSAPWJ23L56IYVRW3GFEAR4MCJMGPTB"]
CDX = "".join(
    f"org,a)/ 2026010{day}000000 http://a.org/ text/html 200 {DIGESTS[day % 2]} - - 1 2 a.gz\n"
    for day in range(1, 6)
)
VISITS = [
    Visited("http://a.org/", f"2026-01-0{day}T00:00:00", 200, DIGESTS[day % 2])
    for day in range(1, 6)
]


@needs_real_archives
@pytest.mark.parametrize("name", ["pywb_iana", "pywb_dupes"])
def test_an_archive_and_its_indexes_hold_the_same_visits(name):
    """Of revisits indexes have no status, and lines are sorted by address."""

    def known(ending):
        found = imported(FOLDER / f"{name}{ending}")
        return sorted((visit.page, visit.at, visit.digest) for visit in found)

    assert known(".warc.gz") == known(".cdx") == known(".cdxj") != []


@needs_real_archives
def test_a_zipnum_list_stands_for_its_shards():
    lines = gzip.decompress((FOLDER / "pywb_zipnum-sample.cdx.gz").read_bytes()).splitlines()

    found = imported(FOLDER / "pywb_zipnum-sample.idx")

    assert len(found) == len(lines)
    assert found == imported(FOLDER / "pywb_zipnum-sample.cdx.gz")


def test_a_cdxj_index(tmp_path):
    path = tmp_path / "index"
    path.write_text(
        (
            "!meta {}\n"
            'org,a)/ 20260101000000 {"url": "http://a.org/", "status": "200", "digest": "sha1:%"}\n'
            'a 20260102000000 {"url": "http://a.org/", "mime": "warc/revisit", "digest": "%"}\n'
            'org,a)/ 20260103000000 {"url": "http://a.org/", "status": 404}\n'
            'org,a)/ 20260104000000 {"url": 7}\n'
            "org,a)/ 20260105000000 {broken\n"
            'org,a)/ 20261305000000 {"url": "http://a.org/"}\n'
        ).replace("%", DIGESTS[0])
    )
    reading = ImportReading()

    assert imported(path, kind="cdxj", reading=reading) == [
        Visited("http://a.org/", "2026-01-01T00:00:00", 200, DIGESTS[0]),
        Visited("http://a.org/", "2026-01-02T00:00:00", 0, DIGESTS[0]),
        Visited("http://a.org/", "2026-01-03T00:00:00", 404, ""),
    ]
    assert reading.left_out[MALFORMED] == 3


def test_zipnum_shards_lie_beside_their_list(tmp_path):
    for number, part in enumerate((CDX[:200], CDX[200:])):
        packed = b"".join(gzip.compress(line.encode()) for line in part.splitlines(keepends=True))
        (tmp_path / f"cdx-0000{number}.gz").write_bytes(packed)
    lines = [f"org,a)/ 2026\tcdx-0000{number}.gz\t0\t99\t1\n" for number in (0, 1, 0)]
    (tmp_path / "cluster.idx").write_text("".join(lines))
    whole = tmp_path / "whole.cdx"
    whole.write_text(CDX)

    # The first shard ends within a line, so both are read as far as they go.
    assert set(imported(tmp_path / "cluster.idx")) <= set(imported(whole))


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "nothing"])
def test_shards_are_nowhere_else(tmp_path, name):
    (tmp_path / "secret").write_text(CDX)
    folder = tmp_path / "index"
    folder.mkdir()
    (folder / "cluster.idx").write_text(f"org,a)/ 2026\t{name}\t0\t99\t1\n")

    with pytest.raises(
        InvalidTable, match=r"names of shards must be plain|was not found beside it"
    ):
        imported(folder / "cluster.idx")


def test_the_columnar_index_of_common_crawl(tmp_path):
    path = tmp_path / "part-0.gz.parquet"
    columns = {
        "url_surtkey": ["org,a)/"] * 3,
        "url": ["http://a.org/"] * 3,
        "fetch_time": pa.array([1_767_225_600_000, 1_767_312_000_000, 1_767_398_400_000],
                               pa.timestamp("ms", "UTC")),
        "fetch_status": pa.array([200, 200, 301], pa.int16()),
        "content_digest": [DIGESTS[1], DIGESTS[0], None],
    }  # fmt: skip
    pq.write_table(pa.table(columns), path)

    assert kind_of(path) == "cc-index"
    assert imported(path) == [*VISITS[:2], Visited("http://a.org/", "2026-01-03T00:00:00", 301, "")]


def test_our_own_log_of_a_crawl(tmp_path):
    path = tmp_path / "visits.jsonl"
    rows = [("first", 200), ("same", 200), ("not_modified", 304), ("changed", 200), ("gone", 404),
            ("failed", "null"), ("moved", 200), ("cosmetic", 200)]  # fmt: skip
    path.write_text(
        "".join(
            f'{{"visit": {number}, "at": "2026-01-0{number}T00:00:00.000Z", "address": '
            f'"https://a.org/", "outcome": "{outcome}", "status": {status}, "bytes": 3}}\n'
            for number, (outcome, status) in enumerate(rows, 1)
        )
    )

    assert kind_of(path) == "crawl-log"
    assert [(visit.status, visit.changed) for visit in imported(path)] == [
        *((200, -1), (200, 0), (304, 0), (200, 1), (2, -1), (1, -1), (1, -1), (200, 0)),
    ]


def test_tables_with_columns_of_their_own(tmp_path):
    path = tmp_path / "fetched.csv"
    path.write_text(
        "url,time,code,sha1\nhttp://a.org/,2026-01-01,200,x\nhttp://a.org/,soon,200,y\n"
        "http://a.org/,2026-01-02,304,\nhttp://a.org/,2026-01-03,gone,\nmailto:a,2026-01-03,200,z\n"
        "http://a.org/,2026-01-04,9,\n"
    )
    columns = {"page": "url", "visited_at": "time", "status": "code", "digest": "sha1"}
    with pytest.raises(InvalidTable, match=r"line 3, column 'time': must be a time .*got 'soon'"):
        imported(path, reading=ImportReading(table=TableOptions(columns)))
    reading = ImportReading(table=TableOptions(columns, skip_bad_rows=True))

    found = imported(path, reading=reading)

    assert [visit[2:] for visit in found] == [
        *((200, "x", -1), (304, "", 0), (2, "", -1), (200, "z", -1)),
    ]
    assert reading.left_out[MALFORMED] == 2
    assert "line 3, column 'time'" in reading.first_malformed


def test_a_table_may_name_pages_by_anything_but_for_a_store(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("page,visited_at\n /a ,2026-01-01\nHTTP://A.org,2026-01-01\n")

    assert [visit.page for visit in imported(path)] == ["/a", "http://a.org/"]
    reading = ImportReading(any_name=False)
    assert [visit.page for visit in imported(path, reading=reading)] == ["http://a.org/"]
    assert reading.left_out == {NOT_A_PAGE: 1}


def test_keys_of_indexes_name_pages(tmp_path):
    """So that http, https and www are one."""
    addresses = ["http://a.org/", "https://www.a.org/"]
    rows = [("org,a)/", f"2026010{day}000000", addresses[day % 2]) for day in (1, 2, 3)]
    cdx, cdxj, parquet = (tmp_path / name for name in ("i.cdx", "i.cdxj", "i.parquet"))
    cdx.write_text("".join(f"{k} {at} {url} text/html 200 {DIGESTS[0]} -\n" for k, at, url in rows))
    cdxj.write_text(
        "".join(f"{k} {at} {json.dumps({'url': url, 'status': '200'})}\n" for k, at, url in rows)
    )
    columns = {"url_surtkey": [k for k, _, _ in rows], "url": [url for _, _, url in rows]}
    times = {"fetch_time": ["2026-01-01"] * 3, "fetch_status": [200] * 3}
    pq.write_table(pa.table(columns | times | {"content_digest": ["x"] * 3}), parquet)

    for path in (cdx, cdxj, parquet):
        assert {visit.page for visit in imported(path)} == {"http://a.org/", "https://www.a.org/"}
        found = imported(path, reading=ImportReading(by_key=True))
        assert [visit.page for visit in found] == ["org,a)/"] * 3
    cdx.write_text(" CDX b a m s k\n" + cdx.read_text().replace("org,a)/ ", ""))
    with pytest.raises(InvalidTable, match="--by-key needs an index with keys"):
        imported(cdx, reading=ImportReading(by_key=True))


@pytest.mark.parametrize(
    ("ending", "pack"),
    [
        ("", bytes),
        (".gz", gzip.compress),
        (".gz", lambda data: gzip.compress(data[:99]) + gzip.compress(data[99:])),
        (".bz2", bz2.compress),
        (".xz", lzma.compress),
        (".zst", zstandard.compress),
    ],
)
def test_packed_files_are_unpacked(tmp_path, ending, pack):
    path = tmp_path / f"index{ending}"
    path.write_bytes(pack(CDX.encode()))

    assert imported(path) == VISITS


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, zstandard.compress])
def test_a_packed_file_that_is_cut_off_is_said(tmp_path, pack):
    path = tmp_path / "index"
    path.write_bytes(pack(CDX.encode() * 2000)[:-20])
    reading = ImportReading()

    try:
        imported(path, kind="cdx", reading=reading)
    except InvalidTable as error:
        reading.remark(str(error))

    assert any("is damaged (its end is missing)" in said for said in reading.remarks)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, zstandard.compress])
def test_a_damaged_file_is_read_as_far_as_it_goes(tmp_path, pack):
    """A whole member, then one that is cut off: less than a block, and none of it is lost."""
    path = tmp_path / "index"
    path.write_bytes(pack(CDX.encode() * 20) + pack(CDX.encode() * 2000)[:40])
    reading = ImportReading()

    found = imported(path, reading=reading)

    assert found[:100] == VISITS * 20
    assert len(reading.remarks) == 1


def test_several_sources_patterns_and_folders_stand_for_files_once(tmp_path):
    (tmp_path / "deep").mkdir()
    for name in ("a.cdx", "b.cdx", "deep/c.cdx"):
        (tmp_path / name).write_text(CDX)
    (tmp_path / "README.md").write_text("nothing to import")
    (tmp_path / ".hidden").write_text(CDX)

    def names(*given):
        found, passed = find_sources([str(each) for each in given])
        return [source.path.name for source in found], passed

    assert names(tmp_path) == (["a.cdx", "b.cdx", "c.cdx"], 1)
    assert names(tmp_path / "*.cdx", tmp_path / "a.cdx") == (["a.cdx", "b.cdx"], 0)
    assert names(tmp_path / "b.cdx", tmp_path / "a.cdx") == (["b.cdx", "a.cdx"], 0)


def test_what_is_not_there_is_refused(tmp_path):
    (tmp_path / "empty").touch()
    (tmp_path / "folder").mkdir()
    for name, said in (
        ("nothing", "cannot be read"),
        ("*.gz", "no file matches"),
        ("empty", "is empty; it should hold visits"),
    ):
        with pytest.raises(InvalidTable, match=said):
            find_sources([str(tmp_path / name)])
    with pytest.raises(InvalidParameter, match="no file that can be imported"):
        find_sources([str(tmp_path / "folder")])


def test_a_line_that_is_too_long_is_left_out_however_long_it_is(tmp_path):
    path = tmp_path / "index"
    path.write_bytes(CDX.encode() + b"x" * (9 << 20) + b"\n" + CDX.encode() + b"y" * (5 << 20))
    reading = ImportReading()

    with open_source(path) as source:
        blocks = list(source.line_blocks(reading))

    assert b"".join(blocks) == 2 * CDX.encode()
    assert max(map(len, blocks)) < 4 << 20
    assert reading.left_out[MALFORMED] == 2


def test_every_kind_can_be_forced(tmp_path):
    """What a kind makes of another kind's file is an error in one sentence, or nothing."""
    path = tmp_path / "index"
    path.write_text(CDX)
    shutil.copy(path, tmp_path / "cdx-0.gz")

    for kind in set(KINDS) - {"git"}:
        said = ""
        try:
            imported(path, kind=kind, reading=ImportReading(site="https://a.org"))
        except RecrawlError as error:
            said = str(error)
        assert said == "" or said.isprintable()
