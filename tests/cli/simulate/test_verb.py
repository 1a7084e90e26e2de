"""`recrawl simulate`, as people run it."""

from __future__ import annotations

import csv
import io
import json
import signal
import subprocess
from pathlib import Path

import pytest

from recrawl.cli.simulate import runs
from tests.cli.running import names_in, run, run_here, sentence, start
from tests.report.columns import SIMULATION_COLUMNS
from tests.waiting import HANGS_SECONDS, cpu_seconds, ending, wait_until

PAGES = "page,url,first_seen,removed_at\n1,/a,2026-01-01,\n2,/b,2026-01-02,2026-01-20\n"
CHANGES = "page,changed_at,bulk\n1,2026-01-05,true\n1,2026-01-15,\n2,2026-01-10,\n1,2026-02-01,\n"


@pytest.fixture
def files(tmp_path):
    pages, changes = tmp_path / "pages.csv", tmp_path / "changes.csv"
    pages.write_text(PAGES)
    changes.write_text(CHANGES)
    return ["history", pages, changes]


def rows(ended):
    assert ended.code == 0, ended
    return [json.loads(line) for line in ended.out.splitlines()]


def test_a_row_a_policy(files):
    found = rows(run_here("simulate", *files, "--policy", "uniform,clairvoyant", "--json"))

    assert [row["policy"] for row in found] == ["uniform", "clairvoyant"]
    for row in found:
        assert tuple(row) == SIMULATION_COLUMNS
        assert row["staleness"] == pytest.approx(1 - row["freshness"])
        assert row["found"] + row["premature"] == row["visits"]
        assert row["precision"] == pytest.approx(row["found"] / row["visits"])
        assert row["changes"] == 4
        assert row["seconds"] > 0
    assert found[1]["staleness"] <= found[0]["staleness"]


def test_a_page_that_goes_back_is_fresh_again(files):
    """Page 1 leaves on 5 January and is back on the 15th; nobody visits it before February."""
    files[2].write_text("page,changed_at,revert\n1,2026-01-05,\n1,2026-01-15,true\n2,2026-01-10,\n")
    words = ["simulate", *files, "--policy", "uniform", "--budget", "0.001/1d", "--json"]
    (plain,), (back,) = (rows(run_here(*words, *more)) for more in ([], ["--reverts"]))

    live = 19 + 18  # days of both pages until the second one is gone, on the 20th
    assert plain["staleness"] == pytest.approx((15 + 10) / live)
    assert back["staleness"] == pytest.approx((10 + 10) / live)


def test_reverts_need_their_mark(files):
    said = sentence(run("simulate", *files, "--reverts"))

    assert said.endswith("'revert' not found (got page, changed_at, bulk); --reverts needs it")


def test_the_standard_input_is_one_table():
    said = sentence(run("simulate", "history", "-", "-"))

    assert said == "only one of PAGES and CHANGES can be -, the standard input"


def test_policies_begin_with_the_rates_of_a_log(files, tmp_path):
    log = tmp_path / "visits.csv"
    visits = (f"/a,2026-01-{day:02},{'true' if day % 3 else 'false'}\n" for day in range(1, 29))
    log.write_text("page,visited_at,changed\n" + "".join(visits))
    words = ["simulate", *files, "--prior-from", log, "--json", "--policy"]
    found = rows(run_here(*words, "uniform,recrawl"))

    assert found[0]["policy"] == "uniform"
    assert found[1]["policy"].startswith("recrawl:prior_rate=")
    assert "needs the policy recrawl or bank" in sentence(run(*words, "uniform"))


def test_the_usual_policies_are_sent_where_none_is_named(files):
    found = rows(run_here("simulate", *files, "--json"))

    assert {"optimal-known", "uniform"} <= {row["policy"] for row in found}


def test_what_was_visited_is_said(files):
    ended = run_here("simulate", *files, "--policy", "uniform", "--csv")

    assert next(csv.reader(io.StringIO(ended.out))) == list(SIMULATION_COLUMNS)
    assert ended.err == "2 pages, 4 changes in 4.4w; a budget of 0.3265 visits per page and day.\n"


def test_the_same_seed_gives_the_same_rows(files):
    words = ["simulate", *files, "--policy", "uniform,optimal-known", "--json", "--seed", "4"]
    one, other = (rows(run_here(*words)) for _ in range(2))

    for row in (*one, *other):
        del row["seconds"]
    assert one == other


def test_changes_can_be_left_out(files):
    found = rows(run_here("simulate", *files, "--policy", "uniform", "--ignore", "bulk", "--json"))

    assert found[0]["changes"] == 3


def test_changes_outside_of_lives_are_counted(files):
    with files[2].open("a") as more:
        more.write("2,2026-01-01,\n2,2026-01-25,\n")
    ended = run_here("simulate", *files, "--policy", "uniform", "--json")

    assert rows(ended)[0]["changes"] == 4
    assert "2 changes left out" in ended.err


