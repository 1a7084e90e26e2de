"""`recrawl trends`, as people run it."""

import csv
import io
import json

import numpy as np
import pytest

from recrawl.trends.fits import ESTIMATORS
from recrawl.trends.next_change import PREDICTORS
from tests.cli.running import names_in, run, run_here, sentence, write_log
from tests.cli.test_screen import on_a_terminal
from tests.report.columns import (
    COUNT_COLUMNS,
    ERROR_COLUMNS,
    FOLLOW_COLUMNS,
    GAP_COLUMNS,
    LOCAL_COLUMNS,
    NEXT_COLUMNS,
    POWER_COLUMNS,
    SEASON_COLUMNS,
    SEGMENT_COLUMNS,
    TEST_COLUMNS,
    TREND_COLUMNS,
    WINDOW_COLUMNS,
)

VERBS = [
    *(["pages"], ["windows"], ["next"], ["counts"], ["test"], ["rates", "--by", "hour"]),
    *(["change-points"], ["power-law"], ["gaps"], ["errors"], ["follow"]),
    *(["errors", "--by", "size"], ["errors", "--by", "threshold"]),
]
DAY = 86_400
START = 1_767_225_600  # 2026-01-01


@pytest.fixture
def log(tmp_path):
    """A page that changes every other day, one that has gone quiet, and one seen once."""
    rows = []
    for day in range(60):
        rows.append(("/busy", START + day * DAY, "true" if day % 2 else "false"))
        rows.append(("/quiet", START + day * DAY, "true" if day < 10 else "false"))
    rows.append(("/new", START, ""))
    return write_log(tmp_path / "visits.csv", rows)


@pytest.fixture
def changes(tmp_path):
    """All changes of two pages, in no order."""
    rows: list[tuple[str, float]] = [("/b", START + 3 * DAY), ("/a", START + 9 * DAY)]
    rows += [("/a", START + day * DAY) for day in (0, 1, 3, 6, 4.5)]
    return write_log(tmp_path / "changes.csv", rows, header="page,changed_at")


def rows_of(ended):
    assert ended.code == 0, ended
    return list(csv.DictReader(io.StringIO(ended.out)))


@pytest.mark.parametrize(
    ("words", "columns"),
    [
        (["pages"], TREND_COLUMNS),
        (["windows"], WINDOW_COLUMNS),
        (["test"], TEST_COLUMNS),
        (["next"], NEXT_COLUMNS),
        (["counts"], COUNT_COLUMNS),
        (["change-points"], SEGMENT_COLUMNS),
        (["power-law"], POWER_COLUMNS),
        (["rates"], LOCAL_COLUMNS),
        (["rates", "--between", "2026-01-05", "2026-02-01"], LOCAL_COLUMNS),
        (["season", "--month", "2026-03"], SEASON_COLUMNS),
    ],
)
def test_each_table_has_its_columns(log, words, columns):
    rows = rows_of(run("trends", *words, log))

    assert list(rows[0]) == list(columns)
    assert rows[0]["page"] == "/busy"


@pytest.mark.parametrize(
    ("verb", "columns"),
    [("gaps", GAP_COLUMNS), ("errors", ERROR_COLUMNS), ("follow", FOLLOW_COLUMNS)],
)
def test_tables_of_all_pages_together(log, verb, columns):
    assert list(rows_of(run("trends", verb, log))[0]) == list(columns)


def test_a_direction_is_named_only_where_it_is_not_chance(tmp_path):
    """At the level of 5 %: every page changes every other day, or only in the second half."""
    rows = [
        (page, day, "" if day == 0 else str(changed).lower())
        for page, changes in (("/even", lambda day: day % 2 > 0), ("/rising", lambda day: day > 30))
        for day, changed in ((day, changes(day)) for day in range(61))
    ]
    log = tmp_path / "visits.csv"
    start = np.datetime64("2026-01-01")
    lines = [f"{page},{start + day},{changed}" for page, day, changed in rows]
    log.write_text("\n".join(["page,visited_at,changed", *lines, "/once,2026-01-01,"]) + "\n")

    found = rows_of(run_here("trends", "test", log))
    pages = rows_of(run_here("trends", "pages", log))

    for row in found:
        assert (row["direction"] == "none") == (row["p"] != "" and float(row["p"]) >= 0.05)
    assert [row["direction"] for row in found] == ["none", "increasing", ""]
    assert [row["trend"] for row in pages] == ["none", "increasing", ""]


