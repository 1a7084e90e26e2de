"""Listings as tables and charts."""

from __future__ import annotations

import json

import numpy as np
import pytest

from recrawl.listings.data.attributes import Labels, Numbers
from recrawl.listings.data.grid import DayGrid
from recrawl.listings.data.spells import Listing, Updates
from recrawl.listings.describe import removal_rates
from recrawl.listings.forecast.forecast import Forecast, ForecastPath
from recrawl.listings.groups.partition import Partitioner
from recrawl.listings.live.forecast import grid_of
from recrawl.listings.schedule.plan import plan_evenly, plan_to_keep
from recrawl.listings.schedule.schedule import Goal, Limit
from recrawl.report.charts.vega import DARK
from recrawl.report.listings.charts import describe_chart, partition_chart
from recrawl.report.listings.describe import (
    attributes_to_show,
    day_sheet,
    describe_sheet,
    return_remarks,
    source_remarks,
    update_sheet,
)
from recrawl.report.listings.forecast_chart import forecast_chart
from recrawl.report.listings.forecasts import banded, forecast_sheet
from recrawl.report.listings.partitions import grown, partition_sheet, partitioned, shrunk
from recrawl.report.listings.schedule_chart import GroupSchedule, schedule_chart
from recrawl.report.listings.schedules import schedule_sheet
from recrawl.report.listings.sheets import Sheet, cells, joined, shown, texts

CRAWLS = np.datetime64("2026-01-05", "us") + np.arange(41) * np.timedelta64(1, "D")


def market(objects=200):
    """Even objects live 3 days and odd ones 20; eight come a day."""
    spells = []
    for row in range(objects):
        arrived = row // 8
        spells.append((row, arrived, min(arrived + (20 if row % 2 else 3), 41)))
    columns: dict[str, Labels | Numbers] = {
        "make": Labels.of(["BMW" if row % 2 else "Fiat" for row in range(objects)]),
        "year": Numbers(np.arange(objects) % 5.0 + 2000),
        "title": Labels.of([f"car {row}" for row in range(objects)]),
    }
    return Listing.of([str(row) for row in range(objects)], CRAWLS, spells, attributes=columns)


def falling(days, rate=0.05, status=()):
    """A forecast that decays at one rate, with bands a little around it."""
    day = np.arange(1.0, days + 1)
    path = np.exp(-rate * day)
    middle = ForecastPath.of_quality(100.0, path, path)
    low = ForecastPath.of_quality(100.0, path**1.5, path**1.5)
    return Forecast(100.0, middle, middle, low, middle, None, status)


def test_attributes_that_name_objects_are_not_shown():
    assert attributes_to_show(market()) == ["make", "year"]


def test_describe_by_hand():
    """All Fiats are removed at an age of 3 days, give or take half a crawl."""
    listing = market()
    sheet = describe_sheet("cars", listing, DayGrid.of(listing), ["make"])

    values = cells(sheet.columns, "value")
    fiat = values.index("Fiat")
    assert values[0] == "(all)"
    assert cells(sheet.columns, "removals")[fiat] == 100
    assert cells(sheet.columns, "median_lifetime_days")[fiat] == pytest.approx(3, abs=0.5)


def test_half_live_until_the_curve_has_fallen_so_far():
    listing = market()
    fiat, bmw = removal_rates(listing, (np.arange(200) % 2).astype(np.int64), 2).curves

    assert fiat.median < bmw.median
    young = Listing.of(["a", "b"], CRAWLS[:3], [(0, 1, 3), (1, 1, 3)])
    (curve,) = removal_rates(young, np.zeros(2, np.int64), 1).curves
    assert np.isnan(curve.median)


def test_age_matters_where_lifetimes_are_of_one_length():
    """All Fiats live for three days; nothing is said where nothing can be told."""
    listing = market()
    sheet = describe_sheet("cars", listing, DayGrid.of(listing), ["make"])
    row = cells(sheet.columns, "value").index("Fiat")
    quiet = Listing.of(["a"], CRAWLS, [(0, 0, 41)])
    silent = describe_sheet("cars", quiet, DayGrid.of(quiet), [])

    assert cells(sheet.columns, "aging")[row] > cells(sheet.columns, "aging_limit")[row]
    assert sheet.words[row][sheet.header.index("age")] == "matters"
    assert np.isnan(cells(silent.columns, "aging")[0])
    assert silent.words[0][silent.header.index("age")] == ""


