"""`recrawl plan`, as people run it."""

import csv
import io
import json

import pytest

from tests.cli.running import names_in, run, run_here, sentence, write_log
from tests.cli.test_screen import on_a_terminal
from tests.inspect.looked import made
from tests.report.columns import CURVE_COLUMNS, PLAN_COLUMNS

RATES = [(f"https://{'ab'[n > 2]}.org/{n}", n) for n in range(1, 6)]


@pytest.fixture
def rates(tmp_path):
    return write_log(tmp_path / "rates.csv", RATES, "page,rate_per_day")


def rows_of(ended):
    return list(csv.DictReader(io.StringIO(ended.out)))


def test_a_row_a_page_on_the_standard_output(rates):
    ended = run("plan", rates, "--budget", "5/1d", "--objective", "freshness")
    rows = rows_of(ended)

    assert ended.code == 0
    assert list(rows[0]) == list(PLAN_COLUMNS)
    visits = [float(row["visits_per_day"]) for row in rows]
    assert visits == pytest.approx([1.15, 1.36, 1.35, 1.14, 0], abs=0.005)
    assert rows[4]["interval_days"] == ""
    assert "planned for 5/1d; one more visit per day is worth 0.216." in ended.err
    assert "Expected freshness 37.4 %; 36.5 % if all pages were visited equally often." in ended.err
    assert "1 page never visited" in ended.err


def test_where_equal_visits_are_fresher_the_objective_is_named(tmp_path):
    """By the age of copies, fast pages get more visits than pays off for freshness."""
    rates = write_log(tmp_path / "r.csv", [("a", 9), ("b", 1)], "page,rate_per_day")
    age, fresh = (
        run_here("plan", rates, "--budget", "2/1d", "--csv", "--objective", objective).err
        for objective in ("age", "freshness")
    )

    assert "visited equally often, but the plan optimises age, not freshness." in age
    assert "the plan optimises" not in fresh


def test_of_a_store_is_said_what_its_rates_rest_on(tmp_path):
    """60 pages, five rounds of visits, two days apart."""
    made(tmp_path / "recrawl.db")
    ended = run_here("plan", tmp_path / "recrawl.db", "--budget", "5/1d", "--csv")

    assert len(rows_of(ended)) == 60
    assert ended.err.splitlines()[-2:] == [
        "Rates are estimated from 300 visits in 9.0d and assumed to stay constant.",
        "The crawl's settings are ignored; `recrawl status` takes them into account.",
    ]


def test_what_estimate_writes_is_read_as_it_is(tmp_path):
    """All formats, and methods that leave cells empty."""
    log = [
        (f"p{n}", f"2026-01-{d:02}", str(d % (n + 1) == 0).lower())
        for n in range(3)
        for d in range(1, 20)
    ]
    log.append(("new", "2026-01-01", ""))
    visits = write_log(tmp_path / "visits.csv", log)
    for method in ("gamma", "ratio", "likelihood-plain", "cho"):
        for name in ("rates.csv", "rates.jsonl", "rates.parquet"):
            estimated = run_here("estimate", visits, "--method", method, "-o", tmp_path / name)
            assert estimated.code == 0
            ended = run_here("plan", tmp_path / name, "--budget", "0.5/page/1d", "--csv")
            total = sum(float(row["visits_per_day"]) for row in rows_of(ended))
            assert total == pytest.approx(2), (method, name)
            without = "1 without a rate: treated as never visited" in ended.err
            assert without == (method != "gamma"), (method, ended.err)
            planned = {row["page"]: float(row["visits_per_day"]) for row in rows_of(ended)}
            assert max(planned, key=lambda page: planned[page]) == "p0", "it changed in every gap"


def test_uncertain_rates_are_integrated_over(tmp_path, rates):
    header = "page,rate_per_day,shape,exposure_days"
    rows = [(page, rate, rate, 1) for page, rate in RATES]
    vague = write_log(tmp_path / "vague.csv", rows, header)
    words = ("--budget", "5/1d", "--objective", "freshness", "--csv")
    certain, uncertain = (rows_of(run_here("plan", file, *words)) for file in (rates, vague))

    assert float(certain[4]["visits_per_day"]) == 0
    assert float(uncertain[4]["visits_per_day"]) == pytest.approx(0.757, abs=5e-4)


