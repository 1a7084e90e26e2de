"""Logs larger than the memory allowed: whatever way they take, the same histories come out."""

import json
import threading

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recrawl import Flag, Vetting, read_histories
from recrawl.adapters.tables import arrow_files, text_files
from recrawl.adapters.tables.logs import Log
from recrawl.errors import CannotWrite, InvalidTable
from tests.adapters.tables.files import (
    HEADER,
    visits_in,
    write_csv,
    write_json_lines,
    write_parquet,
)

PLENTY = 2**40
LITTLE = 10_000  # bytes: a few batches


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch):
    """Batches of 64 rows, so that a small log has many of them and their edges cut pages."""
    for module in (text_files, arrow_files):
        monkeypatch.setattr(module, "_ROWS", 64)


def visits(pages=100, each=7, sites=9):
    """Rows of a log, grouped by page; visits of a page out of order, dates, failures, ends."""
    random = np.random.default_rng(5)
    rows = []
    for number in range(pages):
        page = f"https://site{number % sites}.org/{number}"
        for second in (random.permutation(each) * 86_400).tolist():
            dated = second - int(random.integers(0, 200_000)) if number % 3 else None
            changed = [True, False, None][int(random.integers(3))]
            status = ["200", "200", "304", "503", "404"][
                int(random.choice(5, p=[0.6, 0.2, 0.1, 0.05, 0.05]))
            ]
            rows.append((page, second + number, changed, dated, status))
    return rows


def shuffled(rows):
    return [rows[row] for row in np.random.default_rng(7).permutation(len(rows)).tolist()]


def told(log):
    """All that a log's pieces say, page by page in the order of the log."""
    pages = {}
    for piece in log.pieces():
        names = piece.names.tolist()
        for page, name in enumerate(names):
            one = piece.histories.take(np.array([page]))
            columns = [one.gaps, one.changed, one.age, one.first_visit, one.first_age, one.flags]
            columns.append(one.reverted)
            cells = [str(column.tolist()) for column in columns]
            position = int(piece.position[page])
            assert position not in pages
            pages[position] = (name, *cells, int(piece.site[page]))
    return [pages[position] for position in sorted(pages)]


def without_site(pages):
    return [page[:-1] for page in pages]


def scratch_of(folder):
    """The temporary folders and files that a log has made."""
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("."))


WRITERS = {"csv": write_csv, "jsonl": write_json_lines}


def written(folder, kind, rows):
    if kind in WRITERS:
        return WRITERS[kind](folder / f"visits.{kind}", rows)
    columns = dict(zip(HEADER, map(list, zip(*rows, strict=True)), strict=True))
    return write_parquet(folder / "visits.parquet", columns)