def test_a_curve_begins_where_objects_are_first_seen():
    """Half a day after their arrival, where crawls are a day apart."""
    chart = describe_chart("cars", market(), DayGrid.of(market()), ["make"])
    rows = chart["vconcat"][1]["data"]["values"]

    assert min(row["age"] for row in rows) == 0.5


def updated(updates, attributes=("price", "title")):
    """Two objects seen at all 41 crawls, and their updates."""
    columns = {name: Labels.of(["x", "y"]) for name in attributes}
    spells = [(0, 0, 41), (1, 0, 41)]
    return Listing.of(["a", "b"], CRAWLS, spells, attributes=columns, updates=updates)


def test_updates_by_attribute():
    """One crawl sees both attributes of an object change: one update of the object."""
    updates = Updates(np.array([0, 0, 1]), np.array([1, 1, 2]), np.array([0, 1, 1]))
    sheet = update_sheet("cars", updated(updates))

    assert cells(sheet.columns, "attribute") == ["(all)", "price", "title"]
    assert cells(sheet.columns, "updates") == [2, 1, 2]
    # -ln(1 - 2/80), for gaps of a day
    assert cells(sheet.columns, "updates_per_day")[0] == pytest.approx(0.025318, abs=1e-6)
    low, high = (cells(sheet.columns, name)[0] for name in ("low", "high"))
    assert low < 0.025318 < high
    stale = [cells(sheet.columns, f"stale_{days}d")[0] for days in (1, 7, 30)]
    assert 0 < stale[0] < stale[1] < stale[2] < 1


def test_updates_that_do_not_say_of_what_have_one_row():
    updates = Updates(np.array([0]), np.array([3]), np.array([-1]))
    sheet = update_sheet("cars", updated(updates))

    assert cells(sheet.columns, "attribute") == ["(all)"]
    assert cells(sheet.columns, "updates") == [1]


@pytest.mark.parametrize(
    ("listing", "status"),
    [
        (updated(None), "no-updates"),
        (Listing.of(["a"], CRAWLS[:1], [(0, 0, 1)]), "one-snapshot"),
        (Listing.of([], CRAWLS[:0], []), "empty"),
    ],
)
def test_without_updates_nothing_is_known_to_be_stale(listing, status):
    sheet = update_sheet("cars", listing)

    assert cells(sheet.columns, "status") == [status]
    assert cells(sheet.columns, "updates") == [0]
    assert np.isnan(cells(sheet.columns, "stale_7d")[0])


def test_days_carry_their_marks():
    spells = [(row, 0, 41) for row in range(40)] + [(row, 20, 41) for row in range(40, 90)]
    listing = Listing.of([str(row) for row in range(90)], CRAWLS, spells)
    sheet = day_sheet("cars", DayGrid.of(listing))

    assert [row for row in cells(sheet.columns, "mark") if row] == ["load"]
    assert sheet.words[20][-1] == "load"


def test_changes_of_keys_are_remarked_once():
    listing = market()
    lines = source_remarks("cars", listing, DayGrid.of(listing), ["rekey?", "weak"])

    assert lines[0] == "cars: 200 objects in 41 crawls, 2026-01-05 to 2026-02-14."
    assert any(line.startswith("cars was seen for less than 14 days") for line in lines)


def test_objects_that_came_back_are_remarked():
    """Two of three objects; one of them came back twice."""
    spells = [(0, 0, 9), (1, 0, 3), (1, 5, 7), (1, 9, 41), (2, 0, 3), (2, 6, 41)]
    listing = Listing.of(["a", "b", "c"], CRAWLS, spells)

    said = "cars: 2 objects vanished and came back; each time counts as a removal."
    assert return_remarks("cars", listing) == [said]
    assert return_remarks("cars", Listing.of(["a"], CRAWLS, [(0, 0, 9)])) == []


def test_people_see_no_column_that_says_nothing():
    sheet = Sheet("source", ["a", "a"], {}, ("source", "group", "n"), [["a", "", "1"]] * 2, (0, 1))
    header, rows, left = shown(sheet, 9)

    assert (header, rows, left) == (("n",), [["1"], ["1"]], ())


def test_sheets_of_several_sources_are_joined():
    one = Sheet("source", ["a"], {"n": np.array([1]), "s": texts(["x"])}, ("source",), [["a"]])
    two = Sheet("source", ["b"], {"n": np.array([2]), "s": texts(["y"])}, ("source",), [["b"]])
    both = joined([one, two])

    assert both.names == ["a", "b"]
    assert cells(both.columns, "n") == [1, 2]
    assert cells(both.columns, "s") == ["x", "y"]
    assert shown(both, 9)[0] == ("source",)