def test_hosts_are_taken_from_addresses_or_a_column(tmp_path, rates):
    words = ("--budget", "5/1d", "--per-host", "2/1d", "--json")
    ended = run_here("plan", rates, *words)
    visits = [json.loads(line)["visits_per_day"] for line in ended.out.splitlines()]

    assert sum(visits[:2]) == pytest.approx(2)
    assert sum(visits[2:]) == pytest.approx(2)
    assert "2 of 2 hosts at their limit." in ended.err
    assert "planned for 4/1d of 5/1d: every page worth visiting is at its maximum" in ended.err
    named = write_log(tmp_path / "h.csv", [(*row, "x") for row in RATES], "page,rate_per_day,host")
    assert "1 of 1 hosts at their limit." in run_here("plan", named, *words).err


def test_intervals_are_kept(rates):
    ended = run_here(
        "plan", rates, "--budget", "5/1d", "--objective", "freshness", "--max-interval", "2d",
        "--min-interval", "20h", "--csv",
    )  # fmt: skip
    intervals = [float(row["interval_days"]) for row in rows_of(ended)]

    assert max(intervals) == pytest.approx(2)
    assert min(intervals) == pytest.approx(20 / 24)


def test_weights_and_other_names_of_columns(tmp_path):
    table = write_log(tmp_path / "w.csv", [("a", 1, 4), ("b", 1, 1)], "url,rate_per_day,weight")
    ended = run_here(
        "plan", table, "--budget", "3/1d", "--objective", "missed", "--column", "page=url", "--csv"
    )

    assert [float(row["visits_per_day"]) for row in rows_of(ended)] == pytest.approx([2, 1])


def test_weights_of_a_file_are_those_of_a_column(tmp_path, rates):
    """Views of one page add up, and pages that are not named weigh as the least that is."""
    views = [("https://a.org/1", 3), ("https://B.org/4", 8), ("https://A.org/1", 2), ("/x", 4)]
    file = write_log(tmp_path / "views.csv", views, "url,hits")
    column = [(page, rate, {1: 5, 4: 8}.get(rate, 4)) for page, rate in RATES]
    own = write_log(tmp_path / "own.csv", column, "page,rate_per_day,weight")
    budget = ("--budget", "5/1d")

    ended = run_here("plan", rates, *budget, "--weights", file)
    assert rows_of(ended) == rows_of(run_here("plan", own, *budget))
    assert "views.csv has weights for 2 of 5 pages" in ended.err
    assert (
        "the others get 4, the smallest weight in it; 1 name in it is not a page here." in ended.err
    )
    renamed = write_log(tmp_path / "renamed.csv", views, "a,b")
    names = ("--column", "weights.page=a", "--column", "weights.weight=b")
    other = run_here("plan", rates, *budget, "--weights", renamed, *names)
    assert other.out == ended.out


def test_bad_weights_are_refused_in_one_sentence(tmp_path, rates):
    file = write_log(tmp_path / "views.csv", [("https://a.org/1", 0)], "page,weight")
    said = sentence(run("plan", rates, "--budget", "5/1d", "--weights", file))

    assert "views.csv, line 2, column 'weight': must be a number above 0" in said


def test_visits_a_change_and_random_instants(rates):
    words = ("--budget", "0.5/change", "--form", "randomised", "--objective", "freshness")
    ended = run_here("plan", rates, *words, "--csv")

    assert "planned for 7.5/1d" in ended.err
    assert sum(float(row["visits_per_day"]) for row in rows_of(ended)) == pytest.approx(7.5)


def test_what_budgets_buy_and_a_picture(rates, tmp_path):
    picture = tmp_path / "budget.svg"
    ended = run_here("plan", rates, "--budget", "5/1d", "--curve", "--plot", picture, "--csv")
    rows = rows_of(ended)

    assert list(rows[0]) == list(CURVE_COLUMNS)
    assert [row["budget"] for row in rows][8] == "5/1d"
    fresh = [float(row["freshness"]) for row in rows]
    assert fresh == sorted(fresh)
    assert picture.read_text().startswith("<svg")


def test_budgets_that_do_not_pay_for_the_floors_are_left_out_of_the_curve(rates):
    words = ("--budget", "5/1d", "--max-interval", "1d", "--curve", "--csv")
    rows = rows_of(run_here("plan", rates, *words))

    assert rows[0]["budget"] == "5/1d"


def test_a_terminal_shows_a_table(rates):
    lines, remarks = on_a_terminal("plan", str(rates), "--budget", "5/1d")
    curve, _ = on_a_terminal("plan", str(rates), "--budget", "5/1d", "--curve")

    assert lines[0].split()[:3] == ["page", "visit", "every"]
    assert lines[1].startswith("https://a.org/1")
    assert "Expected freshness" in remarks
    assert curve[0].split()[0] == "budget"


