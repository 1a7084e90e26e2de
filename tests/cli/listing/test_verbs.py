"""`recrawl listing`, as people run it."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
import shutil
from itertools import pairwise

import numpy as np
import pytest
from typer.core import TyperGroup
from typer.main import get_group

from recrawl.cli.main import app
from recrawl.errors import InvalidParameter
from recrawl.report.listings.backtests import CYCLE_COLUMNS, KEEP_COLUMNS
from recrawl.report.listings.schedules import REASONS
from tests.cli.listing.sources import DAYS, KEEP, day, made, rows, source
from tests.cli.running import run, run_here
from tests.report.columns import (
    DAY_COLUMNS,
    DECAY_COLUMNS,
    DESCRIBE_COLUMNS,
    FORECAST_COLUMNS,
    PARTITION_COLUMNS,
    SCHEDULE_COLUMNS,
    STEP_COLUMNS,
    UPDATE_COLUMNS,
)

GROUP = get_group(app).commands["listing"]
assert isinstance(GROUP, TyperGroup)
VERBS = GROUP.commands


@pytest.fixture(scope="module")
def cars(tmp_path_factory):
    return made(tmp_path_factory.mktemp("listing") / "cars")


# describe


def test_describe_has_a_row_for_all_and_a_row_a_value(cars):
    found = rows("describe", cars, "--by", "make")

    assert [row["value"] for row in found] == ["(all)", "BMW", "Fiat"]
    assert all(tuple(row) == DESCRIBE_COLUMNS for row in found)
    every, bmw, fiat = found
    assert every["objects"] == bmw["objects"] + fiat["objects"] == 400
    assert every["listed"] == bmw["listed"] + fiat["listed"]
    assert every["removals"] == bmw["removals"] + fiat["removals"]
    assert every["arrivals_per_day"] == pytest.approx(
        bmw["arrivals_per_day"] + fiat["arrivals_per_day"]
    )
    assert fiat["low"] < fiat["rate_per_day"] < fiat["high"]
    assert bmw["high"] < fiat["low"]
    assert fiat["mean_lifetime_days"] == pytest.approx(1 / fiat["rate_per_day"])
    assert 3 < fiat["median_lifetime_days"] < 6


def test_describe_takes_all_attributes_that_tell_kinds(cars):
    found = rows("describe", cars)

    assert {row["attribute"] for row in found} == {"", "make", "year"}
    assert "?" in {row["value"] for row in found}


def test_describe_of_a_part_is_that_of_a_source_without_the_rest(cars, tmp_path):
    """Objects of a part have other numbers than in the whole."""
    alone = tmp_path / "cars"
    shutil.copytree(cars, alone)
    lines = (alone / "objects.csv").read_text().splitlines(keepends=True)
    (alone / "objects.csv").write_text("".join(line for line in lines if ",BMW," not in line))

    part = rows("describe", cars, "--where", "make = Fiat", "--by", "year")

    assert part == rows("describe", alone, "--by", "year")
    assert len(part) > 4, "one row for all, one per year"


def test_a_median_does_not_rest_on_two_crawls(tmp_path):
    """Daily crawls, and one an hour after another that brings 40 of which 20 go within a day."""
    hours = [24 * number for number in range(61)] + [24 * 30 + 1]
    crawls = [
        str(np.datetime64("2026-01-01T00:00") + np.timedelta64(hour, "h")) for hour in sorted(hours)
    ]
    extra = crawls.index("2026-01-31T01:00")
    objects = ["key,appeared_at,removed_at"]
    for number in range(40):
        gone = crawls[extra + 1] if number < 20 else crawls[extra + 20]
        objects.append(f"early {number},{crawls[extra]},{gone}")
    for number in range(120):
        first = 1 + number % 30
        objects.append(f"usual {number},{crawls[first]},{crawls[first + 5 + number // 6]}")
    folder = source(tmp_path / "cars", "\n".join(objects) + "\n", crawls)

    ended = run_here("listing", "describe", folder, "--json")

    (row,) = (json.loads(line) for line in ended.out.splitlines())
    assert row["median_from_days"] == 0.5
    assert row["median_lifetime_days"] == pytest.approx(15, abs=1)
    assert 12 <= row["median_low_days"] < row["median_lifetime_days"] < row["median_high_days"]
    assert (
        "cars: medians are for objects that reach an age of 12h; younger ones were seen by 1 crawl "
        "only (40 objects), too few to say more.\n"
    ) in ended.err


def test_describe_fits_the_published_models(cars):
    """Fiats live 5 days and BMWs 20, so that of all cars the old are safer than the young."""
    every, bmw, fiat = rows("describe", cars, "--by", "make")

    assert bmw["weibull_rate_per_day"] == pytest.approx(bmw["rate_per_day"], rel=0.15)
    assert fiat["weibull_shape"] == pytest.approx(1, abs=0.15)
    assert every["weibull_shape"] < 0.95
    assert every["weibull_gain"] > 3.84
    assert every["gamma_shape"] * every["gamma_scale"] == pytest.approx(every["arrivals_per_day"])


def test_describe_days(cars):
    found = rows("describe", cars, "--days")

    assert tuple(found[0]) == DAY_COLUMNS
    assert len(found) == DAYS + 1
    for before, after in pairwise(found):
        moved = after["inserted"] - after["deleted"]
        assert after["listed"] == before["listed"] + moved


def test_describe_updates(tmp_path):
    folder = tmp_path / "shop"
    folder.mkdir()
    for number in range(9):
        price = 10 if number < 4 else 12
        (folder / f"{day(number)}.csv").write_text(f"key,price\na,{price}\nb,7\n")

    found = rows("describe", folder, "--updates")

    assert tuple(found[0]) == UPDATE_COLUMNS
    assert [(row["attribute"], row["updates"]) for row in found] == [("(all)", 1), ("price", 1)]
    assert found[0]["updates_per_day"] == pytest.approx(-np.log(15 / 16)), "a gap of a day in 16"
    assert found[0]["low"] < found[0]["updates_per_day"] < found[0]["high"]
    assert 0 < found[0]["stale_1d"] < found[0]["stale_7d"] < found[0]["stale_30d"] < 1


def test_what_was_read_is_said(cars):
    ended = run_here("listing", "describe", cars, "--by", "make", "--csv")

    assert next(csv.reader(io.StringIO(ended.out))) == list(DESCRIBE_COLUMNS)
    assert ended.err == "cars: 400 objects in 61 crawls, 2026-01-01 to 2026-03-02.\n"


def test_files_together_are_one_source(cars):
    files = [cars / "objects.csv", cars / "crawls.csv"]

    assert rows("describe", *files) == rows("describe", cars)


def test_several_folders_are_several_sources(cars, tmp_path):
    other = made(tmp_path / "vans", seed=1, objects=90)

    found = rows("describe", cars, other, "--by", "make")

    assert [row["source"] for row in found] == ["cars"] * 3 + ["vans"] * 3


# forecast


def test_forecast_has_a_row_a_day_with_bands(cars):
    found = rows("forecast", cars, "--horizon", "1d..30d")

    assert all(tuple(row) == FORECAST_COLUMNS for row in found)
    assert [row["after_days"] for row in found] == list(range(1, 31))
    assert found[2]["at"] == f"{day(DAYS + 3)}T00:00:00Z"
    for row in found:
        for metric in ("precision", "recall", "deleted", "inserted", "listed"):
            assert row[f"{metric}_low"] <= row[metric] <= row[f"{metric}_high"]
        assert row["status"] == "ok"
    precision = [row["precision"] for row in found]
    assert precision == sorted(precision, reverse=True)


def test_forecast_says_how_many_have_been_deleted_since(cars):
    """Of Fiats about 1 - exp(-3/5) are gone after three days."""
    (row,) = rows("forecast", cars, "--horizon", "3d", "--where", "make = Fiat")
    (all_cars,) = rows("forecast", cars, "--horizon", "3d")

    assert row["precision"] == pytest.approx(np.exp(-3 / 5), abs=0.12)
    assert row["precision"] < all_cars["precision"]
    assert row["deleted"] == pytest.approx(
        (1 - row["precision"]) * (row["listed"] + row["deleted"] - row["inserted"])
    )


def test_parts_of_a_source_make_the_whole(cars):
    (fiat,) = rows("forecast", cars, "--horizon", "3d", "--where", "make = Fiat")
    (bmw,) = rows("forecast", cars, "--horizon", "3d", "--where", "make != Fiat")
    (whole,) = rows("forecast", cars, "--horizon", "3d")

    for metric in ("deleted", "inserted", "listed"):
        assert fiat[metric] + bmw[metric] == pytest.approx(whole[metric], rel=0.2)


def test_objects_without_the_attribute_are_counted(cars):
    ended = run_here(
        "listing", "forecast", cars, "--horizon", "1d", "--where", "year > 2002", "--csv"
    )

    assert ended.code == 0
    assert "cars: 40 objects without year left out.\n" in ended.err


def test_a_higher_level_has_wider_bands(cars):
    (narrow,) = rows("forecast", cars, "--horizon", "7d", "--level", "0.5")
    (wide,) = rows("forecast", cars, "--horizon", "7d", "--level", "0.95")

    assert wide["recall_low"] < narrow["recall_low"]
    assert narrow["recall_high"] <= wide["recall_high"]


def test_the_typical_forecast_has_no_mass_events(cars):
    (row,) = rows("forecast", cars, "--horizon", "7d", "--typical")
    (expected,) = rows("forecast", cars, "--horizon", "7d")

    assert row["precision"] >= expected["precision"]


@pytest.mark.parametrize("method", ["static", "ar", "survival", "pooled"])
def test_other_methods_forecast_too(cars, method):
    (row,) = rows("forecast", cars, "--horizon", "3d", "--method", method)

    assert 0.5 < row["precision"] < 1
    for metric in ("precision", "recall", "deleted", "inserted", "listed"):
        assert row[f"{metric}_low"] < row[metric] < row[f"{metric}_high"]


def test_the_papers_own_band_of_precision(cars):
    """p plus and minus z sqrt(p (1 - p) / n), with a z of 1.96 for 95 %."""
    (row,) = rows("forecast", cars, "--horizon", "3d", "--method", "static", "--level", "0.95")
    share, copied = row["precision"], row["listed"] + row["deleted"] - row["inserted"]
    wide = 1.959964 * np.sqrt(share * (1 - share) / copied)

    assert row["precision_low"] == pytest.approx(share - wide)
    assert row["precision_high"] == pytest.approx(share + wide)


def test_weibull_lifetimes_forecast_without_a_band(cars):
    (row,) = rows("forecast", cars, "--horizon", "3d", "--method", "survival-weibull")

    assert 0.5 < row["precision"] < 1
    assert row["precision_low"] is None


# schedule


def test_schedule_has_a_row_a_sync(cars):
    found = rows("schedule", cars, "--keep", KEEP)

    assert all(tuple(row) == SCHEDULE_COLUMNS for row in found)
    assert [row["sync"] for row in found] == list(range(1, len(found) + 1))
    for row in found:
        assert row["precision_floor"] <= row["precision"]
        assert row["recall_floor"] <= row["recall"]
        assert row["reason"] in {"precision", "recall", "precision and recall"}
        assert row["after_days"] == 1 or min(row["precision_floor"], row["recall_floor"]) >= 0.8


@pytest.mark.parametrize("rule", [["--point"], ["--confidence", "0.6"]], ids=" ".join)
def test_the_last_day_that_keeps_the_target_is_planned_and_the_published_one_is_the_next(
    cars, rule
):
    """As published, a sync is due on the first day that misses it: a day later, and below."""
    words = ["schedule", cars, "--keep", "precision >= 0.75", "--for", "20d", *rule]
    figure = "precision" if rule == ["--point"] else "precision_floor"
    (kept, *_), (missed, *_) = rows(*words, "--guarantee"), rows(*words, "--first-missed")

    assert kept == rows(*words)[0]
    assert kept[figure] >= 0.75 > missed[figure]
    assert missed["after_days"] == kept["after_days"] + 1
    assert "on the first day that misses a target" in (
        run_here("listing", *words, "--first-missed", "--json").err
    )


@pytest.mark.parametrize("method", ["ar-published", "static", "ar:learning=0.1:weekly=yes"])
def test_a_schedule_by_another_forecaster(cars, method):
    words = ["schedule", cars, "--keep", "recall >= 0.7", "--method", method]
    ended = run_here("listing", *words, "--json")
    row = json.loads(ended.out.splitlines()[0])

    assert row["recall_floor"] >= 0.7 or row["after_days"] == 1
    assert row["recall_floor"] < row["recall"]
    assert f"{method}: bands as published" in ended.err
    assert (f"cars, {method}, recall: AR(" in ended.err) == method.startswith("ar")


def test_more_confidence_takes_more_syncs(cars):
    counts = [
        len(rows("schedule", cars, "--keep", KEEP, *rule))
        for rule in (["--point"], ["--confidence", "0.8"], ["--confidence", "0.95"])
    ]

    assert counts[0] <= counts[1] <= counts[2]
    assert counts[0] < counts[2]


def test_a_limit_holds(cars):
    found = rows("schedule", cars, "--keep", "recall >= 0.95", "--at-most", "2/7d")

    at = np.array([row["at"].removesuffix("Z") for row in found], "datetime64[s]")
    start = np.datetime64(f"{day(DAYS)}T00:00:00")
    both = np.concatenate([[start], at])
    assert (both[2:] - both[:-2] >= np.timedelta64(7, "D")).all()
    assert "limit" in {row["reason"] for row in found}


def test_each_group_has_its_schedule(cars):
    found = rows("schedule", cars, "--keep", "precision >= 0.8", "--by", "make")

    counts = {name: sum(row["group"] == name for row in found) for name in ("BMW", "Fiat")}
    assert counts["BMW"] < counts["Fiat"]


def test_a_budget_goes_where_it_avoids_most(cars, tmp_path):
    slow = tmp_path / "slow"
    slow.mkdir()
    objects = ["key,appeared_at,removed_at"]
    for number in range(200):
        gone = 1 + number * 2
        removed = day(gone) if gone <= DAYS else ""
        objects.append(f"{number},{day(0)},{removed}")
    (slow / "objects.csv").write_text("\n".join(objects) + "\n")
    (slow / "crawls.csv").write_text((cars / "crawls.csv").read_text())

    found = rows("schedule", cars, slow, "--budget", "10/30d")

    counts = [sum(row["source"] == name for row in found) for name in ("cars", "slow")]
    assert sum(counts) == 10
    assert counts[0] > counts[1]
    assert {row["reason"] for row in found} == {"budget"}


def test_every_reason_is_explained():
    assert {"longest", "limit", "budget", "rekey", "empty", "unknown"} == set(REASONS)


# partition


def test_partition_finds_what_vanishes_alike(cars):
    found = rows("partition", cars, "--by", "make,year")

    assert all(tuple(row) == PARTITION_COLUMNS for row in found)
    make = [row for row in found if row["attribute"] == "make"]
    assert [row["values"] for row in make] == ["BMW", "Fiat"]
    assert make[0]["high"] < make[1]["low"]
    assert make[0]["gain"] > 3.84
    assert make[0]["false_finds"] < 0.001


@pytest.mark.parametrize(
    "search",
    [
        ["--search", "hierarchical"],
        ["--search", "shrunk"],
        ["--search", "tree"],
        ["--criterion", "pearson", "--min-gain", "1.5", "--unweighted"],
    ],
)
def test_every_search_tells_makes_apart(cars, search):
    found = rows("partition", cars, "--by", "make", *search)

    assert len(found) == 2
    rate = {row["values"]: row["rate_per_day"] for row in found}
    bmw, fiat = (
        (
            next(value for name, value in rate.items() if make in name and "not" not in name)
            for make in ("BMW", "Fiat")
        )
        if search[1] != "tree"
        else sorted(rate.values())
    )
    assert bmw < fiat


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    """Cars of three makes, of which two vanish after about 5 days and one after 30."""
    random = np.random.default_rng(2)
    lines = ["key,appeared_at,removed_at,make"]
    for number in range(600):
        arrived = int(random.integers(1, 50))
        gone = arrived + 1 + int(random.exponential((5, 5.5, 30)[number % 3]))
        removed = day(gone) if gone <= DAYS else ""
        lines.append(f"{number},{day(arrived)},{removed},{('Fiat', 'Seat', 'BMW')[number % 3]}")
    folder = tmp_path_factory.mktemp("three") / "cars"
    return source(folder, "\n".join(lines) + "\n", [day(number) for number in range(DAYS + 1)])


@pytest.mark.parametrize("search", ["reclustered", "hierarchical"])
def test_steps_of_a_partition_with_their_gains(three, search):
    """From one group for all to the first step that gains too little, which is refused."""
    words = ["partition", three, "--by", "make", "--search", search]
    start, two, last = rows(*words, "--steps")

    assert tuple(start) == STEP_COLUMNS
    assert start["gain"] is None
    assert [row["verdict"] for row in (start, two, last)] == ["start", "accepted", "refused"]
    assert two["groups"] in ("{BMW} {Fiat, Seat}", "{BMW} {Seat, Fiat}")
    assert two["gain"] > 100
    assert last["gain"] < 3.84
    parts = rows(*words)
    assert parts[0]["gain"] == pytest.approx(two["gain"])
    shown = [float(rate) for rate in two["rates_per_day"].split()]
    assert shown == pytest.approx([row["rate_per_day"] for row in parts], rel=1e-3)


def test_no_more_groups_than_wanted(three):
    words = ["partition", three, "--by", "make", "--min-gain", "0"]

    assert len(rows(*words)) == 3
    assert len(rows(*words, "--groups", "2")) == 2
    assert len(rows(*words, "--groups", "1")) == 1
    refused = run_here("listing", *words, "--search", "tree", "--steps")
    assert refused.code == 2
    assert "--steps needs --search reclustered or hierarchical" in refused.err


# decay


def test_decay_of_a_copy_is_what_sets_say(cars):
    """Of the cars of day 20 some are listed on day 27; recall is of those listed then."""
    found = rows("decay", cars, "--on", day(20), "--for", "7d")

    assert tuple(found[0]) == DECAY_COLUMNS
    assert [row["after_days"] for row in found] == list(range(8))
    lines = [line.split(",") for line in (cars / "objects.csv").read_text().splitlines()[1:]]

    def listed(at):
        return {
            key
            for key, appeared, removed, *_ in lines
            if appeared <= day(at) and not (removed and removed <= day(at))
        }

    copied, now = listed(20), listed(27)
    assert found[-1]["precision"] == pytest.approx(len(copied & now) / len(copied))
    assert found[-1]["recall"] == pytest.approx(len(copied & now) / len(now))


def test_decay_by_attribute_and_on_the_mean(cars, tmp_path):
    """Fiats go after 5 days, BMWs after 20; the copies of all days together."""
    picture = tmp_path / "decay.svg"
    found = rows("decay", cars, "--by", "make", "--for", "5d", "--plot", picture)

    last = {row["group"]: row for row in found if row["after_days"] == 5}
    assert last["Fiat"]["precision"] == pytest.approx(np.exp(-5 / 5), abs=0.1)
    assert last["BMW"]["precision"] == pytest.approx(np.exp(-5 / 20), abs=0.1)
    assert last["Fiat"]["copies"] == DAYS + 1 - 5
    assert "BMW" in picture.read_text()


def test_a_copy_on_a_day_that_nobody_crawled_is_refused(cars):
    with pytest.raises(InvalidParameter, match=r"on must be a day with a crawl, from 2026-01-01"):
        run_here("listing", "decay", cars, "--on", "2025-01-01")


# backtest


def test_backtest_has_a_row_a_metric_length_kind_and_method(cars):
    words = ["backtest", cars, "--train", "30d", "--cycle", "3d,7d", "--method", "mixture,static"]
    found = rows(*words)

    assert all(tuple(row) == CYCLE_COLUMNS for row in found)
    assert len(found) == 2 * 2 * 2 * 2
    for row in found:
        assert row["squared_error"] >= 0
        if row["method"] == "static":
            assert row["relative_error"] == 1
        assert 0 <= row["covered"] <= 1


def test_adaptive_against_fixed_parameters(cars, tmp_path):
    """Figure 8: both series say their order, and the picture has the sum of squares of each."""
    picture = tmp_path / "figure.svg"
    words = ["backtest", cars, "--train", "30d", "--cycle", "5d", "--method", "ar-published"]
    ended = run_here("listing", *words, "--against", "ar-fixed", "--plot", picture, "--json")

    found = [json.loads(line) for line in ended.out.splitlines()]
    fixed = rows(*words[:-1], "ar-fixed")
    for own, other in zip(found, fixed, strict=True):
        assert own["relative_error"] == pytest.approx(own["squared_error"] / other["squared_error"])
        assert own["relative_error"] != 1
    assert "cars, ar-published, precision: AR(" in ended.err
    assert "cars, ar-fixed, recall: AR(" in ended.err
    drawn = picture.read_text()
    assert "ar-published, SSE " in drawn
    assert "ar-fixed, SSE " in drawn


def test_the_published_score_and_its_gain(cars):
    """Table 2: rho, quality over syncs, and what it gains over another policy."""
    words = ["--train", "30d", "--keep", "recall >= 0.8", "--first-missed"]
    (own,) = rows("backtest", cars, *words, "--method", "ar-published", "--against", "ar-fixed")
    (other,) = rows("backtest", cars, *words, "--method", "ar-fixed")

    assert own["quality_per_sync"] == pytest.approx(own["quality"] / own["syncs"])
    gain = own["quality_per_sync"] / other["quality_per_sync"]
    assert own["relative_quality_per_sync"] == pytest.approx(gain)


def test_backtest_of_schedules(cars):
    words = ["--train", "30d", "--keep", "recall >= 0.8", "--method", "static"]
    (row,) = rows("backtest", cars, *words)

    assert tuple(row) == KEEP_COLUMNS
    assert row["metric"] == "recall"
    assert row["target"] == 0.8
    assert row["quality"] > 0.8
    assert 0 <= row["share_below"] <= 1


# pictures and files


@pytest.mark.parametrize("suffix", ["svg", "png"])
@pytest.mark.parametrize(
    "words",
    [
        ["describe"],
        ["describe", "--by", "make"],
        ["forecast"],
        ["partition", "--by", "make"],
        ["schedule", "--keep", KEEP],
        ["schedule", "--budget", "10/30d"],
        ["schedule", "--keep", KEEP, "--by", "make"],
    ],
)
def test_pictures(cars, tmp_path, words, suffix):
    picture = tmp_path / f"picture.{suffix}"
    rows(*words[:1], cars, *words[1:], "--plot", picture)

    assert picture.stat().st_size > 1000


def test_a_picture_of_many_groups_says_how_many_are_left_out(tmp_path):
    """Twelve makes of 60 cars; the last are listed most."""
    folder = tmp_path / "makes"
    folder.mkdir()
    objects = ["key,appeared_at,removed_at,make"]
    for number in range(720):
        arrived, make = number % 50, number // 60
        gone = arrived + 12 + 3 * make
        removed = day(gone) if gone <= DAYS else ""
        objects.append(f"{number},{day(arrived)},{removed},make {make:02}")
    (folder / "objects.csv").write_text("\n".join(objects) + "\n")
    picture = tmp_path / "groups.svg"
    words = ["--keep", "recall >= 0.8", "--by", "make", "--for", "7d", "--plot", picture]

    ended = run_here("listing", "schedule", folder, *words, "--csv")

    drawn = picture.read_text()
    assert "groups that list most objects; 4 others are not drawn.\n" in ended.err
    assert "the 8 of 12 groups that list most objects" in drawn
    assert "make 11, recall" in drawn
    assert "make 00, recall" not in drawn


def test_rows_go_to_a_file(cars, tmp_path):
    output = tmp_path / "rows.csv"
    ended = run_here("listing", "forecast", cars, "--horizon", "1d,3d", "-o", output)

    assert ended.out == ""
    assert output.read_text().startswith(",".join(FORECAST_COLUMNS))
    assert output.read_text().count("\n") == 3


def test_rows_go_to_parquet(cars, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    output = tmp_path / "rows.parquet"
    run_here("listing", "forecast", cars, "-o", output)

    assert parquet.read_table(output).column_names == list(FORECAST_COLUMNS)


# help


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb(verb):
    """One sentence, a word on every option, lines that fit, and commands to paste."""
    command = VERBS[verb]
    helped = run_here("listing", verb, "--help").out
    known = {word for option in command.params for word in option.opts}
    pasted = re.findall(r"^ +(recrawl .*)$", helped, re.MULTILINE)

    assert (command.help or "").split("\n")[0].endswith(".")
    assert all(getattr(option, "help", None) for option in command.params)
    assert max(map(len, helped.split("\n"))) <= 100
    assert pasted
    for line in pasted:
        _, group, used, *words = shlex.split(line)
        assert (group, used) == ("listing", verb)
        assert {word for word in words if word.startswith("-")} <= known


def test_help_loads_nothing_heavy():
    ended = run("listing", "forecast", "--help")

    assert ended.code == 0
    assert "Usage: recrawl listing forecast" in ended.out
