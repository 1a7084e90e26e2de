"""Timelines: the figures that were given, and nothing that is not JSON."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.errors import InvalidParameter
from recrawl.report.charts.timeline import Changes, RateSteps
from recrawl.report.charts.timeline_chart import timeline_chart
from recrawl.report.charts.vega import DARK, LIGHT
from tests.report.drawn import everything_in, foreign_colours_in, sources_in

NAN, INFINITE = math.nan, math.inf
NO_RATE = RateSteps([], [], [], [], [])
STEADY = RateSteps([0.0], [8.0], [0.5], [0.2], [1.0])


def instants(*texts):
    return np.array(texts, "datetime64[us]")


def timeline(visits=(0.0, 4.0, 8.0), changes=None, rate=STEADY, **looks):
    return timeline_chart(visits, changes or Changes([3.0]), rate, title="/news", **looks)


def rates(chart):
    """Rows of the panel above."""
    return chart["vconcat"][0]["data"]["values"]


def below(chart):
    """Gaps, placed changes, dated changes and visits: the rows of each layer."""
    return [layer["data"]["values"] for layer in chart["vconcat"][-1]["layer"]]


def places(rows):
    return [row["at"] for row in rows]


def rate_axis(chart):
    return chart["vconcat"][0]["layer"][0]["encoding"]["y"]


def time_axes(chart):
    return [panel["layer"][0]["encoding"]["x"] for panel in chart["vconcat"]]


def test_visits_and_changes_stand_where_they_were():
    changes = Changes([1.0, 6.0], since=[NAN, 4.0], until=[NAN, 8.0])
    gaps, placed, dated, visits = below(timeline(changes=changes))

    assert gaps == [{"at": 4.0, "to": 8.0, "row": "changes"}]
    assert (places(placed), places(dated), places(visits)) == ([6.0], [1.0], [0.0, 4.0, 8.0])


def test_without_gaps_all_changes_are_dated():
    changes = Changes([1.0, 2.0])

    assert changes.hidden.tolist() == [False, False]
    assert below(timeline(changes=changes))[0] == []


def test_without_visits_only_changes_are_shown():
    """A log of changes has no visits."""
    chart = timeline([], Changes([1.0, 4.0]))
    row = chart["vconcat"][-1]["layer"][0]["encoding"]["y"]

    assert chart["title"]["subtitle"] == "2 changes."
    assert row["scale"]["domain"] == ["changes"]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (Changes([]), "3 visits, 0 changes."),
        (Changes([1.0]), "3 visits, 1 change."),
        (Changes([2.0], [0.0], [4.0]), "3 visits, 1 change. Faint bars: gaps that hid a change."),
    ],
    ids=["none", "dated", "hidden"],
)
def test_the_subtitle_counts(changes, expected):
    assert timeline(changes=changes)["title"]["subtitle"] == expected


def test_both_ends_of_a_stretch_have_its_rate_and_band():
    steps = RateSteps([0.0, 2.0], [2.0, 8.0], [0.5, 1.0], [0.25, 0.5], [1.0, 2.0])
    chart = timeline(rate=steps)

    assert [(row["at"], row["low"], row["rate"], row["high"]) for row in rates(chart)] == [
        (0.0, 0.25, 0.5, 1.0),
        (2.0, 0.25, 0.5, 1.0),
        (2.0, 0.5, 1.0, 2.0),
        (8.0, 0.5, 1.0, 2.0),
    ]


def test_the_line_breaks_where_nothing_is_known():
    """Between stretches that do not touch, and where a rate is missing or 0."""
    edges = np.arange(6.0)
    steps = RateSteps(edges[:-1], edges[1:], [1.0, 1.0, NAN, 1.0, 0.0], [0.5] * 5, [2.0] * 5)
    rows = rates(timeline(rate=steps))

    assert places(rows) == [0.0, 1.0, 1.0, 2.0, 3.0, 4.0]
    assert [row["stretch"] for row in rows] == [1, 1, 1, 1, 2, 2]


def test_a_band_without_ends_leaves_the_panel_at_ten_times_the_rates():
    steps = RateSteps([0.0], [8.0], [0.5], low=[0.0], high=[INFINITE])
    chart = timeline(rate=steps)
    low, high = rate_axis(chart)["scale"]["domain"]

    assert (rates(chart)[0]["low"], rates(chart)[0]["high"]) == (0.05, 5.0)
    assert low < 0.05
    assert high > 5.0


def test_an_unknown_band_is_none():
    row = rates(timeline(rate=RateSteps([0.0], [8.0], [0.5], [NAN], [NAN])))[0]

    assert row["low"] == row["rate"] == row["high"] == 0.5


def test_the_rate_has_a_logarithmic_axis_with_round_labels():
    steps = RateSteps([0.0], [8.0], [0.5], low=[0.19], high=[2.1])
    axis = rate_axis(timeline(rate=steps))

    assert axis["scale"]["type"] == "log"
    assert axis["axis"]["values"] == [0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0]


@pytest.mark.parametrize(
    "rate", [NO_RATE, RateSteps([0.0], [1.0], [0.0], [0.0], [0.4])], ids=["none", "zero"]
)
def test_without_a_rate_there_is_no_panel_for_it(rate):
    assert len(timeline(rate=rate)["vconcat"]) == 1


def test_both_panels_show_the_same_time():
    """From the first thing that is known to the last, whichever it is."""
    chart = timeline(rate=RateSteps([-2.0], [5.0], [1.0], [0.5], [2.0]))
    above, last = time_axes(chart)

    assert above["scale"] == last["scale"]
    assert last["scale"]["domain"] == [-2.0, 8.0]
    assert not above["axis"]["labels"]


def test_a_single_moment_has_room_around_it():
    assert time_axes(timeline([3.0], Changes([]), NO_RATE))[0]["scale"]["domain"] == [2.5, 3.5]
    one = timeline(instants("2026-01-01"), Changes([]), NO_RATE)
    assert np.diff(time_axes(one)[0]["scale"]["domain"]) == [86_400_000]


@pytest.mark.parametrize(
    ("last", "written"),
    [
        ("2026-01-02", "%-d %b %H:%M"),
        ("2026-01-09", "%-d %b %Y"),
        ("2026-09-01", "%b %Y"),
        ("2036-01-01", "%Y"),
    ],
)
def test_instants_are_shown_in_utc(last, written):
    """Whatever the clock of the machine that draws says."""
    visits = instants("2026-01-01", last)
    steps = RateSteps(visits[:1], visits[1:], [0.5], [0.2], [1.0])
    axis = time_axes(timeline(visits, Changes(visits[1:]), steps))[-1]

    assert (axis["type"], axis["scale"]["type"]) == ("temporal", "utc")
    assert axis["axis"]["format"] == written
    assert axis["scale"]["domain"][0] == 1_767_225_600_000


def test_an_unknown_instant_is_left_out():
    changes = Changes(
        instants("2026-01-02", "2026-01-03"),
        since=instants("NaT", "2026-01-02"),
        until=instants("NaT", "2026-01-04"),
    )
    gaps, placed, dated, visits = below(
        timeline(instants("NaT", "2026-01-04"), changes, rate=NO_RATE)
    )

    assert [len(rows) for rows in (gaps, placed, dated, visits)] == [1, 1, 1, 1]


def test_instants_and_days_do_not_mix():
    with pytest.raises(InvalidParameter, match=r"all instants or all days \(got both\)"):
        timeline(instants("2026-01-01"))


@pytest.mark.parametrize(
    "columns",
    [
        lambda: Changes([1.0, 2.0], since=[1.0]),
        lambda: RateSteps([0.0], [1.0], [1.0], [0.5], []),
    ],
    ids=["changes", "rate"],
)
def test_columns_are_equally_long(columns):
    with pytest.raises(InvalidParameter, match="columns must be equally long"):
        columns()


def test_a_long_log_stays_a_small_picture():
    """Marks that would fall on each other are drawn once; the subtitle counts all."""
    visits = np.linspace(0, 100, 50_001)
    since, until = visits[:-1], visits[1:]
    changes = Changes((since + until) / 2, since, until)
    chart = timeline(visits, changes)
    gaps, placed, _, seen = below(chart)

    assert max(len(gaps), len(placed), len(seen)) <= 2 * 620 + 1
    assert chart["title"]["subtitle"].startswith("50,001 visits, 50,000 changes.")


def test_few_visits_are_stronger_than_many():
    def opacity(count):
        chart = timeline(np.linspace(0.0, 8.0, count))
        return chart["vconcat"][-1]["layer"][-1]["mark"]["opacity"]

    assert opacity(20) == 1.0
    assert opacity(20) > opacity(200) > opacity(1000)


moments = st.lists(st.floats(-1e6, 1e6) | st.sampled_from([NAN, INFINITE]), max_size=5)
steps = st.lists(
    st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.floats(), st.floats(), st.floats()),
    max_size=5,
)


@given(moments, moments, steps)
def test_a_timeline_is_json_whatever_the_figures(visits, changes, rate):
    """NaN and Infinity are not JSON, and numpy's numbers are not Python's."""
    columns = (np.array([row[column] for row in rate]) for column in range(5))
    hidden = Changes(changes, [at - 1 for at in changes], [at + 1 for at in changes])
    chart = timeline(visits, hidden, RateSteps(*columns))

    assert json.loads(json.dumps(chart, allow_nan=False)) == chart
    for axis in time_axes(chart):
        assert axis["scale"]["domain"][0] < axis["scale"]["domain"][1]


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_a_timeline_has_its_colours_and_fetches_nothing(colours):
    chart = timeline(colours=colours)

    assert chart["background"] == colours.paper
    assert {colours.orange, colours.blue} <= set(everything_in(chart))
    assert not foreign_colours_in(chart, colours)
    assert not sources_in(chart)
