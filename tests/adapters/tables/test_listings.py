"""Listings in files: tables and snapshots in three formats; what is wrong is one sentence."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

from recrawl.adapters.tables.listing_snapshots import date_in
from recrawl.adapters.tables.listings import read_listing
from recrawl.errors import InvalidTable
from recrawl.listings.data.attributes import Labels, Numbers

OBJECTS = """object,uid,appeared_at,prev_crawl_at,last_seen_at,removed_at,n_updates,make,year,sold,\
posted_at
7,/a,2026-01-01T06:00:00Z,,2026-01-02T06:00:00Z,2026-01-03T06:00:00Z,0,BMW,2001,true,2025-12-01
5,/b,2026-01-02T06:00:00Z,2026-01-01T06:00:00Z,2026-01-05T06:00:00Z,,1,,2003,false,
9,/c,2026-01-02T06:00:00Z,2026-01-01T06:00:00Z,2026-01-02T06:00:00Z,2026-01-03T06:00:00Z,0,Fiat,,,
"""
EVENTS = """object,at,event
7,2026-01-01T06:00:00Z,appear
5,2026-01-02T06:00:00Z,appear
9,2026-01-02T06:00:00Z,appear
7,2026-01-03T06:00:00Z,remove
9,2026-01-03T06:00:00Z,remove
5,2026-01-04T06:00:00Z,update
9,2026-01-05T06:00:00Z,reappear
"""
CRAWLS = "crawl_at\n" + "".join(f"2026-01-0{day}T06:00:00Z\n" for day in range(1, 6))
TABLES = {"objects": OBJECTS, "events": EVENTS, "crawls": CRAWLS}


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def write(path, text):
    """Write CSV text as the format of the path's name."""
    if path.suffix == ".csv":
        path.write_text(text)
    elif path.suffix == ".jsonl":
        lines = [{name: cell for name, cell in row.items() if cell} for row in rows_of(text)]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    else:
        write_parquet(path, text)
    return path


def write_parquet(path, text):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    rows, columns = rows_of(text), {}
    for name in text.splitlines()[0].split(","):
        cells = [row[name] or None for row in rows]
        if name == "at" or name.endswith("_at"):
            instants = [
                cell and np.datetime64(cell.removesuffix("Z"), "ms").item() for cell in cells
            ]
            columns[name] = pa.array(instants, pa.timestamp("ms", tz="UTC"))
        elif name in ("object", "year", "n_updates"):
            columns[name] = pa.array([cell and int(cell) for cell in cells], pa.int64())
        elif name == "sold":
            columns[name] = pa.array([cell and cell == "true" for cell in cells], pa.bool_())
        elif name == "event":
            columns[name] = pa.array(cells).dictionary_encode()
        else:
            columns[name] = pa.array(cells, pa.large_string())
    pq.write_table(pa.table(columns), path)


@pytest.fixture
def folder(tmp_path):
    """Writes the tables, some of them changed or left out, and returns their folder."""

    def make(kind="csv", **changed):
        for name, text in (TABLES | changed).items():
            if text is not None:
                write(tmp_path / f"{name}.{kind}", text)
        return tmp_path

    return make


def spells(listing):
    rows = zip(listing.object.tolist(), listing.first.tolist(), listing.gone.tolist(), strict=True)
    keys = listing.keys.tolist()
    return [(keys[row], first, gone) for row, first, gone in rows]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_three_tables_are_a_listing(folder, kind):
    listing = read_listing(folder(kind))

    assert spells(listing) == [("7", 0, 2), ("5", 1, 5), ("9", 1, 2), ("9", 4, 5)]
    assert listing.crawls[0] == np.datetime64("2026-01-01T06:00:00")
    assert len(listing.crawls) == 5
    assert listing.updates.object.tolist() == [1]
    assert listing.updates.crawl.tolist() == [3]
    assert (listing.status, listing.dropped) == ("ok", 0)


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_attributes_are_labels_or_numbers_and_tell_nothing_of_the_future(folder, kind):
    """When an object was removed and how often it was updated is not known when it appears."""
    attributes = read_listing(folder(kind)).attributes

    assert set(attributes) == {"make", "year", "sold", "posted_at"}
    assert isinstance(attributes["make"], Labels)
    assert isinstance(attributes["year"], Numbers)
    assert attributes["year"].numbers == pytest.approx([2001, 2003, np.nan], nan_ok=True)
    for name, expected in (("make", ["BMW", "?", "Fiat"]), ("sold", ["true", "false", "?"])):
        codes, words = attributes[name].values()
        assert [words[code] for code in codes.tolist()] == expected


