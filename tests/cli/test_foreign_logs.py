"""Logs of others: columns of other names, other encodings; errors say what to write."""

import pytest

import recrawl
from recrawl.adapters.tables.table_options import encoding_of
from recrawl.errors import InvalidParameter, InvalidTable
from tests.cli.running import run, sentence


@pytest.mark.parametrize(
    ("header", "missing", "remedy"),
    [
        ("url,t,changed", "'visited_at'", "visited_at=t"),
        ("link,visited_at,changed", "'page'", "page=NAME"),
        ("page,visited_at,has_it_changed", "'changed' or 'digest'", "changed=has_it_changed"),
    ],
)
def test_the_option_that_names_a_column_is_told(tmp_path, header, missing, remedy):
    path = tmp_path / "visits.csv"
    path.write_text(f"{header}\n/a,2026-01-01,true\n")

    got = header.replace(",", ", ")
    assert sentence(run("estimate", path)) == (
        f"{path}: column {missing} not found (got {got}); name it with --column {remedy}"
    )


def test_a_function_is_told_the_argument_that_names_a_column(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text("url,t,changed\n/a,2026-01-01,true\n")

    with pytest.raises(InvalidTable, match=r"; name it with columns={\"visited_at\": \"t\"}$"):
        recrawl.estimate(path)


def test_marks_in_usual_names_do_not_matter(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text("URL,Crawl-Time,Changed?,Content Hash\n/a,2026-01-01,,x\n/a,2026-01-02,no,y\n")

    ended = run("estimate", path, "--csv")

    assert "Reading 'URL' as page, 'Crawl-Time' as visited_at, 'Changed?' as changed." in ended.err


def test_other_encodings_are_read_where_they_are_named(tmp_path):
    path, lines = tmp_path / "visits.csv", tmp_path / "visits.jsonl"
    path.write_text("page,visited_at,changed\n/stra\u00dfe,2026-01-01,\n", encoding="latin-1")
    row = '{"page": "/stra\u00dfe", "visited_at": "2026-01-01", "changed": null}'
    lines.write_text(f"{row}\n", encoding="latin-1")

    refused = sentence(run("estimate", path))
    read = [run("estimate", each, "--encoding", "Latin-1", "--csv").out for each in (path, lines)]

    assert refused == (
        f"{path}, line 2: must be UTF-8 text (got byte 0xdf); name its encoding with --encoding, "
        "e.g. latin-1, or convert it with iconv"
    )
    assert [out.splitlines()[1].partition(",")[0] for out in read] == ["/stra\u00dfe"] * 2


@pytest.mark.parametrize("name", ["klingon", "utf-16", "base64", "cp037", "../x", "a\0b"])
def test_what_is_no_encoding_of_a_table_is_refused(name):
    with pytest.raises(InvalidParameter, match=r"^encoding must name one that contains ASCII"):
        encoding_of(name)
