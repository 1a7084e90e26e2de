"""`recrawl export copies` and `chunks`, as people run them."""

import json
import sqlite3
from contextlib import closing
from datetime import datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recrawl.entries.records import digest_of
from tests.cli.running import names_in, run, sentence
from tests.publish import fed
from tests.publish.fed import SITE, page


@pytest.fixture
def crawl(tmp_path):
    fed.usual(fed.make(tmp_path))
    return tmp_path


def test_a_folder_mirrors_host_and_path(crawl):
    for words in ("2 written, 0 deleted", "0 written, 0 deleted"):
        ended = run("export", "copies", "-o", "out/", "--as", "markdown", cwd=crawl)
        assert f"out holds 2 copies: {words}" in ended.err

    assert names_in(crawl / "out") == ["a.org", "manifest.jsonl"]
    assert (crawl / "out" / "a.org" / "tea.md").read_text().startswith("# Tea\n")


def test_rows_of_copies_are_the_same_in_every_format(crawl):
    for name in ("copies.jsonl", "copies.parquet", "copies.db"):
        assert run("export", "copies", "-o", name, "--as", "text", cwd=crawl).code == 0
    rows = [json.loads(line) for line in (crawl / "copies.jsonl").read_text().splitlines()]
    with closing(sqlite3.connect(crawl / "copies.db")) as connection:
        connection.row_factory = sqlite3.Row
        in_database = [dict(row) for row in connection.execute("select * from copies")]

    in_parquet = pq.read_table(crawl / "copies.parquet").to_pylist()
    seen = [{**row, "seen_at": datetime.fromisoformat(row["seen_at"])} for row in rows]
    assert rows == in_database
    assert seen == in_parquet
    assert [row["page"] for row in rows] == [f"{SITE}/tea", f"{SITE}/tea?sort=price"]
    assert rows[0]["version"] == digest_of(page("Tea", 6)).hex()
    assert rows[0]["title"] == "Tea"
    assert rows[0]["content"].startswith("Tea\n\n")


def test_the_standard_output_gets_rows_as_json(crawl):
    for what in ("copies", "chunks"):
        assert run("export", what, "-o", f"{what}.jsonl", cwd=crawl).code == 0
        printed = run("export", what, cwd=crawl)

        assert printed == (0, (crawl / f"{what}.jsonl").read_text(), "")


def test_chunks_have_ids_that_last(crawl):
    for name in ("chunks.jsonl", "chunks.parquet"):
        assert run("export", "chunks", "-o", name, cwd=crawl).code == 0
    rows = [json.loads(line) for line in (crawl / "chunks.jsonl").read_text().splitlines()]

    assert rows == pq.read_table(crawl / "chunks.parquet").to_pylist()
    assert [row["path"] for row in rows[:2]] == [["Tea"], ["Tea", "Price"]]
    assert len({row["id"] for row in rows}) == len(rows) == 4


def test_what_cannot_be_is_refused_and_a_store_never_overwritten(crawl):
    before = (crawl / "recrawl.db").read_bytes()
    said = {
        "recrawl.db": "recrawl.db is a store, which is never overwritten",
        "copies.csv": (
            "-o must be a file that ends in .jsonl, .ndjson, .parquet, .db, .sqlite, or a folder "
            "DIR/ (got 'copies.csv')"
        ),
    }

    for name, why in said.items():
        assert why in sentence(run("export", "copies", "-o", name, cwd=crawl))
    assert "-o must be a file" in sentence(run("export", "chunks", "-o", "chunks/", cwd=crawl))
    wrong = run("export", "copies", "-o", "a/", "--as", "pdf", cwd=crawl)
    assert sentence(wrong).startswith("--as must be one of ")
    assert (crawl / "recrawl.db").read_bytes() == before


def test_a_page_is_its_address_in_every_export(crawl):
    """So that a table of one export can be joined with a table of any other."""
    tables = {}
    for what in ("visits", "rates", "pages", "copies", "chunks"):
        assert run("export", what, "-o", f"{what}.parquet", cwd=crawl).code == 0
        tables[what] = pq.read_table(crawl / f"{what}.parquet")
    known = set(tables["pages"]["page"].to_pylist())

    for table in tables.values():
        assert table.num_rows
        assert set(table["page"].to_pylist()) <= known
    for what in ("copies", "chunks"):
        assert pa.types.is_integer(tables[what].schema.field("page_id").type)
    assert tables["copies"].schema.field("seen_at").type == pa.timestamp("us", tz="UTC")
    assert tables["visits"].schema.field("changed").type == pa.bool_()
    for name in ("http", "size_bytes"):
        assert pa.types.is_integer(tables["visits"].schema.field(name).type)