def test_a_row_a_page(log):
    busy, quiet, new = rows_of(run_here("trends", "pages", log))

    assert busy["changes"] == "30"
    assert float(busy["rate_per_day"]) > 5 * float(quiet["rate_per_day"])
    assert quiet["trend"] == "decreasing"
    assert float(quiet["trend_p"]) < 0.001
    assert busy["low"] < busy["next_at"] < busy["high"]
    assert new["status"] == "prior_only"
    assert new["trend_p"] == ""


def test_windows_have_an_error_by_each_estimator(log):
    lines = run_here("trends", "windows", log, "--json").out.splitlines()
    rows = [json.loads(line) for line in lines]

    assert list(rows[0]) == list(WINDOW_COLUMNS)
    assert list(rows[0]["mse"]) == list(ESTIMATORS)
    assert sum(row["points"] for row in rows if row["page"] == "/busy") == 30
    assert next(row["window"] for row in rows if row["page"] == "/busy") == 1


def test_predictions_by_each_method(log):
    rows = rows_of(run_here("trends", "next", log))

    assert [row["method"] for row in rows] == [*PREDICTORS] * 3
    assert rows[0]["low"] < rows[0]["next_at"] < rows[0]["high"]
    assert rows[-1]["next_at"] == ""  # seen once: no window


def test_a_rate_by_month_follows_the_page(log):
    rows = rows_of(run_here("trends", "rates", log, "--page", "/quiet", "--by", "month"))

    assert [row["period"] for row in rows] == ["2026-01", "2026-02"]
    assert float(rows[0]["rate_per_day"]) > 4 * float(rows[1]["rate_per_day"])


def test_a_file_of_changes_is_a_complete_history(changes):
    """The first change of a page is its origin; the others are points."""
    ended = run_here("trends", "pages", changes)
    page_b, page_a = rows_of(ended)

    assert (page_b["page"], page_a["page"]) == ("/b", "/a")
    assert (page_b["changes"], page_a["changes"]) == ("0", "5")
    assert "(all changes)" in ended.err


def test_windows_of_a_file_of_changes(changes):
    """1, 3, 4.5, 6 and 9 days after the first change."""
    (row,) = [
        json.loads(line)
        for line in run_here("trends", "windows", changes, "--json").out.splitlines()
    ]

    assert row["points"] == 5
    assert row["start"].startswith("2026-01-01")
    assert row["end"].startswith("2026-01-10")


@pytest.mark.parametrize("place", ["middle", "end", "random"])
def test_changes_may_be_placed(log, place):
    rows = rows_of(run_here("trends", "windows", log, "--place", place, "--page", "/busy"))

    ends = {"middle": "2026-02-28T12", "end": "2026-03-01T00", "random": "2026-02-28"}
    assert rows[-1]["end"].startswith(ends[place])


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_files_hold_all_rows(log, tmp_path, suffix):
    output = tmp_path / f"windows.{suffix}"

    assert run_here("trends", "windows", log, "-o", output).code == 0
    if suffix == "parquet":
        pq = pytest.importorskip("pyarrow.parquet")
        table = pq.read_table(output)
        assert table.column_names == list(WINDOW_COLUMNS)
        assert list(table["mse"][0].as_py()) == list(ESTIMATORS)


def test_a_terminal_shows_a_table_and_the_months_of_one_page(log):
    lines, remarks = on_a_terminal("trends", "pages", log, "--page", "/busy", columns=160)

    assert lines[0].split()[:4] == ["page", "changes", "state", "beta"]
    assert any(line.startswith("rate by month, 2026-01 to 2026-02") for line in lines)
    assert "1 page of" in remarks


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (
            ["rates", "--by", "decade"],
            "by must be one of month, weekday, hour, year (got 'decade')",
        ),
        (["next", "--place", "start"], "place must be one of middle, end, random (got 'start')"),
        (
            ["rates", "--between", "2026-02-01", "2026-01-01"],
            "--between must begin with the earlier",
        ),
        (["rates", "--between", "soon", "later"], "time must be ISO 8601"),
        (["errors", "--by", "page"], "by must be one of state, size, threshold"),
        (["errors", "--estimators", "norman"], "estimators must be one of ratio, running"),
        (["follow", "--method", "norman"], "forecaster must be one of ratio"),
        (["counts", "--within", "0d"], "duration must be above 0 (got '0d')"),
        (["gaps", "--every", "often"], "duration must look like"),
        (["season", "--month", "January"], "--month must look like 2027-01 (got 'January')"),
        (["season", "--month", "2027-13"], "--month must look like 2027-01 (got '2027-13')"),
        (["windows", "--reading", "sum"], "reading must be one of likelihood, point, count"),
        (["windows", "--variant", "hat"], "variant must be one of likely, corrected"),
        (["windows", "--backward"], "backward needs another reading"),
        (["windows", "--level", "2"], "level must be between 0 and 1"),
        (["test", "--page", "/none"], "no page '/none'"),
        (["pages", "-o", "rates.txt"], "output must end in .csv"),
        (["pages", "--plot", "page.gif", "--page", "/busy"], "output must end in .svg, .png"),
    ],
)
def test_what_means_nothing_is_refused_in_one_sentence(log, words, wrong):
    assert wrong in sentence(run("trends", *words, log))
    assert names_in(log.parent) == ["visits.csv"]


