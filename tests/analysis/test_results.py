"""What results are: rows with names, frames, text, and the same as the command line writes."""

from datetime import UTC, date, datetime
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import recrawl
from recrawl.errors import InvalidParameter, InvalidTable, MissingExtra, MissingPackage, UnknownPage
from recrawl.plan.budget import Budget
from recrawl.simulate import log_normal_rates, make_world
from tests.analysis.visits import PAGES, made
from tests.cli.running import run_here

NOW = "2026-02-15"


@pytest.fixture(scope="module")
def log():
    return made()


@pytest.fixture(scope="module")
def rates(log):
    return recrawl.estimate(log, now=NOW)


@pytest.fixture
def parquet(log, tmp_path):
    path = tmp_path / "visits.parquet"
    pq.write_table(log, path)
    return path


def wrong(value: Any) -> Any:
    """What a type checker would refuse, and a person may write."""
    return value


def written(tmp_path, *words):
    """What the command line writes to a Parquet file."""
    path = tmp_path / "out.parquet"
    ended = run_here(*words, "-o", path)
    assert ended.code == 0, ended
    return pq.read_table(path)


@pytest.mark.parametrize("method", ["gamma", "likelihood", "classes"])
def test_estimates_are_what_the_command_line_writes(method, parquet, tmp_path):
    found = recrawl.estimate(parquet, now=NOW, method=method, level=0.8)

    words = ("estimate", parquet, "--now", NOW, "--method", method, "--level", "0.8")
    assert found.to_arrow().equals(written(tmp_path, *words))


@pytest.mark.parametrize(
    ("kind", "period", "words"),
    [
        ("pages", "", ()),
        ("windows", "", ()),
        ("next", "", ()),
        ("test", "", ()),
        ("rates", "", ()),
        ("rates", "weekday", ("--by", "weekday")),
        ("season", "2026-03", ("--month", "2026-03")),
        ("change-points", "", ()),
        ("power-law", "", ()),
    ],
)
def test_trends_are_what_the_command_line_writes(kind, period, words, parquet, tmp_path):
    found = recrawl.trends(parquet, kind=kind, period=period)

    assert found.to_arrow().equals(written(tmp_path, "trends", kind, parquet, *words))


def test_plans_are_what_the_command_line_writes(rates, tmp_path):
    file = tmp_path / "rates.parquet"
    pq.write_table(rates.to_arrow(), file)
    words = ("--budget", "3/1d", "--per-host", "2/1d", "--max-interval", "9d")

    found = recrawl.plan(rates, budget="3/1d", per_host="2/1d", max_interval="9d")

    assert found.to_arrow().equals(written(tmp_path, "plan", file, *words))


def test_simulations_are_what_the_command_line_writes(tmp_path):
    found = recrawl.simulate("turnover", policies="uniform,nutch", budget="1/change", warm_up="30d")
    words = ("--policy", "uniform,nutch", "--budget", "1/change", "--warm-up", "30d")

    expected = written(tmp_path, "simulate", "world", "turnover", *words)
    assert found.to_arrow().drop(["seconds"]).equals(expected.drop(["seconds"]))


def test_a_row_is_found_by_its_name_or_its_number(rates):
    row = rates[PAGES[2]]

    assert row == rates[2] == list(rates)[2]
    assert row["page"] == PAGES[2]
    assert row["rate_per_day"] == rates.estimates.rate[2]
    assert PAGES[2] in rates
    assert rates[-1]["page"] == rates.names[-1]


def test_what_is_not_known_is_none():
    once = {"page": ["/a"], "visited_at": ["2026-01-01"], "changed": [None]}

    row = recrawl.estimate(once, method="likelihood")["/a"]

    assert row["rate_per_day"] is None
    assert row["last_visit"] == datetime(2026, 1, 1, tzinfo=UTC)


def test_an_unknown_page_is_said(rates):
    with pytest.raises(UnknownPage, match="no page '/nowhere' among 8"):
        rates["/nowhere"]
    with pytest.raises(IndexError):
        rates[8]


def test_a_column_asked_for_as_a_row_is_pointed_to(rates):
    with pytest.raises(UnknownPage, match=r"among 8; column\('rate_per_day'\) gives that column$"):
        rates["rate_per_day"]