def test_a_warm_up_does_not_count(files):
    found = rows(run_here("simulate", *files, "--policy", "uniform", "--warm-up", "6d", "--json"))

    assert found[0]["changes"] == 3


@pytest.mark.parametrize("budget", ["5/1d", "0.5/page/1d", "2/change"])
def test_budgets_of_each_kind(files, budget):
    found = rows(run_here("simulate", *files, "--policy", "uniform", "--budget", budget, "--json"))

    assert found[0]["visits"] > 0


@pytest.mark.parametrize(
    "observed",
    [
        ["--observe", "last-modified"],
        ["--observe", "last-modified", "--lying", "50%"],
        ["--missed", "0.5", "--false", "10%"],
    ],
)
def test_visits_may_show_more_or_less(files, observed):
    rows(run_here("simulate", *files, "--policy", "uniform,optimal-known", *observed, "--json"))


@pytest.mark.parametrize(
    "name", ["poisson", "renewal", "weibull", "weekly", "bursty", "sections", "turnover"]
)
def test_made_up_worlds(name):
    made = ["world", name, "--pages", 40, "--for", "60d", "--every", "5d"]

    found = rows(run_here("simulate", *made, "--spread", 1, "--policy", "uniform", "--json"))

    assert found[0]["changes"] > 0
    assert 0 < found[0]["staleness"] < 1
    assert found[0]["staleness_low"] < found[0]["staleness"] < found[0]["staleness_high"]


def test_another_seed_makes_another_world():
    made = ["simulate", "world", "poisson", "--pages", 40, "--for", "60d", "--json"]
    counts = {
        rows(run_here(*made, "--policy", "uniform", "--seed", seed))[0]["changes"]
        for seed in (1, 2, 3)
    }

    assert len(counts) > 1


@pytest.mark.parametrize("name", ["budget.svg", "budget.png"])
def test_a_picture_of_freshness_against_budget(files, tmp_path, name):
    ended = run_here(
        "simulate", *files, "--policy", "uniform,nutch", "--plot", tmp_path / name, "--json"
    )

    assert len(rows(ended)) == 2
    assert (tmp_path / name).stat().st_size > 1000


def test_rows_go_to_a_file(files, tmp_path):
    output = tmp_path / "rows.csv"

    ended = run_here("simulate", *files, "--policy", "uniform", "-o", output)

    assert ended.out == ""
    assert output.read_text().startswith(",".join(SIMULATION_COLUMNS))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--policy", "bing"], "policy must be one of "),
        (["--policy", "nutch:speed=1"], "nutch has no parameter 'speed'; it has more, less,"),
        (["--policy", "clairvoyant:x=1"], "clairvoyant has no parameter 'x'"),
        (["--objective", "joy"], "objective must be one of freshness"),
        (["--budget", "lots"], "budget must look like 5000/1d, 0.1/page/1d or 4/change"),
        (["--budget", "0/1d"], "budget must be above 0 (got '0/1d')"),
        (["--budget", "-4/change"], "budget must look like"),
        (["--step", "day"], "duration must look like 90s, 30m, 6h, 3d, 2w or 1y (got 'day')"),
        (["--step", "0h"], "duration must be above 0 (got '0h')"),
        (["--warm-up", "1q"], "duration must look like"),
        (["--warm-up", "99w"], "warm-up must be shorter than the history, 31 days (got 693)"),
        (["--observe", "smell"], "observe must be one of existence, last-modified"),
        (["--missed", "few"], "missed must be a share such as 0.2 or 20% (got 'few')"),
        (
            ["--missed", "2"],
            "missed must be a share such as 0.2 or 20%, above 0 and below 100 % (got '2')",
        ),
        (["--missed", "150%"], "above 0 and below 100 % (got '150%')"),
        (["--ignore", "noise"], "ignore must name bulk or revert (got 'noise')"),
        (["--level", "90"], "level must"),
        (["--plot", "a.gif"], "output must end in .svg, .png"),
        (["-o", "a.xls"], "output must end in .csv, .jsonl"),
    ],
)
def test_what_is_wrong_is_one_sentence(files, words, told):
    assert told in sentence(run("simulate", *files, *words))


@pytest.mark.parametrize(
    ("pages", "changes", "told"),
    [
        ("", CHANGES, "the file is empty; expected a header and rows"),
        ("page,first_seen\n", CHANGES, "no pages found"),
        ("page,first_seen\n1,2026-01-01\n", "page,changed_at\n", "a world must last"),
        (PAGES, CHANGES + "3,2026-01-09,\n", "line 6, column 'page': must be a page of"),
        (PAGES, "page,time\n1,2026-01-09\n", "column 'changed_at' not found"),
    ],
)
def test_hostile_files_are_refused(tmp_path, pages, changes, told):
    (tmp_path / "p.csv").write_text(pages)
    (tmp_path / "c.csv").write_text(changes)

    ended = run("simulate", "history", "p.csv", "c.csv", cwd=tmp_path)

    assert told in sentence(ended)