def test_a_forecast_without_bands_shows_none():
    nothing = ForecastPath.unknown(3)
    found = Forecast(100.0, falling(3).typical, falling(3).expected, nothing, nothing)
    sheet = forecast_sheet("cars", found, CRAWLS[0], np.array([2]))

    assert sheet.words[0][:4] == ["cars", "2d", "2026-01-07", "90 %"]
    assert np.isnan(cells(sheet.columns, "recall_low")[0])


def test_an_unknown_figure_is_a_dash():
    assert banded([float("nan")] * 3, share=True) == "-"


def test_the_point_rule_waits_for_the_first_day_below():
    """exp(-0.05 d) is below 0.8 from day 5 on."""
    plan = plan_to_keep(lambda days, _: falling(days), Goal(precision=0.8), [], 20)

    assert [sync.after for sync in plan] == [5.0, 10.0, 15.0, 20.0]
    assert {sync.reason for sync in plan} == {"precision"}
    assert plan[0].precision == pytest.approx(np.exp(-0.25))


def test_a_limit_comes_first():
    limits = [Limit(1, 9.0)]
    plan = plan_to_keep(lambda days, _: falling(days), Goal(precision=0.8), limits, 20)

    assert [sync.after for sync in plan] == [9.0, 18.0]
    assert {sync.reason for sync in plan} == {"limit"}


def test_a_source_that_does_not_decay_is_looked_at_after_thirty_days():
    plan = plan_to_keep(lambda days, _: falling(days, 1e-6), Goal(recall=0.8), [], 40)

    assert [(sync.after, sync.reason) for sync in plan] == [(30.0, "longest")]


@pytest.mark.parametrize(
    ("status", "reason"), [("rekey?", "rekey"), ("one-snapshot", "unknown"), ("empty", "empty")]
)
def test_what_is_the_matter_is_the_reason(status, reason):
    found = falling(30, status=(status,))
    plan = plan_to_keep(lambda _, __: found, Goal(recall=0.8), [], 1)

    assert plan[0].reason == reason


def test_even_steps_fill_the_span():
    plan = plan_evenly(falling(30), 4, 10.0)

    assert [sync.after for sync in plan] == [2.5, 5.0, 7.5, 10.0]
    assert plan[0].precision == pytest.approx((np.exp(-0.1) + np.exp(-0.15)) / 2)
    assert plan_evenly(falling(30), 0, 10.0) == []


def scheduled(name, rate, *, listed=100.0, span=12):
    """A group that decays at one rate, and what is planned to keep 80 % of it."""

    def forecast(days, _):
        return falling(days, rate)

    plan = plan_to_keep(forecast, Goal(precision=0.8, recall=0.7), [], span)
    return GroupSchedule(name, CRAWLS[0], plan, forecast, listed)


def panels_of(chart):
    return {panel["title"]["text"]: panel for panel in chart["concat"]}


def test_all_groups_are_drawn_on_the_same_axes():
    """One is synced every 5 days and one every 12; both are drawn to the end."""
    groups = [scheduled("Fiat", 0.05), scheduled("BMW", 0.02)]
    chart = schedule_chart("cars", groups, Goal(precision=0.8, recall=0.7))
    panels = panels_of(chart)

    assert list(panels) == ["Fiat, precision", "Fiat, recall", "BMW, precision", "BMW, recall"]
    assert chart["columns"] == 2
    ends = {panel["data"]["values"][-1]["at"] for panel in panels.values()}
    assert ends == {"2026-01-17T00:00:00Z"}
    domains = [
        panel["layer"][0]["encoding"][axis]["scale"]["domain"]
        for axis in ("x", "y")
        for panel in (panels["Fiat, recall"], panels["BMW, recall"])
    ]
    assert domains[0] == domains[1]
    assert domains[2] == domains[3]
    fiat = panels["Fiat, precision"]["data"]["values"]
    assert [row["at"][8:10] for row in fiat if row["share"] == 1] == ["05", "10", "15"]


def test_of_many_groups_those_of_most_objects_are_drawn():
    groups = [scheduled(f"make {number}", 0.05, listed=number) for number in range(11)]
    chart = schedule_chart("cars", groups, Goal(precision=0.8))

    assert list(panels_of(chart)) == [f"make {number}, precision" for number in range(3, 11)]
    assert chart["title"]["subtitle"][1] == "the 8 of 11 groups that list most objects"


