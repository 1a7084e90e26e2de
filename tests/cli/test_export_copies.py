"""`recrawl export copies` and `chunks`, as people run them."""

import json
import sqlite3
from contextlib import closing

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

    assert rows == in_database == pq.read_table(crawl / "copies.parquet").to_pylist()
    assert [row["address"] for row in rows] == [f"{SITE}/tea", f"{SITE}/tea?sort=price"]
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
        "copies.zip": "output must end in .jsonl, .ndjson, .parquet, .db, .sqlite",
    }

    for name, why in said.items():
        assert why in sentence(run("export", "copies", "-o", name, cwd=crawl))
    assert "-o must be a file" in sentence(run("export", "chunks", "-o", "chunks/", cwd=crawl))
    wrong = run("export", "copies", "-o", "a/", "--as", "pdf", cwd=crawl)
    assert sentence(wrong).startswith("--as must be one of ")
    assert (crawl / "recrawl.db").read_bytes() == before