KINDS = ["csv", "jsonl", "parquet"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_log_that_fits_is_one_piece(tmp_path, kind):
    path = written(tmp_path, kind, shuffled(visits()))

    with Log(visits_in(path), PLENTY, tmp_path / "missing") as log:
        assert len(list(log.pieces())) == 1
        assert log.in_order


@pytest.mark.parametrize("kind", KINDS)
def test_a_large_log_grouped_by_page_streams(tmp_path, kind):
    """Pieces in the order of the log, and no temporary files: there is no folder for them."""
    path = written(tmp_path, kind, visits())
    with Log(visits_in(path), PLENTY, tmp_path) as whole:
        expected = told(whole)

    with Log(visits_in(path), LITTLE, tmp_path / "missing") as log:
        assert log.in_order
        assert len(list(log.pieces())) > 3
        assert without_site(told(log)) == without_site(expected)
        first = [int(piece.position.min()) for piece in log.pieces()]
        assert first == sorted(first)


@pytest.mark.parametrize("kind", KINDS)
def test_a_large_log_in_any_order_is_split(tmp_path, kind):
    """Into temporary files beside the output, which are gone at the end."""
    path = written(tmp_path, kind, shuffled(visits()))
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    with Log(visits_in(path), PLENTY, tmp_path) as whole:
        expected = told(whole)

    with Log(visits_in(path), LITTLE, scratch) as log:
        assert len(scratch_of(scratch)) == 1
        assert len(list(log.pieces())) > 3
        assert without_site(told(log)) == without_site(expected)

    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize("order", [visits(), shuffled(visits())], ids=["grouped", "unordered"])
def test_a_log_may_be_gone_through_again(tmp_path, order):
    path = written(tmp_path, "csv", order)

    with Log(visits_in(path), LITTLE, tmp_path) as log:
        assert told(log) == told(log)


@pytest.mark.parametrize("memory", [PLENTY, LITTLE])
@pytest.mark.parametrize("order", [visits(), shuffled(visits())], ids=["grouped", "unordered"])
def test_a_site_has_one_number_in_all_pieces(tmp_path, order, memory):
    path = written(tmp_path, "csv", order)

    with Log(visits_in(path), memory, tmp_path) as log:
        sites = {(page[0].split("/")[2], page[-1]) for page in told(log)}

        assert len(sites) == 9
        assert {number for _, number in sites} == set(range(9))


@pytest.mark.parametrize("memory", [PLENTY, LITTLE])
def test_a_column_may_name_the_sites_of_all_pieces(tmp_path, memory):
    rows = [(*row[:3], f"shop {row[1] % 4}") for row in shuffled(visits())]
    path = write_csv(tmp_path / "visits.csv", rows, ("page", "visited_at", "changed", "shop"))
    first: dict = {}
    for page, _, _, shop in rows:
        first.setdefault(page, shop)

    with Log(visits_in(path, columns={"site": "shop"}), memory, tmp_path) as log:
        numbers = {(first[page[0]], page[-1]) for page in told(log)}

        assert len(numbers) == len({number for _, number in numbers}) == 4


@pytest.mark.parametrize("memory", [PLENTY, LITTLE])
@pytest.mark.parametrize("order", [visits(), shuffled(visits())], ids=["grouped", "unordered"])
def test_bad_rows_are_counted_once_however_often_a_log_is_read(tmp_path, order, memory):
    bad = [("/x", "soon", "true", None, None), ("", 1, "true", None, None)]
    path = written(tmp_path, "csv", [*order[:300], bad[0], *order[300:], bad[1]])
    reading = visits_in(path, skip_bad_rows=True)

    with Log(reading, memory, tmp_path) as log:
        told(log)
        pages = without_site(told(log))

    assert reading.table.skipped == 2
    with Log(visits_in(written(tmp_path, "csv", order)), PLENTY, tmp_path) as clean:
        assert pages == without_site(told(clean))


@pytest.mark.parametrize("order", ["grouped", "unordered"])
def test_a_page_may_be_longer_than_a_batch(tmp_path, order):
    """Five batches of nothing but one page, between others: it is still one page."""
    long = [("https://site0.org/long", 7200 * row, row % 3 == 0, None, "200") for row in range(320)]
    rows = [*visits()[:350], *long, *visits()[350:]]
    path = written(tmp_path, "csv", rows if order == "grouped" else shuffled(rows))
    with Log(visits_in(path), PLENTY, tmp_path) as whole:
        expected = told(whole)

    with Log(visits_in(path), LITTLE, tmp_path) as log:
        assert log.in_order == (order == "grouped")
        assert without_site(told(log)) == without_site(expected)


@pytest.mark.parametrize("memory", [PLENTY, LITTLE])
@pytest.mark.parametrize("order", [visits(), shuffled(visits())], ids=["grouped", "unordered"])
def test_whole_batches_of_bad_rows_may_be_skipped(tmp_path, order, memory):
    """Two batches and more of which nothing is left, at the beginning and in the middle."""
    bad = [("/x", "soon", "true", None, None)] * 150
    path = written(tmp_path, "csv", [*bad, *order[:300], *bad, *order[300:]])
    reading = visits_in(path, skip_bad_rows=True)

    with Log(reading, memory, tmp_path) as log:
        pages = without_site(told(log))

    assert reading.table.skipped == 300
    with Log(visits_in(written(tmp_path, "csv", order)), PLENTY, tmp_path) as clean:
        assert pages == without_site(told(clean))


_small_logs = st.lists(
    st.tuples(
        st.sampled_from([f"/{letter}" for letter in "abcdefgh"]),
        st.integers(0, 30).map(lambda day: day * 86_400),
        st.sampled_from([True, False, None]),
    ),
    max_size=60,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(_small_logs, st.booleans(), st.sampled_from([1, 100, 500, 1000]), st.integers(1, 20))
def test_any_log_is_told_the_same_in_any_memory(
    tmp_path_factory, monkeypatch, rows, grouped, memory, batch
):
    monkeypatch.setattr(text_files, "_ROWS", batch)
    folder = tmp_path_factory.mktemp("log")
    rows = sorted(rows, key=lambda row: row[0]) if grouped else rows
    path = write_csv(folder / "visits.csv", rows, ("page", "visited_at", "changed"))

    with Log(visits_in(path), PLENTY, folder) as whole, Log(visits_in(path), memory, folder) as log:
        assert without_site(told(log)) == without_site(told(whole))

    assert scratch_of(folder) == []


# What goes wrong on the way.


def test_temporary_files_are_removed_after_an_error_outside(tmp_path):
    path = written(tmp_path, "csv", shuffled(visits()))

    def fail():
        with Log(visits_in(path), LITTLE, tmp_path):
            assert len(scratch_of(tmp_path)) == 1
            raise ArithmeticError("outside")

    with pytest.raises(ArithmeticError):
        fail()

    assert scratch_of(tmp_path) == []


def test_temporary_files_are_removed_after_an_error_in_the_middle_of_the_file(tmp_path):
    """They are there while the file is read, up to the bad row."""
    rows = [*shuffled(visits()), ("/x", "soon", "", "", "")]
    there = []
    reading = visits_in(
        written(tmp_path, "csv", rows), progress=lambda _: there.append(scratch_of(tmp_path))
    )

    with pytest.raises(InvalidTable, match="column 'visited_at'"):
        Log(reading, LITTLE, tmp_path).__enter__()

    assert any(there)
    assert scratch_of(tmp_path) == []


@pytest.mark.parametrize("memory", [PLENTY, LITTLE])
@pytest.mark.parametrize("kind", KINDS)
def test_reading_ahead_ends_with_an_error(tmp_path, kind, memory):
    """No thread is left behind."""
    rows = shuffled(visits())
    rows[500] = ("", *rows[500][1:])
    before = threading.active_count()

    with pytest.raises(InvalidTable, match="must name a page"):
        Log(visits_in(written(tmp_path, kind, rows)), memory, tmp_path).__enter__()

    assert threading.active_count() == before


@pytest.mark.parametrize("order", [visits(), shuffled(visits())], ids=["grouped", "unordered"])
def test_reading_ahead_ends_with_the_log(tmp_path, order):
    path = written(tmp_path, "csv", order)
    before = threading.active_count()

    with Log(visits_in(path), LITTLE, tmp_path) as log:
        next(iter(log.pieces()))

    assert threading.active_count() == before


@pytest.mark.parametrize("scratch", ["missing", "visits.csv"])
def test_a_place_for_temporary_files_is_needed(tmp_path, scratch):
    """No folder, or no folder at all: one sentence, as for any other output."""
    path = written(tmp_path, "csv", shuffled(visits()))

    with pytest.raises(CannotWrite):
        Log(visits_in(path), LITTLE, tmp_path / scratch).__enter__()


# The log as a value.


def test_read_histories_gives_pages_in_the_order_of_the_log(tmp_path):
    rows = [("/b", 0, None), ("/a", 0, None), ("/b", 86_400, True), ("/a", 43_200, False)]
    path = write_csv(tmp_path / "visits.csv", rows, HEADER[:3])

    names, histories = read_histories(path)

    assert names == ["/b", "/a"]
    assert histories.gaps.tolist() == [1.0, 0.5]
    assert histories.changed.tolist() == [True, False]


def test_read_histories_takes_what_a_command_takes(tmp_path):
    """Other names of columns, bad rows, another trust in clocks; a path as text."""
    path = tmp_path / "visits.jsonl"
    rows = [
        {"url": "/a", "visited_at": 0, "changed": None},
        {"url": "/a", "visited_at": 86_400, "changed": True, "last_modified": 86_405},
        {"url": "/a", "visited_at": "soon", "changed": True},
    ]
    path.write_text("\n".join(json.dumps(row) for row in rows))

    names, histories = read_histories(
        str(path), columns={"page": "url"}, skip_bad_rows=True, vetting=Vetting(skew_seconds=1)
    )

    assert names == ["/a"]
    assert histories.flags.tolist() == [Flag.LM_FUTURE]


def test_read_histories_of_an_empty_log(tmp_path):
    path = write_csv(tmp_path / "visits.csv", [], HEADER[:3])

    names, histories = read_histories(path)

    assert names == []
    assert len(histories) == 0


def digests_of(rows, header):
    """The same visits with a digest each instead of a verdict: versions that come back."""
    random = np.random.default_rng(9)
    found = [(page, at, None, dated, status) for page, at, _, dated, status in rows]
    return [(*row, ["", "3f", "9b", "77"][int(random.integers(4))]) for row in found], (
        *header,
        "digest",
    )


@pytest.mark.parametrize("write", [write_csv, write_json_lines])
def test_digests_say_the_same_in_any_order_and_any_memory(tmp_path, write):
    """Grouped, shuffled, in pieces of whole pages and split into temporary files."""
    rows, header = digests_of(visits(), HEADER)
    in_order = write(tmp_path / "log.rows", sorted(rows), header)
    mixed = write(tmp_path / "mixed.rows", shuffled(rows), header)
    found = []
    for path, memory in ((in_order, PLENTY), (in_order, LITTLE), (mixed, PLENTY), (mixed, LITTLE)):
        with Log(visits_in(path), memory, tmp_path) as log:
            found.append(sorted(without_site(told(log))))

    assert found[0] == found[1] == found[2] == found[3]
    assert any("True" in page[-1] for page in found[0])


def test_digests_make_up_for_a_column_that_is_not_there(tmp_path):
    rows = [("/a", 0, "x"), ("/a", 86_400, "y"), ("/a", 172_800, "x"), ("/a", 259_200, "x")]
    path = write_csv(tmp_path / "log.csv", rows, ("page", "visited_at", "sha1"))

    _, histories = read_histories(path, columns={"digest": "sha1"})

    assert histories.changed.tolist() == [True, True, False]
    assert histories.reverts.tolist() == [1]
    assert histories.flags.tolist() == [Flag.REVERTED]


@pytest.mark.parametrize(
    "kind", ["binary", "fixed", "large_binary", "string", "large_string", "dictionary", "int64"]
)
def test_digests_of_any_type_are_read_from_parquet(tmp_path, kind):
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {"fixed": pa.binary(2), "dictionary": pa.dictionary(pa.int8(), pa.string())}
    texts = pa.array(["12", "12", "34", "12", None])
    digest = texts.cast(pa.binary()) if "binary" in kind or kind == "fixed" else texts
    columns = {
        "page": ["/a"] * 5,
        "visited_at": [0, 1000, 2000, 3000, 4000],
        "digest": digest.cast(types.get(kind) or getattr(pa, kind)()),
    }
    pq.write_table(pa.table(columns), tmp_path / "log.parquet")

    _, histories = read_histories(tmp_path / "log.parquet")

    assert histories.changed.tolist() == [False, True, True]
    assert histories.reverted.tolist() == [False, False, True]


def test_a_column_without_any_digest_says_nothing(tmp_path):
    path = write_csv(tmp_path / "log.csv", [("/a", 0, ""), ("/a", 9, " ")], (*HEADER[:2], "digest"))

    assert read_histories(path)[1].visits.tolist() == [1]