def test_tables_may_be_of_different_kinds(folder, tmp_path):
    write(tmp_path / "objects.parquet", OBJECTS)

    listing = read_listing(folder("csv", objects=None))

    assert len(spells(listing)) == 4


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_without_events_an_object_has_one_spell(folder, kind):
    listing = read_listing(folder(kind, events=None))

    assert spells(listing) == [("/a", 0, 2), ("/b", 1, 5), ("/c", 1, 2)]
    assert len(listing.updates) == 0


def test_without_crawls_every_time_is_one(folder):
    listing = read_listing(folder(crawls=None, events=None))

    assert [str(at)[8:10] for at in listing.crawls] == ["01", "02", "03", "05"]
    assert spells(listing) == [("/a", 0, 2), ("/b", 1, 4), ("/c", 1, 2)]


def test_without_removals_an_object_is_gone_after_it_was_last_seen(folder):
    rows = ["a,2026-01-01,2026-01-02", "b,2026-01-01,2026-01-03", "c,2026-01-02,"]
    text = "\n".join(["key,appeared_at,last_seen_at", *rows])

    listing = read_listing(folder(objects=text, events=None, crawls=None))

    assert spells(listing) == [("a", 0, 2), ("b", 0, 3), ("c", 1, 3)]


def test_with_nothing_but_appearances_all_are_listed(folder):
    text = "key,appeared_at\na,2026-01-01\nb,2026-01-02\n"

    listing = read_listing(folder(objects=text, events=None, crawls=None))

    assert spells(listing) == [("a", 0, 2), ("b", 1, 2)]


def test_files_may_be_named_one_by_one(folder):
    files = sorted(folder().iterdir())

    assert len(spells(read_listing(*files))) == 4


def test_events_may_name_the_attribute(folder):
    rows = [line + ",year" if "update" in line else line + "," for line in EVENTS.splitlines()[1:]]
    text = "object,at,event,attribute\n" + "\n".join(rows)

    listing = read_listing(folder(events=text))

    assert [list(listing.attributes)[row] for row in listing.updates.attribute] == ["year"]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {
                "objects": OBJECTS.replace(
                    "2026-01-03T06:00:00Z,0,BMW", "2025-12-31T06:00:00Z,0,BMW"
                )
            },
            "object '7': must be seen last after it appeared, and be removed after that",
        ),
        (
            {
                "objects": OBJECTS.replace(
                    "2026-01-02T06:00:00Z,2026-01-03", "2026-01-04T06:00:00Z,2026-01-03"
                )
            },
            "object '7': must be seen last after it appeared, and be removed after that",
        ),
        (
            {
                "events": EVENTS.replace(
                    "9,2026-01-03T06:00:00Z,remove", "9,2026-01-01T06:00:00Z,remove"
                )
            },
            "object '9': events must begin with appear and alternate with remove",
        ),
        (
            {
                "events": EVENTS.replace(
                    "9,2026-01-05T06:00:00Z,reappear", "8,2026-01-05T06:00:00Z,reappear"
                )
            },
            "column 'object': must be an object of",
        ),
        (
            {"events": EVENTS.replace("update", "upgrade")},
            "column 'event': must be one of appear, remove, reappear, update (got 'upgrade')",
        ),
        (
            {"objects": OBJECTS.replace("5,/b", "7,/b")},
            "column 'object': must name an object, each once (got '7')",
        ),
        ({"objects": OBJECTS.replace("5,/b", ",/b"), "events": None}, ""),
        (
            {"objects": "name,when\n", "events": None, "crawls": None},
            "must have a column appeared_at (objects)",
        ),
    ],
)
def test_what_is_wrong_is_one_sentence(folder, kind, changed, message):
    where = folder(kind, **changed)
    if not message:
        assert len(read_listing(where)) == 3  # named by uid
        return

    with pytest.raises(InvalidTable) as raised:
        read_listing(where)

    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("crawl", "dates"),
    [
        ("0", "1970-01-01 and 2026-01-01"),
        ("1970-01-01", "1970-01-01 and 2026-01-01"),
        ("2015-12-31", "2015-12-31 and 2026-01-01"),
        ("2199-12-31", "2026-01-05 and 2199-12-31"),
    ],
)
def test_crawls_decades_apart_are_refused(folder, crawl, dates):
    """A time of 0 among those of this year says that thousands of days passed without a crawl."""
    where = folder(crawls=f"{CRAWLS}{crawl}\n")

    with pytest.raises(InvalidTable) as raised:
        read_listing(where)

    sentence = f"{where}: crawls must be at most 10 years apart (got {dates})"
    assert str(raised.value) == sentence


