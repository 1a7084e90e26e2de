"""`recrawl estimate`: what it writes, by hand and against the library; the options."""

import csv
import io
import json
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recrawl import Gamma, Priors, fit_prior, read_histories, sites_of
from recrawl.rates import METHODS
from recrawl.report.rates import CLASS_COLUMNS
from tests.cli.running import run, run_here, write_log

HEADER = (
    "page,rate_per_day,low,high,mean_interval_days,shape,exposure_days,changes,visits,"
    "last_visit,fresh_now,status,flags,method,expected_per_day"
)
COLUMNS = HEADER.split(",")
FIGURES = [*COLUMNS[1:7], "fresh_now"]
NOW = "2026-03-01"


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


def estimated(path, *options):
    """Rows that the command writes, as dictionaries of text."""
    ended = run_here("estimate", path, "--now", NOW, *options)
    assert ended.code == 0
    return rows_of(ended.out)


def day(number):
    return f"2026-01-{number:02}"


def daily(page, changed, **columns):
    """Visits on the first days of January 2026; the first is the baseline."""
    return [(page, day(1), ""), *((page, day(n), flag) for n, flag in enumerate(changed, 2))]


@pytest.fixture
def log(tmp_path):
    """Pages that changed sometimes, never, always; seen once; gone; never answered."""
    rows = [
        *((*row, "", "200") for row in daily("https://a.org/some", ["true", "false", "true"])),
        *((*row, "", "200") for row in daily("https://a.org/never", ["false"] * 4)),
        *((*row, "", "200") for row in daily("https://b.org/always", ["true"] * 3)),
        ("https://b.org/once", day(5), "", "", "200"),
        *((*row, "", "200") for row in daily("https://b.org/gone", ["false"])),
        ("https://b.org/gone", day(3), "", "", "404"),
        ("https://b.org/down", day(3), "", "", "503"),
        ("https://b.org/touched", day(1), "", "", "200"),
        ("https://b.org/touched", day(4), "false", day(2), "200"),
    ]
    return write_log(tmp_path / "visits.csv", rows, "page,visited_at,changed,last_modified,status")


# What a row says.


def test_the_ratio_by_hand(log):
    """Two changes in three days; the band is Garwood's; still fresh after 56 days: nearly never."""
    row = estimated(log, "--method", "ratio")[0]

    assert list(row) == COLUMNS
    assert row["page"] == "https://a.org/some"
    assert float(row["rate_per_day"]) == pytest.approx(2 / 3)
    assert float(row["mean_interval_days"]) == pytest.approx(1.5)
    assert float(row["low"]) == pytest.approx(0.355361 / 3, rel=1e-4)  # chi-square tables
    assert float(row["high"]) == pytest.approx(6.295794 / 3, rel=1e-4)
    assert (row["changes"], row["visits"], row["status"]) == ("2", "4", "ok")
    assert row["last_visit"] == "2026-01-04T00:00:00Z"
    assert (row["flags"], row["method"]) == ("", "ratio")


def test_the_default_is_gamma_with_priors_of_the_sites(log):
    """The same figures as the library gives, from priors fitted over each registered domain."""
    names, histories = read_histories(log)
    number, _ = sites_of(names)
    estimates = Gamma(fit_prior(histories, number)).estimate(histories)

    rows = estimated(log)

    assert [row["page"] for row in rows] == names
    for name, column in {
        "rate_per_day": estimates.rate,
        "low": estimates.low,
        "high": estimates.high,
        "shape": estimates.shape,
        "exposure_days": estimates.exposure,
        "expected_per_day": estimates.shape / estimates.exposure,
        "mean_interval_days": 1 / estimates.rate,
    }.items():
        np.testing.assert_allclose([float(row[name]) for row in rows], column, rtol=1e-6)
    assert {row["method"] for row in rows} == {"gamma"}


def test_fresh_now_is_the_chance_that_a_page_is_as_last_seen(log):
    """(b / (b + t))^a, t days after the last visit."""
    now = datetime(2026, 3, 1, tzinfo=UTC)
    for row in estimated(log):
        if row["fresh_now"]:
            shape, exposure = float(row["shape"]), float(row["exposure_days"])
            elapsed = (now - datetime.fromisoformat(row["last_visit"])).total_seconds() / 86_400
            expected = (exposure / (exposure + elapsed)) ** shape
            assert float(row["fresh_now"]) == pytest.approx(expected)


def test_statuses_and_flags_say_what_the_visits_could_tell(log):
    found = {row["page"].split("/")[-1]: (row["status"], row["flags"]) for row in estimated(log)}

    assert found == {
        "some": ("ok", ""),
        "never": ("no_change_seen", ""),
        "always": ("all_changed", ""),
        "once": ("prior_only", ""),
        "gone": ("ok", "gone"),
        "down": ("prior_only", ""),
        "touched": ("no_change_seen", "lm_touch"),
    }


