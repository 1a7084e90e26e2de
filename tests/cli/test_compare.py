"""`recrawl estimate --method compare` and `--method classes`."""

import csv
import io

import pytest

from recrawl.rates import METHODS
from recrawl.report.rates import CLASS_COLUMNS, COLUMNS
from tests.cli.running import names_in, run, run_here, sentence, write_log
from tests.cli.test_screen import on_a_terminal

DAY = 86_400


@pytest.fixture
def log(tmp_path):
    """Three pages in turn, so that the log is not grouped: busy, quiet, seen once."""
    rows = []
    for day in range(8):
        rows.append(("/busy", day * DAY, "true" if day % 4 else "false"))
        rows.append(("/quiet", day * DAY, "false"))
    rows.append(("/new", 0, ""))
    return write_log(tmp_path / "visits.csv", rows)


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_a_row_a_page_and_method(log):
    rows = rows_of(run("estimate", log, "--method", "compare").out)

    assert list(rows[0]) == [*COLUMNS, *CLASS_COLUMNS]
    assert [row["page"] for row in rows] == [
        page for page in ("/busy", "/quiet", "/new") for _ in METHODS
    ]
    assert [row["method"] for row in rows] == list(METHODS) * 3


@pytest.mark.parametrize("method", sorted(set(METHODS) - {"classes"}))
def test_a_method_says_the_same_alone_and_in_company(log, method):
    together = rows_of(run_here("estimate", log, "--method", "compare", "--now", "1970-01-01").out)
    alone = rows_of(run_here("estimate", log, "--method", method, "--now", "1970-01-01").out)

    some = [{name: row[name] for name in COLUMNS} for row in together if row["method"] == method]
    assert some == alone


def test_parts_of_a_log_that_does_not_fit_say_the_same(log):
    """Split by a hash and put in order again, all methods at once."""
    whole = run_here("estimate", log, "--method", "compare", "--now", "1970-01-01").out
    split = run_here(
        "estimate", log, "--method", "compare", "--now", "1970-01-01", "--memory", "1K"
    ).out

    assert split == whole


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_files_hold_all_rows(log, tmp_path, suffix):
    output = tmp_path / f"rates.{suffix}"

    assert run_here("estimate", log, "--method", "compare", "-o", output).code == 0
    if suffix == "parquet":
        pq = pytest.importorskip("pyarrow.parquet")
        table = pq.read_table(output)
        assert table.column_names == [*COLUMNS, *CLASS_COLUMNS]
        assert table["method"].to_pylist() == list(METHODS) * 3
    else:
        assert len(output.read_text().splitlines()) >= 3 * len(METHODS)


def test_a_terminal_shows_a_row_a_page_and_a_column_a_method(log):
    lines, remarks = on_a_terminal("estimate", log, "--method", "compare")

    heads = [line.split()[1:] for line in lines if line.startswith("page")]
    assert [method for head in heads for method in head] == list(METHODS)
    for start in (number for number, line in enumerate(lines) if line.startswith("page")):
        assert [line.split()[0] for line in lines[start + 1 : start + 4]] == [
            "/busy",
            "/quiet",
            "/new",
        ]
    assert "* the method has no estimate; this is that of gamma." in remarks
    assert "3 pages of" in remarks
    assert "all methods." in remarks


def test_a_terminal_says_how_many_pages_were_not_shown(tmp_path):
    rows = [(f"/{page}", day * DAY, "true") for page in range(50) for day in range(2)]
    log = write_log(tmp_path / "visits.csv", rows)
    lines, remarks = on_a_terminal("estimate", log, "--method", "compare", columns=60)

    assert max(map(len, lines)) <= 60
    assert "... and 10 more pages" in remarks


def test_classes_come_with_their_probability(log):
    """Seven quiet days speak for the slower of two classes."""
    words = ("--method", "classes", "--classes", "1d,30d")
    rows = rows_of(run("estimate", log, *words).out)

    assert list(rows[0]) == [*COLUMNS, *CLASS_COLUMNS]
    assert [row["class"] for row in rows[:2]] == ["1.0d", "4.3w"]
    assert float(rows[1]["probability"]) == pytest.approx(0.9989, abs=1e-4)


def test_weights_of_classes_matter(log):
    """A page seen once belongs to the class with the larger weight."""
    classes = ("--method", "classes", "--classes", "1d=1,30d=3")
    row = rows_of(run("estimate", log, *classes).out)[2]

    assert row["class"] == "4.3w"
    assert float(row["probability"]) == pytest.approx(0.75)


@pytest.mark.parametrize(
    ("classes", "wrong"),
    [
        ("1d,1d", "rates must all be different"),
        ("soon", "duration must look like"),
        ("1d=2,7d", "either all classes have a weight or none"),
        ("1d=much", "weight of a class must be a number"),
        ("1d=-1,7d=1", "weights must be positive"),
    ],
)
def test_classes_that_mean_nothing_are_refused_in_one_sentence(log, classes, wrong):
    ended = run("estimate", log, "--method", "classes", "--classes", classes)

    assert wrong in sentence(ended)
    assert names_in(log.parent) == ["visits.csv"]


def test_classes_for_another_method_are_wrong_usage(log):
    assert run("estimate", log, "--classes", "1d,7d").code == 2