@pytest.mark.parametrize(
    "words",
    [
        ["pages", "--csv", "--json"],
        ["rates", "--by", "month", "--between", "2026-01-01", "2026-02-01"],
        ["pages", "--plot", "x.svg"],
        ["windows", "--plot", "x.svg"],
        ["errors", "--plot", "x.svg"],
        ["rates", "--plot", "x.svg"],
        ["rates", "--plot", "x.svg", "--page", "/busy", "--between", "2026", "2027"],
    ],
)
def test_options_that_do_not_go_together_are_wrong_usage(log, words):
    assert run("trends", *words, log).code == 2


@pytest.mark.parametrize("words", VERBS)
@pytest.mark.parametrize(
    "rows",
    [
        [("/a", START, "")],
        [("/a", START, ""), ("/a", START + DAY, "true")],
        [("/a", START + hour * 3600, "true") for hour in range(4)],
        [("/a", START, "true")] * 3,
        [("/a", START + day * DAY, "false") for day in (3, 1, 2, 0)],
    ],
    ids=["one visit", "one change", "one day", "one instant", "out of order, never changed"],
)
def test_little_to_go_by_is_no_error(tmp_path, words, rows):
    """Never a crash or a nan; what is not known is empty."""
    ended = run_here("trends", *words, write_log(tmp_path / "few.csv", rows))

    assert ended.code == 0
    assert "nan" not in ended.out
    assert "inf" not in ended.out


def test_pages_that_a_constant_rate_would_mislead_about_are_named(tmp_path):
    """A page that is built at noon, every day, seen four times a day."""
    rows = [
        ("/build", START + hour * 3600, "true" if hour % 24 == 12 else "false")
        for hour in range(0, 24 * 60, 6)
    ]
    ended = run_here("trends", "pages", write_log(tmp_path / "visits.csv", rows))

    assert rows_of(ended)[0]["kind"] == "periodic"
    assert "1 page periodic: changes follow a timetable: visit just after them." in ended.err


def test_all_changes_lie_in_the_months_they_came_in(tmp_path):
    """Four in January after the first, none in February, two in March: no fractions."""
    days = [0, 5, 10, 20, 30, 60, 70]
    rows = [("/a", START + day * DAY) for day in days]
    log = write_log(tmp_path / "changes.csv", rows, header="page,changed_at")
    found = rows_of(run_here("trends", "rates", log, "--by", "month"))

    assert [float(row["changes"]) for row in found] == [4, 0, 2]


@pytest.mark.parametrize("verb", ["pages", "windows", "rates"], ids=["timeline", "duane", "months"])
@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_one_page_is_drawn(log, tmp_path, verb, suffix):
    picture = tmp_path / f"busy.{suffix}"
    ended = run_here("trends", verb, log, "--page", "/busy", "--plot", picture)

    assert ended.code == 0
    assert picture.stat().st_size > 5_000


def test_months_are_drawn_as_months(tmp_path):
    """Also those of twelve years, of which a timeline draws years."""
    rows = [("/a", START + day * DAY, str(day % 3 == 0)) for day in range(0, 4400, 10)]
    log = write_log(tmp_path / "visits.csv", rows)
    picture = tmp_path / "a.svg"

    ended = run_here("trends", "rates", log, "--by", "month", "--page", "/a", "--plot", picture)

    assert ended.code == 0
    drawn = picture.read_text()
    assert "changes per day by month" in drawn
    assert drawn.count('aria-roledescription="point"') == len(rows_of(ended))


def test_a_timeline_of_all_changes_has_no_visits(changes, tmp_path):
    """Nobody visited: only changes are known."""
    picture = tmp_path / "a.svg"

    assert run_here("trends", "pages", changes, "--page", "/a", "--plot", picture).code == 0
    assert "5 changes" in picture.read_text()
    assert "visits" not in picture.read_text()