def test_an_input_is_never_written_over(files):
    told = sentence(run("simulate", *files, "-o", files[1]))

    assert "is an input, which is never overwritten" in told
    assert files[1].read_text() == PAGES


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["history", "p.csv"], "Missing argument 'CHANGES'"),
        (["world", "poisson", "--ignore", "bulk"], "No such option: --ignore"),
        (["history", "p.csv", "c.csv", "--spread", "1"], "No such option: --spread"),
        (["world", "poisson", "--lying", "10%"], "--lying needs --observe last-modified"),
        (["world", "poisson", "--csv", "--json"], "--csv, --json and -o exclude each other"),
    ],
)
def test_wrong_usage(words, told):
    ended = run_here("simulate", *words)

    assert ended.code == 2
    assert told in " ".join(ended.err.replace("│", " ").split())


def test_parameters_make_another_policy():
    made = ["world", "poisson", "--pages", 30, "--for", "60d", "--json"]
    found = rows(run_here("simulate", *made, "--policy", "nutch,nutch:more=3:less=.9"))

    assert [row["policy"] for row in found] == ["nutch", "nutch:more=3:less=.9"]
    assert found[0]["staleness"] != found[1]["staleness"]


def test_intervals_are_estimated_without_a_budget():
    words = ["intervals", "--every", "5m,10d", "--objects", "50", "--json"]
    found = rows(run_here("simulate", *words, "--policy", "malcolm:stop=100"))

    assert [round(row["interval_days"], 4) for row in found] == [0.0035, 10.0]
    assert [row["stopped"] for row in found] == [1.0, 0.0]
    assert found[0]["visits_per_object"] == pytest.approx(117, abs=5)


def test_intervals_need_a_policy_that_estimates_one():
    told = sentence(run("simulate", "intervals", "--policy", "nutch"))

    assert "policy must be malcolm or malcolm-last-modified" in told


def test_jobs_share_the_work_and_change_nothing(tmp_path):
    made = ["world", "poisson", "--pages", 30, "--for", "60d", "--policy", "uniform,nutch"]
    alone = rows(run("simulate", *made, "--json"))
    shared = rows(run("simulate", *made, "--json", "--jobs", 2, "--plot", tmp_path / "b.svg"))

    for each in (*alone, *shared):
        assert each.pop("seconds") > 0
    assert shared == alone
    assert (tmp_path / "b.svg").stat().st_size > 0


def test_long_work_says_how_long_it_takes(capsys):
    """By what was done in the first seconds: a quarter in 30 s leaves 90 s."""
    times = iter([0.0, 1.0, 31.0, 61.0])
    told: list[float] = []
    on_progress = runs._foretold(told.append, 1, lambda: next(times))

    for share in (0.0, 0.1, 0.35, 0.6):
        on_progress(share)

    assert told == [0.0, 0.1, 0.35, 0.6]
    assert capsys.readouterr().err.count("This takes about") == 1


def test_an_unknown_world_is_refused():
    assert "world must be one of poisson" in sentence(run("simulate", "world", "mars"))


def children(process):
    """Processes that a process has begun and not yet waited for."""
    return Path(f"/proc/{process}/task/{process}/children").read_text().split()


def is_running(process):
    try:
        stat = Path(f"/proc/{process}/stat").read_text()
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"  # ended, and not yet waited for


def test_jobs_end_with_it(tmp_path):
    words = ["simulate", "world", "poisson", "--pages", "2000", "--for", "3000d", "--jobs", "2"]
    there = {"cwd": tmp_path, "stderr": subprocess.PIPE, "text": True}
    with ending(start(*words, "-o", "rows.csv", **there)) as process:
        wait_until(lambda: any(cpu_seconds(each) > 2 for each in children(process.pid)))
        begun = children(process.pid)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=HANGS_SECONDS)

    assert process.returncode == 130
    assert "Traceback" not in err
    wait_until(lambda: not any(is_running(each) for each in begun))


def test_it_can_be_interrupted(tmp_path):
    """Nothing is left behind, and nothing is written."""
    words = ["simulate", "world", "poisson", "--pages", "20000", "--for", "3000d"]
    there = {"cwd": tmp_path, "stderr": subprocess.PIPE, "text": True}
    with ending(start(*words, "-o", "rows.csv", **there)) as process:
        wait_until(lambda: cpu_seconds(process.pid) > 3)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=HANGS_SECONDS)

    assert process.returncode == 130
    assert "Traceback" not in err
    assert names_in(tmp_path) == []