def test_some_rows_are_a_result_of_the_same_kind(log, rates):
    """With all that belongs to these rows, so that it can be planned, drawn and shown."""
    some = rates[2:5]

    assert isinstance(some, type(rates))
    assert list(some) == list(rates)[2:5]
    assert some.estimates.rate.tolist() == rates.estimates.rate[2:5].tolist()
    assert some.to_arrow().equals(rates.to_arrow().slice(2, 3))
    assert repr(some).splitlines()[1:-1] == repr(rates).splitlines()[3:6]
    assert rates[::-1].names == rates.names[::-1]
    assert rates.head().names == rates.names[:5]
    assert rates.head(2).names == rates.names[:2]
    assert len(rates.head(0)) == len(rates[9:]) == 0
    assert recrawl.plan(some, budget="2/1d").names == some.names


def test_some_rows_of_every_result_are_shown(log, rates):
    plan = recrawl.plan(rates, budget="2/1d")
    trends = recrawl.trends(log)
    simulation = recrawl.simulate(log, policies=["uniform", "nutch"], budget="2/1d")

    for result in (plan, trends, simulation):
        last = result[len(result) - 1 :]
        assert isinstance(last, type(result))
        assert last.names == result.names[-1:]
        assert repr(last).splitlines()[1].split() == repr(result).splitlines()[-2].split()
    assert repr(plan[:3]).splitlines()[-1].startswith("3 of 8 pages, 2/1d")


@pytest.mark.parametrize(
    "now",
    [
        date(2026, 8, 21),
        datetime(2026, 8, 21),  # noqa: DTZ001 - as frames have them
        datetime(2026, 8, 21, tzinfo=UTC),
        datetime(2026, 8, 21, 2, tzinfo=ZoneInfo("Europe/Berlin")),
        pd.Timestamp("2026-08-21"),
        pd.Timestamp("2026-08-21", tz="UTC"),
        np.datetime64("2026-08-21"),
    ],
)
def test_now_is_any_kind_of_time_in_utc_without_an_offset(log, now):
    assert recrawl.estimate(log, now=now).now == np.datetime64("2026-08-21", "us")


def test_a_number_is_a_budget_of_visits_per_day(rates):
    numbers: list[Any] = [50, 50.0, np.int64(50)]
    for number in numbers:
        found = recrawl.plan(rates, budget=number)
        assert found.to_arrow().equals(recrawl.plan(rates, budget="50/1d").to_arrow())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"false_changes": 0.1}, ["--false-changes", "0.1"]),
        (
            {"method": "classes", "classes": "1d=3,7d=1"},
            ["--method", "classes", "--classes", "1d=3,7d=1"],
        ),
        ({"memory": "1K"}, ["--memory", "1K"]),
    ],
)
def test_options_of_the_command_line_do_the_same_in_python(options, words, parquet, tmp_path):
    out = tmp_path / "rates.parquet"
    assert run_here("estimate", parquet, "--now", NOW, "-o", out, *words).code == 0

    assert recrawl.estimate(parquet, now=NOW, **options).to_arrow().equals(pq.read_table(out))


def test_times_and_words_of_ones_own_are_read():
    visits = {
        "page": ["/a", "/a", "/a"],
        "visited_at": ["03/04/2026", "04/04/2026", "05/04/2026"],
        "changed": ["", "neu", "gleich"],
    }

    rates = recrawl.estimate(
        visits, time_format="%d/%m/%Y", true_words="neu", false_words="gleich", now="2026-04-06"
    )

    assert (rates["/a"]["changes"], rates["/a"]["visits"]) == (1, 3)
    assert rates["/a"]["last_visit"] == datetime(2026, 4, 5, tzinfo=UTC)


def test_expected_changes_add_up_over_pages_and_typical_rates_do_not():
    """1,000 pages with log-normal rates, visited every day for two months."""
    random = np.random.default_rng(5)
    truth = np.exp(random.normal(np.log(1 / 60), 1.0, 1000))
    days = np.arange(61)
    changed = random.random((1000, 60)) < -np.expm1(-truth[:, np.newaxis])
    visits = {
        "page": np.repeat([f"https://a.org/{page}" for page in range(1000)], 61),
        "visited_at": np.tile(np.datetime64("2026-01-01") + days, 1000),
        "changed": np.c_[np.zeros(1000, np.bool_), changed].ravel(),
    }

    rates = recrawl.estimate(pa.table(visits), now="2026-04-01")

    assert rates.column("expected_per_day").sum() == pytest.approx(truth.sum(), rel=0.1)
    assert rates.column("rate_per_day").sum() < 0.9 * truth.sum()