@pytest.mark.parametrize("method", METHODS)
def test_every_empty_figure_has_a_reason(log, method):
    """A status other than ok, or the flag of a page that is gone."""
    for row in estimated(log, "--method", method):
        empty = [name for name in [*FIGURES, "last_visit"] if row[name] == ""]
        assert not empty or row["status"] != "ok" or "gone" in row["flags"]
        assert not set(row.values()) & {"nan", "inf", "-inf", "NaT"}


@pytest.mark.parametrize("method", METHODS)
def test_every_method_can_be_asked_for(log, method):
    """Rows say what made them, by the name that was asked for."""
    rows = estimated(log, "--method", method)

    assert len(rows) == 7
    assert {row["method"] for row in rows} == {method}


@pytest.mark.parametrize("method", METHODS)
def test_the_present_may_lie_before_the_visits(log, method):
    """Then no time has passed; and numpy has nothing to warn of."""
    rows = rows_of(run_here("estimate", log, "--method", method, "--now", "2020-01-01").out)

    assert {row["fresh_now"] for row in rows} <= {"1", ""}


# Where and how it is written.


def test_rows_are_in_the_order_of_first_appearance(tmp_path):
    pages = [f"/{number}" for number in np.random.default_rng(1).permutation(200).tolist()]
    later = [(page, 86_400, "true") for page in sorted(pages)]
    log = write_log(tmp_path / "visits.csv", [*((page, 0, "") for page in pages), *later])

    assert [row["page"] for row in estimated(log)] == pages


def test_the_real_command_writes_csv_where_no_terminal_is(log):
    ended = run("estimate", log, "--now", NOW)

    assert ended.code == 0
    assert ended.out.split("\n")[0] == HEADER
    assert ended.out == run_here("estimate", log, "--now", NOW, "--csv").out
    assert ended.err.startswith(f"7 pages of {log}, method gamma.\n")


def refuse(word):
    pytest.fail(f"not JSON: {word}")


@pytest.mark.parametrize("method", METHODS)
def test_json_lines_are_valid(log, method):
    """One object a line, null for what is empty in CSV, never NaN."""
    lines = run_here("estimate", log, "--now", NOW, "--json", "--method", method).out.splitlines()

    objects = [json.loads(line, parse_constant=refuse) for line in lines]
    for found, row in zip(objects, estimated(log, "--method", method), strict=True):
        assert list(found) == [*COLUMNS, *(CLASS_COLUMNS if method == "classes" else ())]
        for name in FIGURES:
            assert found[name] == (float(row[name]) if row[name] else None)
        assert found["changes"] == int(row["changes"])
        assert found["last_visit"] == (row["last_visit"] or None)
        for name in ("page", "status", "flags", "method"):
            assert found[name] == row[name]


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_files_hold_the_same_rows(log, tmp_path, suffix):
    path = tmp_path / f"rates.{suffix}"
    ended = run_here("estimate", log, "--now", NOW, "-o", path)

    assert ended.out == ""
    expected = estimated(log)
    if suffix == "csv":
        assert rows_of(path.read_text()) == expected
        return
    if suffix == "jsonl":
        found = [json.loads(line, parse_constant=refuse) for line in path.read_text().splitlines()]
    else:
        found = pq.read_table(path).to_pylist()
    for one, row in zip(found, expected, strict=True):
        for name in FIGURES:
            assert (one[name] is None) == (row[name] == "")
            assert row[name] == "" or one[name] == pytest.approx(float(row[name]), rel=1e-11)
        assert one["page"] == row["page"]


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_an_old_file_is_replaced(log, tmp_path, suffix):
    path = tmp_path / f"rates.{suffix}"
    path.write_text("old content")
    run_here("estimate", log, "-o", path)

    assert b"old content" not in path.read_bytes()


@pytest.mark.parametrize("source", ["csv", "jsonl", "parquet"])
def test_a_log_gives_the_same_rates_in_any_format(tmp_path, source):
    pages = ["/a", "/b", "/a", "/a", "/b", 'c, "d"\ne']
    times = [0, 0, 86_400, 400_000, 500_000, 7]
    changed = [None, None, True, False, False, None]
    path = tmp_path / f"visits.{source}"
    if source == "parquet":
        instants = pa.array([second * 1000 for second in times], pa.timestamp("ms", "Asia/Tokyo"))
        table = {"page": pages, "visited_at": instants, "changed": changed}
        pq.write_table(pa.table(table), path)
    elif source == "jsonl":
        rows = zip(pages, times, changed, strict=True)
        lines = [json.dumps({"page": p, "visited_at": t, "changed": c}) for p, t, c in rows]
        path.write_text("\n".join(lines))
    else:
        words = {None: "", True: "true", False: "false"}
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["page", "visited_at", "changed"])
            writer.writerows(zip(pages, times, [words[flag] for flag in changed], strict=True))

    rows = estimated(path)

    assert [row["page"] for row in rows] == ["/a", "/b", 'c, "d"\ne']
    assert [row["visits"] for row in rows] == ["3", "2", "1"]
    plain = write_log(
        tmp_path / "plain.csv",
        [
            *(("/a", 0, ""), ("/b", 0, ""), ("/a", 86_400, "true"), ("/a", 400_000, "false")),
            *(("/b", 500_000, "false"), ("/c", 7, "")),
        ],
    )
    for row, expected in zip(rows, estimated(plain), strict=True):
        assert {**row, "page": ""} == {**expected, "page": ""}