@pytest.mark.parametrize("days", [[0], [0, 1], list(range(0, 4400, 40))])
def test_pages_with_few_visits_and_with_many_years_are_drawn(tmp_path, days):
    rows = [("/a", START + day * DAY, "true") for day in days]
    log = write_log(tmp_path / "visits.csv", rows)

    assert run_here("trends", "pages", log, "--page", "/a", "--plot", tmp_path / "a.svg").code == 0


def test_the_input_is_never_written_over(log):
    before = log.read_text()

    assert "is an input, which is never overwritten" in sentence(
        run("trends", "pages", log, "-o", log)
    )
    assert log.read_text() == before


@pytest.fixture
def step(tmp_path):
    """A page with three regimes: 15 gaps of 50 days, 13 of 2.2 days, 8 of 50 days."""
    day, rows = 0.0, [("/step", float(START))]
    for gap in [50.0] * 15 + [2.2] * 13 + [50.0] * 8:
        day += gap
        rows.append(("/step", START + day * DAY))
    return write_log(tmp_path / "step.csv", rows, header="page,changed_at")


@pytest.mark.parametrize(
    ("words", "points"),
    [
        ([], [15, 13, 8]),
        (["--reading", "point"], [15, 13, 8]),
        (["--reading", "envelope"], [15, 13, 8]),
        (["--reading", "budget"], [15, 13, 8]),
        (["--reading", "point", "--backward"], [14, 13, 9]),
        (["--reading", "count"], [36]),
        (["--reading", "count", "--threshold", "0"], [15, 13, 8]),
    ],
)
def test_three_regimes_by_each_reading(step, words, points):
    """The state is that of the whole window; a walk back takes the jump into the next one."""
    rows = rows_of(run_here("trends", "windows", step, *words))

    assert [int(row["points"]) for row in rows] == points
    if points == [15, 13, 8]:
        assert [row["state"] for row in rows] == ["constant"] * 3


def test_state_and_beta_agree(changes, log):
    """A state other than constant only where the band of beta leaves out 1, on its side."""
    for words in ([log], [log, "--reading", "count"], [changes], [log, "--level", "0.3"]):
        for row in rows_of(run_here("trends", "windows", *words)):
            low, high = float(row["beta_low"] or 0), float(row["beta_high"] or 9)
            sides = {"increasing": low > 1, "decreasing": high < 1, "constant": low <= 1 <= high}
            assert sides.get(row["state"], int(row["points"]) < 4)


def test_variants_of_the_weibull_rate(changes):
    """1, 3, 4.5, 6 and 9 days: S = 4.394449, so (n - 2) / S = 0.682679 and n / S = 1.137798."""
    rates = {
        name: float(rows_of(run_here("trends", "windows", changes, "--variant", name))[0][column])
        for name, column in [("corrected", "rate_per_day"), ("likely", "rate_per_day")]
    }
    checked = rows_of(run_here("trends", "windows", changes, "--variant", "check"))[0]

    assert rates == pytest.approx({"corrected": 5 * 0.682679 / 9, "likely": 5 * 1.137798 / 9})
    assert float(checked["rate_per_day"]) == pytest.approx(rates["corrected"] * 2 / 3)


def test_sums_of_errors_of_a_window(changes):
    """The ratio's mean interval times the points is the span: its errors cancel."""
    line = run_here("trends", "windows", changes, "--json").out.splitlines()[0]
    sums = json.loads(line)["error_sum"]

    assert sums["ratio"] == pytest.approx(0, abs=1e-9)
    assert sums["running"] == pytest.approx(1 + 1.5 + 1.5 + 1.5 + 1.8 - 9)


def test_changes_of_pages_are_summed_up(log):
    """30, 9 and 0 changes: the first visit is the baseline."""
    ended = run_here("trends", "pages", log)

    assert "Changes of a page: 0 to 30, mean 13.0, standard deviation 12.6." in ended.err


def test_counts_are_those_of_a_poisson_process(step):
    """Eight changes in 400 days: by the ratio 0.6 within 30 days."""
    lines = run_here("trends", "counts", step, "--within", "30d", "--most", "2", "--json").out
    (row,) = [row for row in map(json.loads, lines.splitlines()) if row["method"] == "ratio"]

    assert row["mean"] == pytest.approx(0.6)
    assert row["chance"] == pytest.approx({"0": 0.548812, "1": 0.329287, "2": 0.098786}, rel=1e-5)