def test_rows_of_one_page_are_kept_together(log):
    months = recrawl.trends(log, kind="rates")

    some = months.only(PAGES[0])

    assert some.names == [PAGES[0]] * 2
    assert [row["period"] for row in some] == ["2026-01", "2026-02"]
    with pytest.raises(InvalidParameter, match=r"has 2 rows; only\("):
        months[PAGES[0]]


def test_columns_cannot_be_changed(rates):
    rate = rates.column("rate_per_day")

    with pytest.raises(ValueError, match="read-only"):
        rate[0] = 1.0
    with pytest.raises(AttributeError):
        rates.first = "x"
    with pytest.raises(InvalidParameter, match=r"one of page, rate_per_day, .* \(got 'rate'\)"):
        rates.column("rate")


def test_the_posterior_is_there_to_go_on_computing(rates):
    """A Gamma rate with shape a and exposure b leaves a page alone for t days by (b/(b+t))^a."""
    shape, exposure = rates.column("shape"), rates.column("exposure_days")

    days = (np.datetime64(NOW, "us") - rates.column("last_visit")) / np.timedelta64(1, "D")
    fresh = (exposure / (exposure + days)) ** shape
    np.testing.assert_allclose(rates.column("fresh_now"), fresh, rtol=1e-9)


def test_frames_have_the_figures_of_the_result(rates):
    rate = rates.column("rate_per_day").tolist()

    assert rates.to_pandas()["rate_per_day"].tolist() == rate
    assert rates.to_polars()["rate_per_day"].to_list() == rate
    assert rates.to_pandas()["last_visit"].dtype == "datetime64[us, UTC]"


def test_whoever_reads_arrow_reads_a_result(rates):
    """By the PyCapsule interface, without a word of ours."""
    assert pa.table(rates).equals(rates.to_arrow())
    assert pl.DataFrame(rates)["page"].to_list() == rates.names
    with duckdb.connect() as connection:
        connection.register("rates", rates)
        assert connection.sql("select page from rates").fetchall() == [
            (page,) for page in rates.names
        ]


def test_figures_go_out_without_a_copy(rates):
    column = rates.to_arrow()["shape"].chunk(0)

    assert column.buffers()[1].address == rates.columns["shape"].ctypes.data


def test_many_rows_are_shown_in_part():
    visits = {
        "page": [f"/{page}" for page in range(30)],
        "visited_at": ["2026-01-01"] * 30,
        "changed": [None] * 30,
    }
    rates = recrawl.estimate(visits, now=NOW)

    lines = repr(rates).splitlines()

    assert len(lines) == 12
    assert lines[0].split() == [
        "page",
        "visits",
        "changes",
        "every",
        "between",
        "fresh",
        "now",
        "status",
    ]
    assert lines[-1] == "the first 10 of 30 pages, method gamma"
    assert (
        repr(rates.estimates)
        == "<Estimates of 30 pages by gamma: 0.00936 to 0.00936 changes a day>"
    )


def test_html_shows_names_as_text():
    page = "<script>alert(1)</script>"
    visits = {"page": [page], "visited_at": ["2026-01-01"], "changed": [None]}

    html = recrawl.estimate(visits)._repr_html_()

    assert "&lt;script&gt;" in html
    assert "<script" not in html


def test_a_chart_shows_itself_in_a_notebook(rates, tmp_path):
    bundle = rates.chart()._repr_mimebundle_()

    assert {
        row["page"].split()[1]
        for row in bundle["application/vnd.vegalite.v5+json"]["data"]["values"]
    } == set(PAGES)
    assert bundle["image/svg+xml"].startswith("<svg")
    assert bundle["image/png"].startswith("iVBORw0KGgo")  # how every PNG begins, in base 64
    rates.chart().save(tmp_path / "rates.svg")
    assert (tmp_path / "rates.svg").read_text().startswith("<svg")


def test_every_result_has_a_chart(log, rates):
    world = make_world(
        "poisson",
        log_normal_rates(5, every=5.0, spread=1.0, random=np.random.default_rng(0)),
        days=20,
        random=np.random.default_rng(0),
    )
    trends = recrawl.trends(log)

    assert repr(recrawl.plan(rates, budget="3/1d").chart()) == "<chart: Freshness by budget>"
    assert repr(trends.chart(PAGES[3])) == f"<chart: {PAGES[3]}>"
    assert "Freshness" in repr(recrawl.simulate(world, policies="uniform").chart())
    with pytest.raises(InvalidParameter, match=r"chart needs a page, e\.g\. chart"):
        trends.chart()