def test_crawls_almost_ten_years_apart_are_a_listing(folder):
    assert len(read_listing(folder(crawls=f"{CRAWLS}2016-01-02\n")).crawls) == 6


def test_snapshots_decades_apart_are_refused(tmp_path):
    (tmp_path / "1970-01-01.csv").write_text("key\na\n")
    (tmp_path / "2026-01-01.csv").write_text("key\na\n")

    with pytest.raises(InvalidTable, match="crawls must be at most 10 years apart"):
        read_listing(tmp_path)


def test_lenient_leaves_out_and_counts_what_contradicts_itself(folder):
    wrong = OBJECTS.replace("2026-01-03T06:00:00Z,0,BMW", "2025-12-31T06:00:00Z,0,BMW")
    events = EVENTS.replace("9,2026-01-03T06:00:00Z,remove", "9,2026-01-01T06:00:00Z,remove")

    listing = read_listing(folder(objects=wrong, events=events), lenient=True)

    assert (len(listing), listing.dropped) == (1, 2)
    assert spells(listing) == [("5", 1, 5)]
    assert listing.updates.object.tolist() == [0]


def test_without_objects_is_refused(folder):
    files = sorted(folder(objects=None).iterdir())

    with pytest.raises(InvalidTable, match="objects not found; give the file of objects too"):
        read_listing(*files)


def test_files_of_a_kind_are_one_table(folder):
    """Whose rows may lie in any of them, but only in one."""
    objects = folder() / "objects.csv"
    whole = read_listing(objects)
    header, *rows = objects.read_text().splitlines(keepends=True)
    parts = [objects.with_name(f"part-{number}.csv") for number in range(2)]
    for number, part in enumerate(parts):
        part.write_text(header + "".join(rows[number::2]))

    found = read_listing(*parts)

    assert sorted(found.keys.tolist()) == sorted(whole.keys.tolist())
    assert len(found.object) == len(whole.object)
    with pytest.raises(InvalidTable, match=rf"{objects}, line 2, column .* must name an object"):
        read_listing(objects, objects)


def test_a_file_that_is_no_parquet_is_refused(tmp_path):
    pytest.importorskip("pyarrow")
    (tmp_path / "objects.parquet").write_bytes(b"PAR1 but not for long")

    with pytest.raises(InvalidTable, match="must be a whole Parquet file"):
        read_listing(tmp_path)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(InvalidTable, match="cannot be read"):
        read_listing(tmp_path / "objects.csv")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_an_empty_table_is_an_empty_listing(folder, kind):
    where = folder(kind, objects=OBJECTS.splitlines()[0] + "\n", events=None, crawls=None)

    assert read_listing(where).status == "empty"