def test_a_whole_source_has_wide_panels():
    chart = schedule_chart("cars", [scheduled("", 0.05)], None)

    assert list(panels_of(chart)) == ["precision", "recall"]
    assert chart["columns"] == 1
    assert len(chart["title"]["subtitle"]) == 1


def test_a_group_without_a_plan_or_a_forecast_shows_no_decay():
    nothing = ForecastPath.unknown(1)
    unknown = Forecast(0.0, nothing, nothing, nothing, nothing)
    plan = plan_to_keep(lambda _, __: unknown, Goal(recall=0.8), [], 1)
    groups = [
        GroupSchedule("new", CRAWLS[0], plan, lambda _, __: unknown),
        GroupSchedule("none", CRAWLS[0], [], lambda _, __: unknown),
    ]

    for drawn in (groups, groups[1:]):
        chart = schedule_chart("cars", drawn, Goal(recall=0.8), colours=DARK)
        json.dumps(chart, allow_nan=False)
        rows = [row for panel in chart["concat"] for row in panel["data"]["values"]]
        assert all(row["share"] == 1 for row in rows)


def test_times_of_a_schedule_are_exact():
    sheet = schedule_sheet("cars", "", CRAWLS[0], plan_evenly(falling(30), 4, 10.0))

    assert str(np.asarray(sheet.columns["at"])[0]) == "2026-01-07T12:00:00.000000"
    assert sheet.words[0][2] == "2026-01-07 12h"
    assert sheet.words[1][2] == "2026-01-10"


def test_partitions_of_two_kinds():
    listing = market()
    parts = [
        partitioned(listing, "make", Partitioner()),
        shrunk(listing, "make"),
        grown(listing, ["make", "year"]),
    ]
    sheet = partition_sheet("cars", listing, parts)

    assert cells(sheet.columns, "values")[:4] == ["BMW", "Fiat", "Fiat", "BMW"]
    assert parts[2].names[0].startswith("make in (")
    assert cells(sheet.columns, "gain")[0] > 3.84
    chances = cells(sheet.columns, "false_finds")
    assert chances[0] < 1e-6
    assert np.isnan(chances[-1]), "a tree has no single attribute to test"
    assert [row[7] for row in sheet.words] == ["< 0.1 %"] * 4 + [""] * (len(sheet.words) - 4)


def test_what_is_still_listed_has_not_come_and_gone():
    """Synced every four hours: b is there from 4 h to 12 h; c came at 28 h, after the last day."""
    crawls = np.datetime64("2026-01-05", "us") + np.arange(8) * np.timedelta64(4, "h")
    listing = Listing.of(["a", "b", "c"], crawls, [(0, 0, 8), (1, 1, 3), (2, 7, 8)])

    said = source_remarks("jobs", listing, grid_of(listing), ["ok"])

    assert said[1] == (
        "jobs: crawled every 4.0h recently; only one crawl per day is used here; 1 object "
        "that came and went in between left out; 1 object that came after the last of these "
        "left out."
    )


def test_what_tells_nothing_may_be_chance():
    """Years are dealt out evenly among makes."""
    listing = market()
    sheet = partition_sheet("cars", listing, [shrunk(listing, "year")])

    assert cells(sheet.columns, "false_finds")[0] > 0.9


def test_the_models_are_drawn_beside_what_was_seen():
    """Bars add up to the days that are shown; curves start where the survival curve does."""
    listing = market()
    arrivals, survival = describe_chart("cars", listing, DayGrid.of(listing), [])["vconcat"][2][
        "hconcat"
    ]

    bars = arrivals["layer"][0]["data"]["values"]
    assert sum(bar["days"] for bar in bars) == pytest.approx(1)
    assert arrivals["layer"][1]["data"]["values"]
    first = {}
    for row in reversed(survival["data"]["values"]):
        first[row["group"]] = (row["age"], row["survival"])
    assert first == dict.fromkeys(["as seen", "exponential", "Weibull"], (0.5, 1.0))


@pytest.mark.parametrize("rows", [0, 1, 200])
def test_charts_are_json_whatever_there_is(rows):
    """A figure that is not finite would be no JSON."""
    listing = market(rows)
    grid, nothing = DayGrid.of(listing), ForecastPath.unknown(3)
    charts = [
        describe_chart("cars", listing, grid, []),
        partition_chart("cars", listing, partitioned(listing, "make", Partitioner())),
        forecast_chart("cars", falling(9), colours=DARK),
        forecast_chart("cars", Forecast(0.0, nothing, nothing, nothing, nothing)),
    ]

    for chart in charts:
        json.dumps(chart, allow_nan=False)