def test_weights_say_which_pages_matter(rates):
    plain = recrawl.plan(rates, budget="1/1d", objective="freshness")
    weights = {PAGES[1]: 50.0, PAGES[0]: 1.0}
    heavy = recrawl.plan(rates, budget="1/1d", objective="freshness", weights=weights)

    assert heavy[PAGES[1]]["visits_per_day"] > 2 * plain[PAGES[1]]["visits_per_day"]
    others = {PAGES[1]: 50.0, "https://other.org/": 1.0}
    frame = pa.table({"page": list(others), "weight": list(others.values())})
    for same in (others, frame, frame.to_pandas()):
        found = recrawl.plan(rates, budget="1/1d", weights=same).answer.plan.weight
        assert found is not None
        assert sorted(found.tolist()) == [1.0] * (len(found) - 1) + [50.0]
    with pytest.raises(InvalidParameter, match="weights must name a page"):
        recrawl.plan(rates, budget="1/1d", weights={})
    with pytest.raises(InvalidParameter, match=r"weight of '/a' must be a number above 0"):
        recrawl.plan(rates, budget="1/1d", weights={"/a": -1.0})


def test_policies_are_tried_on_a_log(log):
    """Each change that a visit found happens once, so all of them are there."""
    result = recrawl.simulate(log, policies=["uniform", "recrawl"], budget="20/1d")
    found = sum(1 for flag in log["changed"].to_pylist() if flag)

    assert result.names == ["uniform", "recrawl"]
    assert result["uniform"]["changes"] == found


def test_a_world_comes_as_frames_too(tmp_path):
    pages = pl.DataFrame({"page": ["/a", "/b"], "first_seen": ["2026-01-01", "2026-01-02"]})
    changes = pd.DataFrame({"page": ["/a", "/b"], "changed_at": ["2026-01-05", "2026-01-09"]})
    pages.write_csv(tmp_path / "pages.csv")
    changes.to_csv(tmp_path / "changes.csv", index=False)

    framed = recrawl.simulate((pages, changes), policies="uniform", budget="1/1d")

    filed = recrawl.simulate(
        (tmp_path / "pages.csv", tmp_path / "changes.csv"), policies="uniform", budget="1/1d"
    )
    assert framed.to_arrow().drop(["seconds"]).equals(filed.to_arrow().drop(["seconds"]))
    with pytest.raises(
        InvalidTable, match=r"changes, row 2, column 'page': must be a page of pages"
    ):
        recrawl.simulate((pages, changes.replace("/b", "/c")), budget="1/1d")


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda log: recrawl.estimate(log, method="compare"), "method must be one of gamma"),
        (lambda log: recrawl.estimate(log, level=2), "level must be between 0 and 1"),
        (
            lambda log: recrawl.estimate(log, now=wrong(5)),
            "now must be a time, e.g. '2026-01-31T12",
        ),
        (lambda log: recrawl.estimate(log, now=wrong(pd.NaT)), "now must be a time"),
        (lambda log: recrawl.estimate(log, classes="1d,7d"), "classes needs the method classes"),
        (
            lambda log: recrawl.estimate(log, method="cho", false_changes=0.1),
            r"false_changes needs the method gamma or npmle \(got 'cho'\)",
        ),
        (lambda log: recrawl.estimate(log, memory="much"), "memory must look like 500M or 2G"),
        (lambda log: recrawl.plan(log, budget=0), "budget must be above 0"),
        (lambda log: recrawl.plan(log, budget=wrong(None)), "budget must look like 5000/1d"),
        (lambda log: recrawl.simulate(log, budget=0), "budget must be above 0"),
        (lambda log: recrawl.estimate(log, columns={"url": "page"}), "columns must be one of page"),
        (lambda log: recrawl.trends(log, kind="all"), "kind must be one of pages, windows"),
        (
            lambda log: recrawl.trends(log, kind="rates", period="day"),
            "period must be one of month",
        ),
        (lambda log: recrawl.trends(log, kind="season"), "period must look like 2027-01"),
        (lambda log: recrawl.trends(log, period="month"), "period is for rates and season"),
        (lambda log: recrawl.plan(log, budget="3"), "budget must look like 5000/1d"),
        (lambda log: recrawl.plan(log, budget="3/1d"), "frame: column 'rate_per_day' not found"),
        (lambda log: recrawl.simulate(log, policies="ours"), "policy must be one of"),
    ],
)
def test_a_wrong_question_gets_one_sentence(ask, sentence, log):
    with pytest.raises(ValueError, match=sentence):
        ask(log)