@pytest.mark.parametrize("name", ["plan.csv", "plan.jsonl", "plan.parquet"])
def test_a_file_gets_the_rows(rates, tmp_path, name):
    assert run_here("plan", rates, "--budget", "5/1d", "-o", tmp_path / name).code == 0
    assert names_in(tmp_path) == sorted([name, "rates.csv"])


@pytest.mark.parametrize(
    ("table", "wrong"),
    [
        ("", "the file is empty; expected a header and rows"),
        ("page,rate_per_day\n", "must hold rates (got no rows)"),
        ("page,rate\na,1\n", "column 'rate_per_day' not found (got page, rate)"),
        ("page,rate_per_day\na,fast\n", "line 2, column 'rate_per_day': must be a number"),
        ("page,rate_per_day\na,-1\n", "at least 0 (got '-1')"),
        ("page,rate_per_day\na,inf\n", "at least 0 (got 'inf')"),
        ("page,rate_per_day\na,1\na,2\n", "line 3, column 'page': must name each page once"),
        ("page,rate_per_day\n ,1\n", "must name a page"),
        ("page,rate_per_day,weight\na,1,\n", "column 'weight': must be a number"),
        ("page,rate_per_day\na\n", "line 2: must have as many cells as the header, 2 (got 1)"),
        ('{"page": "a", "rate_per_day": 1}\n[]\n', "line 2: must be a JSON object (got '[]')"),
    ],
)
def test_a_bad_table_is_refused_in_one_sentence(tmp_path, table, wrong):
    path = tmp_path / "rates.csv"
    path.write_text(table)

    assert wrong in sentence(run("plan", path, "--budget", "5/1d", "-o", tmp_path / "plan.csv"))
    assert names_in(tmp_path) == ["rates.csv"]


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (["--budget", "many"], "budget must look like 5000/1d, 0.1/page/1d or 4/change"),
        (
            ["--budget", "5/1d", "--objective", "fun"],
            "objective must be one of freshness, harmonic",
        ),
        (["--budget", "5/1d", "--form", "square"], "form must be one of periodic, randomised"),
        (["--budget", "5/1d", "--per-host", "4/change"], "per-host must look like 5000/1d"),
        (["--budget", "5/1d", "--max-interval", "soon"], "duration must look like"),
        (
            ["--budget", "5/1d", "--max-interval", "1h"],
            (
                "budget must be at least 120 visits per day, for max-interval asks for one to each "
                "of 5 pages every 1.0h (got 5)"
            ),
        ),
        (
            ["--budget", "5/1d", "--max-interval", "1d", "--per-host", "2/1d"],
            (
                "per-host must be at least 3 visits per day, for max-interval asks for one to each "
                "of 3 pages of b.org every 1.0d (got 2)"
            ),
        ),
        (
            ["--budget", "5/1d", "--min-interval", "10d", "--max-interval", "1d"],
            "min-interval must be at most max-interval, 1d (got '10d')",
        ),
        (["--budget", "5/1d", "--plot", "x.gif"], "output must end in .svg, .png"),
        (["--budget", "5/1d", "-o", "x.txt"], "output must end in .csv"),
        (["--budget", "5/1d", "-o", "rates.csv"], "is an input, which is never overwritten"),
    ],
)
def test_what_means_nothing_is_refused_in_one_sentence(words, wrong, rates, tmp_path):
    assert wrong in sentence(run("plan", "rates.csv", *words, cwd=tmp_path))
    assert names_in(tmp_path) == ["rates.csv"]


def test_a_cap_a_host_needs_hosts(tmp_path):
    table = write_log(tmp_path / "r.csv", [("page 1", 1)], "page,rate_per_day")

    refused = sentence(run("plan", table, "--budget", "5/1d", "--per-host", "60/1h"))
    assert "a limit per host needs pages that are addresses, or a column 'host'" in refused


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--budget", "5/1d", "--csv", "--json"],
        ["--budget", "5/1d", "--form", "randomised", "--curve"],
    ],
)
def test_options_that_do_not_go_together_are_wrong_usage(words, rates, tmp_path):
    assert run("plan", "rates.csv", *words, cwd=tmp_path).code == 2
    assert names_in(tmp_path) == ["rates.csv"]
