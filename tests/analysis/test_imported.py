"""Visits of other systems in Python: the same as `recrawl import` writes, and rates of them."""

import numpy as np
import pytest

import recrawl
from recrawl.errors import InvalidParameter, InvalidTable
from tests.cli.running import run_here

LINE = '192.0.2.1 - - [{:02}/Oct/2025:13:55:36 +0000] "GET /{} HTTP/1.1" 200 {} "-" "{}"\n'
SITE = "https://example.org"


@pytest.fixture
def log(tmp_path):
    """A page that changes on the fourth day, and one that only a browser asks for."""
    path = tmp_path / "access.log"
    path.write_text(
        "".join(LINE.format(day, "a", 7 + day // 4, "MyBot") for day in range(1, 7))
        + LINE.format(3, "b", 5, "Mozilla")
    )
    return path


def test_a_table_is_what_import_writes(log, tmp_path):
    visits = recrawl.read_visits(log, site=SITE)
    run_here("import", log, "--site", SITE, "-o", tmp_path / "v.parquet")

    written = recrawl.read_visits(tmp_path / "v.parquet")
    assert visits.to_arrow().to_pylist() == written.to_arrow().to_pylist()
    assert len(visits) == 7
    assert visits[0]["digest"] == "size:7"
    assert repr(visits).endswith("7 visits")
    assert any("2 user agents" in sentence for sentence in visits.remarks)


@pytest.mark.parametrize("form", ["itself", "to_pandas", "to_polars", "to_arrow", "dicts"])
def test_rates_are_the_same_through_every_door(log, tmp_path, form):
    visits = recrawl.read_visits(log, site=SITE)
    run_here("import", log, "--site", SITE, "-o", tmp_path / "v.csv")
    source: object = list(visits) if form == "dicts" else visits
    if form.startswith("to_"):
        source = getattr(visits, form)()

    rates = recrawl.estimate(source)

    expected = recrawl.estimate(tmp_path / "v.csv")
    np.testing.assert_array_equal(rates.column("rate_per_day"), expected.column("rate_per_day"))
    assert rates.column("changes").tolist() == [1, 0]


def test_agents_and_keys_are_chosen(log, tmp_path):
    index = tmp_path / "a.cdx"
    index.write_text("org,a)/ 20260101000000 https://www.a.org/ text/html 200 XY - - 1 2 a.gz\n")

    assert len(recrawl.read_visits(log, site=SITE, user_agent="mozilla")) == 1
    assert recrawl.read_visits(index, by_key=True).names == ["org,a)/"]


def test_what_cannot_be_read_is_said(log, tmp_path):
    with pytest.raises(
        InvalidTable, match=r"has paths without a host; add --site https://example\.org$"
    ):
        recrawl.read_visits(log)
    with pytest.raises(InvalidParameter, match="site must be an address"):
        recrawl.read_visits(log, site="example")
    with pytest.raises(InvalidParameter, match="format must be"):
        recrawl.read_visits(log, format="word")
    (tmp_path / "x" / ".git").mkdir(parents=True)
    with pytest.raises(InvalidParameter, match="a git repository has changes, not visits"):
        recrawl.read_visits(tmp_path / "x")


@pytest.mark.parametrize("rows", [[{"page": "/a"}, 1], [{"page": "/a", "visited_at": "soon"}]])
def test_rows_that_are_wrong_are_refused_by_their_number(rows):
    with pytest.raises(InvalidTable, match=r"frame, row [12]"):
        recrawl.estimate(
            [{**row, "changed": None} if isinstance(row, dict) else row for row in rows]
        )


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "access.log",
            LINE.format(1, "a", 5, "-"),
            "looks like an access log; `recrawl import` with -o",
        ),
        ("a.cdx", "a 20260101000000 http://a.org/ text/html 200 XY -\n", "looks like a CDX index"),
        ("a.warc", "WARC/1.0\r\nWARC-Type: warcinfo\r\n\r\n", "looks like a WARC file"),
        ("a.csv", "a,b\n1,2\n", "column 'page' not found"),
    ],
)
def test_what_estimate_cannot_read_is_named(tmp_path, name, text, said):
    (tmp_path / name).write_text(text)

    with pytest.raises(InvalidTable, match=said):
        recrawl.estimate(tmp_path / name)