SNAPSHOTS = {
    "cars-2026-01-01": "id,make,price\na,BMW,10\nb,Fiat,5\n",
    "cars-2026-01-02": "id,make,price\na,BMW,9\n",
    "cars-2026-01-03": "id,make,price\na,BMW,\nb,Fiat,5\nc,Opel,7\n",
    "cars-2026-01-04": "id,make,price,doors\na,BMW,9,3\nc,Opel,6,5\n",
}


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_a_folder_of_dated_snapshots_is_a_listing(tmp_path, kind):
    """Object b is missing on one day, which is closed; attributes are those of the first sight."""
    for name, text in SNAPSHOTS.items():
        write(tmp_path / f"{name}.{kind}", text)

    listing = read_listing(tmp_path)
    updates = listing.updates

    assert spells(listing) == [("a", 0, 4), ("b", 0, 3), ("c", 2, 4)]
    assert list(listing.attributes) == ["make", "price", "doors"]
    assert listing.attributes["price"].values()[1] == ["5", "7", "10"]
    assert listing.attributes["doors"].missing.all()
    changes = zip(updates.object, updates.crawl, updates.attribute, strict=True)
    assert sorted(tuple(map(int, row)) for row in changes) == [(0, 1, 1), (2, 3, 1)]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_snapshot_without_rows_still_names_its_attributes(tmp_path, kind):
    """On the second day nothing was listed; a column of that day only is an attribute, too."""
    write(tmp_path / f"2026-01-01.{kind}", "id,make\na,BMW\n")
    write(tmp_path / f"2026-01-02.{kind}", "id,make,doors\n")
    write(tmp_path / f"2026-01-03.{kind}", "id,make\na,BMW\n")

    listing = read_listing(tmp_path, grace=0.5)

    assert list(listing.attributes) == ["make", "doors"]
    assert listing.attributes["doors"].missing.all()
    assert spells(listing) == [("a", 0, 1), ("a", 2, 3)]


def test_snapshots_without_any_row_have_attributes(tmp_path):
    for number in (1, 2):
        (tmp_path / f"2026-01-0{number}.csv").write_text("id,make\n")

    listing = read_listing(tmp_path)

    assert (listing.status, list(listing.attributes)) == ("empty", ["make"])


def test_a_longer_absence_is_a_new_spell(tmp_path):
    for name, text in SNAPSHOTS.items():
        write(tmp_path / f"{name}.csv", text)

    assert spells(read_listing(tmp_path, grace=0.5))[1:3] == [("b", 0, 1), ("b", 2, 3)]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_one_table_of_snapshots_is_a_listing(tmp_path, kind):
    lines = ["snapshot_at,url,make"]
    for name, text in SNAPSHOTS.items():
        lines += [f"{name[5:]},{row['id']},{row['make']}" for row in rows_of(text)]
    path = write(tmp_path / f"all.{kind}", "\n".join(lines) + "\n")

    listing = read_listing(path)

    assert spells(listing) == [("a", 0, 4), ("b", 0, 3), ("c", 2, 4)]
    assert list(listing.attributes) == ["make"]


def test_the_key_may_be_named(tmp_path):
    (tmp_path / "2026-01-01.csv").write_text("id,ref\n1,x\n2,y\n")

    assert read_listing(tmp_path, key="ref").keys.tolist() == ["x", "y"]
    with pytest.raises(InvalidTable, match=r"column 'name' not found \(got id, ref\)"):
        read_listing(tmp_path, key="name")


def test_one_snapshot_and_an_empty_one_have_a_status(tmp_path):
    (tmp_path / "2026-01-01.csv").write_text("id\n")
    assert read_listing(tmp_path).status == "empty"

    (tmp_path / "2026-01-01.csv").write_text("id\n1\n")
    assert read_listing(tmp_path).status == "one-snapshot"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            {"2026-01-01.csv": "id\na\nb\na\n"},
            "snapshot 2026-01-01T00:00:00: key 'a' occurs 2 times, expected once",
        ),
        ({"monday.csv": "id\na\n"}, "no date in the file name; name snapshots like 2026-01-02.csv"),
        (
            {"2026-01-01.csv": "id\na\n", "x20260101.csv": "id\na\n"},
            "2026-01-01.csv is a snapshot of the same time; keep one of them",
        ),
        (
            {"2026-01-01.csv": "name\na\n"},
            "must have a column key, id, uid, object, url (got name)",
        ),
        (
            {"2026-01-01.csv": "id\na\n", "2026-01-02.csv": "name\n"},
            "must have a column key, id, uid, object, url (got name)",
        ),
        ({"2026-01-01.csv": 'id\na\n""\n'}, "column 'id': must name an object"),
        ({}, "neither objects nor snapshots found"),
    ],
)
def test_snapshots_that_cannot_be_are_one_sentence(tmp_path, files, message):
    for name, text in files.items():
        (tmp_path / name).write_text(text)

    with pytest.raises(InvalidTable) as raised:
        read_listing(tmp_path)

    assert message in str(raised.value)


