"""`recrawl check`, `backup` and `compact`, as people run them."""

import gzip
import shutil

import pytest

from recrawl.store import open_for_writing
from tests.cli.running import names_in, run, sentence
from tests.store.hostile import stores


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    stores.make(folder)
    return folder


@pytest.fixture
def folder(whole, tmp_path):
    shutil.copytree(whole, tmp_path / "crawl")
    return tmp_path / "crawl"


def test_a_whole_store_is_a_table_without_problems(folder):
    with open_for_writing(folder / "recrawl.db"):  # a crawl may be running
        ended = run("check", cwd=folder)

    assert ended.code == 0
    assert ended.err == ""
    lines = [line.split() for line in ended.out.splitlines()]
    assert lines[0] == ["part", "rows", "problems"]
    assert ["visits", "300", "0"] in lines
    assert len(lines) == 13


def test_a_damaged_one_says_where_and_ends_with_1(folder):
    stores.execute("update visits set before = 0 where id = 100")(folder / "recrawl.db")

    ended = run("check", folder / "recrawl.db", "--quick")

    assert ended.code == 1
    assert "visits" in ended.out
    assert ended.err.splitlines() == [
        "visits: visit 100: does not lead to the one before it",
        f"Error: {folder / 'recrawl.db'} is damaged (visits)",
    ]


def test_warc_files_are_checked_to_their_last_record(folder):
    archive = folder / "archive"
    archive.mkdir()
    record = gzip.compress(b"WARC/1.1\r\n\r\n")
    (archive / "recrawl-1.warc.gz").write_bytes(record * 3)
    whole = run("check", "--warc", archive, cwd=folder)
    (archive / "recrawl-2.warc.gz").write_bytes(record + record[:-3])
    cut = run("check", "--warc", archive, cwd=folder)

    assert whole.code == 0
    assert cut.code == 1
    assert f"warc: recrawl-2.warc.gz: no whole record after {len(record)} bytes\n" in cut.err


def test_a_copy_is_a_store(folder):
    with open_for_writing(folder / "recrawl.db"):
        ended = run("backup", "recrawl.db", "copy.db", cwd=folder)

    assert ended.code == 0
    assert ended.err.startswith("Copied recrawl.db up to visit 300 to copy.db (")
    assert run("check", "copy.db", cwd=folder).code == 0
    assert sentence(run("backup", "recrawl.db", "copy.db", cwd=folder)) == "copy.db already exists"


def test_compacting_says_what_it_gave_back_and_leaves_a_crawl_alone(folder):
    with open_for_writing(folder / "recrawl.db"):
        said = sentence(run("compact", "recrawl.db", cwd=folder))
    stores.execute("delete from versions", "delete from bodies")(folder / "recrawl.db")
    before = (folder / "recrawl.db").stat().st_size
    ended = run("compact", "recrawl.db", cwd=folder)

    assert said.startswith("recrawl.db is in use by another crawl (process ")
    assert ended.code == 0
    assert ended.err.startswith("Compacted recrawl.db from ")
    assert (folder / "recrawl.db").stat().st_size < before
    assert set(names_in(folder)) == {"recrawl.toml", "recrawl.db", "recrawl.db.lock"}