def test_jumps_of_the_rate_are_dated(step):
    rows = rows_of(run_here("trends", "change-points", step))

    assert [row["start"][:7] for row in rows] == ["2026-01", "2028-01", "2028-02"]
    assert sum(int(row["changes"]) for row in rows) == 36
    assert float(rows[1]["rate_per_day"]) > 10 * float(rows[0]["rate_per_day"])


def test_a_power_law_is_fitted_to_visits(log):
    busy, quiet, new = rows_of(run_here("trends", "power-law", log))

    assert (quiet["beta"], quiet["status"]) == ("", "no_maximum")  # ever steeper laws fit better
    assert float(busy["beta_low"]) < 1 < float(busy["beta_high"])
    assert new["beta"] == ""


@pytest.mark.parametrize(
    "words",
    [["gaps"], ["errors", "--by", "size"], ["errors", "--by", "threshold"]],
    ids=["gaps", "sizes", "thresholds"],
)
def test_all_pages_are_drawn(log, tmp_path, words):
    picture = tmp_path / "all.svg"

    assert run_here("trends", *words, log, "--plot", picture).code == 0
    assert picture.stat().st_size > 5_000


def test_only_pages_of_one_pace(log):
    """The busy page changes every other day, the quiet one every six."""
    assert "of 1 page." in run_here("trends", "gaps", log, "--every", "2d").err
    none = run_here("trends", "gaps", log, "--every", "300d")
    assert "0 gaps of 0 pages: no page has the 5 changes it takes at this pace." in none.err


def test_too_few_changes_are_said_to_be_too_few(tmp_path):
    """All that the table could show is zeros, and none of them negative."""
    log = write_log(tmp_path / "few.csv", [("/a", 1, 0), ("/a", 2, 1)])
    ended = run_here("trends", "gaps", log)

    assert "0 gaps of 0 pages: no page has the 5 changes it takes." in ended.err
    assert {row["random"] for row in rows_of(ended)} == {"0"}


def test_waiting_less_finds_more_prematurely(log):
    rows = rows_of(run_here("trends", "follow", log, "--method", "ratio", "--wait-share", "1"))
    hasty = rows_of(run_here("trends", "follow", log, "--method", "ratio", "--wait-share", "0.3"))

    assert int(hasty[0]["premature"]) > int(rows[0]["premature"])
    assert int(rows[0]["observed"]) + int(rows[0]["premature"]) == int(rows[0]["visits"])


def test_forecasts_compare_at_equal_visits(log):
    rows = rows_of(run_here("trends", "follow", log, "--equal-visits", "20", "--decreasing", "1"))

    assert [row["method"] for row in rows] == ["ratio", "weibull", "duane", "cho", "matloff"]
    assert [row["visits"] for row in rows[:4]] == ["20"] * 4  # matloff never waits on /quiet


def test_new_windows_may_begin_on_the_way(log):
    words = ("--method", "weibull", "--decreasing", "1")
    rows = rows_of(run_here("trends", "follow", log, *words, "--new-windows"))

    assert [row["method"] for row in rows] == ["weibull"]


def test_the_published_comparison_of_estimators(tmp_path):
    """Pages that change on a day by chance: Weibull is best in nine of ten windows, in-sample."""
    random = np.random.default_rng(1)
    rows = [
        (f"/{page}", day * DAY, str(bool(random.random() < chance)).lower())
        for page, chance in enumerate(random.beta(1.94, 1.83, 20))
        for day in range(200)
    ]
    log = write_log(tmp_path / "days.csv", rows)
    lines = run_here("trends", "errors", log, "--json").out.splitlines()
    weibull, *_, matloff = [row for row in map(json.loads, lines) if row["state"] == "all"]

    assert weibull["best"] == pytest.approx(0.92, abs=0.05)
    assert weibull["beats"]["cho"] > 0.95
    assert matloff["best"] == 0


def test_a_season_is_forecast_from_past_years(tmp_path):
    """A report that changes twelve times each January and not at all until the next."""
    rows = [
        ("/report", f"{year}-01-{day:02}") for year in (2024, 2025, 2026) for day in range(2, 26, 2)
    ]
    file = write_log(tmp_path / "changes.csv", rows, header="page,changed_at")

    (row,) = rows_of(run_here("trends", "season", file, "--month", "2027-01"))

    assert row["month"] == "2027-01"
    assert float(row["season_weight"]) > 0.9
    assert float(row["recent_per_day"]) < float(row["low"]) < float(row["rate_per_day"])
    assert float(row["rate_per_day"]) < float(row["high"]) < 1
    assert float(row["rate_per_day"]) == pytest.approx(36 / 85, rel=0.1)