def test_snapshots_and_tables_do_not_mix(folder, tmp_path):
    path = tmp_path / "all.csv"
    path.write_text("snapshot_at,id\n2026-01-01,a\n")

    with pytest.raises(InvalidTable, match="snapshots must be the only file"):
        read_listing(path, folder() / "objects.csv")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("2026-01-02.csv", "2026-01-02T00:00:00"),
        ("cars_20260102.csv", "2026-01-02T00:00:00"),
        ("20260102T030405Z.jsonl", "2026-01-02T03:04:05"),
        ("cars-2026-01-02_03-04.parquet", "2026-01-02T03:04:00"),
        ("2026_01_02 03.04.05.csv", "2026-01-02T03:04:05"),
        ("run7-2026-01-02T03:04:05.csv", "2026-01-02T03:04:05"),
        ("99999999-20260102.csv", "2026-01-02T00:00:00"),
        ("cars.csv", None),
        ("123456789.csv", None),
    ],
)
def test_dates_in_names(name, expected):
    found = date_in(name)

    assert found == (None if expected is None else np.datetime64(expected))


def test_parquet_columns_of_any_type_are_attributes(tmp_path):
    """Lists as text, decimals as numbers, dictionaries without the words that no object has."""
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    columns = {
        "key": pa.array(["a", "b"]).dictionary_encode(),
        "appeared_at": pa.array(["2026-01-01", "2026-01-02"]),
        "tags": pa.array([["x", "y"], None]),
        "price": pa.array([1, None]).cast(pa.decimal128(24, 2)),
        "make": pa.DictionaryArray.from_arrays(pa.array([1, 3]), ["Opel", "BMW", "Fiat", ""]),
        "nothing": pa.array([None, None]),
        "day": pa.array([0, None], pa.date32()),
    }
    pq.write_table(pa.table(columns), tmp_path / "objects.parquet")
    events = {
        "key": pa.array(["b", "a"]).dictionary_encode(),
        "at": pa.array(["2026-01-02", "2026-01-01"]),
        "event": pa.array(["appear", "appear"]),
    }
    pq.write_table(pa.table(events), tmp_path / "events.parquet")

    listing = read_listing(tmp_path)

    assert spells(listing) == [("a", 0, 2), ("b", 1, 2)]
    values = {name: column.values()[1] for name, column in listing.attributes.items()}
    assert values == {
        "tags": ["['x', 'y']", "?"],
        "price": ["1", "?"],
        "make": ["BMW", "?"],
        "nothing": ["?"],
        "day": ["0", "?"],
    }


def test_a_key_that_is_a_list_is_refused(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    table = pa.table({"key": [["a"], ["b"]], "appeared_at": ["2026-01-01", "2026-01-02"]})
    pq.write_table(table, tmp_path / "objects.parquet")

    with pytest.raises(InvalidTable, match="column 'key' must hold single values"):
        read_listing(tmp_path)


def test_text_that_is_none_is_refused(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    make = pa.array([b"\xff\xfe", b"BMW"], pa.binary())
    table = pa.table({"key": ["a", "b"], "appeared_at": ["2026-01-01", "2026-01-02"], "make": make})
    pq.write_table(table, tmp_path / "objects.parquet")

    with pytest.raises(InvalidTable, match="column 'make' must hold text or numbers"):
        read_listing(tmp_path)


@pytest.mark.parametrize("keys", [[b"\xff", b"b"], [["a"], ["b"]]], ids=["bytes", "lists"])
def test_keys_of_events_that_are_no_text_are_refused(tmp_path, keys):
    """Keys of another type than those of the objects are compared as text."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    write(tmp_path / "objects.parquet", OBJECTS)
    at = pa.array(["2026-01-01", "2026-01-02"])
    events = {"object": pa.array(keys), "at": at, "event": pa.array(["appear", "appear"])}
    pq.write_table(pa.table(events), tmp_path / "events.parquet")

    with pytest.raises(InvalidTable, match=r"events\.parquet: column 'object' must hold"):
        read_listing(tmp_path)


def test_names_of_columns_are_quoted_on_one_line(tmp_path):
    (tmp_path / "objects.csv").write_text("\x1b[2J,appeared_at\n1,2\n")

    with pytest.raises(InvalidTable, match="must have a column key, id") as refused:
        read_listing(tmp_path)

    assert str(refused.value).isprintable()
