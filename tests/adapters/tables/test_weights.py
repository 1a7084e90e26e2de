"""Tables of weights: page views and search logs in files."""

import gzip
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recrawl.adapters.tables import weights as module
from recrawl.adapters.tables.columns import TableFile, TableInput
from recrawl.adapters.tables.weights import CrawlWeights, read_weights
from recrawl.arrays.texts import Texts
from recrawl.errors import InvalidTable

PAGES = ["https://a.org/", "https://a.org/b", "https://a.org/c"]
ROWS = [(PAGES[0], 2.5), (PAGES[1], 7.0), ("https://A.org", 1.5)]


def csv(rows, header="page,weight"):
    return "\n".join([header, *(f"{page},{weight}" for page, weight in rows)]) + "\n"


def found(path):
    return read_weights(TableInput(path)).find(Texts.of(PAGES)).tolist()[:2]


def written(tmp_path, kind):
    path = tmp_path / f"views.{kind}"
    if kind == "csv":
        path.write_text(csv(ROWS))
    elif kind == "csv.gz":
        path.write_bytes(gzip.compress(csv(ROWS, "url;views").replace(",", ";").encode()))
    elif kind == "jsonl":
        path.write_text("".join(f'{{"page": "{p}", "weight": {w}}}\n' for p, w in ROWS))
    else:
        pages, figures = zip(*ROWS, strict=True)
        pq.write_table(pa.table({"uri": list(pages), "hits": list(figures)}), path)
    return path


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "jsonl", "parquet"])
def test_every_format_gives_the_same_weights(tmp_path, kind):
    assert found(written(tmp_path, kind)) == [4.0, 7.0]


def test_a_log_that_is_longer_than_what_waits_is_summed_on_the_way(tmp_path, monkeypatch):
    """One row per view: three thousand views of three pages."""
    monkeypatch.setattr(module, "_ROWS", 10)
    for file in range(3):
        (tmp_path / f"{file}.csv").write_text(csv([(page, file + 1) for page in PAGES * 1000]))
    one = TableInput(tmp_path / "0.csv")
    one.more = tuple(TableFile(tmp_path / name, name) for name in ("1.csv", "2.csv"))

    assert read_weights(one).weight.tolist() == [6000.0] * 3


@pytest.mark.parametrize("cell", ["0", "-1", "inf", "nan", "x", "", "1e16", "1e-16"])
def test_a_weight_that_is_none_is_refused_with_its_line(tmp_path, cell):
    path = tmp_path / "views.csv"
    path.write_text(csv([*ROWS, (PAGES[2], cell)]))
    message = r"views\.csv, line 5, column 'weight': must be a number above 0, from 1e-15 to 1e\+15"

    with pytest.raises(InvalidTable, match=message):
        read_weights(TableInput(path))


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("page,weight\n", "must hold weights"),
        ("", "the file is empty; expected a header and rows"),
        ("page,weight\n,1\n", "must name a page"),
        ("page,rank\n/,1\n", "column 'weight' not found"),
        ("page,views,hits\n/,1,2\n", "'views' and 'hits' could both be weight"),
    ],
)
def test_a_table_that_is_none_is_refused(tmp_path, text, wrong):
    (tmp_path / "views.csv").write_text(text)

    with pytest.raises(InvalidTable, match=wrong):
        read_weights(TableInput(tmp_path / "views.csv"))


def test_a_crawl_reads_its_file_once_and_only_when_asked(tmp_path):
    path = written(tmp_path, "csv")
    file = CrawlWeights(path)
    digest, weights = file.digest, file.read()
    path.write_text(csv([(PAGES[0], 1)]))

    assert file.read() is weights
    assert file.digest == digest != CrawlWeights(path).digest


def test_a_file_that_is_written_while_it_is_read_is_refused(tmp_path, monkeypatch):
    path = written(tmp_path, "csv")

    def read_and_write(table):
        weights = read_weights(table)
        path.write_text(csv([(PAGES[0], 1)]))
        return weights

    monkeypatch.setattr(module, "read_weights", read_and_write)
    with pytest.raises(InvalidTable, match="changed while it was being read; try again"):
        CrawlWeights(path).read()


def test_what_is_no_file_of_addresses_is_refused_in_one_sentence(tmp_path):
    (tmp_path / "paths.csv").write_text(csv([("/a", 1), ("/b", 2)]))
    os.mkfifo(tmp_path / "pipe.csv")
    for name, wrong in (
        ("paths.csv", "page must be an address such as https://example.org/"),
        ("pipe.csv", "must be a file"),
        (".", "must be a file"),
        ("nowhere.csv", "cannot be read"),
    ):
        with pytest.raises(InvalidTable, match=wrong):
            CrawlWeights(tmp_path / name).read()