def test_a_header_alone_gives_a_header(tmp_path):
    log = write_log(tmp_path / "visits.csv", [])
    ended = run("estimate", log)

    assert ended.code == 0
    assert ended.out == HEADER + "\n"
    assert run_here("estimate", log, "--json").out == ""


def test_a_header_alone_gives_empty_parquet(log, tmp_path):
    empty = write_log(tmp_path / "empty.csv", [])
    run_here("estimate", empty, "-o", tmp_path / "empty.parquet")
    run_here("estimate", log, "-o", tmp_path / "some.parquet")

    table = pq.read_table(tmp_path / "empty.parquet")
    assert table.num_rows == 0
    assert table.schema == pq.read_schema(tmp_path / "some.parquet")


# Options.


def test_columns_can_have_other_names(tmp_path):
    rows = [("x", "/a", 0, ""), ("y", "/a", 86_400, "true")]
    log = write_log(tmp_path / "visits.csv", rows, "page,url,when,changed")

    (row,) = estimated(log, "--column", "page=url", "--column", "visited_at=when")

    assert (row["page"], row["visits"]) == ("/a", "2")


def test_pages_of_a_site_share_a_prior(tmp_path):
    """A page seen once gets its site's rate: here sites are named by a column."""
    rows = []
    for number in range(30):
        site = "busy" if number % 2 else "quiet"
        flag = "true" if number % 2 else "false"
        rows += [(f"/{number}", day(n), flag if n > 1 else "", site) for n in range(1, 9)]
    rows += [("/new-busy", day(1), "", "busy"), ("/new-quiet", day(1), "", "quiet")]
    log = write_log(tmp_path / "visits.csv", rows, "page,visited_at,changed,shop")

    pooled = {row["page"]: float(row["rate_per_day"]) for row in estimated(log)}
    apart = {
        row["page"]: float(row["rate_per_day"]) for row in estimated(log, "--site-column", "shop")
    }

    assert pooled["/new-busy"] == pooled["/new-quiet"]
    assert apart["/new-busy"] > 10 * apart["/new-quiet"]


@pytest.mark.parametrize("method", METHODS)
def test_a_higher_level_widens_the_band(log, method):
    narrow = estimated(log, "--method", method, "--level", "0.5")[0]
    wide = estimated(log, "--method", method, "--level", "0.99")[0]

    ends = [float(end) for end in (wide["low"], narrow["low"], narrow["high"], wide["high"])]
    assert ends == sorted(ends)
    if method != "classes":  # whose bands end at a class
        assert len(set(ends)) == len(ends)
    assert wide["rate_per_day"] == narrow["rate_per_day"]


def test_now_may_be_epoch_seconds(log):
    seconds = int(datetime(2026, 3, 1, tzinfo=UTC).timestamp())

    assert estimated(log, "--now", str(seconds)) == estimated(
        log, "--now", "2026-03-01T01:00+01:00"
    )


def test_bad_rows_may_be_left_out_and_are_counted(tmp_path):
    rows = [("/a", 0, ""), ("/a", "soon", ""), ("/a", 86_400, "true"), ("/a",), ("", 5, "")]
    log = write_log(tmp_path / "visits.csv", rows)
    ended = run("estimate", log, "--skip-bad-rows")

    assert ended.code == 0
    assert [row["visits"] for row in rows_of(ended.out)] == ["2"]
    assert ended.err.endswith("3 malformed rows skipped.\n")


def test_remarks_say_what_the_visits_could_not_tell(log):
    """On stderr: how many pages had too little data."""
    said = run_here("estimate", log).err.splitlines()

    assert said[0] == f"7 pages of {log}, method gamma."
    assert [line.split()[0] for line in said[1:]] == ["2", "2", "1"]
    assert "once" in said[1]
    assert "never changed" in said[2]
    assert "every gap" in said[3]


def test_priors_come_from_all_sites_of_a_log(log):
    """One prior for everything would give pages seen once the same rate everywhere."""
    rows = {row["page"]: row for row in estimated(log)}
    default = Priors.one()

    once = rows["https://b.org/once"]
    assert float(once["shape"]) != pytest.approx(float(default.shape[0]))