def test_a_missing_library_is_named_with_its_command(rates, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)

    with pytest.raises(MissingExtra, match=r"pip install '\.\[parquet\]'"):
        rates.to_arrow()
    with pytest.raises(MissingExtra, match=r"reading a frame needs .* '\.\[parquet\]'"):
        recrawl.estimate({"page": []})


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_missing_frame_library_is_named_with_its_command(library, rates, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, library, None)

    with pytest.raises(
        MissingPackage, match=rf"to_{library}\(\) needs {library}: pip install {library}"
    ):
        getattr(rates, f"to_{library}")()


def test_plan_is_both_a_function_and_a_package_for_type_checkers(
    rates: recrawl.ResultTable,
) -> None:
    """mypy reads this test: `recrawl.plan(...)` is typed, and so is what the package has."""
    found: recrawl.ResultTable = recrawl.plan(rates, budget="3/1d")
    spent: float = Budget.read("3/1d").visits

    assert found.column("visits_per_day").sum() == pytest.approx(spent)


# Reading, as the command line does it.

LOCAL = "page;visited_at;changed\n/a;2026-07-01 01:00;\n/a;2026-07-01 13:00;true\n"
OPTIONS = ["--tz", "Europe/Berlin", "--delimiter", "semicolon"]
READING: Any = {"tz": "Europe/Berlin", "delimiter": "semicolon"}


def test_local_times_are_read_as_the_command_line_reads_them(tmp_path):
    """One in the morning in Berlin is eleven in the evening of the day before."""
    path = tmp_path / "local.csv"
    path.write_text(LOCAL)

    rates = recrawl.estimate(path, now=NOW, **READING)
    months = recrawl.trends(path, kind="rates", **READING)

    assert rates["/a"]["last_visit"] == datetime(2026, 7, 1, 11, tzinfo=UTC)
    assert months.column("period").tolist() == ["2026-06", "2026-07"]
    theirs = written(tmp_path, "estimate", path, "--now", NOW, *OPTIONS)
    assert theirs["last_visit"][0].as_py() == rates["/a"]["last_visit"]


def test_frames_without_zones_are_of_the_time_zone_that_is_named():
    frame = pd.DataFrame(
        {
            "page": ["/a", "/a"],
            "visited_at": pd.to_datetime(["2026-07-01 01:00", "2026-07-01 13:00"]),
            "changed": [None, True],
        }
    )

    rates = recrawl.estimate(frame, now=NOW, tz="Europe/Berlin")

    assert rates["/a"]["last_visit"] == datetime(2026, 7, 1, 11, tzinfo=UTC)


def test_worlds_and_rates_take_what_the_command_line_takes(tmp_path):
    """A page that is first seen in July by its own clock, in June by that of the world."""
    pages, changes = tmp_path / "pages.csv", tmp_path / "changes.csv"
    pages.write_text("page;first_seen\n/a;2026-07-01 01:00\n")
    changes.write_text("page;changed_at\n/a;2026-07-01 13:00\n/a;2026-08-01 13:00\n")
    rates = tmp_path / "rates.csv"
    rates.write_text("page^rate_per_day\n/a^1.5\n")

    result = recrawl.simulate((pages, changes), policies="uniform", budget="2/1d", **READING)

    assert result.contest.world.start == np.datetime64("2026-06-30T23:00")
    assert recrawl.plan(rates, budget="2/1d", delimiter="^").names == ["/a"]


@pytest.mark.parametrize("wrong", [{"tz": "Atlantis"}, {"delimiter": "ab"}])
def test_reading_that_is_none_is_refused(wrong, log):
    asks: list[Any] = [recrawl.estimate, recrawl.trends, recrawl.simulate]
    for ask in asks:
        with pytest.raises(InvalidParameter, match=f"{next(iter(wrong))} must"):
            ask(log, **wrong)
